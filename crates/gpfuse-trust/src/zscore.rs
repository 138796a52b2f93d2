//! Means of Markov chains beside their exact values, in standard errors.

use gpfuse::math::ndtri;

/// The absolute value that one of `tests` standard normal numbers exceeds with a probability of at
/// most `rate` (Bonferroni).
pub(crate) fn threshold(rate: f64, tests: usize) -> f64 {
    -ndtri(rate / (2.0 * tests.max(1) as f64))
}

/// The mean of some numbers.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean of all draws of some chains by batch means: the standard
/// deviation of the means of `each` batches of every chain, over the square root of how many
/// there are (Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992) 473–483).
pub(crate) fn batch_error(chains: &[&[f64]], each: usize) -> f64 {
    let size = |chain: &&[f64]| (chain.len() / each.max(1)).max(1);
    let means: Vec<f64> =
        chains.iter().flat_map(|chain| chain.chunks_exact(size(chain)).map(mean)).collect();
    let (count, centre) = (means.len() as f64, mean(&means));
    let squares: f64 = means.iter().map(|m| (m - centre).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpfuse::diagnose::mcse_mean;
    use gpfuse::random::{Purpose, stream};
    use rand_distr::{Distribution, StandardNormal};

    #[test]
    fn thresholds_are_those_of_the_tables() {
        assert!((threshold(0.05, 1) - 1.959_964).abs() < 1e-6);
        assert!((threshold(0.02, 2) - 2.575_829).abs() < 1e-6);
    }

    /// Of an autoregressive chain with coefficient 0.8 and unit variance, the standard error of the
    /// mean of n draws is `sqrt(9 / n)`; both estimates are within a quarter of it, where their own
    /// standard errors are below 4 %.
    #[test]
    fn standard_errors_are_those_of_an_autoregression() {
        let chain = |number: u64| -> Vec<f64> {
            let mut rng = stream(2, Purpose::Simulate, number);
            let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
            let mut x = normal();
            let mut next = || {
                x = 0.8 * x + 0.6 * normal();
                x
            };
            (0..10_000).map(|_| next()).collect()
        };
        let chains: Vec<Vec<f64>> = (0..8).map(chain).collect();
        let slices: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        let exact = (9.0 / 80_000.0_f64).sqrt();
        for found in [batch_error(&slices, 50), mcse_mean(&slices)] {
            assert!((found / exact - 1.0).abs() < 0.25, "{found}, not {exact}");
        }
    }
}
