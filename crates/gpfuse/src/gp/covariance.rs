//! Covariances of rows with rows, and what the gradient in the lengthscales needs of them.
//!
//! Matrices are by column, with the stride of [`Inputs`]; of symmetric ones the lower triangle
//! counts. Squared distances are summed from differences, not from products of the inputs: that
//! costs next to nothing beside the factor and loses no digits of near rows.

use super::inputs::Inputs;
use crate::kernel::Kernel;
use crate::math::simd::vectorised;
use crate::math::wide::Wide;
use crate::math::{Partial, ROWS, WIDTH, fma, total};

/// Squared scaled distances beyond this have covariance 0 under every kernel; without the bound
/// an infinite one would make it infinity times 0.
pub(super) const LARGEST_SQUARE: f64 = 1e12;

vectorised! {
    /// The covariance `var k` of all rows, `diagonal` instead of it on the diagonal; where room
    /// for `slopes` is given, `var dk/dr2` below the diagonal and 0 on it and past the last row.
    pub(super) fn fill = fill_kernel(
        kernel: Kernel, x: &Inputs, var: f64, diagonal: f64, k: &mut [f64], slopes: &mut [f64],
    );
}

#[inline(always)]
fn fill_kernel<const FMA: bool>(
    kernel: Kernel,
    x: &Inputs,
    var: f64,
    diagonal: f64,
    k: &mut [f64],
    slopes: &mut [f64],
) {
    let stride = x.stride();
    for j in 0..x.rows() {
        let column = &mut k[j * stride..(j + 1) * stride];
        let first = j / WIDTH * WIDTH;
        if slopes.is_empty() {
            column_of::<FMA>(kernel, x, x, j, first, var, column, &mut []);
        } else {
            let slope = &mut slopes[j * stride..(j + 1) * stride];
            column_of::<FMA>(kernel, x, x, j, first, var, column, slope);
            slope[first..=j].fill(0.0);
            slope[x.rows()..].fill(0.0);
        }
        column[j] = diagonal;
    }
}

vectorised! {
    /// The covariance of all rows of `x` (down) with rows `from..` of `new` (across), as many as
    /// `k` has room for.
    pub(super) fn cross = cross_kernel(
        kernel: Kernel, x: &Inputs, new: &Inputs, from: usize, var: f64, k: &mut [f64],
    );
}

#[inline(always)]
fn cross_kernel<const FMA: bool>(
    kernel: Kernel,
    x: &Inputs,
    new: &Inputs,
    from: usize,
    var: f64,
    k: &mut [f64],
) {
    for (c, column) in k.chunks_exact_mut(x.stride()).enumerate() {
        column_of::<FMA>(kernel, x, new, from + c, 0, var, column, &mut []);
    }
}

/// One column: rows `first..` of `x` with row `j` of `other`. A loop per kernel, so that none of
/// them asks for the kernel.
#[inline(always)]
fn column_of<const FMA: bool>(
    kernel: Kernel,
    x: &Inputs,
    other: &Inputs,
    j: usize,
    first: usize,
    var: f64,
    k: &mut [f64],
    slope: &mut [f64],
) {
    let mut at = first;
    while at < x.stride() {
        let len = ROWS.min(x.stride() - at);
        let mut r2 = [0.0; ROWS];
        for (column, theirs) in x.columns().zip(other.columns()) {
            let centre = theirs[j];
            for (r2, u) in r2.iter_mut().zip(&column[at..at + len]) {
                *r2 = fma::<FMA>(u - centre, u - centre, *r2);
            }
        }
        let k = &mut k[at..at + len];
        let end = slope.len().min(at + len);
        let slope = &mut slope[at.min(end)..end];
        match kernel {
            Kernel::Rbf => lanes::<FMA>(Kernel::Rbf, var, &r2, k, slope),
            Kernel::Matern12 => lanes::<FMA>(Kernel::Matern12, var, &r2, k, slope),
            Kernel::Matern32 => lanes::<FMA>(Kernel::Matern32, var, &r2, k, slope),
            Kernel::Matern52 => lanes::<FMA>(Kernel::Matern52, var, &r2, k, slope),
        }
        at += len;
    }
}

#[inline(always)]
fn lanes<const FMA: bool>(
    kernel: Kernel,
    var: f64,
    r2: &[f64; ROWS],
    k: &mut [f64],
    slope: &mut [f64],
) {
    let (mut value, mut steep) = ([0.0; ROWS], [0.0; ROWS]);
    for r in 0..ROWS {
        let bounded = if r2[r] < LARGEST_SQUARE { r2[r] } else { LARGEST_SQUARE };
        let (v, s) = kernel.covariance_by::<FMA>(bounded);
        value[r] = var * v;
        steep[r] = var * s;
    }
    k.copy_from_slice(&value[..k.len()]);
    slope.copy_from_slice(&steep[..slope.len()]);
}

vectorised! {
    /// `d_log_ell[d] = -2 sum_(i > j) W_ij s_ij (u_id - u_jd)^2` with `W = alpha alpha' - inverse`
    /// and the slopes `s`: half the trace of W with the derivative of the covariance. `sums` is
    /// room for partial sums, one per input.
    pub(super) fn contract = contract_kernel<wide>(
        x: &Inputs, alpha: &[f64], inverse: &[f64], slopes: &[f64], sums: &mut [Partial],
        d_log_ell: &mut [f64],
    );
}

#[inline(always)]
fn contract_kernel<V: Wide>(
    x: &Inputs,
    alpha: &[f64],
    inverse: &[f64],
    slopes: &[f64],
    sums: &mut [Partial],
    d_log_ell: &mut [f64],
) {
    const GROUPS: usize = ROWS / WIDTH;
    let stride = x.stride();
    let (alpha8, _) = alpha.as_chunks::<WIDTH>();
    sums.fill([0.0; WIDTH]);
    for j in 0..x.rows() {
        let column = j * stride..(j + 1) * stride;
        let (inverse, _) = inverse[column.clone()].as_chunks::<WIDTH>();
        let (slope, _) = slopes[column].as_chunks::<WIDTH>();
        let alpha_j = V::splat(alpha[j]);
        let mut at = j / WIDTH;
        while at < stride / WIDTH {
            let len = GROUPS.min(stride / WIDTH - at);
            let mut g = [[0.0; WIDTH]; GROUPS];
            for c in 0..len {
                let w = V::load(&alpha8[at + c]).mul(alpha_j).sub(V::load(&inverse[at + c]));
                w.mul(V::load(&slope[at + c])).store(&mut g[c]);
            }
            for (column, sum) in x.columns().zip(&mut *sums) {
                let (u, _) = column.as_chunks::<WIDTH>();
                let centre = V::splat(column[j]);
                let mut s = V::load(sum);
                for c in 0..len {
                    let apart = V::load(&u[at + c]).sub(centre);
                    s = apart.mul(apart).fma(V::load(&g[c]), s);
                }
                s.store(sum);
            }
            at += len;
        }
    }
    for (d, sum) in d_log_ell.iter_mut().zip(sums) {
        *d = -2.0 * total(sum);
    }
}
