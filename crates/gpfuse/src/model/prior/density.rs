//! The prior of a model as a density of its own: what the posterior is without any row.

use std::sync::Arc;

use crate::infer::{Density, DensityError};
use crate::model::Model;

/// The prior density of a model's parameters, on the sampling space. [`Model::prior_draw`] draws
/// from it.
#[derive(Debug, Clone)]
pub struct Prior(Arc<Model>);

impl Prior {
    /// The prior of `model`.
    pub fn new(model: Arc<Model>) -> Prior {
        Prior(model)
    }
}

impl Density for Prior {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        grad.fill(0.0);
        let logp = self.0.priors().log_density(self.0.layout(), q, grad);
        if logp.is_finite() && grad.iter().all(|g| g.is_finite()) {
            Ok(logp)
        } else {
            Err(DensityError::NotFinite { logp })
        }
    }
}
