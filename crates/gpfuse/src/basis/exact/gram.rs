//! Covariances of anchors with rows, and how the lengthscales change them.
//!
//! Rows and anchors stand one column after the other.

use crate::kernel::Kernel;
use crate::math::simd::vectorised;
use crate::math::wide::{Wide, group, group_mut};
use crate::math::{Lanes, ROWS, WIDTH, exp, fma};

/// Rows, one column after the other: input i of row r is `columns[i * stride + r]`.
#[derive(Clone, Copy)]
pub(super) struct Points<'a> {
    pub(super) columns: &'a [f64],
    pub(super) stride: usize,
}

impl<'a> Points<'a> {
    #[inline(always)]
    fn column(self, i: usize) -> &'a [f64] {
        &self.columns[i * self.stride..(i + 1) * self.stride]
    }
}

/// At squared scaled distances beyond this every kernel is 0 in the machine. They are cut here,
/// so that 0 is never multiplied by infinity.
const LARGEST_SQUARE: f64 = 1e6;

/// `((x - at) / ell)^2`, cut at [`LARGEST_SQUARE`]. NaN passes through.
#[inline(always)]
fn square(x: f64, at: f64, inverse: f64) -> f64 {
    let z = (x - at) * inverse;
    let square = z * z;
    if square > LARGEST_SQUARE { LARGEST_SQUARE } else { square }
}

/// Squared scaled distances of the first rows of `x` from anchor `a`.
#[inline(always)]
fn distances(x: Points<'_>, anchors: Points<'_>, a: usize, inverse: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (i, inverse) in inverse.iter().enumerate() {
        let at = anchors.column(i)[a];
        for (out, x) in out.iter_mut().zip(x.column(i)) {
            *out += square(*x, at, *inverse);
        }
    }
}

vectorised! {
    /// The covariances of the first rows of `x`, as many as `out` takes, with anchor `a`.
    pub(super) fn covariances = covariances_kernel(
        kernel: Kernel, x: Points<'_>, anchors: Points<'_>, a: usize, inverse: &[f64],
        out: &mut [f64],
    );
}

/// The formulas are those of [`Kernel::covariance`].
#[inline(always)]
fn covariances_kernel<const FMA: bool>(
    kernel: Kernel,
    x: Points<'_>,
    anchors: Points<'_>,
    a: usize,
    inverse: &[f64],
    out: &mut [f64],
) {
    distances(x, anchors, a, inverse, out);
    match kernel {
        Kernel::Rbf => {
            for v in out {
                *v = exp::<FMA>(-0.5 * *v);
            }
        }
        Kernel::Matern12 => {
            for v in out {
                *v = exp::<FMA>(-v.sqrt());
            }
        }
        Kernel::Matern32 => {
            for v in out {
                let q = (3.0 * *v).sqrt();
                *v = (1.0 + q) * exp::<FMA>(-q);
            }
        }
        Kernel::Matern52 => {
            for v in out {
                let q = (5.0 * *v).sqrt();
                *v = fma::<FMA>(q, q * (1.0 / 3.0), 1.0 + q) * exp::<FMA>(-q);
            }
        }
    }
}

vectorised! {
    /// Add, for anchor `a` and the first anchors b, to `moment[i * stride + b]` the derivative
    /// of `weight_b k(x_b, x_a)` with respect to `log ell_i`. On entry `weight` holds
    /// `weight_b k(x_b, x_a)`; it is used up. `r2` is room for as many numbers.
    pub(super) fn stretch = stretch_kernel(
        kernel: Kernel, anchors: Points<'_>, a: usize, inverse: &[f64], weight: &mut [f64],
        r2: &mut [f64], moment: &mut [f64],
    );
}

/// With `z_i = ((x_bi - x_ai) / ell_i)^2` and `r2 = sum_i z_i`, `dk / d log ell_i = -2 k' z_i`.
/// The slope `k' = dk / d r2` comes from k itself by a factor without an exponential: see
/// [`Kernel::covariance_by`].
#[inline(always)]
fn stretch_kernel<const FMA: bool>(
    kernel: Kernel,
    anchors: Points<'_>,
    a: usize,
    inverse: &[f64],
    weight: &mut [f64],
    r2: &mut [f64],
    moment: &mut [f64],
) {
    distances(anchors, anchors, a, inverse, r2);
    let pairs = weight.iter_mut().zip(r2.iter());
    match kernel {
        Kernel::Rbf => {}
        Kernel::Matern12 => {
            for (w, r2) in pairs {
                *w = if *r2 > 0.0 { *w / r2.sqrt() } else { 0.0 };
            }
        }
        Kernel::Matern32 => {
            for (w, r2) in pairs {
                *w = 3.0 * *w / (1.0 + (3.0 * r2).sqrt());
            }
        }
        Kernel::Matern52 => {
            for (w, r2) in pairs {
                let q = (5.0 * r2).sqrt();
                *w = 5.0 / 3.0 * *w * (1.0 + q) / (1.0 + q + q * q * (1.0 / 3.0));
            }
        }
    }
    for (i, moment) in moment.chunks_exact_mut(anchors.stride).enumerate() {
        let (x, at, inverse) = (anchors.column(i), anchors.column(i)[a], inverse[i]);
        for ((moment, x), w) in moment.iter_mut().zip(x).zip(weight.iter()) {
            *moment = fma::<FMA>(*w, square(*x, at, inverse), *moment);
        }
    }
}

vectorised! {
    /// Solve `L phi = k` in place for a block of rows abreast; L is lower triangular, (n, n),
    /// column after column. Each row's arithmetic is its own, wherever it stands in the block.
    pub(super) fn solve = solve_kernel<wide>(factor: &[f64], phi: &mut [Lanes]);
}

#[inline(always)]
fn solve_kernel<V: Wide>(factor: &[f64], phi: &mut [Lanes]) {
    const GROUPS: usize = ROWS / WIDTH;
    let n = phi.len();
    for i in 0..n {
        let (done, rest) = phi.split_at_mut(i);
        let column = &mut rest[0];
        let mut sum = [V::splat(0.0); GROUPS];
        for t in 0..GROUPS {
            sum[t] = V::load(group(column, t));
        }
        for (j, phi) in done.iter().enumerate() {
            let l = V::splat(-factor[j * n + i]);
            for t in 0..GROUPS {
                sum[t] = l.fma(V::load(group(phi, t)), sum[t]);
            }
        }
        let pivot = V::splat(1.0 / factor[i * n + i]);
        for t in 0..GROUPS {
            sum[t].mul(pivot).store(group_mut(column, t));
        }
    }
}

vectorised! {
    /// Per row of a block `sum_j coef_j phi_j` and `sum_j phi_j^2`.
    pub(super) fn values = values_kernel(
        coef: &[f64], phi: &[Lanes], f: &mut Lanes, norm: &mut Lanes,
    );
}

#[inline(always)]
fn values_kernel<const FMA: bool>(coef: &[f64], phi: &[Lanes], f: &mut Lanes, norm: &mut Lanes) {
    (*f, *norm) = (Lanes::splat(0.0), Lanes::splat(0.0));
    for (c, phi) in coef.iter().zip(phi) {
        for r in 0..ROWS {
            f[r] = fma::<FMA>(*c, phi[r], f[r]);
            norm[r] = fma::<FMA>(phi[r], phi[r], norm[r]);
        }
    }
}
