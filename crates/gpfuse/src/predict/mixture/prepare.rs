//! From log weights, means and standard deviations to what the sums over a mixture need.

use super::sums::{BLOCK, add, each_block};
use crate::math::simd::vectorised;
use crate::math::{WIDTH, exp, fma, total};

/// What the components are, taken together.
pub(super) struct Prepared {
    /// The largest log weight; NaN or infinite if the weights are no weights.
    pub(super) largest: f64,
    /// The sum of all weights relative to the largest; NaN if the weights are no weights.
    pub(super) total: f64,
    /// Whether every mean is in range.
    pub(super) means_fit: bool,
    /// Whether every standard deviation is in range.
    pub(super) sds_fit: bool,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

vectorised! {
    /// Check the components, fill in their weights, which sum to 1, and their inverse standard
    /// deviations, and find the first two moments.
    pub(super) fn prepare = prepare_kernel(
        log_weight: &[f64], mean: &[f64], sd: &[f64], weight: &mut [f64], inv_sd: &mut [f64],
    ) -> Prepared;
}

#[inline(always)]
fn prepare_kernel<const FMA: bool>(
    log_weight: &[f64],
    mean: &[f64],
    sd: &[f64],
    weight: &mut [f64],
    inv_sd: &mut [f64],
) -> Prepared {
    let largest = largest(log_weight);
    let means_fit = all(mean, |m| m.abs() <= 1e150);
    let sds_fit = all(sd, |s| (1e-150..=1e150).contains(&s));
    // About a component's mean, so that a common offset does not cost digits.
    let center = mean.first().copied().unwrap_or(0.0);
    for (w, log_weight) in weight.iter_mut().zip(log_weight) {
        *w = exp::<FMA>(log_weight - largest);
    }
    for (r, s) in inv_sd.iter_mut().zip(sd) {
        *r = 1.0 / s;
    }
    let (mut sum, mut first, mut terms) = ([0.0; WIDTH], [0.0; WIDTH], [0.0; BLOCK]);
    each_block!(BLOCK, w = weight, m = mean; {
        let terms = &mut terms[..w.len()];
        for i in 0..w.len() {
            terms[i] = w[i] * (m[i] - center);
        }
        add(&mut sum, w);
        add(&mut first, terms);
    });
    let total_weight = total(&sum);
    let scale = 1.0 / total_weight;
    let middle = fma::<FMA>(total(&first), scale, center);
    for w in weight.iter_mut() {
        *w *= scale;
    }
    let mut second = [0.0; WIDTH];
    each_block!(BLOCK, w = weight, m = mean, s = sd; {
        let terms = &mut terms[..w.len()];
        for i in 0..w.len() {
            let d = m[i] - middle;
            terms[i] = w[i] * fma::<FMA>(d, d, s[i] * s[i]);
        }
        add(&mut second, terms);
    });
    let variance = total(&second);
    Prepared { largest, total: total_weight, means_fit, sds_fit, mean: middle, variance }
}

/// The largest of some numbers; NaN does not count.
#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let mut best = [f64::NEG_INFINITY; WIDTH];
    let (whole, rest) = values.as_chunks::<WIDTH>();
    for chunk in whole {
        for j in 0..WIDTH {
            best[j] = if chunk[j] > best[j] { chunk[j] } else { best[j] };
        }
    }
    best.iter().chain(rest).fold(f64::NEG_INFINITY, |a, b| a.max(*b))
}

/// Whether all numbers pass: a whole pass without an early end, which the compiler vectorises.
#[inline(always)]
fn all(values: &[f64], passes: impl Fn(f64) -> bool) -> bool {
    let mut worst = [0.0; WIDTH];
    let (whole, rest) = values.as_chunks::<WIDTH>();
    for chunk in whole {
        for j in 0..WIDTH {
            worst[j] = if passes(chunk[j]) { worst[j] } else { 1.0 };
        }
    }
    worst.iter().all(|w| *w == 0.0) && rest.iter().all(|v| passes(*v))
}
