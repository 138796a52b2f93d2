//! The hyperparameters of an exact GP.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Hyperparameters in the units of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hyper {
    /// The constant mean.
    pub mean: f64,
    /// The variance of the function.
    pub var: f64,
    /// One lengthscale per input.
    pub ell: Vec<f64>,
    /// The variance of the noise; may be 0.
    pub noise: f64,
}

impl Hyper {
    /// Refuse values that make no GP on `inputs` inputs.
    pub fn check(&self, inputs: usize) -> Result<()> {
        let positive = |name: String, v: f64| {
            if v.is_finite() && v > 0.0 {
                return Ok(());
            }
            Err(Error::setting("hyper", format!("{name} = {v} must be positive and finite")))
        };
        positive("var".into(), self.var)?;
        if self.ell.len() != inputs {
            return Err(Error::Shape {
                what: "lengthscales".into(),
                expected: format!("{inputs}, one per input"),
                found: self.ell.len().to_string(),
            });
        }
        for (i, ell) in self.ell.iter().enumerate() {
            positive(format!("ell of input {}", i + 1), *ell)?;
        }
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            let problem = format!("noise = {} must be 0 or positive, and finite", self.noise);
            return Err(Error::setting("hyper", problem));
        }
        if !self.mean.is_finite() {
            return Err(Error::setting("hyper", format!("mean = {} must be finite", self.mean)));
        }
        Ok(())
    }
}
