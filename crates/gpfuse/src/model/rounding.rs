//! The rounding of the target in a model's densities.
//!
//! With r the variance of rounding to a step ([`resolution`](crate::resolution)), on the model's scale:
//!
//! * A mixture of given experts has `v_k = sd_k^2 + r`. Nothing is learned about sd_k, so that the gradient is that of
//!   the pool.
//! * The robust product has the floor `t^2 = s^2 + r` in place of the learned s^2 (`pool/robust.rs`), under its
//!   product, its tails and each part of its mixture: `d log s = (s^2 / t^2) d log t`.
//! * Experts that share a mean have r in the least variance of their noise (`model/shared.rs`).
//!
//! The plain product, whose precisions add up, and experts learned on another basis than eigenfunctions do not know r.

use super::{Model, shared};
use crate::math::Lanes;
use crate::math::simd::Level;
use crate::pool::Pool;

impl Model {
    /// The same model of a target whose rounding has this variance, on the model's scale.
    pub fn rounded(mut self, variance: f64) -> Model {
        self.shared = self.shared.map(|shared| shared.rounded(variance));
        Model { rounding: variance, ..self }
    }

    /// Whether the rounding of the target is part of its densities.
    pub fn knows_rounding(&self) -> bool {
        match self.pool {
            Pool::Robust => true,
            Pool::Linear if !self.learned => true,
            Pool::Linear | Pool::LogLinear => self.shared.is_some(),
        }
    }

    /// Add the rounding to the noise of given experts, on a block.
    pub(super) fn widen_given(&self, level: Level, log_sd: &mut [Lanes]) {
        if self.pool == Pool::Linear && self.rounding > 0.0 {
            let none = Lanes::splat(0.0);
            log_sd.iter_mut().for_each(|v| shared::widen(level, 0.0, &none, self.rounding, v));
        }
    }

    /// The log of the floor's sd, `log(s^2 + rounding) / 2`, from that of its learned part s.
    pub(super) fn floor(&self, log_floor: f64) -> f64 {
        match self.rounding {
            0.0 => log_floor,
            rounding => 0.5 * ((2.0 * log_floor).exp() + rounding).ln(),
        }
    }

    /// The share of the floor's variance that is learned, which is the derivative of the floor's log with respect
    /// to that of its learned part.
    pub(super) fn learned_floor(&self, log_floor: f64) -> f64 {
        (2.0 * (log_floor - self.floor(log_floor))).exp()
    }
}
