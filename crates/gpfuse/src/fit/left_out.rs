//! What a model that learned its experts says about each of its rows without that row.
//!
//! The model is not fitted again. Each draw gets the importance weight that the posterior without the row
//! gives it, smoothed as in [`loo`](crate::diagnose::loo), and with these weights the draws' predictions are
//! averaged. What was chosen before sampling, such as scales and a pilot's lengthscales, is taken as given.

use super::Fitted;
use crate::diagnose::{good_khat, without};
use crate::predict::{Batches, FusedBlock, Predictive};
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
    /// If the model did not learn its experts, or has too few draws.
    pub fn left_out(&self, threads: usize) -> Result<LeftOut> {
        let prediction = self.predict(&self.data)?.on_threads(threads);
        let batches = prediction.batches();
        let (draws, groups) = (batches.draws(), groups(batches));
        if !self.settings.method.learns_experts() {
            let problem = "leaves out rows of models that learn their experts: use another method";
            return Err(Error::setting("method", problem));
        }
        if draws <= TOO_FEW_DRAWS {
            let problem = format!(
                "rows cannot be left out with {draws} draws: use more than {TOO_FEW_DRAWS}"
            );
            return Err(Error::Sampling(problem.into()));
        }
        let y = self.data.y()?;
        let blocks = prediction.blocks(threads, |block| -> Result<Vec<[f64; 3]>> {
            (0..block.len()).map(|r| one(block, r, y[block.first + r], batches, groups)).collect()
        })?;
        let rows = blocks.into_iter().collect::<Result<Vec<_>>>()?.concat();
        let column = |c: usize| rows.iter().map(|row| row[c]).collect();
        let good_k = good_khat(draws / groups);
        Ok(LeftOut { mean: column(0), sd: column(1), khat: column(2), good_k })
    }
}

/// Chains that have weights leave a row out each by itself: their weights are taken as given.
fn groups(batches: &Batches) -> usize {
    if batches.are_weighted() { batches.chains() } else { 1 }
}

/// Mean, sd and k-hat of row `r` of a block without its target `y`.
fn one(block: &FusedBlock, r: usize, y: f64, batches: &Batches, groups: usize) -> Result<[f64; 3]> {
    let (draws, chains) = (batches.draws() / groups, batches.chains() / groups);
    let (mut parts, mut worst) = (Vec::with_capacity(batches.draws()), f64::NEG_INFINITY);
    for group in 0..groups {
        let each = (group * draws..(group + 1) * draws).map(|j| {
            let density = block.row_draws(r, j..j + 1)?;
            Ok([density.log_density(y), density.mean(), density.variance()])
        });
        let each = each.collect::<Result<Vec<[f64; 3]>>>()?;
        let logs: Vec<f64> = each.iter().map(|draw| draw[0]).collect();
        let (weights, khat) = without(&logs, chains);
        let (_, share) = batches.stratum(group * batches.len() / groups);
        worst = worst.max(khat);
        parts.extend(weights.iter().zip(each).map(|(w, [_, mean, var])| (w * share, mean, var)));
    }
    let mean: f64 = parts.iter().map(|(w, mean, _)| w * mean).sum();
    let variance: f64 = parts.iter().map(|(w, m, v)| w * (v + (m - mean).powi(2))).sum();
    Ok([mean, variance.sqrt(), worst])
}
