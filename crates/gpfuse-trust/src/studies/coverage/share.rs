//! The mean share of new targets inside an interval, with its standard error over data sets.

use gpfuse::math::ndtri;

/// Beyond the threshold by so many standard errors, a difference is found nine times in ten.
const POWER: f64 = 1.28;

/// The mean of the shares of some data sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    mean: f64,
    /// The standard error of the mean: data sets are independent, the targets of one are not.
    error: f64,
    freedom: f64,
}

impl Share {
    /// From one share per data set. A single one has no standard error, and passes no test.
    pub(super) fn of(shares: &[f64]) -> Share {
        let (n, freedom) = (shares.len() as f64, shares.len() as f64 - 1.0);
        let mean = shares.iter().sum::<f64>() / n;
        let squares: f64 = shares.iter().map(|s| (s - mean).powi(2)).sum();
        let error = if freedom > 0.0 { (squares / (n * freedom)).sqrt() } else { f64::NAN };
        Share { mean, error, freedom }
    }

    /// Whether it is `level` up to chance: a sound one is not with a probability of about `rate`, where
    /// shares are nearly normal. Near one they are skewed, the more the targets of a data set hang
    /// together: a correlation of 0.1 makes that at 95 % some thirty times as much for 60 data sets and
    /// 2e-4, and three times as much for 200 and 2e-3; the test below has the numbers.
    pub(super) fn is(&self, level: f64, rate: f64) -> bool {
        (self.mean - level).abs() <= student(rate, self.freedom) * self.error
    }

    /// The difference from the level that such a test finds nine times in ten.
    pub(super) fn detectable(&self, rate: f64) -> f64 {
        (student(rate, self.freedom) + POWER) * self.error
    }

    /// The mean with its interval of 95 %, in per cent.
    pub(super) fn words(&self) -> String {
        let half = student(0.05, self.freedom) * self.error;
        let (low, high) = (100.0 * (self.mean - half), 100.0 * (self.mean + half));
        format!("{:.1} % ({low:.1} to {high:.1} %)", 100.0 * self.mean)
    }
}

/// The absolute value that Student's t with `freedom` degrees exceeds with probability `rate`: with
/// the normal quantile `z`, the series `z + (z^3 + z) / 4 f + (5 z^5 + 16 z^3 + 3 z) / 96 f^2 +
/// (3 z^7 + 19 z^5 + 17 z^3 - 15 z) / 384 f^3` (Abramowitz and Stegun 1964, 26.7.5). A standard error
/// from few data sets is itself not known well.
fn student(rate: f64, freedom: f64) -> f64 {
    let z = -ndtri(rate / 2.0);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpfuse::random::{Purpose, stream};
    use rand::RngExt;
    use rand_distr::{Beta, Distribution};

    /// Student's t of the tables: 2.228 with 10 degrees, 2.000 with 60, 3.460 with 60 at 0.1 %.
    #[test]
    fn thresholds_are_those_of_the_tables() {
        for (rate, freedom, value) in [(0.05, 10.0, 2.228), (0.05, 60.0, 2.0), (1e-3, 60.0, 3.46)] {
            assert!((student(rate, freedom) - value).abs() < 1e-3, "{rate}, {freedom}");
        }
    }

    /// Half of the data sets at 0.4 and half at 0.6 have a mean of one half and a standard error of
    /// 0.1 / sqrt(n - 1).
    #[test]
    fn means_and_errors_are_those_by_hand() {
        let shares: Vec<f64> = (0..101).map(|i| if i % 2 == 0 { 0.4 } else { 0.6 }).collect();
        let share = Share::of(&shares[..100]);
        assert!((share.mean - 0.5).abs() < 1e-12);
        assert!((share.error - 0.1 / 99.0_f64.sqrt()).abs() < 1e-12);
        assert!(share.is(0.5, 1e-3) && share.is(0.52, 1e-3) && !share.is(0.55, 1e-3));
        let found = share.detectable(1e-3);
        assert!((0.04..0.06).contains(&found), "{found}");
    }

    /// How often shares of twenty targets with a correlation of 0.1 miss a true level of 95 %. Each share
    /// is drawn given a beta number of mean 0.95 and sum of parameters `1 / 0.1 - 1`. The seed is fixed;
    /// with another the counts, of 5e-3 and about 100, would leave these bounds with less than 1e-6.
    #[test]
    fn skewed_shares_miss_more_often() {
        let mut rng = stream(0, Purpose::Simulate, 0);
        let law = Beta::new(0.95 * 9.0, 0.05 * 9.0).unwrap();
        for (sets, rate) in [(60, 1.7e-4), (200, 1.7e-3)] {
            let mut missed = || {
                let share = |_| {
                    let p = law.sample(&mut rng);
                    f64::from((0..20).map(|_| u8::from(rng.random::<f64>() < p)).sum::<u8>()) / 20.0
                };
                !Share::of(&(0..sets).map(share).collect::<Vec<f64>>()).is(0.95, rate)
            };
            let count = (0..20_000).filter(|_| missed()).count();
            assert!((40..=200).contains(&count), "{count} of 20000 at {rate}, {sets} sets");
        }
    }

    #[test]
    fn nothing_and_one_data_set_pass_no_test() {
        assert!(!Share::of(&[]).is(0.5, 1e-3));
        assert!(!Share::of(&[0.5]).is(0.5, 1e-3));
    }
}
