//! The paper's experiments (Ajirak, Waxman, Llorente and Djurić, 2023): the sweep that runs them,
//! the rows and experts that were frozen once, its findings as contrasts, and the page that marks
//! each of them as seen or not.

mod contrast;
mod findings;
mod frozen;
mod page;
mod protocol;

pub use contrast::{Contrast, LEVEL};
pub use findings::{ARMS, Finding, Panel, Verdict, findings};
pub use frozen::{Frozen, Stacked};
pub use page::page;
pub use protocol::{PATH, Protocol, TEXT, is_paper};
