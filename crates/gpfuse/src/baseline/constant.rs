//! Constant weights in one step: softmaxes of log scores and of marginal likelihoods.

use rand::RngExt;
use rand_distr::Exp1;

use crate::random::{Purpose, stream};

/// Bayesian bootstrap replications of pseudo-BMA+.
const REPLICATIONS: usize = 1000;

/// Bayesian model averaging: `w_k` proportional to the marginal likelihood of expert k, all
/// models being equally likely beforehand (Hoeting, Madigan, Raftery and Volinsky, Statistical
/// Science 14 (1999) 382-417).
pub(super) fn bma(log_evidence: &[f64]) -> Vec<f64> {
    log_softmax(log_evidence)
}

/// Pseudo-BMA: `w_k` proportional to `exp(sum_i log p_k(y_i))`, the log scores being those of
/// rows that the experts have not seen (Yao, Vehtari, Simpson and Gelman, Bayesian Analysis 13
/// (2018) 917-1007, who take leave-one-out scores).
pub(super) fn pseudo_bma(log_scores: &[Vec<f64>]) -> Vec<f64> {
    log_softmax(&totals(log_scores))
}

/// Pseudo-BMA+: the mean over a Bayesian bootstrap of the rows, with `a ~ Dirichlet(1, ..., 1)`,
/// of the softmax of `n sum_i a_i log p_k(y_i)` (the same source).
pub(crate) fn pseudo_bma_plus(log_scores: &[Vec<f64>], seed: u64) -> Vec<f64> {
    let n = log_scores[0].len();
    let mut rng = stream(seed, Purpose::Bootstrap, 0);
    let mut mean = vec![0.0; log_scores.len()];
    for _ in 0..REPLICATIONS {
        let shares: Vec<f64> = (0..n).map(|_| rng.sample(Exp1)).collect();
        let each = n as f64 / shares.iter().sum::<f64>();
        let total = |scores: &Vec<f64>| scores.iter().zip(&shares).map(|(l, a)| each * a * l).sum();
        let weights = log_softmax(&log_scores.iter().map(total).collect::<Vec<f64>>());
        mean.iter_mut().zip(weights).for_each(|(m, w)| *m += w.exp());
    }
    // Normalised again: the mean of rounded weights sums to one but for rounding.
    log_softmax(&mean.iter().map(|m| m.ln()).collect::<Vec<f64>>())
}

/// All weight to the expert with the highest summed log score, the first of equals.
pub(super) fn best(log_scores: &[Vec<f64>]) -> Vec<f64> {
    let totals = totals(log_scores);
    let best = (1..totals.len()).fold(0, |a, k| if totals[k] > totals[a] { k } else { a });
    (0..totals.len()).map(|k| if k == best { 0.0 } else { f64::NEG_INFINITY }).collect()
}

fn totals(log_scores: &[Vec<f64>]) -> Vec<f64> {
    log_scores.iter().map(|scores| scores.iter().sum()).collect()
}

/// `v_k - ln sum_j e^(v_j)`, of which at least one is finite.
fn log_softmax(v: &[f64]) -> Vec<f64> {
    let top = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = v.iter().map(|v| (v - top).exp()).sum::<f64>().ln();
    v.iter().map(|v| v - top - total).collect()
}
