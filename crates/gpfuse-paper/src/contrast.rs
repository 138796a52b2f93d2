//! A contrast of scores over random splits, and its test.
//!
//! The standard error is corrected for the rows that splits share ([`mean`]); the test is Student's
//! with one degree of freedom less than there are splits, one-sided.

use gpfuse_report::page::number::{Mean, mean};

/// The mean of a contrast over splits, and how sure its sign is.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// What is claimed to be above zero, in words.
    pub what: String,
    /// The mean over splits.
    pub mean: Mean,
    /// The probability of a mean as large if the truth were zero; none for one split.
    pub p: Option<f64>,
}

/// A contrast is surely above zero where p is below this, and surely below zero where 1 - p is.
pub const LEVEL: f64 = 0.05;

impl Contrast {
    /// Of one value per split, with `ratio` test rows for each training row. None where there is
    /// no split.
    pub fn new(what: String, values: &[f64], ratio: f64) -> Option<Contrast> {
        let mean = mean(values, ratio)?;
        let p = mean.se.map(|se| {
            // With a standard error of zero, t is infinite and the sign is sure, or 0/0 and even odds.
            let t = mean.value / se;
            if t.is_nan() { 0.5 } else { upper_tail(t, mean.count - 1) }
        });
        Some(Contrast { what, mean, p })
    }

    /// Whether it is surely above zero.
    pub fn holds(&self) -> bool {
        self.p.is_some_and(|p| p < LEVEL)
    }

    /// Whether it is surely below zero.
    pub fn reversed(&self) -> bool {
        self.p.is_some_and(|p| p > 1.0 - LEVEL)
    }
}

/// The probability that Student's t with `df` degrees of freedom exceeds `t`, by the finite sums
/// of Abramowitz and Stegun (26.7.3 and 26.7.4): with `theta = atan(t / sqrt(df))`, the
/// probability of `|T| < t` is
///
/// * odd df: `2/pi (theta + sin theta (cos theta + 2/3 cos^3 theta + ... ))`, the sum up to the
///   power `df - 2`;
/// * even df: `sin theta (1 + 1/2 cos^2 theta + 1 3 / (2 4) cos^4 theta + ... )`, up to `df - 2`.
fn upper_tail(t: f64, df: usize) -> f64 {
    let theta = (t / (df as f64).sqrt()).atan();
    let (sin, cos) = theta.sin_cos();
    let odd = df % 2 == 1;
    let (mut term, mut sum) = (if odd { cos } else { 1.0 }, 0.0);
    let mut power = usize::from(odd);
    while power + 2 <= df {
        sum += term;
        term *= cos * cos * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    let within = match odd {
        true => std::f64::consts::FRAC_2_PI * (theta + sin * sum),
        false => sin * sum,
    };
    (0.5 * (1.0 - within)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the tables of Student's t: the 0.95, 0.975 and 0.995 quantiles.
    #[test]
    fn tails_are_those_of_the_tables() {
        for (t, df, p) in [
            (6.313_751_514_675, 1, 0.05),
            (12.706_204_736_175, 1, 0.025),
            (2.919_985_580_354, 2, 0.05),
            (2.353_363_434_802, 3, 0.05),
            (2.131_846_786_327, 4, 0.05),
            (4.604_094_871_416, 4, 0.005),
            (2.570_581_835_636, 5, 0.025),
            (1.699_127_026_534, 29, 0.05),
        ] {
            assert!((upper_tail(t, df) - p).abs() < 1e-10, "{t} {df}: {}", upper_tail(t, df));
            assert!((upper_tail(-t, df) - (1.0 - p)).abs() < 1e-10);
        }
    }

    #[test]
    fn errors_grow_with_the_rows_that_splits_share() {
        let values = [0.1, 0.3, 0.2, 0.2, 0.2];
        let free = Contrast::new("a".into(), &values, 0.0).unwrap();
        let shared = Contrast::new("a".into(), &values, 0.25).unwrap();
        // The variance of the values is 0.005.
        assert!((free.mean.se.unwrap() - (0.005_f64 / 5.0).sqrt()).abs() < 1e-15);
        assert!((shared.mean.se.unwrap() - (0.005_f64 * 0.45).sqrt()).abs() < 1e-15);
        assert!(free.holds() && shared.holds() && shared.p > free.p);
        let turned = Contrast::new("a".into(), &values.map(|v| -v), 0.25).unwrap();
        assert!(turned.reversed() && !turned.holds());
    }

    #[test]
    fn no_errors_without_splits() {
        assert_eq!(Contrast::new("a".into(), &[], 0.25), None);
        let one = Contrast::new("a".into(), &[1.0], 0.25).unwrap();
        assert!(!one.holds() && !one.reversed() && one.mean.se.is_none());
        let same = Contrast::new("a".into(), &[1.0, 1.0], 0.25).unwrap();
        assert!(same.holds() && same.mean.se == Some(0.0));
        assert_eq!(Contrast::new("a".into(), &[0.0, 0.0], 0.25).unwrap().p, Some(0.5));
    }
}
