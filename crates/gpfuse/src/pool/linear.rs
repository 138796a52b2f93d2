//! The linear pool: a mixture of the experts.
//!
//! `log p(y) = logsumexp_k q_k`, `q_k = log w_k + log N(y; mu_k, sd_k)`. With the
//! responsibilities `p_k = exp(q_k - log p)` and `z_k = (y - mu_k) / sd_k`:
//! `d mu_k = p_k z_k / sd_k`, `d log_sd_k = p_k (z_k^2 - 1)`, `d log_w_k = p_k`.

use super::{Components, ExpertBlock, softmax_kernel};
use crate::math::simd::vectorised;
use crate::math::{HALF_LN_TWO_PI, Lanes, ROWS, exp, fma};

/// Beyond this many standard deviations the log density stays where it is: its square is the
/// largest that a sum of many rows can hold, and the sampler has long turned away.
const FARTHEST_Z: f64 = 1e150;

vectorised! {
    pub(super) fn log_density = log_density_kernel(
        y: &Lanes, experts: &ExpertBlock, log_density: &mut Lanes, d: &mut ExpertBlock,
    );
}

#[inline(always)]
fn log_density_kernel<const FMA: bool>(
    y: &Lanes,
    experts: &ExpertBlock,
    log_density: &mut Lanes,
    d: &mut ExpertBlock,
) {
    let all = experts.experts();
    for k in 0..all {
        let (mu, log_sd, log_w) = (&experts.mu[k], &experts.log_sd[k], &experts.log_w[k]);
        let (z, per_sd, q) = (&mut d.log_sd[k], &mut d.mu[k], &mut d.log_w[k]);
        for r in 0..ROWS {
            per_sd[r] = exp::<FMA>(-log_sd[r]);
            z[r] = ((y[r] - mu[r]) * per_sd[r]).clamp(-FARTHEST_Z, FARTHEST_Z);
            q[r] = fma::<FMA>(-0.5 * z[r], z[r], log_w[r] - log_sd[r] - HALF_LN_TWO_PI);
        }
    }
    softmax_kernel::<FMA>(&mut d.log_w, log_density);
    for k in 0..all {
        let (z, d_mu, p) = (&mut d.log_sd[k], &mut d.mu[k], &d.log_w[k]);
        for r in 0..ROWS {
            d_mu[r] *= p[r] * z[r];
            z[r] = p[r] * fma::<FMA>(z[r], z[r], -1.0);
        }
    }
}

vectorised! {
    pub(super) fn fuse = fuse_kernel(experts: &ExpertBlock, out: &mut Components);
}

#[inline(always)]
fn fuse_kernel<const FMA: bool>(experts: &ExpertBlock, out: &mut Components) {
    for k in 0..experts.experts() {
        out.log_weight[k] = experts.log_w[k];
        out.mean[k] = experts.mu[k];
        for r in 0..ROWS {
            out.sd[k][r] = exp::<FMA>(experts.log_sd[k][r]);
        }
    }
}
