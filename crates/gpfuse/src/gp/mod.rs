//! The exact Gaussian process: log marginal likelihood and its gradient, fit of the
//! hyperparameters, prediction, leave-one-out.
//!
//! `y = f(x) + noise`, `f` a GP with a constant mean and covariance `var k(r2)`,
//! `r2 = sum_i ((x_i - x'_i) / ell_i)^2` (Rasmussen and Williams, *Gaussian Processes for Machine
//! Learning*, 2006, chapters 2 and 5). With `K = var k + noise I = L L'` all of it costs one
//! Cholesky factor of the n rows.
//!
//! **Jitter.** One policy for all of it: `K` is factored as it is; where rounding makes that
//! fail, 1e-10 of its mean diagonal is added to the diagonal, then ten times as much, up to 1e-6;
//! after that it is an error. What was added counts as noise of the training rows, not of new
//! ones.

pub mod batched;
mod climb;
mod covariance;
mod evidence;
mod explore;
mod factor;
mod fit;
mod hyper;
mod inputs;
mod modes;
pub mod nearest;
mod posterior;
mod prior;
mod settings;
mod starts;
mod team;

pub(crate) use factor::factor_seconds;
pub(crate) use fit::refine;
pub use fit::{fit, fit_with};
pub use hyper::Hyper;
pub use posterior::{Gp, Prediction};
pub use settings::{Checked, Mean, Objective, Settings};
pub(crate) use starts::some_rows;

/// The most rows an exact GP takes: at this many the matrices of a fit fill ten gigabytes.
pub const LARGEST_EXACT_GP: usize = 20_000;
