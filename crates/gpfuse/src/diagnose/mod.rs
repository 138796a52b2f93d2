//! Did the chains converge? Measures on what does not depend on the experts' labels, and
//! plain words about them.

mod chains;
mod combine;
mod convergence;
mod invariant;
mod pareto;
mod patience;
mod psis;
mod verdict;

pub use chains::ChainLoo;
pub(crate) use chains::log_likelihoods;
pub(crate) use combine::weighs;
pub use combine::{ChainWeight, ChainWeights, Combine, combine};
pub use convergence::{ebfmi, ess_bulk, ess_mean, ess_tail, mcse_mean, rhat};
pub use invariant::{Diagnostics, Quantity, diagnose};
pub(crate) use patience::Patience;
pub use psis::{Loo, loo, relative_efficiency};
pub(crate) use psis::{good_khat, without};
pub(crate) use verdict::Setup;
pub use verdict::{DRAWS_PER_DIVERGENCE, EBFMI_BAR, ESS_BAR, MODES_BAR, RHAT_BAR, SATURATED_BAR};
