//! The scaled features of a GP as columns of a matrix, each row with a weight of its own: what
//! a regression on the GP's coefficients is made of.
//!
//! A column holds `weight(x_n) scale_f phi_f(x_n)` for all rows n, in whole blocks. With a matrix
//! D of the derivatives of some value with respect to each entry of such columns F, the
//! derivative with respect to the log of a feature's scale is `sum_n D_nf F_nf`, and with
//! respect to the log of a row's weight `sum_f D_nf F_nf`: neither needs the features alone.

use super::{Basis, Cache, Coefs, GpGrad, GpParams, Work};
use crate::math::simd::{Level, vectorised};
use crate::math::{Lanes, ROWS};
use crate::rows::Rows;

/// Columns of weighted features of one GP, (features, blocks), and the derivatives with respect
/// to each entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighted<'a> {
    /// The columns.
    pub(crate) value: &'a [[f64; ROWS]],
    /// The derivatives.
    pub(crate) adjoint: &'a [[f64; ROWS]],
    /// `sum_n adjoint value` of each column.
    pub(crate) by_feature: &'a [f64],
}

impl Basis {
    /// Set `theta` so that after [`Basis::prepare`] and [`Basis::forward`] the working memory
    /// holds the GP's own features: for RFF without a phase.
    pub(crate) fn bare(&self, theta: &mut [f64]) {
        theta.fill(1.0);
        if let Basis::Rff(b) = self {
            theta[b.frequencies()..].fill(0.0);
        }
    }

    /// Write the weighted features of GP `g` on block `b` into its columns, which are (features,
    /// blocks). Must follow [`Basis::forward`] of that block, with the coefficients of
    /// [`Basis::bare`]. Eigenfunctions have too many columns for such a regression, and leave them as
    /// they are.
    pub(crate) fn weighted(
        &self,
        level: Level,
        g: usize,
        rows: &Rows,
        b: usize,
        cache: &Cache,
        coefs: &Coefs,
        work: &Work,
        weight: &Lanes,
        out: &mut [[f64; ROWS]],
    ) {
        let blocks = rows.blocks();
        match self {
            Basis::Rff(basis) => {
                basis.weighted(level, g, b, blocks, &coefs.rff, &work.trig, weight, out);
            }
            Basis::Hilbert(basis) => {
                let (cache, room) = (&cache.features, &work.features);
                basis.weighted(level, g, b, blocks, cache, &coefs.fixed, room, weight, out);
            }
            Basis::Eigen(_) => {}
        }
    }

    /// Add the gradient with respect to the log variance and log lengthscales of a GP, from the
    /// derivatives with respect to its weighted features.
    pub(crate) fn weighted_adjoint(
        &self,
        level: Level,
        p: GpParams<'_>,
        rows: &Rows,
        columns: Weighted<'_>,
        grad: GpGrad<'_>,
    ) {
        match self {
            Basis::Rff(b) => b.weighted_adjoint(level, p, rows, columns, grad),
            Basis::Hilbert(b) => b.weighted_adjoint(p, columns, grad),
            Basis::Eigen(_) => {}
        }
    }
}

vectorised! {
    /// `out = scale * weight * feature`, row by row.
    pub(super) fn scaled = scaled_kernel(
        feature: &Lanes, scale: f64, weight: &Lanes, out: &mut [f64; ROWS],
    );
}

#[inline(always)]
fn scaled_kernel<const FMA: bool>(
    feature: &Lanes,
    scale: f64,
    weight: &Lanes,
    out: &mut [f64; ROWS],
) {
    for r in 0..ROWS {
        out[r] = scale * weight[r] * feature[r];
    }
}
