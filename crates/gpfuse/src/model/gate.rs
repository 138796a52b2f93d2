//! From the gates' GPs to log weights.

use serde::{Deserialize, Serialize};

use crate::math::simd::{Level, vectorised};
use crate::math::{Lanes, ROWS, exp};
use crate::pool::log_softmax_kernel;

/// How the gates' GPs become log weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// `log_softmax` of K-1 GPs of mean 0 and a last logit fixed at 0: weights on the simplex.
    Softmax,
    /// K GPs of mean `-log K`, not normalised: the weights are positive and free.
    Free,
}

impl Gate {
    /// How many GPs the gate of `experts` experts has, and their constant mean.
    pub fn bank(self, experts: usize) -> (usize, f64) {
        match self {
            Gate::Softmax => (experts - 1, 0.0),
            Gate::Free => (experts, -(experts as f64).ln()),
        }
    }

    /// Turn the gates' values into log weights, in place; the softmax's last lane is its own.
    pub(super) fn weigh(self, level: Level, log_w: &mut [Lanes]) {
        if self == Gate::Softmax {
            if let Some(last) = log_w.last_mut() {
                *last = Lanes::splat(0.0);
            }
            if log_w.len() > 1 {
                log_softmax(level, log_w);
            }
        }
    }

    /// Turn derivatives with respect to the log weights into those with respect to the gates'
    /// values, in place.
    pub(super) fn adjoint(self, level: Level, log_w: &[Lanes], d: &mut [Lanes]) {
        if self == Gate::Softmax && log_w.len() > 1 {
            log_softmax_adjoint(level, log_w, d);
        }
    }
}

vectorised! {
    /// Row by row: `log_softmax` of the lanes.
    fn log_softmax = log_softmax_kernel(v: &mut [Lanes]);
}

vectorised! {
    /// Row by row, for weights `w = exp(log_w)` on the simplex: turn the derivative with
    /// respect to `log_w` into that with respect to the logits, `d_k - w_k sum_j d_j`.
    fn log_softmax_adjoint = log_softmax_adjoint_kernel(log_w: &[Lanes], d: &mut [Lanes]);
}

#[inline(always)]
fn log_softmax_adjoint_kernel<const FMA: bool>(log_w: &[Lanes], d: &mut [Lanes]) {
    let mut sum = Lanes::splat(0.0);
    for d in d.iter() {
        for r in 0..ROWS {
            sum[r] += d[r];
        }
    }
    for (d, log_w) in d.iter_mut().zip(log_w) {
        for r in 0..ROWS {
            d[r] -= exp::<FMA>(log_w[r]) * sum[r];
        }
    }
}
