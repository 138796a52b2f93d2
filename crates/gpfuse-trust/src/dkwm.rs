//! How far distribution functions are apart, and how far chance alone puts them.
//!
//! The distribution function of `n` independent draws is farther than `e` from the true one, anywhere,
//! with a probability of at most `2 exp(-2 n e^2)` (Dvoretzky, Kiefer and Wolfowitz 1956 with the
//! constant of Massart, "The tight constant in the Dvoretzky–Kiefer–Wolfowitz inequality", Annals
//! of Probability 18 (1990) 1269–1283). It holds for every `n` and every law.

/// The distance that the distribution function of `n` independent draws exceeds with a probability
/// of at most `rate`.
pub(crate) fn reach(n: usize, rate: f64) -> f64 {
    ((2.0 / rate).ln() / (2.0 * n as f64)).sqrt()
}

/// The largest distance between the distribution function of some draws, which are sorted here,
/// and `cdf`; 1 if a draw is no number.
pub(crate) fn distance(draws: &mut [f64], cdf: impl Fn(f64) -> f64) -> f64 {
    if draws.iter().any(|v| v.is_nan()) {
        return 1.0;
    }
    draws.sort_unstable_by(f64::total_cmp);
    let n = draws.len() as f64;
    let apart = |(i, v): (usize, &f64)| {
        let (below, at) = (i as f64 / n, cdf(*v));
        (at - below).max(below + 1.0 / n - at)
    };
    draws.iter().enumerate().map(apart).fold(0.0, f64::max)
}

/// The largest distance between the distribution functions of two sets of draws, which are sorted
/// here; 1 if a draw is no number.
pub(crate) fn between(first: &mut [f64], second: &mut [f64]) -> f64 {
    if first.iter().chain(second.iter()).any(|v| v.is_nan()) {
        return 1.0;
    }
    first.sort_unstable_by(f64::total_cmp);
    second.sort_unstable_by(f64::total_cmp);
    let (mut i, mut j, mut most) = (0, 0, 0.0_f64);
    while let (Some(a), Some(b)) = (first.get(i), second.get(j)) {
        // All that equal the next number are passed at once: the functions jump there together.
        let next = a.min(*b);
        i += first[i..].iter().take_while(|v| **v <= next).count();
        j += second[j..].iter().take_while(|v| **v <= next).count();
        let apart = i as f64 / first.len() as f64 - j as f64 / second.len() as f64;
        most = most.max(apart.abs());
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpfuse::random::{Purpose, stream};
    use rand::RngExt;

    #[test]
    fn distances_of_few_numbers() {
        assert_eq!(distance(&mut [0.75, 0.25], |x| x), 0.25);
        assert_eq!(distance(&mut [0.5, f64::NAN], |x| x), 1.0);
        assert_eq!(between(&mut [3.0, 1.0], &mut [2.0, 4.0]), 0.5);
        assert_eq!(between(&mut [1.0, 1.0, 2.0], &mut [2.0, 1.0, 1.0]), 0.0);
        assert_eq!(between(&mut [1.0], &mut [2.0]), 1.0);
    }

    /// Uniform numbers are farther than the reach at 10 % in about 10 % of 2000 sets: more than 15 %
    /// would be seven standard deviations, fewer than 3 % ten.
    #[test]
    fn the_reach_is_kept_and_is_not_far_too_wide() {
        let far = |set: u64| {
            let mut rng = stream(3, Purpose::Simulate, set);
            let mut draws: Vec<f64> = (0..500).map(|_| rng.random()).collect();
            distance(&mut draws, |x| x) > reach(500, 0.1)
        };
        let count = (0..2000).filter(|set| far(*set)).count();
        assert!((60..300).contains(&count), "{count} of 2000");
    }
}
