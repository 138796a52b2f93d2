//! Laws of single numbers, with exact distribution functions and moments.

use std::f64::consts::PI;

use gpfuse::calibrate::upper_tail;

/// A law on the real line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Law {
    /// Normal, by mean and standard deviation.
    Normal(f64, f64),
    /// Of the logarithm of a half-normal number of this scale.
    LogHalfNormal(f64),
    /// Standard logistic: `F(x) = 1 / (1 + e^-x)`.
    Logistic,
    /// Student's t with 5 degrees of freedom: with `tan a = x / sqrt 5`,
    /// `F(x) = 1/2 + (a + sin a cos a (1 + 2/3 cos^2 a)) / pi` (Abramowitz and Stegun 1964, 26.7.3).
    Student,
    /// Half of it `N(-a, 1)`, half `N(a, 1)`.
    Pair(f64),
}

/// The standard normal distribution function.
pub(crate) fn phi(z: f64) -> f64 {
    let tail = 0.5 * upper_tail(z * z, 1);
    if z < 0.0 { tail } else { 1.0 - tail }
}

impl Law {
    /// The distribution function.
    pub(crate) fn cdf(self, x: f64) -> f64 {
        match self {
            Law::Normal(mean, sd) => phi((x - mean) / sd),
            Law::LogHalfNormal(scale) => 2.0 * phi(x.exp() / scale) - 1.0,
            Law::Logistic => 1.0 / (1.0 + (-x).exp()),
            Law::Student => {
                let angle = (x / 5.0_f64.sqrt()).atan();
                let (sin, cos) = angle.sin_cos();
                0.5 + (angle + sin * cos * (1.0 + 2.0 / 3.0 * cos * cos)) / PI
            }
            Law::Pair(a) => 0.5 * (phi(x - a) + phi(x + a)),
        }
    }

    /// Mean and variance where the mean of squares has a useful standard error: the fourth
    /// moment must be that of draws, and not of their rarest.
    pub(crate) fn moments(self) -> Option<(f64, f64)> {
        match self {
            Law::Normal(mean, sd) => Some((mean, sd * sd)),
            Law::Logistic => Some((0.0, PI * PI / 3.0)),
            Law::Pair(a) => Some((0.0, 1.0 + a * a)),
            Law::LogHalfNormal(_) | Law::Student => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAWS: [Law; 6] = [
        Law::Normal(0.0, 1.0),
        Law::Normal(2.0, 0.3),
        Law::LogHalfNormal(0.7),
        Law::Logistic,
        Law::Student,
        Law::Pair(1.2),
    ];

    /// Values that tables have.
    #[test]
    fn tables_agree() {
        let table = [
            (Law::Normal(1.0, 2.0), 1.0 + 2.0 * 1.959_963_985, 0.975),
            (Law::Student, 2.015_048_373, 0.95),
            (Law::Student, -4.032_142_984, 0.005),
            (Law::Logistic, 3.0_f64.ln(), 0.75),
            (Law::LogHalfNormal(1.0), 0.674_489_75_f64.ln(), 0.5),
            (Law::Pair(3.0), 0.0, 0.5),
        ];
        for (law, x, p) in table {
            assert!((law.cdf(x) - p).abs() < 1e-8, "{law:?}: {}", law.cdf(x));
        }
    }

    /// Distribution functions rise from 0 to 1, and their moments are those that are stated:
    /// `E x = int (1 - F) - int F`, `E x^2 = 2 int x (1 - F(x) + F(-x))`, by the midpoint rule.
    #[test]
    fn functions_rise_and_moments_are_theirs() {
        for law in LAWS {
            let (step, ends) = (1e-3, 40_000);
            let at = |i: i32| (f64::from(i) + 0.5) * step;
            assert!(law.cdf(at(-ends)) < 1e-6 && law.cdf(at(ends)) > 1.0 - 1e-6, "{law:?}");
            assert!((-ends..ends).all(|i| law.cdf(at(i)) <= law.cdf(at(i + 1)) + 1e-15));
            let Some((mean, variance)) = law.moments() else { continue };
            let sums = (0..ends).map(|i| (at(i), 1.0 - law.cdf(at(i)), law.cdf(-at(i))));
            let (mut first, mut second) = (0.0, 0.0);
            for (x, above, below) in sums {
                first += step * (above - below);
                second += 2.0 * step * x * (above + below);
            }
            assert!((first - mean).abs() < 1e-5, "{law:?}: mean {first}");
            assert!((second - first * first - variance).abs() < 1e-5, "{law:?}: {second}");
        }
    }
}
