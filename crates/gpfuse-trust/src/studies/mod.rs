//! The studies, in the order of the page.

mod calibration;
mod coverage;
mod honesty;
mod torture;

use crate::Study;
pub use torture::torture;

/// All studies.
pub const STUDIES: &[Study] =
    &[calibration::STUDY, coverage::STUDY, coverage::OUTSIDE, torture::STUDY, honesty::STUDY];
