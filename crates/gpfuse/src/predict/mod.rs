//! The predictive density: a finite Gaussian mixture per row, streamed over rows and draws.
//!
//! For each draw a linear pool gives K components and a log-linear pool one; the predictive
//! is their average over the draws, with the weights of their chains where chains have some; a
//! chain without weight costs nothing. Rows are taken a block at a time, so memory is one block's
//! components per thread, whatever the number of rows. Where only the weights differ between
//! draws, they are averaged first (`average.rs`); where the means' coefficients can be integrated
//! out of a draw, [`Conditional`] does without a draw of them. All predictions, also those without draws,
//! are a [`Predictive`].

mod average;
mod batches;
mod block;
mod conditional;
mod experts;
mod fused;
mod mixture;
mod outcomes;
mod predictive;

use std::sync::Arc;

use average::WeightSum;
pub use batches::Batches;
pub use block::FusedBlock;
pub use conditional::{Conditional, ConditionalAt};
pub use experts::{ExpertSummary, Summary};
pub use fused::Fused;
pub use mixture::Mixture;
pub(crate) use mixture::Spectrum;
pub use outcomes::Outcomes;
pub use predictive::{At, Predictive};

use crate::infer::Draws;
use crate::math::ROWS;
use crate::math::simd::Level;
use crate::model::{Given, Model, Prepared, Scratch};
use crate::parallel::parallel_with;
use crate::pool::{ExpertBlock, Pool};
use crate::rows::Rows;
use crate::scale::Affine;
use crate::{Error, Result};

/// What there is not.
const NO_DENSITY: &str = "its experts said how probable outcomes are and no more, so that it has no mean, sd, \
                          quantile or sample: ask for log densities and weights";

/// Draws of a model, ready to predict at any rows.
#[derive(Debug, Clone)]
pub struct Predictor {
    model: Arc<Model>,
    draws: Vec<Prepared>,
    batches: Batches,
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
        let (used, batches) = (draws.used(), Batches::of(draws));
        let only_weights = model.pool() == Pool::Linear && !model.learned();
        let batches = if only_weights { batches.averaged() } else { batches };
        let draws = used.iter().flat_map(|c| draws.chain(*c)).map(prepared).collect();
        Predictor { model, draws, batches, target, level }
    }

    /// The same with every draw apart, also where only weights differ between them.
    pub(crate) fn draw_by_draw(self) -> Predictor {
        Predictor { batches: self.batches.apart(), ..self }
    }

    /// How the draws are cut for Monte Carlo errors.
    pub fn batches(&self) -> &Batches {
        &self.batches
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The number of draws of the chains that have weight.
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
        if given.is_some_and(|given| given.outcomes() > 0) {
            return Err(Error::Data(NO_DENSITY.into()));
        }
        let (pool, experts) = (self.model.pool(), self.model.experts());
        let room = || {
            let block = FusedBlock::room(pool, experts, &self.batches);
            (self.model.scratch(false), block, WeightSum::new(experts))
        };
        parallel_with(rows.blocks(), threads, room, |(scratch, block, weights), b| {
            block.begin(rows.origin() + b * ROWS, rows.filled(b));
            let mut batch = 0;
            self.each_draw(rows, b, given, scratch, |j, experts| {
                if !self.batches.are_averaged() {
                    pool.fuse(self.level, experts, block.place(j));
                    return block.take(self.level, j, self.target);
                }
                weights.add(self.level, &experts.log_w);
                if j + 1 == self.batches.end(batch) {
                    let place = block.place(batch);
                    pool.fuse(self.level, experts, place);
                    weights.finish(&mut place.log_weight);
                    block.take(self.level, batch, self.target);
                    batch += 1;
                }
            });
            each(block)
        })
    }

    /// The weights of the experts at each of `rows`, draw after draw, whatever given experts say there.
    pub(crate) fn weights(&self, rows: &Rows, threads: usize) -> Result<Vec<f64>> {
        let (experts, draws) = (self.model.experts(), self.draws.len());
        let room = || self.model.scratch(false);
        let blocks = parallel_with(rows.blocks(), threads, room, |scratch, b| {
            let mut out = vec![0.0; rows.filled(b) * draws * experts];
            self.each_draw(rows, b, None, scratch, |j, block| {
                for (r, row) in out.chunks_mut(draws * experts).enumerate() {
                    let log_w = block.log_w.iter().map(|lanes| lanes[r]);
                    row[j * experts..]
                        .iter_mut()
                        .zip(log_w)
                        .for_each(|(w, log_w)| *w = log_w.exp());
                }
            });
            out
        })?;
        Ok(blocks.concat())
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
        let cache = self.model.cache(&block);
        for (j, draw) in self.draws.iter().enumerate() {
            self.model.experts_on(self.level, &block, 0, &cache, given.as_ref(), draw, scratch);
            each(j, &scratch.experts);
        }
    }
}
