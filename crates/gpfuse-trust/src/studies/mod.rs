//! The studies, in the order of the page.

mod calibration;
mod conservation;
mod coverage;
mod geweke;
mod honesty;
mod long_run;
mod reference;
mod torture;

use crate::Study;
pub use torture::torture;

/// All studies.
pub const STUDIES: &[Study] = &[
    calibration::STUDY,
    conservation::STUDY,
    geweke::STUDY,
    long_run::STUDY,
    reference::STUDY,
    coverage::STUDY,
    coverage::OUTSIDE,
    honesty::STUDY,
    torture::STUDY,
];
