//! The studies, in the order of the page.

mod calibration;
mod faults;
mod promises;
mod supply;

use crate::Study;

/// All studies.
pub const STUDIES: &[Study] = &[promises::STUDY, calibration::STUDY, faults::STUDY, supply::STUDY];
