//! Expert means that share a function: `mu_k = f + e^l sum_i H_ki g_i`.
//!
//! On eigenfunctions ([`Eigen`](crate::basis::Eigen)) the experts that a model learns do not have means of
//! their own, which on tables with many inputs no chain could keep apart. They have a common mean f, on
//! as many functions as the data ask for, and K - 1 contrasts g about it, on the few functions of
//! the log sds and gates. H (K, K - 1) has orthonormal columns that sum to zero (Helmert), so that f is
//! the average of the means and the contrasts cannot stand in for it; without it their sum and f
//! would fight. Contrasts are in units of the pilot's noise, whose log sd is l, the level of the
//! log sds. One expert has no contrast: `het` is the common mean alone, and all else is nested
//! in it.
//!
//! **What the functions of f leave out**, `r(x)` of f's pilot variance, is added to the noise of each
//! expert, and so is a floor: as many functions as rows could pass through every target, and the noise
//! about them shrink to nothing. With `s^2` the variance of f and t the floor, [`FLOOR`] of the pilot's noise,
//! `v_k = sd_k^2 + s^2 r(x) + t^2`; the variance of the target's rounding is part of t^2. The derivatives of `log_sd'_k = log(v_k) / 2` are
//! `d log_sd_k = (sd_k^2 / v_k) d log_sd'_k` and `d log s^2 = sum_k (s^2 r / v_k) d log_sd'_k / 2`.

use crate::math::simd::{Level, vectorised};
use crate::math::{Lanes, ROWS, exp, fma, ln};

/// The least noise, in units of the pilot's.
const FLOOR: f64 = 0.1;

/// The least variance of an expert's noise, where the log sds vary about `level`.
pub(crate) fn least_variance(level: f64) -> f64 {
    (FLOOR * level.exp()).powi(2)
}

/// How common mean and contrasts make the means of K experts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shared {
    /// `e^l H`, (experts, contrasts).
    mix: Vec<f64>,
    experts: usize,
    /// The least variance.
    floor: f64,
}

impl Shared {
    /// For `experts` experts with contrasts in units of `e^level`.
    pub(super) fn new(experts: usize, level: f64) -> Shared {
        let contrasts = experts - 1;
        let mut mix = vec![0.0; experts * contrasts];
        for i in 0..contrasts {
            // The first i + 1 experts against the next one.
            let (count, unit) = ((i + 1) as f64, level.exp());
            let norm = (count * (count + 1.0)).sqrt();
            for k in 0..=i {
                mix[k * contrasts + i] = unit / norm;
            }
            mix[(i + 1) * contrasts + i] = -unit * count / norm;
        }
        Shared { mix, experts, floor: least_variance(level) }
    }

    /// The same with the variance of the target's rounding in the floor.
    pub(super) fn rounded(self, variance: f64) -> Shared {
        Shared { floor: self.floor + variance, ..self }
    }

    /// The number of contrasts.
    pub(super) fn contrasts(&self) -> usize {
        self.experts - 1
    }

    /// The means of the experts on a block, without the level of f: from f and the contrasts.
    pub(super) fn means(&self, f: &[Lanes], mean: f64, mu: &mut [Lanes]) {
        let Some((common, contrasts)) = f.split_first() else { return };
        for (k, mu) in mu.iter_mut().enumerate() {
            for r in 0..ROWS {
                mu[r] = common[r] + mean;
            }
            let row = &self.mix[k * contrasts.len()..(k + 1) * contrasts.len()];
            for (g, h) in contrasts.iter().zip(row) {
                for r in 0..ROWS {
                    mu[r] += h * g[r];
                }
            }
        }
    }

    /// The derivative with respect to f (`i` none) or contrast `i`, from those of the means.
    pub(super) fn adjoint(&self, i: Option<usize>, d_mu: &[Lanes], out: &mut Lanes) {
        *out = Lanes::splat(0.0);
        for (k, d) in d_mu.iter().enumerate() {
            let h = i.map_or(1.0, |i| self.mix[k * self.contrasts() + i]);
            for r in 0..ROWS {
                out[r] += h * d[r];
            }
        }
    }
}

impl Shared {
    /// Add what the functions leave out of a mean with variance `var`, and the floor, to the noise of an
    /// expert on a block.
    pub(super) fn widen(&self, level: Level, var: f64, left: &Lanes, log_sd: &mut Lanes) {
        widen(level, var, left, self.floor, log_sd);
    }

    /// Turn the derivatives of the first `filled` rows with respect to a widened `log_sd` into those
    /// with respect to the expert's own; the sum over these rows of those with respect to `log var`.
    pub(super) fn widen_adjoint(
        &self,
        level: Level,
        var: f64,
        left: &Lanes,
        log_sd: &Lanes,
        filled: usize,
        d: &mut Lanes,
    ) -> f64 {
        widen_adjoint(level, var, left, self.floor, log_sd, filled, d)
    }
}

vectorised! {
    pub(super) fn widen = widen_kernel(var: f64, left: &Lanes, floor: f64, log_sd: &mut Lanes);
}

#[inline(always)]
fn widen_kernel<const FMA: bool>(var: f64, left: &Lanes, floor: f64, log_sd: &mut Lanes) {
    for r in 0..ROWS {
        // In units of the larger part, so that neither over- nor underflows.
        let (a, b) = (2.0 * log_sd[r], ln::<FMA>(fma::<FMA>(var, left[r], floor)));
        let top = if a > b { a } else { b };
        let sum = exp::<FMA>(a - top) + exp::<FMA>(b - top);
        log_sd[r] = 0.5 * (top + ln::<FMA>(sum));
    }
}

vectorised! {
    fn widen_adjoint = widen_adjoint_kernel(
        var: f64, left: &Lanes, floor: f64, log_sd: &Lanes, filled: usize, d: &mut Lanes,
    ) -> f64;
}

#[inline(always)]
fn widen_adjoint_kernel<const FMA: bool>(
    var: f64,
    left: &Lanes,
    floor: f64,
    log_sd: &Lanes,
    filled: usize,
    d: &mut Lanes,
) -> f64 {
    let mut by_var = Lanes::splat(0.0);
    for r in 0..ROWS {
        let (out, precision) = (var * left[r], exp::<FMA>(-2.0 * log_sd[r]));
        let share = precision * (out + floor);
        by_var[r] = 0.5 * precision * out * d[r];
        d[r] *= 1.0 - if share < 1.0 { share } else { 1.0 };
    }
    by_var[..filled].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrasts_are_orthonormal_and_sum_to_zero() {
        for experts in 1..6 {
            let shared = Shared::new(experts, 0.0);
            let count = shared.contrasts();
            let column = |i: usize| (0..experts).map(move |k| (k, i));
            let at = |(k, i): (usize, usize)| shared.mix[k * count + i];
            for i in 0..count {
                assert!(column(i).map(at).sum::<f64>().abs() < 1e-14);
                for j in 0..=i {
                    let dot: f64 = column(i).zip(column(j)).map(|(a, b)| at(a) * at(b)).sum();
                    assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-14);
                }
            }
        }
    }
}
