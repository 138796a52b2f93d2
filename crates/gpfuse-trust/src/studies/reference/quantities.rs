//! The quantities of a reference posterior, computed by gpfuse: the parameters, and numbers that
//! relabelling the experts does not change.

use gpfuse::infer::{Density, DensityError};
use gpfuse::model::{Invariant, Posterior};

use super::stored::Problem;

/// Computes the quantities of one problem.
pub(super) struct Quantities {
    data: Posterior,
    places: Posterior,
    gradient: Vec<f64>,
}

impl Quantities {
    /// For a problem.
    pub(super) fn new(problem: &Problem) -> gpfuse::Result<Quantities> {
        let (data, places) = (problem.posterior()?, problem.at_places()?);
        let gradient = vec![0.0; data.dim()];
        Ok(Quantities { data, places, gradient })
    }

    /// The log joint density at `q` and its gradient.
    pub(super) fn joint(&mut self, q: &[f64]) -> (f64, &[f64]) {
        let logp = match self.data.logp(q, &mut self.gradient) {
            Ok(logp) | Err(DensityError::NotFinite { logp }) => logp,
            Err(DensityError::Fatal(_)) => f64::NAN,
        };
        (logp, &self.gradient)
    }

    /// The derived quantities at `q`: log likelihood, log joint density, then at each place the
    /// fused mean, the log density and, with several experts, the largest log weight.
    pub(super) fn derived(&mut self, q: &[f64]) -> Vec<f64> {
        let mut likelihood = 0.0;
        self.data.invariants(q, |kind, _, value| {
            likelihood += if kind == Invariant::LogLikelihood { value } else { 0.0 };
        });
        let mut seen = [vec![], vec![], vec![]];
        self.places.invariants(q, |kind, _, value| seen[kind as usize].push(value));
        let [density, mean, weight] = seen;
        let mut out = vec![likelihood, self.joint(q).0];
        out.extend(mean.into_iter().chain(density));
        if self.data.model().experts() > 1 {
            out.extend(weight);
        }
        out
    }
}
