//! The studies, in the order of the page.

mod calibration;
mod fuzzing;

use crate::Study;

/// All studies.
pub const STUDIES: &[Study] = &[calibration::STUDY, fuzzing::STUDY];
