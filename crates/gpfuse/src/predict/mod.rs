//! The predictive density: a finite Gaussian mixture per row, streamed over rows and draws.
//!
//! For each draw a linear pool gives K components and a log-linear pool one; the predictive
//! is their average over the draws. Rows are taken a block at a time, so memory is one block's
//! components per thread, whatever the number of rows.

mod block;
mod experts;
mod mixture;

use std::sync::Arc;

pub use block::FusedBlock;
pub use experts::{ExpertSummary, Summary};
pub use mixture::Mixture;
pub(crate) use mixture::Spectrum;

use crate::Result;
use crate::infer::Draws;
use crate::math::ROWS;
use crate::math::simd::Level;
use crate::model::{Given, Model, Prepared, Scratch};
use crate::parallel::parallel_with;
use crate::pool::ExpertBlock;
use crate::rows::Rows;
use crate::scale::Affine;

/// Draws of a model, ready to predict at any rows.
#[derive(Debug, Clone)]
pub struct Predictor {
    model: Arc<Model>,
    draws: Vec<Prepared>,
    target: Affine,
    level: Level,
}

impl Predictor {
    /// From draws in the sampling space of `model`; `target` maps the model's scale of y to
    /// the user's.
    pub fn new(model: Arc<Model>, draws: &Draws, target: Affine) -> Predictor {
        let level = Level::detect();
        let prepared = |q: &[f64]| {
            let mut out = model.prepared(false);
            model.prepare(level, q, &mut out);
            out
        };
        let draws = draws.iter().map(prepared).collect();
        Predictor { model, draws, target, level }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The number of draws.
    pub fn draws(&self) -> usize {
        self.draws.len()
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
        let (pool, experts) = (self.model.pool(), self.model.experts());
        let room = || (self.model.scratch(false), FusedBlock::room(pool, experts, self.draws()));
        parallel_with(rows.blocks(), threads, room, |(scratch, block), b| {
            block.begin(rows.origin() + b * ROWS, rows.filled(b));
            self.each_draw(rows, b, given, scratch, |j, experts| {
                pool.fuse(self.level, experts, block.place(j));
                block.take(self.level, j, self.target);
            });
            each(block)
        })
    }

    /// Call `each` with the number of every draw and its experts on block `b` of `rows`.
    fn each_draw(
        &self,
        rows: &Rows,
        b: usize,
        given: Option<&Given>,
        scratch: &mut Scratch,
        mut each: impl FnMut(usize, &ExpertBlock),
    ) {
        // One block alone: what its rows have in common is computed once for all draws.
        let (block, given) = (rows.alone(b), given.map(|g| g.alone(b, rows.filled(b))));
        let cache = self.model.basis().cache(&block);
        for (j, draw) in self.draws.iter().enumerate() {
            self.model.experts_on(self.level, &block, 0, &cache, given.as_ref(), draw, scratch);
            each(j, &scratch.experts);
        }
    }
}
