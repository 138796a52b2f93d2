//! Products of experts and committee machines: one normal density per row.
//!
//! With powers `b_k` (of each row, in general), variances `v_k = sd_k^2` and the prior
//! `N(m_0, v_0)`:
//!
//! * product: `tau = sum_k b_k / v_k`, `m = sum_k b_k mu_k / v_k / tau`;
//! * committee: `tau = 1/v_0 + sum_k b_k (1/v_k - 1/v_0)`,
//!   `m = m_0 + sum_k b_k (mu_k - m_0) / v_k / tau`.
//!
//! The rules differ in kind and power:
//!
//! * `poe`: a product, powers 1 (Hinton, Neural Computation 14 (2002) 1771-1800);
//! * `gpoe-uniform`: a product, powers 1/K (Deisenroth and Ng, ICML 2015);
//! * `gpoe-entropy`: a product, powers `(ln v_0 - ln v_k) / 2`, at least [`ENTROPY_FLOOR`],
//!   divided by their sum (Cao and Fleet, arXiv:1410.7827);
//! * `gpoe-softmax`: a product, powers `exp(-T v_k / v_0)` with T = [`TEMPERATURE`], divided by
//!   their sum (Cohen, Mbuvha, Marwala and Deisenroth, ICML 2020);
//! * `bcm`: a committee, powers 1 (Tresp, Neural Computation 12 (2000) 2719-2741);
//! * `rbcm`: a committee, powers `(ln v_0 - ln v_k) / 2`, at least 0 (Deisenroth and Ng, ICML
//!   2015).
//!
//! The sources state the formulas for GPs with a common prior, where no expert is wider than
//! the prior. Experts from elsewhere may be. Then the precision of `bcm` can fall below the
//! prior's, to 0 and past it; it is floored at the prior's, `1/v_0`, and the rows where that
//! happened are counted. `rbcm` gives such an expert no say; no term of its sum is negative
//! then, and it needs no floor. One expert alone is returned by every product and, if it is no
//! wider than the prior, by `bcm`; not by `rbcm`, whose power is 1 only where `v_k = v_0 / e^2`.

use super::{Predictions, Prior, Rule};
use crate::Result;
use crate::predict::Fused;

/// The least entropy power before they are normalised: where every expert is as wide as the
/// prior or wider, they then weigh the same.
pub const ENTROPY_FLOOR: f64 = 1e-6;

/// The temperature T of `gpoe-softmax`. Its source takes 100 for a standardised target; with
/// variances in units of the prior's it means the same for any target. Noise that the experts have
/// in common cancels.
pub const TEMPERATURE: f64 = 100.0;

/// Fuse every row by `rule`.
pub(super) fn fuse(rule: Rule, prior: Prior, at: &Predictions) -> Result<Fused> {
    let (mut mean, mut sd, mut clamped) = (Vec::new(), Vec::new(), 0);
    for row in 0..at.rows() {
        let of = |all: &[Vec<f64>]| all.iter().map(|values| values[row]).collect::<Vec<f64>>();
        let (means, vars) = (of(at.mean()), of(at.sd()).iter().map(|s| s * s).collect::<Vec<_>>());
        let powers = powers(rule, prior, &vars);
        let (m, tau) = match rule {
            Rule::Bcm | Rule::Rbcm => committee(&powers, &means, &vars, prior, &mut clamped),
            _ => product(&powers, &means, &vars),
        };
        mean.push(m);
        sd.push(tau.sqrt().recip());
    }
    Ok(Fused::normal(mean, sd)?.with_clamped(clamped))
}

/// The experts' powers at a row.
fn powers(rule: Rule, prior: Prior, vars: &[f64]) -> Vec<f64> {
    let entropy = |least: f64| -> Vec<f64> {
        vars.iter().map(|v| (0.5 * (prior.var.ln() - v.ln())).max(least)).collect()
    };
    match rule {
        Rule::GpoeUniform => normalised(vec![1.0; vars.len()]),
        Rule::GpoeEntropy => normalised(entropy(ENTROPY_FLOOR)),
        Rule::GpoeSoftmax => {
            let least = vars.iter().copied().fold(f64::INFINITY, f64::min);
            let above = |v: &f64| (-TEMPERATURE * (v - least) / prior.var).exp();
            normalised(vars.iter().map(above).collect())
        }
        Rule::Rbcm => entropy(0.0),
        _ => vec![1.0; vars.len()],
    }
}

fn normalised(powers: Vec<f64>) -> Vec<f64> {
    let total: f64 = powers.iter().sum();
    powers.iter().map(|b| b / total).collect()
}

/// Mean and precision of a product.
fn product(powers: &[f64], means: &[f64], vars: &[f64]) -> (f64, f64) {
    let precisions = || powers.iter().zip(vars).map(|(b, v)| b / v);
    let tau: f64 = precisions().sum();
    (precisions().zip(means).map(|(t, m)| t / tau * m).sum(), tau)
}

/// Mean and precision of a committee; counts a floored precision.
fn committee(
    powers: &[f64],
    means: &[f64],
    vars: &[f64],
    prior: Prior,
    clamped: &mut usize,
) -> (f64, f64) {
    let floor = prior.var.recip();
    let beyond = |(b, v): (&f64, &f64)| b * (v.recip() - floor);
    let beyond: f64 = powers.iter().zip(vars).map(beyond).sum();
    *clamped += usize::from(beyond < 0.0);
    let tau = floor + beyond.max(0.0);
    let pull = (0..vars.len()).map(|k| powers[k] / vars[k] / tau * (means[k] - prior.mean));
    (prior.mean + pull.sum::<f64>(), tau)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: Prior = Prior { mean: 0.3, var: 2.0 };

    #[test]
    fn powers_sum_to_one_where_they_should() {
        for vars in [vec![0.1, 0.7, 1.9], vec![5.0, 2.0, 9.0], vec![1e-24, 1.0, 1e24], vec![4.0]] {
            for rule in [Rule::GpoeUniform, Rule::GpoeEntropy, Rule::GpoeSoftmax] {
                let powers = powers(rule, PRIOR, &vars);
                assert!((powers.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{rule} {powers:?}");
                assert!(powers.iter().all(|b| *b >= 0.0), "{rule} {powers:?}");
            }
        }
    }

    /// Of two experts the surer has more power, in the ratio that the formula says.
    #[test]
    fn powers_follow_their_formulas() {
        let vars = [0.5, 1.0];
        let entropy = powers(Rule::GpoeEntropy, PRIOR, &vars);
        assert!((entropy[0] / entropy[1] - 4.0_f64.ln() / 2.0_f64.ln()).abs() < 1e-14);
        let softmax = powers(Rule::GpoeSoftmax, PRIOR, &[0.5, 0.52]);
        assert!((softmax[0] / softmax[1] - 1.0_f64.exp()).abs() < 1e-12);
        let robust = powers(Rule::Rbcm, PRIOR, &[0.5, 1.0, 3.0]);
        assert!((robust[0] - 2.0_f64.ln()).abs() < 1e-15 && robust[2] == 0.0);
    }
}
