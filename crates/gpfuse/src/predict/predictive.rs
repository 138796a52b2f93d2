//! What every method's prediction is: a Gaussian mixture at each of some rows.

use std::ops::Range;

use super::{Batches, FusedBlock, Predictor};
use crate::Result;
use crate::model::Given;
use crate::rows::Rows;

/// Predictive densities at some rows, handed out a block of rows at a time.
pub trait Predictive: Sync {
    /// The numbers of the rows.
    fn rows(&self) -> Range<usize>;

    /// How the draws behind the densities are cut for Monte Carlo errors; a single batch where
    /// there is no Monte Carlo.
    fn batches(&self) -> &Batches;

    /// Call `each` with every block of rows, on `threads` threads; the results come back in the
    /// order of the rows.
    fn blocks<T: Send>(
        &self,
        threads: usize,
        each: impl Fn(&FusedBlock) -> T + Sync,
    ) -> Result<Vec<T>>;
}

/// A predictor at given rows.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    predictor: &'a Predictor,
    rows: &'a Rows,
    given: Option<&'a Given>,
}

impl Predictor {
    /// The predictive densities at `rows`, from the experts' predictions there where the
    /// experts are given. They are computed when they are asked for.
    pub fn at<'a>(&'a self, rows: &'a Rows, given: Option<&'a Given>) -> At<'a> {
        At { predictor: self, rows, given }
    }
}

impl Predictive for At<'_> {
    fn rows(&self) -> Range<usize> {
        self.rows.origin()..self.rows.origin() + self.rows.len()
    }

    fn batches(&self) -> &Batches {
        &self.predictor.batches
    }

    fn blocks<T: Send>(
        &self,
        threads: usize,
        each: impl Fn(&FusedBlock) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.predictor.fused(self.rows, self.given, threads, each)
    }
}
