//! The studies, in the order of the page.

mod calibration;
mod supply;

use crate::Study;

/// All studies.
pub const STUDIES: &[Study] = &[calibration::STUDY, supply::STUDY];
