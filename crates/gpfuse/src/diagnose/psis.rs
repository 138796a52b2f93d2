//! Leave-one-out cross-validation by Pareto-smoothed importance sampling.
//!
//! From the log likelihood `l_si` of draw s and row i, the raw importance weight of draw s for
//! the posterior without row i is `exp(-l_si)`. The largest of them are replaced by quantiles of
//! a generalised Pareto distribution fitted to them, none larger than the largest was, and
//!
//! `elpd_i = log sum_s w_si exp(l_si) / sum_s w_si`.
//!
//! The fitted shape, k-hat, says how far to trust the row (Vehtari, Simpson, Gelman, Yao and
//! Gabry, "Pareto smoothed importance sampling", Journal of Machine Learning Research 25 (2024)
//! 72), in the form ArviZ 0.23 computes it.

use super::convergence::ess_mean;
use super::pareto::Pareto;
use crate::parallel::parallel;
use crate::{Error, Result};

/// A tail of this many draws or fewer is not fitted.
const TOO_FEW_IN_TAIL: usize = 4;

/// The largest k-hat that is good with any number of draws.
const LARGEST_GOOD_KHAT: f64 = 0.7;

/// Leave-one-out scores of a fit, by the rows it was fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct Loo {
    /// Expected log predictive density: the sum of `pointwise`.
    pub elpd: f64,
    /// Its standard error over rows.
    pub se: f64,
    /// The effective number of parameters: the log density with every row kept, less `elpd`.
    pub p_loo: f64,
    /// The log predictive density of each row without itself.
    pub pointwise: Vec<f64>,
    /// The Pareto shape of each row; infinite where there is no tail to fit, as for a constant
    /// row or very few draws.
    pub khat: Vec<f64>,
    /// The largest k-hat to trust with this many draws S, `min(1 - 1 / log10 S, 0.7)`.
    pub good_k: f64,
}

impl Loo {
    /// How many rows have a k-hat that is not to be trusted.
    pub fn bad(&self) -> usize {
        self.khat.iter().filter(|k| **k > self.good_k).count()
    }
}

/// The log likelihoods of all draws, row-major (draws, rows), the draws chain after chain.
#[derive(Debug, Clone, Copy)]
struct LogLik<'a> {
    values: &'a [f64],
    rows: usize,
    draws: usize,
}

