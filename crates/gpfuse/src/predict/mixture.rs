//! A finite mixture of normal distributions: the predictive density at one input.

mod crps;
mod layers;
mod pilot;
mod prepare;
mod probit;
mod quantile;
mod spectrum;
mod sums;

use std::borrow::Cow;
use std::sync::OnceLock;

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use crate::error::{Error, Result};
use crate::math::HALF_LN_TWO_PI;
use crate::math::simd::Level;
pub(crate) use layers::Spectrum;
use sums::Parts;

/// A mixture of normal distributions,
/// `p(y) = sum_i w_i N(y; mean_i, sd_i^2)`, `w_i` proportional to `exp(log_weight_i)`.
///
/// The components are borrowed or owned, as the caller likes. Moments are known from the start;
/// density and distribution function take one or two passes over the components, a quantile as
/// a rule one and a few in single precision, and the first CRPS as much as some thirty.
///
/// ```
/// # use gpfuse::predict::Mixture;
/// # fn main() -> gpfuse::Result<()> {
/// let half = 0.5_f64.ln();
/// let mixture = Mixture::new(vec![half, half], vec![-1.0, 1.0], vec![0.5, 0.5])?;
/// assert!((mixture.variance() - 1.25).abs() < 1e-12);
/// let (low, high) = mixture.interval(0.9);
/// assert!((mixture.cdf(high) - mixture.cdf(low) - 0.9).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Mixture<'a> {
    log_weight: Cow<'a, [f64]>,
    mean: Cow<'a, [f64]>,
    sd: Cow<'a, [f64]>,
    /// Linear weights that sum to 1.
    weight: Vec<f64>,
    inv_sd: Vec<f64>,
    /// `ln sum_i exp(log_weight_i)`.
    log_total: f64,
    middle: f64,
    variance: f64,
    level: Level,
    /// Half the mean distance of two independent draws; does not depend on y, so that the
    /// CRPS of several outcomes pays for it once.
    half_distance: OnceLock<f64>,
}

impl<'a> Mixture<'a> {
    /// The mixture of the components `(log_weight[i], mean[i], sd[i])`.
    ///
    /// The weights need not sum to 1: they are normalised here, and a weight may be 0 (a log
    /// weight of minus infinity). Means must be finite and standard deviations positive, within
    /// 1e-150 to 1e150, so that their squares are numbers.
    ///
    /// # Errors
    /// If there is no component, the slices differ in length, no component has weight, or a
    /// value is out of range.
    pub fn new(
        log_weight: impl Into<Cow<'a, [f64]>>,
        mean: impl Into<Cow<'a, [f64]>>,
        sd: impl Into<Cow<'a, [f64]>>,
    ) -> Result<Self> {
        let (log_weight, mean, sd) = (log_weight.into(), mean.into(), sd.into());
        for (what, found) in [("mean", mean.len()), ("sd", sd.len())] {
            if found != log_weight.len() {
                return Err(Error::Shape {
                    what: format!("mixture's {what}"),
                    expected: format!("{} components, as many as weights", log_weight.len()),
                    found: found.to_string(),
                });
            }
        }
        let level = Level::detect();
        let (mut weight, mut inv_sd) = (vec![0.0; mean.len()], vec![0.0; mean.len()]);
        let all = prepare::prepare(level, &log_weight, &mean, &sd, &mut weight, &mut inv_sd);
        let problem = if !all.means_fit {
            "a mean is not within 1e150 of 0"
        } else if !all.sds_fit {
            "a standard deviation is not within 1e-150 to 1e150"
        } else if !(all.largest.is_finite() && all.total.is_finite()) {
            "no log weight is finite, or one is infinite or not a number"
        } else {
            return Ok(Self {
                log_weight,
                mean,
                sd,
                weight,
                inv_sd,
                log_total: all.largest + all.total.ln(),
                middle: all.mean,
                variance: all.variance,
                level,
                half_distance: OnceLock::new(),
            });
        };
        Err(Error::Data(format!("mixture: {problem}")))
    }

    fn parts(&self) -> Parts<'_> {
        Parts { weight: &self.weight, mean: &self.mean, sd: &self.sd, inv_sd: &self.inv_sd }
    }

    /// The number of components.
    pub fn len(&self) -> usize {
        self.mean.len()
    }

    /// Whether there is no component: never, as [`Mixture::new`] refuses it.
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }

    /// The mean, `sum_i w_i mean_i`.
    pub fn mean(&self) -> f64 {
        self.middle
    }

    /// The variance by the law of total variance, `sum_i w_i (sd_i^2 + (mean_i - m)^2)` with m
    /// the mixture's mean. It is a sum of positive terms, so that nothing cancels.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// The log density `ln p(y)`: the largest exponent is taken out of the sum, so that the
    /// result is finite wherever it is a number, however far out.
    pub fn log_density(&self, y: f64) -> f64 {
        if y.is_nan() {
            return y;
        }
        let largest = sums::largest_exponent(self.level, &self.log_weight, self.parts(), y);
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        let sum = sums::density_sum(self.level, &self.log_weight, self.parts(), y, largest);
        (largest - self.log_total) + (sum.ln() - HALF_LN_TWO_PI)
    }

    /// The distribution function `P(Y <= y)`, with full relative accuracy in the lower tail.
    pub fn cdf(&self, y: f64) -> f64 {
        at_most_one(sums::cdf_sum(self.level, self.parts(), y, 1.0))
    }

    /// The survival function `P(Y > y)`, with full relative accuracy in the upper tail.
    pub fn survival(&self, y: f64) -> f64 {
        at_most_one(sums::cdf_sum(self.level, self.parts(), y, -1.0))
    }

    /// The probability integral transform of an outcome, the distribution function at `y`:
    /// uniform over outcomes if the prediction is calibrated.
    pub fn pit(&self, y: f64) -> f64 {
        self.cdf(y)
    }

    /// A draw: first the component, then its normal variable. It costs a pass over the weights;
    /// for many draws take [`Mixture::sample_many`].
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let mut left = rng.random::<f64>();
        // Rounding may leave a remainder beyond the last component that has weight.
        let mut chosen = 0;
        for (i, w) in self.weight.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            chosen = i;
            left -= w;
            if left < 0.0 {
                break;
            }
        }
        self.mean[chosen] + self.sd[chosen] * rng.sample::<f64, _>(StandardNormal)
    }

    /// `count` independent draws, each by bisection of the summed weights.
    pub fn sample_many<R: Rng + ?Sized>(&self, count: usize, rng: &mut R) -> Vec<f64> {
        let mut top = 0.0;
        let summed: Vec<f64> = self.weight.iter().map(|w| (top += w, top).1).collect();
        let draw = |_| {
            let u = top * rng.random::<f64>();
            let chosen = summed.partition_point(|s| *s <= u).min(summed.len() - 1);
            self.mean[chosen] + self.sd[chosen] * rng.sample::<f64, _>(StandardNormal)
        };
        (0..count).map(draw).collect()
    }
}

/// A probability whose sum was rounded; unlike `min`, keeps NaN.
fn at_most_one(p: f64) -> f64 {
    if p > 1.0 { 1.0 } else { p }
}
