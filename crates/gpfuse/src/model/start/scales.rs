//! Lengthscales that rows and basis can resolve: log-uniform between a few spacings and the range.

use super::uniform;
use crate::rows::Rows;

/// A function is known between rows if its lengthscale is a few of their spacings.
const SPACINGS: f64 = 3.0;

/// The range of each input, and the least share of it that is worth resolving.
#[derive(Debug, Clone)]
pub(super) struct Scales {
    range: Vec<f64>,
    least: f64,
}

impl Scales {
    /// For a GP of `features` features on `rows`. Spread evenly over d inputs, n rows are
    /// `n^(-1/d)` of the range apart, and features resolve as much.
    pub(super) fn new(rows: &Rows, features: usize) -> Scales {
        let inputs = rows.inputs();
        let apart = |count: usize| (count as f64).powf(-1.0 / inputs as f64);
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); inputs];
        for row in 0..rows.len() {
            for (end, x) in ends.iter_mut().zip(rows.row(row)) {
                *end = (end.0.min(x), end.1.max(x));
            }
        }
        // An input that does not vary has no range; any lengthscale suits it.
        let range = |(low, high): (f64, f64)| {
            let range = high - low;
            if range.is_finite() && range > 0.0 { range } else { 1.0 }
        };
        Scales {
            range: ends.into_iter().map(range).collect(),
            least: (SPACINGS * apart(rows.len())).max(apart(features)),
        }
    }

    /// Draw log lengthscales, none above `most`.
    pub(super) fn draw(&self, most: f64, normal: &mut dyn FnMut() -> f64, log_ell: &mut [f64]) {
        for (log_ell, range) in log_ell.iter_mut().zip(&self.range) {
            let high = range.min(most);
            let low = (self.least * range).min(0.5 * high);
            *log_ell = low.ln() + uniform(normal) * (high / low).ln();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand_distr::{Distribution, StandardNormal};

    /// Every draw lies between what is resolved and the range, and none above the bound.
    #[test]
    fn lengthscales_are_within_their_bounds() {
        let mut rng = stream(1, Purpose::Simulate, 4);
        let mut normal = || StandardNormal.sample(&mut rng);
        let x: Vec<f64> = (0..300).flat_map(|i| [f64::from(i), 0.01 * f64::from(i), 4.0]).collect();
        let scales = Scales::new(&Rows::new(&x, 3).unwrap(), 1000);
        let mut log_ell = [0.0; 3];
        for most in [1e-3, 1.0, 1e9] {
            for _ in 0..100 {
                scales.draw(most, &mut normal, &mut log_ell);
                for (log_ell, range) in log_ell.iter().zip([299.0, 2.99, 1.0_f64]) {
                    let high = range.min(most);
                    // 300 rows are 0.149 of the range apart in three dimensions.
                    let low = (0.448 * range).min(0.5 * high);
                    let ell = log_ell.exp();
                    assert!(ell > 0.999 * low && ell < 1.001 * high, "{low} {ell} {high}");
                }
            }
        }
    }
}
