//! Did the chains converge? Measures on what does not depend on the experts' labels, and
//! plain words about them.

mod convergence;
mod invariant;
mod pareto;
mod psis;
mod verdict;

pub use convergence::{ebfmi, ess_bulk, ess_mean, ess_tail, mcse_mean, rhat};
pub use invariant::{Diagnostics, Quantity, diagnose};
pub use psis::{Loo, loo, relative_efficiency};
