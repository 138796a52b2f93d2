//! A density as nuts-rs wants it.

use std::collections::HashMap;

use nuts_rs::{CpuLogpFunc, CpuMathError, HasDims, LogpError};

use super::DensityError;

/// Whatever answers the questions that nuts-rs has about a density.
pub(super) trait Answer {
    /// The dimension.
    fn dim(&self) -> usize;

    /// The log density at `q`; its gradient overwrites `grad`.
    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError>;
}

/// The density behind some answers.
pub(super) struct Target<A>(pub(super) A);

impl LogpError for DensityError {
    fn is_recoverable(&self) -> bool {
        DensityError::is_recoverable(self)
    }
}

impl<A> HasDims for Target<A> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("dim".into(), 0)])
    }
}

impl<A: Answer> CpuLogpFunc for Target<A> {
    type LogpError = DensityError;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        self.0.logp(q, grad)
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
