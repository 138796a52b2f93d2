//! The generalised Pareto distribution: a fit to a tail, and its quantiles.

/// A generalised Pareto distribution of location 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pareto {
    /// The shape k; from 1/r on the moment of order r is infinite.
    pub(super) shape: f64,
    /// The scale sigma.
    pub(super) scale: f64,
}

/// Grid points besides the square root of the sample size.
const GRID: usize = 30;
/// The spread of the prior of b, in quartiles.
const PRIOR_SPREAD: f64 = 3.0;
/// How many observations the weak prior of the shape is worth.
const PRIOR_WORTH: f64 = 10.0;
/// The shape that this prior expects.
const PRIOR_SHAPE: f64 = 0.5;

impl Pareto {
    /// The fit to sorted positive values; none where the likelihood has no usable maximum.
    ///
    /// The profile likelihood in `b = -k / sigma` is averaged over a grid (Zhang and Stephens,
    /// Technometrics 51 (2009) 316-325): with `k(b)` the mean of `ln(1 - b x_i)`, the grid point
    /// b has the weight `exp(n (ln(-b / k(b)) - k(b) - 1))`. The shape is then drawn towards 1/2
    /// as if ten observations more had said so (Vehtari and others, Journal of Machine Learning
    /// Research 25 (2024) 72).
    pub(super) fn fit(sorted: &[f64]) -> Option<Pareto> {
        let n = sorted.len() as f64;
        let points = GRID + n.sqrt() as usize;
        let quartile = sorted[(n / 4.0 + 0.5) as usize - 1];
        let last = sorted[sorted.len() - 1];
        let shape_of = |b: f64| sorted.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n;
        let grid: Vec<f64> = (1..=points)
            .map(|i| 1.0 - (points as f64 / (i as f64 - 0.5)).sqrt())
            .map(|b| b / (PRIOR_SPREAD * quartile) + 1.0 / last)
            .collect();
        let log_likelihood = |b: &f64| {
            let k = shape_of(*b);
            n * ((-b / k).ln() - k - 1.0)
        };
        let profile: Vec<f64> = grid.iter().map(log_likelihood).collect();
        let weight = |at: &f64| 1.0 / profile.iter().map(|l| (l - at).exp()).sum::<f64>();
        let weights: Vec<f64> = profile.iter().map(weight).collect();
        let kept = || grid.iter().zip(&weights).filter(|(_, w)| **w >= 10.0 * f64::EPSILON);
        let total: f64 = kept().map(|(_, w)| w).sum();
        let b = kept().map(|(b, w)| b * w / total).sum::<f64>();
        let k = shape_of(b);
        let fitted = Pareto {
            shape: (n * k + PRIOR_WORTH * PRIOR_SHAPE) / (n + PRIOR_WORTH),
            scale: -k / b,
        };
        let usable = fitted.shape.is_finite() && fitted.scale.is_finite() && fitted.scale > 0.0;
        usable.then_some(fitted)
    }

    /// The value below which a part `p` of the distribution lies, `0 < p < 1`.
    pub(super) fn quantile(&self, p: f64) -> f64 {
        let log_rest = (-p).ln_1p();
        if self.shape.abs() < f64::EPSILON {
            return -self.scale * log_rest;
        }
        self.scale * (-self.shape * log_rest).exp_m1() / self.shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evenly spread quantiles of a distribution give it back, but for the weak prior.
    #[test]
    fn a_fit_to_quantiles_finds_their_shape() {
        for shape in [-0.4, 0.0, 0.3, 0.9] {
            for scale in [1e-8, 1.0, 50.0] {
                let truth = Pareto { shape, scale };
                let n = 5000;
                let at = |i: i32| truth.quantile((f64::from(i) + 0.5) / f64::from(n));
                let sample: Vec<f64> = (0..n).map(at).collect();
                let found = Pareto::fit(&sample).unwrap();
                assert!((found.shape - shape).abs() < 0.02, "{found:?} instead of {truth:?}");
                assert!((found.scale / scale - 1.0).abs() < 0.02, "{found:?}, not {truth:?}");
            }
        }
    }

    #[test]
    fn tails_without_spread_have_no_fit() {
        assert_eq!(Pareto::fit(&[0.0; 6]), None);
        assert_eq!(Pareto::fit(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), None);
    }
}
