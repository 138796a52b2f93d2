//! How far a finite basis is from the kernel it stands for, measured on pairs of points.
//!
//! Any basis can be judged: it only has to say its covariance of two rows. For random features
//! that is [`rff_covariance`]; for a fixed basis it is `sum_j S_j phi_j(x) phi_j(x')`.

use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// The distance between an approximate kernel and the exact one, unit variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Approximation {
    /// The largest absolute error over the pairs.
    pub max_abs: f64,
    /// The root mean square error over the pairs.
    pub rms: f64,
    /// The two rows where the largest error is.
    pub at: (usize, usize),
    /// How many pairs were compared, each row with itself among them.
    pub pairs: usize,
}

/// Compares `approx(i, j)` with the exact covariance of rows `i` and `j` of `points` (n x d,
/// row-major; `d` is the length of `log_ell`), for every `i <= j` at most `range` lengthscales
/// apart (`f64::INFINITY` for all).
///
/// A pair of a row with itself is always compared: a basis that loses variance at the edge of
/// its box shows it there. A covariance that is not a number makes `max_abs` and `rms` NaN.
pub fn report(
    kernel: Kernel,
    log_ell: &[f64],
    points: &[f64],
    range: f64,
    approx: impl Fn(usize, usize) -> f64,
) -> Result<Approximation> {
    let d = log_ell.len();
    if d == 0 || points.is_empty() || !points.len().is_multiple_of(d) {
        return Err(Error::Shape {
            what: "points of the approximation report".into(),
            expected: format!("one row or more of {d} inputs"),
            found: format!("{} values", points.len()),
        });
    }
    let inverse: Vec<f64> = log_ell.iter().map(|l| (-l).exp()).collect();
    let scaled: Vec<f64> = points.iter().enumerate().map(|(i, v)| v * inverse[i % d]).collect();
    let n = points.len() / d;
    let (mut max_abs, mut at, mut square, mut pairs) = (-1.0_f64, (0, 0), 0.0, 0);
    for i in 0..n {
        let a = &scaled[i * d..(i + 1) * d];
        for j in i..n {
            let b = &scaled[j * d..(j + 1) * d];
            let r2: f64 = a.iter().zip(b).map(|(u, v)| (u - v) * (u - v)).sum();
            if i != j && r2.sqrt() > range {
                continue;
            }
            let error = (approx(i, j) - kernel.covariance(r2)).abs();
            square += error * error;
            pairs += 1;
            // The first NaN is reported, and no later error may hide it.
            if !max_abs.is_nan() && (error > max_abs || error.is_nan()) {
                (max_abs, at) = (error, (i, j));
            }
        }
    }
    Ok(Approximation { max_abs, rms: (square / pairs as f64).sqrt(), at, pairs })
}

/// The covariance of two points under random Fourier features of unit variance,
/// `(1/M) sum_m cos(omega_m . (a - b) / ell)` (Rahimi and Recht 2007), which is
/// `phi(a) . phi(b)` for `phi = [cos, sin] / sqrt(M)`. `omega` is M x d, row-major.
pub fn rff_covariance(omega: &[f64], log_ell: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let lag: Vec<f64> =
        a.iter().zip(b).zip(log_ell).map(|((a, b), l)| (a - b) * (-l).exp()).collect();
    let rows = omega.chunks_exact(lag.len());
    let m = rows.len() as f64;
    rows.map(|w| w.iter().zip(&lag).map(|(w, l)| w * l).sum::<f64>().cos()).sum::<f64>() / m
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_kernel_has_no_error_and_range_limits_the_pairs() {
        let points = [0.0_f64, 1.0, 2.0, 10.0];
        let log_ell = [2.0_f64.ln()];
        let exact = |i: usize, j: usize| {
            Kernel::Matern32.covariance(((points[i] - points[j]) / 2.0).powi(2))
        };
        let all = report(Kernel::Matern32, &log_ell, &points, f64::INFINITY, exact).unwrap();
        assert_eq!(all.pairs, 10);
        assert!(all.max_abs < 1e-15 && all.rms < 1e-15, "{all:?}");
        let near = report(Kernel::Matern32, &log_ell, &points, 0.6, exact).unwrap();
        assert_eq!(near.pairs, 6);
    }

    #[test]
    fn the_worst_pair_and_the_rms_are_found() {
        let points = [0.0, 0.5, 3.0];
        let wrong = |i: usize, j: usize| {
            let r = points[i] - points[j];
            Kernel::Rbf.covariance(r * r) + if (i, j) == (1, 2) { -0.3 } else { 0.1 }
        };
        let found = report(Kernel::Rbf, &[0.0], &points, f64::INFINITY, wrong).unwrap();
        assert_eq!(found.at, (1, 2));
        assert!((found.max_abs - 0.3).abs() < 1e-12);
        assert!((found.rms - ((0.09 + 5.0 * 0.01) / 6.0_f64).sqrt()).abs() < 1e-12);
        let broken = |i: usize, _| if i == 1 { f64::NAN } else { 1.0 };
        let found = report(Kernel::Rbf, &[0.0], &points, f64::INFINITY, broken).unwrap();
        assert!(found.max_abs.is_nan() && found.rms.is_nan());
        assert_eq!(found.at, (1, 1));
    }

    #[test]
    fn lengthscales_scale_the_lag() {
        let omega = [0.7, -1.1, 0.2, 0.4];
        let log_ell = [0.5, -0.25];
        let (a, b) = ([0.3, 0.9], [-0.2, 0.1]);
        let value = rff_covariance(&omega, &log_ell, &a, &b);
        let (u, v) = (0.5 / 0.5_f64.exp(), 0.8 / (-0.25_f64).exp());
        let expected = 0.5 * ((0.7 * u - 1.1 * v).cos() + (0.2 * u + 0.4 * v).cos());
        assert!((value - expected).abs() < 1e-14);
    }

    #[test]
    fn wrong_shapes_are_refused() {
        assert!(report(Kernel::Rbf, &[0.0, 0.0], &[1.0; 3], 1.0, |_, _| 1.0).is_err());
        assert!(report(Kernel::Rbf, &[0.0], &[], 1.0, |_, _| 1.0).is_err());
    }
}
