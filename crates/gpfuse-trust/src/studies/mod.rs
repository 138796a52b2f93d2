//! The studies, in the order of the page.

mod calibration;
mod conservation;
mod geweke;
mod long_run;

use crate::Study;

/// All studies.
pub const STUDIES: &[Study] =
    &[calibration::STUDY, conservation::STUDY, geweke::STUDY, long_run::STUDY];
