//! The studies, in the order of the page.

mod calibration;
mod honesty;

use crate::Study;

/// All studies.
pub const STUDIES: &[Study] = &[calibration::STUDY, honesty::STUDY];
