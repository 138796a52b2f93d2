//! The studies, in the order of the page.

mod calibration;
mod conservation;
mod coverage;
mod faults;
mod fuzzing;
mod geweke;
mod honesty;
mod long_run;
mod promises;
mod reference;
mod supply;
mod torture;

use crate::Study;
pub use torture::torture;

/// All studies.
pub const STUDIES: &[Study] = &[
    promises::STUDY,
    calibration::STUDY,
    conservation::STUDY,
    geweke::STUDY,
    long_run::STUDY,
    reference::STUDY,
    coverage::STUDY,
    coverage::OUTSIDE,
    honesty::STUDY,
    torture::STUDY,
    faults::STUDY,
    fuzzing::STUDY,
    supply::STUDY,
];
