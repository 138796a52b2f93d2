//! Weights averaged over draws, for a linear pool of given experts.
//!
//! Given experts do not change from draw to draw, only their weights do. The average over J
//! draws of a linear pool is then
//!
//! `1/J sum_j sum_k w_jk N(mu_k, sd_k^2) = sum_k (1/J sum_j w_jk) N(mu_k, sd_k^2)`:
//!
//! K components with the posterior mean weights, exactly. The mean is taken batch by batch, so
//! that the Monte Carlo errors of the scores, which leave out one batch at a time, are what
//! they were: K components for each batch instead of K for each draw.

use crate::math::simd::{Level, vectorised};
use crate::math::{Lanes, ROWS, exp};

/// The sum of each expert's weights over some draws, as `sum * e^top`. The largest weight is
/// kept apart, because one that underflows may still be all there is far out in a tail.
#[derive(Debug, Clone)]
pub(super) struct WeightSum {
    top: Vec<Lanes>,
    sum: Vec<Lanes>,
}

impl WeightSum {
    /// Of `experts` experts and no draw.
    pub(super) fn new(experts: usize) -> WeightSum {
        let lanes = |v: f64| vec![Lanes::splat(v); experts];
        WeightSum { top: lanes(f64::MIN), sum: lanes(0.0) }
    }

    /// Add the log weights of a draw.
    pub(super) fn add(&mut self, level: Level, log_w: &[Lanes]) {
        add(level, log_w, &mut self.top, &mut self.sum);
    }

    /// Write the logs of the sums to `log_w` and begin anew.
    pub(super) fn finish(&mut self, log_w: &mut [Lanes]) {
        for (k, out) in log_w.iter_mut().enumerate() {
            for r in 0..ROWS {
                out[r] = self.top[k][r] + self.sum[k][r].ln();
            }
        }
        self.top.fill(Lanes::splat(f64::MIN));
        self.sum.fill(Lanes::splat(0.0));
    }
}

vectorised! {
    fn add = add_kernel(log_w: &[Lanes], top: &mut [Lanes], sum: &mut [Lanes]);
}

#[inline(always)]
fn add_kernel<const FMA: bool>(log_w: &[Lanes], top: &mut [Lanes], sum: &mut [Lanes]) {
    for k in 0..log_w.len() {
        let (log_w, top, sum) = (&log_w[k], &mut top[k], &mut sum[k]);
        for r in 0..ROWS {
            let larger = if log_w[r] > top[r] { log_w[r] } else { top[r] };
            sum[r] = sum[r] * exp::<FMA>(top[r] - larger) + exp::<FMA>(log_w[r] - larger);
            top[r] = larger;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights that underflow included, in any order, and again after the first sum.
    #[test]
    fn the_sum_is_that_of_the_weights() {
        let level = Level::detect();
        let mut sum = WeightSum::new(2);
        for log_w in [[-1.0, -2000.0, -3.0], [-900.0, -901.0, -900.0], [-5.0, 0.0, -800.0]] {
            for l in log_w {
                sum.add(level, &[Lanes::splat(l), Lanes::splat(l - 2.0)]);
            }
            let top = log_w.into_iter().fold(f64::MIN, f64::max);
            let expected = top + log_w.iter().map(|l| (l - top).exp()).sum::<f64>().ln();
            let mut found = [Lanes::splat(0.0); 2];
            sum.finish(&mut found);
            assert!((found[0][0] - expected).abs() < 1e-12 * top.abs().max(1.0));
            assert!((found[1][ROWS - 1] - expected + 2.0).abs() < 1e-12 * top.abs().max(1.0));
        }
    }
}
