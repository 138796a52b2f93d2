//! The log-linear pool: a product of the experts, again one Gaussian.
//!
//! `tau_k = w_k / sd_k^2`, `tau = sum_k tau_k`, `m = sum_k tau_k mu_k / tau`,
//! `p(y) = N(y; m, 1/tau)`. In log space: `t_k = log w_k - 2 log sd_k`,
//! `log tau = logsumexp_k t_k`, `p_k = exp(t_k - log tau)`. With `u = (y - m) sqrt(tau)`:
//! `d mu_k = p_k u sqrt(tau)`, `d t_k = p_k ((1 - u^2) / 2 + u sqrt(tau) (mu_k - m))`,
//! `d log_w_k = d t_k`, `d log_sd_k = -2 d t_k`.

use super::{Components, ExpertBlock, softmax_kernel};
use crate::math::simd::vectorised;
use crate::math::{HALF_LN_TWO_PI, Lanes, ROWS, exp, fma};

vectorised! {
    pub(super) fn log_density = log_density_kernel(
        y: &Lanes, experts: &ExpertBlock, log_density: &mut Lanes, d: &mut ExpertBlock,
    );
}

/// Shares `p_k` into `share`, `log tau` into `log_tau`, the fused mean into `mean`.
#[inline(always)]
fn precision<const FMA: bool>(
    experts: &ExpertBlock,
    share: &mut [Lanes],
    log_tau: &mut Lanes,
    mean: &mut Lanes,
) {
    for (k, t) in share.iter_mut().enumerate() {
        for r in 0..ROWS {
            t[r] = fma::<FMA>(-2.0, experts.log_sd[k][r], experts.log_w[k][r]);
        }
    }
    softmax_kernel::<FMA>(share, log_tau);
    *mean = Lanes::splat(0.0);
    for (k, p) in share.iter().enumerate() {
        for r in 0..ROWS {
            mean[r] = fma::<FMA>(p[r], experts.mu[k][r], mean[r]);
        }
    }
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
    let (mut pull, mut half) = (Lanes::splat(0.0), Lanes::splat(0.0));
    for r in 0..ROWS {
        let root = exp::<FMA>(0.5 * log_tau[r]);
        let u = (y[r] - mean[r]) * root;
        pull[r] = u * root;
        half[r] = fma::<FMA>(-0.5 * u, u, 0.5);
        log_density[r] = fma::<FMA>(0.5, log_tau[r], half[r] - 0.5 - HALF_LN_TWO_PI);
    }
    for k in 0..experts.experts() {
        let (d_mu, d_log_sd, d_log_w) = (&mut d.mu[k], &mut d.log_sd[k], &mut d.log_w[k]);
        for r in 0..ROWS {
            let p = d_log_w[r];
            d_mu[r] = p * pull[r];
            d_log_w[r] = p * fma::<FMA>(pull[r], experts.mu[k][r] - mean[r], half[r]);
            d_log_sd[r] = -2.0 * d_log_w[r];
        }
    }
}

vectorised! {
    fn fuse_into = fuse_kernel(
        experts: &ExpertBlock, share: &mut [Lanes], mean: &mut Lanes, sd: &mut Lanes,
    );
}

#[inline(always)]
fn fuse_kernel<const FMA: bool>(
    experts: &ExpertBlock,
    share: &mut [Lanes],
    mean: &mut Lanes,
    sd: &mut Lanes,
) {
    precision::<FMA>(experts, share, sd, mean);
    for r in 0..ROWS {
        sd[r] = exp::<FMA>(-0.5 * sd[r]);
    }
}

pub(super) fn fuse(level: crate::math::simd::Level, experts: &ExpertBlock, out: &mut Components) {
    let mut share = vec![Lanes::splat(0.0); experts.experts()];
    out.log_weight[0] = Lanes::splat(0.0);
    fuse_into(level, experts, &mut share, &mut out.mean[0], &mut out.sd[0]);
}
