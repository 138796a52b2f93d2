//! From experts to the weights of the regression's rows, and back.
//!
//! With `a_k = log w_k - 2 log sd_k`, the log of expert k's weighted precision: `log tau =
//! logsumexp_k a_k`, `c_k = exp(a_k - log tau)`, and the rows of expert k are weighted by
//! `r_k = sqrt(tau) c_k`. As `log r_k = a_k - log(tau) / 2`, derivatives e with respect to the
//! `log r_k` become `d a_k = e_k - c_k sum_j e_j / 2`.

use crate::math::simd::vectorised;
use crate::math::{Lanes, ROWS, exp, fma};
use crate::pool::{ExpertBlock, softmax_kernel};

vectorised! {
    /// The shares `c_k`, the weights `r_k` and `sqrt(tau)` of a block's rows.
    pub(super) fn weights = weights_kernel(
        experts: &ExpertBlock, share: &mut [Lanes], weight: &mut [Lanes], root: &mut Lanes,
    );
}

#[inline(always)]
fn weights_kernel<const FMA: bool>(
    experts: &ExpertBlock,
    share: &mut [Lanes],
    weight: &mut [Lanes],
    root: &mut Lanes,
) {
    for (k, a) in share.iter_mut().enumerate() {
        for r in 0..ROWS {
            a[r] = fma::<FMA>(-2.0, experts.log_sd[k][r], experts.log_w[k][r]);
        }
    }
    softmax_kernel::<FMA>(share, root);
    for r in 0..ROWS {
        root[r] = exp::<FMA>(0.5 * root[r]);
    }
    for (weight, c) in weight.iter_mut().zip(share) {
        for r in 0..ROWS {
            weight[r] = c[r] * root[r];
        }
    }
}

vectorised! {
    /// Turn the derivatives with respect to `log r_k` into those with respect to `a_k`, in place.
    pub(super) fn weights_adjoint = weights_adjoint_kernel(share: &[Lanes], d: &mut [Lanes]);
}

#[inline(always)]
fn weights_adjoint_kernel<const FMA: bool>(share: &[Lanes], d: &mut [Lanes]) {
    let mut half = Lanes::splat(0.0);
    for d in d.iter() {
        for r in 0..ROWS {
            half[r] += 0.5 * d[r];
        }
    }
    for (d, c) in d.iter_mut().zip(share) {
        for r in 0..ROWS {
            d[r] = fma::<FMA>(-c[r], half[r], d[r]);
        }
    }
}