impl<'a> LogLik<'a> {
    fn new(values: &'a [f64], rows: usize) -> Result<LogLik<'a>> {
        if rows == 0 || values.is_empty() || !values.len().is_multiple_of(rows) {
            return Err(Error::Shape {
                what: "log likelihoods".into(),
                expected: format!("a multiple of {rows} numbers, at least one row and draw"),
                found: format!("{} numbers", values.len()),
            });
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            let (draw, row, value) = (at / rows + 1, at % rows + 1, values[at]);
            let place = format!("log likelihood of row {row} in draw {draw}");
            return Err(Error::Data(format!("{place} is {value}: leave the draw or row out")));
        }
        Ok(LogLik { values, rows, draws: values.len() / rows })
    }

    /// All draws of a row.
    fn row(&self, row: usize) -> Vec<f64> {
        self.values.iter().skip(row).step_by(self.rows).copied().collect()
    }
}

/// The relative efficiency of the draws for each row: the effective sample size of its
/// likelihood over the number of draws; 1 where there are too few draws to tell.
///
/// `log_lik` is row-major (draws, rows), the draws of `chains` chains of equal length one after
/// the other.
pub fn relative_efficiency(
    log_lik: &[f64],
    rows: usize,
    chains: usize,
    threads: usize,
) -> Result<Vec<f64>> {
    let log_lik = LogLik::new(log_lik, rows)?;
    if chains == 0 || !log_lik.draws.is_multiple_of(chains) {
        return Err(Error::Shape {
            what: "chains".into(),
            expected: format!("a divisor of {} draws", log_lik.draws),
            found: chains.to_string(),
        });
    }
    parallel(rows, threads, |row| efficiency(&log_lik.row(row), chains))
}

/// The relative efficiency of the draws for one row; the chains are of equal length.
fn efficiency(logs: &[f64], chains: usize) -> f64 {
    let top = largest(logs);
    let likelihood: Vec<f64> = logs.iter().map(|l| (l - top).exp()).collect();
    let by_chain: Vec<&[f64]> = likelihood.chunks(logs.len() / chains).collect();
    let relative = ess_mean(&by_chain) / logs.len() as f64;
    if relative.is_nan() { 1.0 } else { relative }
}

/// The weights of the draws for the posterior without a row, which sum to one, and k-hat; from the log
/// likelihoods of this row in all draws, those of `chains` chains of equal length one after the other.
pub(crate) fn without(logs: &[f64], chains: usize) -> (Vec<f64>, f64) {
    let (log_weight, khat) = smooth(logs, efficiency(logs, chains));
    let total = log_sum_exp(&log_weight);
    (log_weight.iter().map(|w| (w - total).exp()).collect(), khat)
}

/// The largest k-hat to trust with this many draws.
pub(crate) fn good_khat(draws: usize) -> f64 {
    (1.0 - 1.0 / libm::log10(draws as f64)).min(LARGEST_GOOD_KHAT)
}

/// Leave-one-out scores from log likelihoods, row-major (draws, rows), and the
/// [`relative_efficiency`] of each row.
pub fn loo(log_lik: &[f64], rows: usize, efficiency: &[f64], threads: usize) -> Result<Loo> {
    let log_lik = LogLik::new(log_lik, rows)?;
    if efficiency.len() != rows {
        return Err(Error::Shape {
            what: "relative efficiencies".into(),
            expected: format!("{rows}, one per row"),
            found: efficiency.len().to_string(),
        });
    }
    if let Some(row) = efficiency.iter().position(|e| !(e.is_finite() && *e > 0.0)) {
        let (row, value) = (row + 1, efficiency[row]);
        let problem = format!("relative efficiency of row {row} is {value}: it must be positive");
        return Err(Error::Data(problem));
    }
    let draws = log_lik.draws as f64;
    let each = parallel(rows, threads, |row| {
        let logs = log_lik.row(row);
        let (log_weight, khat) = smooth(&logs, efficiency[row]);
        let total = log_sum_exp(&log_weight);
        let joint: Vec<f64> = log_weight.iter().zip(&logs).map(|(w, l)| w - total + l).collect();
        (log_sum_exp(&joint), log_sum_exp(&logs) - draws.ln(), khat)
    })?;
    let pointwise: Vec<f64> = each.iter().map(|row| row.0).collect();
    let (elpd, n) = (pointwise.iter().sum::<f64>(), rows as f64);
    let mean = elpd / n;
    Ok(Loo {
        elpd,
        // ArviZ divides by n, not by n - 1.
        se: pointwise.iter().map(|p| (p - mean).powi(2)).sum::<f64>().sqrt(),
        p_loo: each.iter().map(|row| row.1 - row.0).sum(),
        khat: each.iter().map(|row| row.2).collect(),
        good_k: good_khat(log_lik.draws),
        pointwise,
    })
}

/// Smoothed log weights, up to a constant, and k-hat.
///
/// Of S draws with relative efficiency r, the `min(S / 5, 3 sqrt(S / r))` largest weights are
/// the tail, those equal to the largest outside excepted.
fn smooth(log_lik: &[f64], efficiency: f64) -> (Vec<f64>, f64) {
    let draws = log_lik.len();
    let least = log_lik.iter().copied().fold(f64::INFINITY, f64::min);
    let mut log_weight: Vec<f64> = log_lik.iter().map(|l| least - l).collect();
    let mut order: Vec<usize> = (0..draws).collect();
    order.sort_by(|a, b| log_weight[*a].total_cmp(&log_weight[*b]));
    let wanted = (draws as f64 / 5.0).min(3.0 * (draws as f64 / efficiency).sqrt()).ceil();
    let outside = log_weight[order[draws.saturating_sub(wanted as usize + 1)]];
    // Weights that underflow are no tail.
    let cutoff = outside.max(f64::MIN_POSITIVE.ln());
    let first = order.partition_point(|s| log_weight[*s] <= cutoff);
    let tail = &order[first..];
    if tail.len() <= TOO_FEW_IN_TAIL {
        return (log_weight, f64::INFINITY);
    }
    let excess: Vec<f64> = tail.iter().map(|s| log_weight[*s].exp() - cutoff.exp()).collect();
    let Some(fitted) = Pareto::fit(&excess) else { return (log_weight, f64::INFINITY) };
    for (i, s) in tail.iter().enumerate() {
        let p = (i as f64 + 0.5) / tail.len() as f64;
        // Not above the largest raw weight, which is 1.
        log_weight[*s] = (fitted.quantile(p) + cutoff.exp()).ln().min(0.0);
    }
    (log_weight, fitted.shape)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// `ln sum e^v` of finite values.
fn log_sum_exp(values: &[f64]) -> f64 {
    let top = largest(values);
    top + values.iter().map(|v| (v - top).exp()).sum::<f64>().ln()
}
