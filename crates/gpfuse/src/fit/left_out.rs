//! What a model says about each of its rows without that row. Given experts say what they would say without it.
//!
//! The model is not fitted again. Each draw gets the importance weight that the posterior without the row
//! gives it, smoothed as in [`loo`](crate::diagnose::loo), and with these weights the draws' predictions are
//! averaged. What was chosen before sampling, such as scales and a pilot's lengthscales, is taken as given.

use super::Fitted;
use crate::diagnose::{good_khat, without};
use crate::predict::{Batches, FusedBlock, Predictive as _};
use crate::{Error, Result};

/// With so few draws no k-hat is good.
const TOO_FEW_DRAWS: usize = 10;

/// Predictions of all rows of a fit, each without itself, in the units of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The means.
    pub mean: Vec<f64>,
    /// The standard deviations, noise included.
    pub sd: Vec<f64>,
    /// The probability integral transform of each target.
    pub pit: Vec<f64>,
    /// The Pareto shape of each row; with chains that have weights, the largest of all chains.
    pub khat: Vec<f64>,
    /// The largest shape to trust with this many draws.
    pub good_k: f64,
}

impl LeftOut {
    /// How many rows have a k-hat that is not to be trusted.
    pub fn bad(&self) -> usize {
        self.khat.iter().filter(|k| **k > self.good_k).count()
    }
}

impl Fitted {
    /// The predictions of the rows of the fit, each without itself.
    ///
    /// # Errors
    /// If there are too few draws, or what given experts say about these rows is not known.
    pub fn left_out(&self, threads: usize) -> Result<LeftOut> {
        if !self.settings.method.learns_experts() && self.said.is_none() {
            let problem = "what its experts say about rows left out is not in the model file, which an earlier version \
                           wrote: fit it again";
            return Err(Error::Data(problem.into()));
        }
        if self.says_outcomes() {
            let problem = "its experts said how probable outcomes are and no more, so that there is no mean of a row";
            return Err(Error::Data(problem.into()));
        }
        let (predictor, own) = (self.predictor_of(&self.draws).draw_by_draw(), self.own()?);
        let prediction = predictor.at(&own.rows, own.given.as_ref());
        let batches = prediction.batches();
        let (draws, groups) = (batches.draws(), groups(batches));
        if self.settings.method.is_sampled() && draws <= TOO_FEW_DRAWS {
            let problem = format!(
                "rows cannot be left out with {draws} draws: use more than {TOO_FEW_DRAWS}"
            );
            return Err(Error::Sampling(problem.into()));
        }
        let y = self.data.y()?;
        let blocks = prediction.blocks(threads, |block| -> Result<Vec<[f64; 4]>> {
            (0..block.len()).map(|r| one(block, r, y[block.first + r], batches, groups)).collect()
        })?;
        let rows = blocks.into_iter().collect::<Result<Vec<_>>>()?.concat();
        let column = |c: usize| rows.iter().map(|row| row[c]).collect();
        let good_k = good_khat(draws / groups);
        let [mean, sd, pit, khat] = [0, 1, 2, 3].map(column);
        Ok(LeftOut { mean, sd, pit, khat, good_k })
    }
}

/// Chains that have weights leave a row out each by itself: their weights are taken as given.
fn groups(batches: &Batches) -> usize {
    if batches.are_weighted() { batches.chains() } else { 1 }
}

/// Mean, sd, PIT and k-hat of row `r` of a block without its target `y`.
fn one(block: &FusedBlock, r: usize, y: f64, batches: &Batches, groups: usize) -> Result<[f64; 4]> {
    let (draws, chains) = (batches.draws() / groups, batches.chains() / groups);
    let (mut parts, mut worst) = (Vec::with_capacity(batches.draws()), f64::NEG_INFINITY);
    for group in 0..groups {
        let each = (group * draws..(group + 1) * draws).map(|j| {
            let density = block.row_draws(r, j..j + 1)?;
            Ok([density.log_density(y), density.mean(), density.variance(), density.pit(y)])
        });
        let each = each.collect::<Result<Vec<[f64; 4]>>>()?;
        let logs: Vec<f64> = each.iter().map(|draw| draw[0]).collect();
        // What is not sampled has one point, and weights that one row hardly changes.
        let (weights, khat) = match draws {
            1 => (vec![1.0], f64::NEG_INFINITY),
            _ => without(&logs, chains),
        };
        let (_, share) = batches.stratum(group * batches.len() / groups);
        worst = worst.max(khat);
        parts
            .extend(weights.iter().zip(each).map(|(w, [_, m, var, pit])| (w * share, m, var, pit)));
    }
    let mean: f64 = parts.iter().map(|(w, m, ..)| w * m).sum();
    let variance: f64 = parts.iter().map(|(w, m, v, _)| w * (v + (m - mean).powi(2))).sum();
    let pit: f64 = parts.iter().map(|(w, .., pit)| w * pit).sum();
    Ok([mean, variance.sqrt(), pit.clamp(0.0, 1.0), worst])
}
