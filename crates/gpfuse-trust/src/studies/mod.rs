//! The studies, in the order of the page.

mod calibration;
mod reference;

use crate::Study;

/// All studies.
pub const STUDIES: &[Study] = &[calibration::STUDY, reference::STUDY];
