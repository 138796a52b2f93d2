//! Experts that say how probable outcomes are: the log density of the target, or the log probability of each class.
//!
//! With `l_kc` what expert k says of outcome c, 0 being the target, a mixture has
//! `log p_c = logsumexp_k (log w_k + l_kc)`. With the responsibilities `r_k = exp(log w_k + l_k0 - log p_0)` the
//! derivative of `log p_0` is `d log w_k = r_k`.

use super::{ExpertBlock, softmax_kernel};
use crate::math::simd::vectorised;
use crate::math::{Lanes, ROWS, exp, ln};

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
