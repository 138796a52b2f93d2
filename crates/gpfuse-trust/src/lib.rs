//! The studies behind `docs/trust.md`: each asks one question of gpfuse that could have a bad
//! answer, and writes the target beside the result.
//!
//! ```text
//! Study -> run(&Run) -> Vec<Finding> -> NAME.json -> page
//! ```
//!
//! A study is a plain function. Its short form, which `cargo test` runs, asks the same question with
//! fewer simulations and says how often it fails by chance.

mod binomial;
mod csv;
mod dkwm;
mod finding;
mod jobs;
mod joint;
mod known;
mod law;
pub mod page;
mod studies;
mod study;
mod tune;
mod zscore;

pub use finding::{Finding, Outcome};
pub use studies::{STUDIES, torture};
pub use study::{Figures, Record, Run, Study};
