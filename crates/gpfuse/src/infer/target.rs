//! A density as nuts-rs wants it.
//!
//! Samplers see it through a pointer: they are then compiled once, in this crate, and not for each density.

use std::collections::HashMap;

use nuts_rs::{CpuLogpFunc, CpuMathError, HasDims, LogpError};

use super::{Density, DensityError};

/// Whatever answers the questions that nuts-rs has about a density.
pub(super) trait Answer {
    /// The dimension.
    fn dimension(&self) -> usize;

    /// The log density at `q`; its gradient overwrites `grad`.
    fn answer(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError>;
}

impl<D: Density> Answer for D {
    fn dimension(&self) -> usize {
        Density::dim(self)
    }

    fn answer(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        Density::logp(self, q, grad)
    }
}

/// The density behind some answers.
pub(super) struct Target<'a>(pub(super) Box<dyn Answer + 'a>);

impl LogpError for DensityError {
    fn is_recoverable(&self) -> bool {
        DensityError::is_recoverable(self)
    }
}

impl HasDims for Target<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("dim".into(), 0)])
    }
}

impl CpuLogpFunc for Target<'_> {
    type LogpError = DensityError;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.0.dimension()
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        self.0.answer(q, grad)
    }

    // The position itself is all that is kept of a draw.
    fn expand_vector<R: nuts_rs::rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        _: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(Vec::new())
    }
}
