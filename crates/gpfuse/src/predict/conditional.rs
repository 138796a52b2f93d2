//! Predictions with the coefficients of the experts' means integrated out of every draw.
//!
//! A draw is (h, theta), with theta the coefficients of the means. [`Predictor`] averages
//! `p(y* | h, theta)` over the draws. Where a model is Gaussian in theta ([`Collapsed`]),
//! `p(y* | h, y) = E[p(y* | h, theta) | h, y]` is a single Gaussian too, whose variance carries
//! that of theta. Its average over the draws of h has the same limit, and less Monte Carlo noise:
//! of independent draws, or where each theta was drawn from its law given h, the variance of an
//! average never grows when its terms are replaced by their expectations given h (Rao and
//! Blackwell; Gelfand and Smith 1990). Draws of a chain can be an exception in
//! theory (Geyer 1995, *Conditioning in Markov chain Monte Carlo*).
//!
//! Each draw costs the factor of a matrix, whatever the number of rows, so the draws are the outer
//! loop, over as many rows at once as memory allows.
//!
//! [`Predictor`]: super::Predictor

use std::ops::Range;
use std::sync::Arc;

use super::{Batches, FusedBlock, Predictive};
use crate::infer::Draws;
use crate::math::ROWS;
use crate::model::{Cached, Collapsed, Law, Model, Posterior};
use crate::parallel::parallel_with;
use crate::rows::Rows;
use crate::scale::Affine;
use crate::settings::Message;
use crate::{Error, Result};

/// Means and standard deviations that are kept at once, over draws and rows: 100 MB.
const NUMBERS_KEPT: usize = 12_500_000;

/// The most blocks of rows at once; also their features are kept.
const MOST_BLOCKS: usize = 128;

/// Draws of a model without the coefficients of its means, and the data that say what these are.
#[derive(Debug, Clone)]
pub struct Conditional {
    density: Collapsed,
    /// One after the other, without the coefficients.
    draws: Vec<Vec<f64>>,
    /// The numbers of the chains that have a part in predictions.
    chains: Vec<usize>,
    batches: Batches,
    target: Affine,
}

impl Conditional {
    /// From the posterior that `draws` are of, with the data that they were drawn for; `target`
    /// maps the model's scale of y to the user's.
    ///
    /// # Errors
    /// If the model is not Gaussian in the coefficients of its means: only `pogpe` and models of
    /// one learned expert are, on the RFF and Hilbert bases.
    pub fn new(posterior: Posterior, draws: &Draws, target: Affine) -> Result<Conditional> {
        Conditional::check(posterior.model())?;
        let dim = posterior.model().dim();
        if draws.dim() != dim {
            return Err(Error::Shape {
                what: "draws".into(),
                expected: format!("{dim} numbers each"),
                found: draws.dim().to_string(),
            });
        }
        let density = Collapsed::new(posterior)?;
        let (chains, batches) = (draws.used(), Batches::of(draws));
        let used = chains.iter().flat_map(|c| draws.chain(*c));
        let draws = used.map(|q| density.shorten(q)).collect();
        Ok(Conditional { density, draws, chains, batches, target })
    }

    /// Refuse a model that is not Gaussian in the coefficients of its means.
    pub fn check(model: &Model) -> Result<()> {
        Collapsed::lacks(model).map_or(Ok(()), |need| {
            let problem = format!("it needs {need}: predict without it");
            Err(Error::setting("rao_blackwell", problem))
        })
    }

    /// The predictive densities at `rows`. They are computed when they are asked for.
    pub fn at<'a>(&'a self, rows: &'a Rows) -> ConditionalAt<'a> {
        ConditionalAt { predictor: self, rows }
    }

    /// How the draws are cut for Monte Carlo errors.
    pub fn batches(&self) -> &Batches {
        &self.batches
    }

    fn model(&self) -> &Arc<Model> {
        self.density.posterior().model()
    }

    /// What each draw says about some blocks of rows.
    fn laws(&self, blocks: &[(Rows, Cached)], threads: usize) -> Result<Vec<Vec<Law>>> {
        let room = || self.density.clone();
        let laws = parallel_with(self.draws.len(), threads, room, |density, j| {
            density.predict(&self.draws[j], blocks).ok_or_else(|| {
                let each = self.draws.len() / self.chains.len();
                let (chain, draw) = (self.chains[j / each] + 1, j % each + 1);
                let words = format!(
                    "chain {chain}, draw {draw}: the law of the coefficients of its means cannot \
                     be had, its numbers are too large: use the drawn ones"
                );
                Error::Sampling(Message::new(words).advise("rao_blackwell", false))
            })
        })?;
        laws.into_iter().collect()
    }
}

/// A [`Conditional`] at given rows.
#[derive(Debug, Clone, Copy)]
pub struct ConditionalAt<'a> {
    predictor: &'a Conditional,
    rows: &'a Rows,
}

impl Predictive for ConditionalAt<'_> {
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
        let ConditionalAt { predictor, rows } = *self;
        let (model, level) = (predictor.model(), predictor.density.posterior().level());
        if rows.inputs() != model.basis().inputs() {
            return Err(Error::Shape {
                what: "inputs per row".into(),
                expected: model.basis().inputs().to_string(),
                found: rows.inputs().to_string(),
            });
        }
        let alone = |b: usize| {
            let block = rows.alone(b);
            let cache = model.cache(&block);
            (block, cache)
        };
        let room = || FusedBlock::room(model.pool(), model.experts(), &predictor.batches);
        let at_once =
            (NUMBERS_KEPT / (2 * ROWS * predictor.draws.len().max(1))).clamp(1, MOST_BLOCKS);
        let mut out = Vec::with_capacity(rows.blocks());
        for first in (0..rows.blocks()).step_by(at_once) {
            let end = rows.blocks().min(first + at_once);
            let blocks: Vec<(Rows, Cached)> = (first..end).map(alone).collect();
            let laws = predictor.laws(&blocks, threads)?;
            out.extend(parallel_with(blocks.len(), threads, room, |fused, b| {
                fused.begin(blocks[b].0.origin(), blocks[b].0.len());
                for (j, law) in laws.iter().enumerate() {
                    let place = fused.place(j);
                    (place.mean[0], place.sd[0]) = (law[b].mean, law[b].sd);
                    fused.take(level, j, predictor.target);
                }
                each(fused)
            })?);
        }
        Ok(out)
    }
}
