//! The predictive density: a finite Gaussian mixture per row, streamed over rows and draws.
//!
//! For each draw a linear pool gives K components and a log-linear pool one; the predictive
//! is their average over the draws. Rows are taken a block at a time, so memory is one block's
//! components per thread, whatever the number of rows.

mod experts;
mod mixture;

use std::sync::Arc;

pub use experts::{ExpertSummary, Summary};
pub use mixture::Mixture;

use crate::basis::{Cache, Coefs};
use crate::infer::Draws;
use crate::math::ROWS;
use crate::math::simd::Level;
use crate::model::{Given, Model};
use crate::parallel::parallel;
use crate::rows::Rows;
use crate::scale::Affine;
use crate::{Error, Result};

/// Draws of a model, ready to predict at any rows.
#[derive(Debug, Clone)]
pub struct Predictor {
    model: Arc<Model>,
    coefs: Vec<Coefs>,
    target: Affine,
    level: Level,
}

/// The fused density of one block of rows, in the units of the target.
#[derive(Debug)]
pub struct FusedBlock {
    /// The number of the block's first row.
    pub first: usize,
    rows: usize,
    draws: usize,
    /// Components per draw.
    parts: usize,
    log_weight: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
}

impl FusedBlock {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The predictive density of row `r` of the block: the components of the first draw, then
    /// of the second, and so on.
    pub fn row(&self, r: usize) -> Result<Mixture<'_>> {
        self.row_draws(r, 0..self.draws)
    }

    /// The same from a range of the draws only.
    pub fn row_draws(&self, r: usize, draws: std::ops::Range<usize>) -> Result<Mixture<'_>> {
        let (each, parts) = (self.parts * self.draws, self.parts);
        let range = r * each + draws.start * parts..r * each + draws.end * parts;
        Mixture::new(&self.log_weight[range.clone()], &self.mean[range.clone()], &self.sd[range])
            .map_err(|e| {
                let row = self.first + r + 1;
                Error::Data(format!("prediction of row {row}: {e}: look at its inputs"))
            })
    }
}

impl Predictor {
    /// From draws in the sampling space of `model`; `target` maps the model's scale of y to
    /// the user's.
    pub fn new(model: Arc<Model>, draws: &Draws, target: Affine) -> Predictor {
        let coefs = draws
            .iter()
            .map(|q| {
                let mut coefs = model.coefs(false);
                model.prepare(Level::detect(), q, &mut coefs);
                coefs
            })
            .collect();
        Predictor { model, coefs, target, level: Level::detect() }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The number of draws.
    pub fn draws(&self) -> usize {
        self.coefs.len()
    }

    /// Call `each` with the fused density of every block of `rows`, on `threads` threads; the
    /// results come back in the order of the rows. To predict at very many rows, take some of
    /// them at a time.
    pub fn fused<T: Send>(
        &self,
        rows: &Rows,
        given: Option<&Given>,
        threads: usize,
        each: impl Fn(&FusedBlock) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.model.check_given(rows, given)?;
        let cache = self.model.basis().cache(rows);
        parallel(rows.blocks(), threads, |b| each(&self.block(rows, b, &cache, given)))
    }

    fn block(&self, rows: &Rows, b: usize, cache: &Cache, given: Option<&Given>) -> FusedBlock {
        let pool = self.model.pool();
        let parts = pool.components(self.model.experts());
        let (filled, each) = (rows.filled(b), parts * self.coefs.len());
        let room = || vec![0.0; filled * each];
        let (mut log_weight, mut mean, mut sd) = (room(), room(), room());
        let mut scratch = self.model.scratch(false);
        let mut fused = pool.room(self.model.experts());
        let share = -(self.coefs.len() as f64).ln();
        for (j, coefs) in self.coefs.iter().enumerate() {
            self.model.experts_on(self.level, rows, b, cache, given, coefs, &mut scratch);
            pool.fuse(self.level, &scratch.experts, &mut fused);
            for c in 0..parts {
                for r in 0..filled {
                    let at = r * each + j * parts + c;
                    log_weight[at] = fused.log_weight[c][r] + share;
                    mean[at] = self.target.restore(fused.mean[c][r]);
                    sd[at] = fused.sd[c][r] * self.target.scale;
                }
            }
        }
        let draws = self.coefs.len();
        let first = rows.origin() + b * ROWS;
        FusedBlock { first, rows: filled, draws, parts, log_weight, mean, sd }
    }
}
