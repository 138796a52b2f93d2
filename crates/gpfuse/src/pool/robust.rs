//! The robust log-linear pool: the product of the experts, a noise floor under it, and tails.
//!
//! `t_k = log w_k - 2 log sd_k`, `tau = sum_k exp(t_k)` and `m = sum_k tau_k mu_k / tau` are those
//! of the log-linear pool. Experts that are too sure of themselves make `1/tau` as small as they
//! like; the floor s holds the variance up, `v = 1/tau + s^2`, and a share e of the rows is
//! allowed to lie [`WIDE`] times as far out:
//! `p(y) = (1 - e) N(y; m, v) + e N(y; m, WIDE^2 v)`.
//!
//! With `L = log v`, `rho = 1 / (tau v)`, `z^2 = (y - m)^2 / v`, the responsibility r of the wide
//! component and `c = (1 - r) + r / WIDE^2`: `d L = (c z^2 - 1) / 2`, `d m = c (y - m) / v`, and
//! with `dL/dlog tau = -rho`, `dL/dlog s = 2 (1 - rho)`, `p_k = tau_k / tau`:
//! `d mu_k = p_k dm`, `d t_k = p_k ((mu_k - m) dm - rho dL)`, `d log_w_k = d t_k`,
//! `d log_sd_k = -2 d t_k`, `d log s = 2 (1 - rho) dL`, `d logit e = r - e`.

use super::log_linear::precision;
use super::{Components, ExpertBlock};
use crate::math::simd::vectorised;
use crate::math::{HALF_LN_TWO_PI, Lanes, ROWS, exp, fma, ln};

/// How many times as wide as the narrow component the wide one is.
pub(super) const WIDE: f64 = 4.0;

/// Beyond this many standard deviations the log density stays where it is.
const FARTHEST: f64 = 1e150;

vectorised! {
    pub(super) fn log_density = log_density_kernel(
        y: &Lanes, experts: &ExpertBlock, log_density: &mut Lanes, d: &mut ExpertBlock,
    );
}

/// `log(1 - e)` and `log e` of a logit.
#[inline(always)]
fn log_shares<const FMA: bool>(logit: f64) -> (f64, f64) {
    // log(1 + exp(-|logit|)), so that nothing overflows.
    let size = logit.abs();
    let more = ln::<FMA>(1.0 + exp::<FMA>(-size));
    let (minus, plus) = (-0.5 * (size + logit), 0.5 * (logit - size));
    (minus - more, plus - more)
}

/// The logarithm of the variance, and the share of the product in it, given `log tau`.
#[inline(always)]
fn variance<const FMA: bool>(log_tau: f64, log_floor: f64) -> (f64, f64) {
    let (product, floor) = (-log_tau, 2.0 * log_floor);
    let top = if product > floor { product } else { floor };
    let log_v = top + ln::<FMA>(exp::<FMA>(product - top) + exp::<FMA>(floor - top));
    (log_v, exp::<FMA>(product - log_v))
}

#[inline(always)]
fn log_density_kernel<const FMA: bool>(
    y: &Lanes,
    experts: &ExpertBlock,
    log_density: &mut Lanes,
    d: &mut ExpertBlock,
) {
    let (mut log_tau, mut mean) = (Lanes::splat(0.0), Lanes::splat(0.0));
    precision::<FMA>(experts, &mut d.log_w, &mut log_tau, &mut mean);
    // The pull on the mean and on log tau.
    let (mut pull, mut push) = (Lanes::splat(0.0), Lanes::splat(0.0));
    for r in 0..ROWS {
        let (log_v, rho) = variance::<FMA>(log_tau[r], experts.floor[r]);
        let per_sd = exp::<FMA>(-0.5 * log_v);
        let z = ((y[r] - mean[r]) * per_sd).clamp(-FARTHEST, FARTHEST);
        let (narrow, wide) = log_shares::<FMA>(experts.tail[r]);
        let q = fma::<FMA>(-0.5 * z, z, narrow);
        let q_wide = fma::<FMA>(-0.5 / (WIDE * WIDE) * z, z, wide - WIDE.ln());
        let top = if q > q_wide { q } else { q_wide };
        let (p, p_wide) = (exp::<FMA>(q - top), exp::<FMA>(q_wide - top));
        let sum = p + p_wide;
        log_density[r] = top + ln::<FMA>(sum) - 0.5 * log_v - HALF_LN_TWO_PI;
        let share = p_wide / sum;
        let c = fma::<FMA>(share, 1.0 / (WIDE * WIDE) - 1.0, 1.0);
        let slope = 0.5 * fma::<FMA>(c * z, z, -1.0);
        pull[r] = c * z * per_sd;
        push[r] = -rho * slope;
        d.floor[r] = 2.0 * (1.0 - rho) * slope;
        d.tail[r] = share - exp::<FMA>(wide);
    }
    for k in 0..experts.experts() {
        let (d_mu, d_log_sd, d_log_w) = (&mut d.mu[k], &mut d.log_sd[k], &mut d.log_w[k]);
        for r in 0..ROWS {
            let p = d_log_w[r];
            d_mu[r] = p * pull[r];
            d_log_w[r] = p * fma::<FMA>(pull[r], experts.mu[k][r] - mean[r], push[r]);
            d_log_sd[r] = -2.0 * d_log_w[r];
        }
    }
}

vectorised! {
    fn fuse_into = fuse_kernel(experts: &ExpertBlock, share: &mut [Lanes], out: &mut Components);
}

#[inline(always)]
fn fuse_kernel<const FMA: bool>(experts: &ExpertBlock, share: &mut [Lanes], out: &mut Components) {
    let (mut log_tau, mut mean) = (Lanes::splat(0.0), Lanes::splat(0.0));
    precision::<FMA>(experts, share, &mut log_tau, &mut mean);
    for r in 0..ROWS {
        let (log_v, _) = variance::<FMA>(log_tau[r], experts.floor[r]);
        let (narrow, wide) = log_shares::<FMA>(experts.tail[r]);
        let sd = exp::<FMA>(0.5 * log_v);
        (out.log_weight[0][r], out.log_weight[1][r]) = (narrow, wide);
        (out.sd[0][r], out.sd[1][r]) = (sd, WIDE * sd);
    }
    (out.mean[0], out.mean[1]) = (mean, mean);
}

pub(super) fn fuse(level: crate::math::simd::Level, experts: &ExpertBlock, out: &mut Components) {
    let mut share = vec![Lanes::splat(0.0); experts.experts()];
    fuse_into(level, experts, &mut share, out);
}
