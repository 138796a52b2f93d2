//! What holds of every predictive density, whatever its components.

use gpfuse::predict::Mixture;

/// The probabilities whose quantiles are asked for.
const PROBABILITIES: [f64; 9] = [1e-6, 0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975, 1.0 - 1e-6];

/// A distribution function that falls by less than this is rounded.
const ROUNDING: f64 = 1e-13;

/// The first law that a predictive density breaks, with the numbers; `scale` is that of the target.
pub(super) fn broken(mixture: &Mixture, scale: f64) -> Option<String> {
    let (mean, variance) = (mixture.mean(), mixture.variance());
    if !mean.is_finite() {
        return Some(format!("the mean is {mean}"));
    }
    if !(variance.is_finite() && variance > 0.0) {
        return Some(format!("the variance is {variance:e}"));
    }
    let quantiles = mixture.quantiles(&PROBABILITIES);
    if quantiles.iter().any(|q| !q.is_finite()) || !quantiles.is_sorted() {
        return Some(format!("the quantiles are {quantiles:?}"));
    }
    for scale in [scale, variance.sqrt()] {
        let mut last = 0.0;
        for y in grid(mean, scale) {
            let p = mixture.cdf(y);
            // NaN is neither inside nor above.
            if !(p >= last - ROUNDING && (0.0..=1.0).contains(&p)) {
                return Some(format!("the distribution function at {y:e} is {p:e} after {last:e}"));
            }
            last = p;
            let other = mixture.survival(y);
            let sum = p + other;
            if sum.is_nan() || (sum - 1.0).abs() > 1e-10 {
                return Some(format!("at {y:e} the tails {p:e} and {other:e} do not sum to 1"));
            }
            let density = mixture.log_density(y);
            if density.is_nan() || density == f64::INFINITY {
                return Some(format!("the log density at {y:e} is {density}"));
            }
        }
        // Unless the spread is nothing beside the mean, or the target's scale beside the spread.
        let wide = 1e15 * scale > 1e-9 * mean.abs() && scale >= variance.sqrt();
        if wide && last < 1.0 - 1e-6 {
            return Some(format!("the distribution function ends at {last}"));
        }
    }
    // Where most outcomes are, there is a density.
    let middle = mixture.log_density(quantiles[4]);
    if !middle.is_finite() {
        return Some(format!("the log density at the median {:e} is {middle}", quantiles[4]));
    }
    let crps = mixture.crps(mean);
    (!(crps.is_finite() && crps >= 0.0)).then(|| format!("the CRPS at the mean is {crps:e}"))
}

/// Ascending numbers up to 1e15 scales from the middle, denser towards it.
fn grid(middle: f64, scale: f64) -> Vec<f64> {
    let steps = (-12..=30).map(|e| scale * 10_f64.powf(0.5 * f64::from(e)));
    let above: Vec<f64> = steps.map(|step| middle + step).collect();
    let below = above.iter().rev().map(|y| middle - (y - middle));
    let mut all: Vec<f64> = below.chain([middle]).chain(above.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The laws can be kept, and broken: on a scale that is no number there is no distribution.
    #[test]
    fn a_normal_keeps_the_laws_and_a_scale_that_is_none_shows() {
        let normal = |sd: f64| Mixture::new(vec![0.0], vec![1.0], vec![sd]).expect("a normal");
        for sd in [1e-140, 0.1, 1e20] {
            assert_eq!(broken(&normal(sd), 1.0), None);
        }
        assert!(broken(&normal(1.0), f64::NAN).is_some());
    }
}
