//! Experts that say how probable outcomes are: the log density of the target, or the log probability of each class.
//!
//! With `l_kc` what expert k says of outcome c, 0 being the target, a mixture has
//! `log p_c = logsumexp_k (log w_k + l_kc)`. With the responsibilities `r_k = exp(log w_k + l_k0 - log p_0)` the
//! derivative of `log p_0` is `d log w_k = r_k`.
//!
//! A product has `log p_c = s_c - logsumexp_b s_b` with `s_c = sum_k w_k l_kc`, the normaliser in closed form. With
//! `d s_c / d log w_k = w_k l_kc` the derivative of `log p_0` is `d log w_k = w_k (l_k0 - sum_c p_c l_kc)`: how much
//! more probable expert k held the target than the product expects it to.

use super::{ExpertBlock, log_softmax_kernel, softmax_kernel};
use crate::math::simd::{Level, vectorised};
use crate::math::{Lanes, ROWS, exp, fma, ln};

/// No weight in a product is larger, so that it has a finite product with every log probability.
const HIGHEST_LOG_WEIGHT: f64 = 100.0;

vectorised! {
    /// The log density of the target under a mixture, and its derivatives with respect to the log weights.
    pub(super) fn mixed = mixed_kernel(
        experts: &ExpertBlock, log_density: &mut Lanes, d: &mut ExpertBlock,
    );
}

#[inline(always)]
fn mixed_kernel<const FMA: bool>(
    experts: &ExpertBlock,
    log_density: &mut Lanes,
    d: &mut ExpertBlock,
) {
    for k in 0..experts.experts() {
        let (q, log_w, log_p) = (&mut d.log_w[k], &experts.log_w[k], &experts.log_p[k]);
        for r in 0..ROWS {
            q[r] = log_w[r] + log_p[r];
        }
    }
    softmax_kernel::<FMA>(&mut d.log_w, log_density);
}

/// The log probability of the target under a product, and its derivatives with respect to the log weights.
pub(super) fn multiplied(
    level: Level,
    experts: &ExpertBlock,
    log_density: &mut Lanes,
    d: &mut ExpertBlock,
) {
    d.log_p.resize(experts.log_p.len() / experts.experts(), Lanes::splat(0.0));
    multiplied_into(level, experts, log_density, d);
}

vectorised! {
    fn multiplied_into = multiplied_kernel(
        experts: &ExpertBlock, log_density: &mut Lanes, d: &mut ExpertBlock,
    );
}

#[inline(always)]
fn multiplied_kernel<const FMA: bool>(
    experts: &ExpertBlock,
    log_density: &mut Lanes,
    d: &mut ExpertBlock,
) {
    let all = experts.experts();
    products_kernel::<FMA>(experts, &mut d.log_w, &mut d.log_p);
    let target = d.log_p[0];
    let mut total = Lanes::splat(0.0);
    softmax_kernel::<FMA>(&mut d.log_p, &mut total);
    for r in 0..ROWS {
        log_density[r] = target[r] - total[r];
    }
    for (k, w) in d.log_w.iter_mut().enumerate() {
        let mut gain = experts.log_p[k];
        for (c, p) in d.log_p.iter().enumerate() {
            for r in 0..ROWS {
                gain[r] = fma::<FMA>(-p[r], experts.log_p[c * all + k][r], gain[r]);
            }
        }
        for r in 0..ROWS {
            w[r] *= gain[r];
        }
    }
}

/// The weights `w_k` into `weights`, and the sums `s_c` into `out`.
#[inline(always)]
fn products_kernel<const FMA: bool>(
    experts: &ExpertBlock,
    weights: &mut [Lanes],
    out: &mut [Lanes],
) {
    for (w, log_w) in weights.iter_mut().zip(&experts.log_w) {
        for r in 0..ROWS {
            let log_w = if log_w[r] < HIGHEST_LOG_WEIGHT { log_w[r] } else { HIGHEST_LOG_WEIGHT };
            w[r] = exp::<FMA>(log_w);
        }
    }
    let all = weights.len();
    for (c, out) in out.iter_mut().enumerate() {
        *out = Lanes::splat(0.0);
        for (w, log_p) in weights.iter().zip(&experts.log_p[c * all..(c + 1) * all]) {
            for r in 0..ROWS {
                out[r] = fma::<FMA>(w[r], log_p[r], out[r]);
            }
        }
    }
}

/// The log probability of each outcome under a product.
pub(super) fn of_product(level: Level, experts: &ExpertBlock, out: &mut [Lanes]) {
    let mut weights = vec![Lanes::splat(0.0); experts.experts()];
    of_product_into(level, experts, &mut weights, out);
}

vectorised! {
    fn of_product_into = of_product_kernel(
        experts: &ExpertBlock, weights: &mut [Lanes], out: &mut [Lanes],
    );
}

#[inline(always)]
fn of_product_kernel<const FMA: bool>(
    experts: &ExpertBlock,
    weights: &mut [Lanes],
    out: &mut [Lanes],
) {
    products_kernel::<FMA>(experts, weights, out);
    log_softmax_kernel::<FMA>(out);
}

