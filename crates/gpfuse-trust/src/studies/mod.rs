//! The studies, in the order of the page.

mod calibration;
mod faults;

use crate::Study;

/// All studies.
pub const STUDIES: &[Study] = &[calibration::STUDY, faults::STUDY];
