//! Two sets of Markov chains beside each other: do they have one law?
//!
//! With m, m' the estimates of one number by the two and e, e' their Monte Carlo standard errors,
//! `z = (m - m') / sqrt(e^2 + e'^2)` is standard normal, nearly, where the laws are one. Estimated
//! are the mean; the standard deviation s, by way of `(x - mean)^2`, whose error divided by `2 s` is
//! that of s (the delta method); and the share of draws up to the 5, 50 and 95 % quantile of the
//! first set. All errors come from effective sample sizes ([`mcse_mean`]).

use gpfuse::diagnose::mcse_mean;

/// The quantiles that are looked at.
const LEVELS: [(f64, &str); 3] = [(0.05, "5 %"), (0.5, "50 %"), (0.95, "95 %")];

/// Comparisons of each quantity.
pub(super) const COMPARISONS: usize = 2 + LEVELS.len();

/// One number, by two sets of chains.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compared {
    /// What it is.
    pub(super) what: String,
    /// The difference in standard errors.
    pub(super) z: f64,
}

/// The comparisons of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Agreement {
    /// In standard errors.
    pub(super) compared: Vec<Compared>,
    /// The difference of the means in standard deviations of the first set.
    pub(super) apart: f64,
}

/// Compare the chains of a quantity.
pub(super) fn compare(name: &str, first: &[&[f64]], second: &[&[f64]]) -> Agreement {
    let [one, two] = [first, second].map(Moments::of);
    let mut compared = Vec::with_capacity(COMPARISONS);
    let mut say = |what: &str, a: (f64, f64), b: (f64, f64)| {
        let z = (a.0 - b.0) / a.1.hypot(b.1);
        // What cannot be compared does not agree.
        let z = if z.is_nan() { f64::INFINITY } else { z };
        compared.push(Compared { what: format!("{what} of {name}"), z });
    };
    say("mean", one.mean, two.mean);
    say("sd", one.sd, two.sd);
    let mut sorted = first.concat();
    sorted.sort_by(f64::total_cmp);
    for (level, what) in LEVELS {
        let value = sorted[((sorted.len() as f64 * level) as usize).min(sorted.len() - 1)];
        say(&format!("{what} quantile"), share(first, value), share(second, value));
    }
    Agreement { compared, apart: (one.mean.0 - two.mean.0).abs() / one.sd.0 }
}

/// Estimates with their standard errors.
struct Moments {
    mean: (f64, f64),
    sd: (f64, f64),
}

impl Moments {
    fn of(chains: &[&[f64]]) -> Moments {
        let centre = mean(chains);
        let squares = mapped(chains, |x| (x - centre).powi(2));
        let squares: Vec<&[f64]> = squares.iter().map(Vec::as_slice).collect();
        let sd = mean(&squares).sqrt();
        Moments { mean: (centre, mcse_mean(chains)), sd: (sd, mcse_mean(&squares) / (2.0 * sd)) }
    }
}

/// The share of draws up to `value`.
fn share(chains: &[&[f64]], value: f64) -> (f64, f64) {
    let below = mapped(chains, |x| f64::from(u8::from(x <= value)));
    let below: Vec<&[f64]> = below.iter().map(Vec::as_slice).collect();
    (mean(&below), mcse_mean(&below))
}

fn mapped(chains: &[&[f64]], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains.iter().map(|chain| chain.iter().map(|x| f(*x)).collect()).collect()
}

fn mean(chains: &[&[f64]]) -> f64 {
    let count: usize = chains.iter().map(|chain| chain.len()).sum();
    chains.iter().flat_map(|chain| chain.iter()).sum::<f64>() / count as f64
}

/// The mean over chains of the autocorrelation at lag 1.
pub(super) fn lag_one(chains: &[&[f64]]) -> f64 {
    let one = |chain: &&[f64]| {
        let centre = mean(&[chain]);
        let off: Vec<f64> = chain.iter().map(|x| x - centre).collect();
        let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        products / off.iter().map(|x| x * x).sum::<f64>()
    };
    chains.iter().map(one).sum::<f64>() / chains.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpfuse::random::{Purpose, stream};
    use rand_distr::{Distribution, StandardNormal};

    /// Chains of `x -> 0.7 x + noise`, of mean 0 and variance 1, times `scale`, plus `shift`.
    fn chains(seed: u64, length: usize, scale: f64, shift: f64) -> Vec<Vec<f64>> {
        let chain = |number: u64| {
            let mut rng = stream(seed, Purpose::Simulate, number);
            let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
            let mut x = normal();
            let mut next = || {
                x = 0.7 * x + (1.0 - 0.49_f64).sqrt() * normal();
                shift + scale * x
            };
            (0..length).map(|_| next()).collect()
        };
        (0..4).map(chain).collect()
    }

    fn slices(chains: &[Vec<f64>]) -> Vec<&[f64]> {
        chains.iter().map(Vec::as_slice).collect()
    }

    fn compared(one: &[Vec<f64>], two: &[Vec<f64>]) -> Agreement {
        compare("x", &slices(one), &slices(two))
    }

    #[test]
    fn what_never_moves_does_not_agree() {
        let still = vec![vec![1.0; 100]; 4];
        assert_eq!(compared(&still, &still).compared[0].z, f64::INFINITY);
    }

    /// Over 200 pairs of one law the mean of `z^2` of each comparison is one, with a standard error
    /// of 0.1: between 0.6 and 1.4, four of them. Five comparisons fail by chance with a
    /// probability of 4e-4 in all.
    #[test]
    fn differences_in_standard_errors_are_standard_normal() {
        let mut squares = [0.0; COMPARISONS];
        for pair in 0..200 {
            let (one, two) =
                (chains(2 * pair, 2000, 1.0, 0.0), chains(2 * pair + 1, 1000, 1.0, 0.0));
            for (sum, found) in squares.iter_mut().zip(compared(&one, &two).compared) {
                *sum += found.z.powi(2) / 200.0;
            }
        }
        assert!(squares.iter().all(|s| (0.6..1.4).contains(s)), "{squares:?}");
    }

    /// A shift of 0.15 and a scale a tenth wider are each twelve standard errors or more of the number
    /// they change, and 0.05 is four of the mean; this fails by chance with a probability below
    /// 1e-4.
    #[test]
    fn a_shift_and_a_scale_are_found() {
        let traces = chains(1, 20_000, 1.0, 0.0);
        let z = |other: &[Vec<f64>], i: usize| compared(&traces, other).compared[i].z.abs();
        let shifted = chains(2, 20_000, 1.0, 0.15);
        assert!(z(&shifted, 0) > 6.0 && (compared(&traces, &shifted).apart - 0.15).abs() < 0.05);
        assert!(z(&chains(3, 20_000, 1.1, 0.0), 1) > 6.0);
    }

    /// The standard error of the autocorrelation of 80 000 draws is below 0.004.
    #[test]
    fn the_autocorrelation_is_that_of_the_process() {
        let traces = chains(1, 20_000, 1.0, 0.0);
        assert!((lag_one(&slices(&traces)) - 0.7).abs() < 0.02);
    }
}
