//! Chains as models of their own: each scored on rows left out, all weighted by stacking.
//!
//! Chains that do not mix sit in different modes, and how many of them end in a mode says nothing
//! about how well it predicts. Yao, Vehtari and Gelman ("Stacking for non-mixing Bayesian
//! computations: the curse and blessing of multimodal posteriors", Journal of Machine Learning
//! Research 23 (2022) 79) therefore take the weights w on the simplex that maximise
//!
//! `sum_i log sum_c w_c exp(elpd_ci) + (lambda - 1) sum_c log w_c`,
//!
//! with `elpd_ci` the log density of row i from the draws of chain c alone, the row left out by
//! Pareto-smoothed importance sampling, and a Dirichlet prior of `lambda = 1.001`, as theirs: just
//! enough to make the maximum unique.

use super::psis::{Loo, loo, relative_efficiency};
use crate::baseline::stacking;
use crate::infer::Draws;
use crate::model::Posterior;
use crate::parallel::parallel_with;
use crate::{Error, Result};

/// The concentration of the Dirichlet prior.
const LAMBDA: f64 = 1.001;

/// At the maximum, `n w_c` of the n rows are due to chain c. A chain to which less than this part
/// of a single row is due has no weight: all rows together lose at most 0.11 nats by each.
const PART_OF_A_ROW: f64 = 0.1;

/// Leave-one-out scores of each chain alone, at the same rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainLoo {
    each: Vec<Loo>,
}

impl ChainLoo {
    /// From the log likelihoods of each chain, row-major (draws, rows). They are asked for chain
    /// by chain, so that no more than those of one chain are in memory.
    pub fn new(
        chains: usize,
        rows: usize,
        threads: usize,
        mut log_lik: impl FnMut(usize) -> Result<Vec<f64>>,
    ) -> Result<ChainLoo> {
        if chains == 0 {
            let (expected, found) = ("at least one".into(), "none".into());
            return Err(Error::Shape { what: "chains".into(), expected, found });
        }
        let one = |c: usize| {
            let log_lik = log_lik(c)?;
            let efficiency = relative_efficiency(&log_lik, rows, 1, threads)?;
            loo(&log_lik, rows, &efficiency, threads)
        };
        Ok(ChainLoo { each: (0..chains).map(one).collect::<Result<_>>()? })
    }

    /// Of the draws of a posterior at some of its rows, in the units of a target that was divided
    /// by `scale`.
    pub fn of(
        posterior: &Posterior,
        draws: &Draws,
        rows: &[usize],
        scale: f64,
        threads: usize,
    ) -> Result<ChainLoo> {
        ChainLoo::new(draws.chains().len(), rows.len(), threads, |c| {
            let draws: Vec<&[f64]> = draws.chain(c).collect();
            log_likelihoods(posterior, &draws, rows, scale, threads)
        })
    }

    /// The scores of each chain.
    pub fn each(&self) -> &[Loo] {
        &self.each
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.each[0].pointwise.len()
    }

    /// The weights of the chains by stacking; they sum to one.
    ///
    /// Where the chains predict alike the maximum is flat, and noise decides where on it the
    /// weights are: there they mean little and do little harm.
    pub fn stack(&self) -> Vec<f64> {
        let scores: Vec<Vec<f64>> = self.each.iter().map(|loo| loo.pointwise.clone()).collect();
        let mut weights = stacking::weights(&scores, LAMBDA);
        let least = PART_OF_A_ROW / self.rows() as f64;
        // The largest of many chains may be small where there are few rows.
        let top = weights.iter().copied().fold(0.0, f64::max);
        weights.iter_mut().filter(|w| **w < least.min(top)).for_each(|w| *w = 0.0);
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    }

    /// The log density of each row without itself, from all chains with these weights.
    pub fn mixed(&self, weights: &[f64]) -> Vec<f64> {
        let used = || self.each.iter().zip(weights).filter(|(_, w)| **w > 0.0);
        let row = |i: usize| {
            let top = used().map(|(loo, _)| loo.pointwise[i]).fold(f64::MIN, f64::max);
            let sum: f64 = used().map(|(loo, w)| w * (loo.pointwise[i] - top).exp()).sum();
            top + sum.ln()
        };
        (0..self.rows()).map(row).collect()
    }
}

/// The log likelihood of each draw at each of some rows, row-major (draws, rows), in the units of
/// a target that was divided by `scale`: `log p(y) = log p(y / scale) - log scale`.
pub(crate) fn log_likelihoods(
    posterior: &Posterior,
    draws: &[&[f64]],
    rows: &[usize],
    scale: f64,
    threads: usize,
) -> Result<Vec<f64>> {
    let (all, log_scale) = (posterior.rows(), scale.ln());
    let room = || (posterior.clone(), vec![0.0; all]);
    let each = parallel_with(draws.len(), threads, room, |(posterior, out), s| {
        posterior.pointwise(draws[s], out);
        rows.iter().map(|r| out[*r] - log_scale).collect::<Vec<f64>>()
    })?;
    Ok(each.concat())
}
