//! Figures and pages: what fits and sweeps say, drawn and written for people.

pub mod figure;
pub mod page;
pub mod view;