vectorised! {
    /// The log probability of each outcome under a mixture.
    pub(super) fn of_mixture = of_mixture_kernel(experts: &ExpertBlock, out: &mut [Lanes]);
}

#[inline(always)]
fn of_mixture_kernel<const FMA: bool>(experts: &ExpertBlock, out: &mut [Lanes]) {
    let all = experts.experts();
    for (c, out) in out.iter_mut().enumerate() {
        let log_p = &experts.log_p[c * all..(c + 1) * all];
        let mut top = Lanes::splat(f64::MIN);
        for k in 0..all {
            for r in 0..ROWS {
                let q = experts.log_w[k][r] + log_p[k][r];
                top[r] = if q > top[r] { q } else { top[r] };
            }
        }
        *out = Lanes::splat(0.0);
        for k in 0..all {
            for r in 0..ROWS {
                out[r] += exp::<FMA>(experts.log_w[k][r] + log_p[k][r] - top[r]);
            }
        }
        for r in 0..ROWS {
            out[r] = top[r] + ln::<FMA>(out[r]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// `experts` experts with probabilities of `classes` classes, some close to 0.
    fn block(experts: usize, classes: usize) -> ExpertBlock {
        let mut rng = stream(5, Purpose::Simulate, (10 * experts + classes) as u64);
        let mut block = ExpertBlock::new(experts);
        let mut lanes = |scale: f64| {
            let mut lanes = Lanes::splat(0.0);
            (0..ROWS).for_each(|r| lanes[r] = scale * rng.sample::<f64, _>(StandardNormal));
            lanes
        };
        block.log_w = (0..experts).map(|_| lanes(1.0)).collect();
        block.log_p = (0..experts * classes).map(|_| lanes(5.0)).collect();
        for k in 0..experts {
            for r in 0..ROWS {
                let all = || (0..classes).map(|c| c * experts + k);
                let sum: f64 = all().map(|i| block.log_p[i][r].exp()).sum();
                all().for_each(|i| block.log_p[i][r] -= sum.ln());
            }
        }
        block
    }

    /// `prod_k p_kc^w_k` normalised, in the row `r`: written down with probabilities and without logs.
    fn by_hand(block: &ExpertBlock, r: usize) -> Vec<f64> {
        let experts = block.experts();
        let one = |own: &[Lanes]| -> f64 {
            own.iter().zip(&block.log_w).map(|(p, w)| p[r].exp().powf(w[r].exp())).product()
        };
        let all: Vec<f64> = block.log_p.chunks(experts).map(one).collect();
        all.iter().map(|p| p / all.iter().sum::<f64>()).collect()
    }

    /// On every instruction set: the probabilities of a product are those of the formula, the first is the target's,
    /// and the derivatives are those of finite differences.
    #[test]
    fn a_product_of_classes_is_normalised_and_has_its_gradient() {
        for level in Level::available() {
            for (experts, classes) in [(1, 2), (2, 2), (3, 5), (5, 3)] {
                let block = block(experts, classes);
                let mut all = vec![Lanes::splat(f64::NAN); classes];
                of_product(level, &block, &mut all);
                let (mut log_p, mut d) = (Lanes::splat(f64::NAN), ExpertBlock::new(experts));
                multiplied(level, &block, &mut log_p, &mut d);
                for r in 0..ROWS {
                    let book = by_hand(&block, r);
                    for (found, book) in all.iter().zip(&book) {
                        assert!((found[r].exp() - book).abs() < 1e-13, "{} {book}", found[r].exp());
                    }
                    assert!((log_p[r] - all[0][r]).abs() <= 1e-12 * all[0][r].abs().max(1.0));
                }
                const STEP: f64 = 1e-5;
                for k in 0..experts {
                    let moved = |by: f64| {
                        let (mut near, mut out) = (block.clone(), Lanes::splat(0.0));
                        (0..ROWS).for_each(|r| near.log_w[k][r] += by);
                        multiplied(level, &near, &mut out, &mut ExpertBlock::new(experts));
                        out
                    };
                    let (low, high) = (moved(-STEP), moved(STEP));
                    for r in 0..ROWS {
                        let (slope, found) = ((high[r] - low[r]) / (2.0 * STEP), d.log_w[k][r]);
                        assert!(
                            (slope - found).abs() < 1e-7 * found.abs().max(1.0),
                            "{slope} {found}"
                        );
                    }
                }
            }
        }
    }

    /// Weights that overflow and probabilities at the floor give numbers.
    #[test]
    fn extremes_of_a_product_are_numbers() {
        for level in Level::available() {
            for log_w in [-1e6, 0.0, 90.0, 1e6] {
                let mut block = block(2, 3);
                block.log_w.fill(Lanes::splat(log_w));
                block.log_p[0] = Lanes::splat(1e-15_f64.ln());
                let (mut log_p, mut d) = (Lanes::splat(f64::NAN), ExpertBlock::new(2));
                multiplied(level, &block, &mut log_p, &mut d);
                let finite = |lanes: &Lanes| (0..ROWS).all(|r| lanes[r].is_finite());
                assert!(finite(&log_p) && d.log_w.iter().all(finite), "{log_w}");
            }
        }
    }
}
