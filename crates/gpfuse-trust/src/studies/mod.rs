//! The studies, in the order of the page.

mod calibration;
mod conservation;
mod faults;
mod geweke;
mod long_run;
mod promises;
mod supply;

use crate::Study;

/// All studies.
pub const STUDIES: &[Study] = &[
    promises::STUDY,
    calibration::STUDY,
    conservation::STUDY,
    geweke::STUDY,
    long_run::STUDY,
    faults::STUDY,
    supply::STUDY,
];
