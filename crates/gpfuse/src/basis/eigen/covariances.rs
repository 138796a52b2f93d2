//! Covariances of landmarks with the rows of a block.

use super::Pilot;
use crate::kernel::Kernel;
use crate::math::simd::{Level, vectorised};
use crate::math::{Lanes, ROWS, fma};

/// Squared scaled distances beyond this have covariance 0 under every kernel; cut, so that 0 is never
/// multiplied by infinity.
const LARGEST_SQUARE: f64 = 1e12;

/// The covariances of the rows `x` of a block with each landmark; the landmarks are divided by the
/// lengthscales already.
pub(super) fn covariances(
    level: Level,
    pilot: &Pilot,
    landmarks: &[f64],
    x: &[Lanes],
    out: &mut [Lanes],
) {
    let mut scaled = x.to_vec();
    for (column, ell) in scaled.iter_mut().zip(&pilot.ell) {
        column.iter_mut().for_each(|v| *v /= ell);
    }
    for (landmark, out) in landmarks.chunks(x.len()).zip(out) {
        covariance(level, pilot.kernel, pilot.var, landmark, &scaled, out);
    }
}

vectorised! {
    fn covariance = covariance_kernel(
        kernel: Kernel, var: f64, landmark: &[f64], x: &[Lanes], out: &mut Lanes,
    );
}

#[inline(always)]
fn covariance_kernel<const FMA: bool>(
    kernel: Kernel,
    var: f64,
    landmark: &[f64],
    x: &[Lanes],
    out: &mut Lanes,
) {
    let mut r2 = Lanes::splat(0.0);
    for (at, x) in landmark.iter().zip(x) {
        for r in 0..ROWS {
            r2[r] = fma::<FMA>(x[r] - at, x[r] - at, r2[r]);
        }
    }
    // A loop per kernel, so that none of them asks for the kernel.
    match kernel {
        Kernel::Rbf => values::<FMA>(Kernel::Rbf, var, &r2, out),
        Kernel::Matern12 => values::<FMA>(Kernel::Matern12, var, &r2, out),
        Kernel::Matern32 => values::<FMA>(Kernel::Matern32, var, &r2, out),
        Kernel::Matern52 => values::<FMA>(Kernel::Matern52, var, &r2, out),
    }
}

#[inline(always)]
fn values<const FMA: bool>(kernel: Kernel, var: f64, r2: &Lanes, out: &mut Lanes) {
    for r in 0..ROWS {
        let bounded = if r2[r] < LARGEST_SQUARE { r2[r] } else { LARGEST_SQUARE };
        out[r] = var * kernel.covariance_by::<FMA>(bounded).0;
    }
}
