//! Simulation-based calibration: are the draws those of the posterior?
//!
//! Parameters are drawn from the prior, targets from the model with them, and the posterior given
//! these targets is sampled. If draws, density and prior belong together, the rank of any quantity
//! of the true parameters among those of the draws is uniform (Talts, Betancourt, Simpson, Vehtari
//! and Gelman, "Validating Bayesian inference algorithms with simulation-based calibration",
//! arXiv:1804.06788). Quantities that look at the data, such as the likelihood, see faults that
//! parameters alone do not (Modrák and others, "Simulation-based calibration checking for Bayesian
//! computation: the choice of test quantities shapes sensitivity", Bayesian Analysis 2023).
//!
//! A [`Study`] is what all simulations share; [`Study::run`] makes one [`Simulation`], [`run_all`]
//! many, and [`judge()`] says whether their ranks are uniform.

mod band;
mod chi_square;
mod judge;
mod quantities;
mod settings;
mod simulation;
mod study;
mod work;

pub use band::Band;
pub use chi_square::{chi_square, upper_tail};
pub use judge::{Judged, LEVEL, Verdict, judge};
pub use settings::{CheckedCalibrate, RANKED, Settings};
pub use simulation::Simulation;
pub use study::{Study, Truth};
pub use work::run_all;

pub use crate::halt::Ended;
