//! Quasi-Monte Carlo frequencies: a scrambled Halton sequence through quantile functions.

use std::f64::consts::{FRAC_PI_2, PI};

use rand::{Rng, RngExt};

use crate::kernel::Kernel;
use crate::math::ndtri;

/// Coordinates of a scrambled Halton sequence through the quantile functions.
///
/// With several inputs a Student-t takes its chi-square from the first coordinate, which has the
/// smallest base and so is the evenest; with one input its own quantile function needs no second
/// coordinate, and the error of a smooth kernel falls nearly as 1/M.
pub(super) fn fill(kernel: Kernel, m: usize, d: usize, rng: &mut impl Rng, omega: &mut [f64]) {
    let df = kernel.degrees_of_freedom();
    if let (Some(df), 1) = (df, d) {
        let points = scrambled_halton(2, m, rng);
        omega.iter_mut().zip(points).for_each(|(w, u)| *w = student_quantile(df, u));
        return;
    }
    let mut bases = primes(d + 1).into_iter();
    omega.fill(1.0);
    if let (Some(df), Some(base)) = (df, df.and_then(|_| bases.next())) {
        for (w, u) in omega.chunks_exact_mut(d).zip(scrambled_halton(base, m, rng)) {
            w.fill((f64::from(df) / chi2_quantile(df, u)).sqrt());
        }
    }
    for (i, base) in bases.take(d).enumerate() {
        let column = omega.iter_mut().skip(i).step_by(d);
        column.zip(scrambled_halton(base, m, rng)).for_each(|(w, u)| *w *= ndtri(u));
    }
}

fn primes(count: usize) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::with_capacity(count);
    let mut next = 2;
    while found.len() < count {
        if found.iter().all(|p| next % p != 0) {
            found.push(next);
        }
        next += 1;
    }
    found
}

/// One coordinate of the Halton sequence with each digit permuted at random (Owen 2017, *A
/// randomized Halton algorithm in R*): every point is uniform on (0, 1), and the permutations
/// undo the correlation that large bases have over the first few points.
fn scrambled_halton(base: u64, m: usize, rng: &mut impl Rng) -> Vec<f64> {
    let mut points = vec![0.0; m];
    let mut permutation: Vec<u64> = (0..base).collect();
    let (mut weight, mut power) = (1.0 / base as f64, 1_u64);
    // All 53 bits are filled whatever m is, so a longer draw begins with a shorter one.
    while weight > f64::EPSILON / 4.0 {
        for i in (1..base).rev() {
            permutation.swap(i as usize, rng.random_range(0..=i) as usize);
        }
        for (i, u) in points.iter_mut().enumerate() {
            *u += weight * permutation[(i as u64 / power % base) as usize] as f64;
        }
        weight /= base as f64;
        power = power.saturating_mul(base);
    }
    points.iter().map(|u| u.clamp(f64::EPSILON / 4.0, 1.0 - f64::EPSILON)).collect()
}

/// The chi-square quantile for odd degrees of freedom, from the closed form of the CDF:
/// `erf(sqrt(x/2))` for one, and `P(k+2) = P(k) - (x/2)^(k/2) exp(-x/2) / Gamma(k/2 + 1)`.
fn chi2_quantile(df: u32, p: f64) -> f64 {
    bisect(0.0, 200.0, |x| {
        let half = 0.5 * x;
        let mut value = libm::erf(half.sqrt());
        let mut term = half.sqrt() * (-half).exp() / libm::tgamma(1.5);
        for k in (1..df).step_by(2) {
            value -= term;
            term *= half / (0.5 * f64::from(k) + 1.0);
        }
        value < p
    })
}

/// The Student-t quantile for odd degrees of freedom, from the closed form of the CDF in
/// `a = atan(t / sqrt(df))`: `1/2 + (a + sin a (cos a + 2/3 cos^3 a + ...)) / pi`, the sum ending
/// at `cos^(df-2) a` (Abramowitz and Stegun, 26.7.3).
fn student_quantile(df: u32, p: f64) -> f64 {
    let angle = bisect(-FRAC_PI_2, FRAC_PI_2, |a| {
        let (sin, cos) = a.sin_cos();
        let (mut sum, mut term) = (a, sin * cos);
        for k in (1..df).step_by(2) {
            sum += term;
            term *= cos * cos * f64::from(k + 1) / f64::from(k + 2);
        }
        0.5 + sum / PI < p
    });
    f64::from(df).sqrt() * angle.tan()
}

/// The point of the interval where `below` turns false.
fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    /// Scrambling permutes digits, so the first `base^2` points keep one in each cell.
    #[test]
    fn points_stay_evenly_spread() {
        for base in [2, 3, 7] {
            let cells = (base * base) as usize;
            let points = scrambled_halton(base, cells, &mut stream(2, Purpose::Frequencies, 0));
            let mut cell: Vec<usize> = points.iter().map(|u| (u * cells as f64) as usize).collect();
            cell.sort_unstable();
            assert_eq!(cell, (0..cells).collect::<Vec<_>>());
        }
        assert_eq!(primes(6), [2, 3, 5, 7, 11, 13]);
    }

    #[test]
    fn quantiles_match_the_tables() {
        let student = [(1, 12.706_204_736), (3, 3.182_446_305), (5, 2.570_581_836)];
        let chi2 = [(1, 3.841_458_821), (3, 7.814_727_903), (5, 11.070_497_694)];
        for ((df, t), (_, x)) in student.into_iter().zip(chi2) {
            assert!((student_quantile(df, 0.975) - t).abs() < 1e-8);
            assert!((student_quantile(df, 0.025) + t).abs() < 1e-8);
            assert!((chi2_quantile(df, 0.95) - x).abs() < 1e-8);
        }
    }
}
