//! The fixed functions weighted by row, and the way back to the hyperparameters.

use super::Hilbert;
use crate::basis::weighted::{Weighted, scaled};
use crate::basis::{Fixed, GpGrad, GpParams};
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};

impl Hilbert {
    pub(in crate::basis) fn weighted(
        &self,
        level: Level,
        g: usize,
        b: usize,
        blocks: usize,
        cache: &[Lanes],
        coefs: &Fixed,
        room: &[Lanes],
        weight: &Lanes,
        out: &mut [[f64; ROWS]],
    ) {
        let functions = self.functions();
        let features = match cache.get(b * functions..(b + 1) * functions) {
            Some(kept) => kept,
            None => {
                let slot = b % (room.len() / functions);
                &room[slot * functions..(slot + 1) * functions]
            }
        };
        let scales = &coefs.scale[g * functions..(g + 1) * functions];
        for (j, (feature, scale)) in features.iter().zip(scales).enumerate() {
            scaled(level, feature, *scale, weight, &mut out[j * blocks + b]);
        }
    }

    /// Only the scales `sqrt(var S_j)` depend on the hyperparameters.
    pub(in crate::basis) fn weighted_adjoint(
        &self,
        p: GpParams<'_>,
        columns: Weighted<'_>,
        grad: GpGrad<'_>,
    ) {
        self.through_scales(p.log_ell, |j| 0.5 * columns.by_feature[j], grad.log_var, grad.log_ell);
    }
}
