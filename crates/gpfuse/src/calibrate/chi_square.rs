//! Are ranks uniform over bins? Pearson's chi-square, with its upper tail.

/// The most bins.
const MOST_BINS: usize = 20;

/// At least so many ranks are expected in a bin.
const RANKS_PER_BIN: usize = 10;

/// Chi-square of ranks, each one of 0 to `ranked`, over bins of equal or nearly equal width, and
/// its p-value. The bins are as many as leave ten ranks for each, from two to twenty.
pub fn chi_square(ranks: &[usize], ranked: usize) -> (f64, f64) {
    let places = ranked + 1;
    let bins = (ranks.len() / RANKS_PER_BIN).clamp(2, MOST_BINS).min(places.max(1));
    let bin = |rank: usize| rank.min(ranked) * bins / places;
    let (mut found, mut width) = (vec![0.0; bins], vec![0.0; bins]);
    ranks.iter().for_each(|rank| found[bin(*rank)] += 1.0);
    (0..places).for_each(|rank| width[bin(rank)] += 1.0);
    let expected = width.iter().map(|w| ranks.len() as f64 * w / places as f64);
    let terms = found.iter().zip(expected).filter(|(_, e)| *e > 0.0);
    let value = terms.map(|(count, e): (&f64, f64)| (count - e).powi(2) / e).sum();
    (value, upper_tail(value, bins - 1))
}

/// The probability that chi-square with `freedom` degrees exceeds `value`.
///
/// With `h = value / 2` it is `e^-h sum_{j < m} h^j / j!` for 2 m degrees, and
/// `erfc(sqrt h) + e^-h sum_{j <= m} h^(j - 1/2) / Gamma(j + 1/2)` for 2 m + 1 (Abramowitz and
/// Stegun 1964, 26.4.4 and 26.4.5).
pub fn upper_tail(value: f64, freedom: usize) -> f64 {
    if freedom == 0 || value <= 0.0 {
        return 1.0;
    }
    let (h, odd) = (0.5 * value, freedom % 2 == 1);
    let (start, mut power) = if odd { (libm::erfc(h.sqrt()), 0.5) } else { (0.0, 0.0) };
    let mut sum = start;
    // Each term as one exponential: neither its power nor its factor e^-h need be a number alone.
    for _ in 0..freedom / 2 {
        sum += (power * h.ln() - h - libm::lgamma(power + 1.0)).exp();
        power += 1.0;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that tables have: the 5 %, 1 % and 0.1 % points.
    #[test]
    fn tails_are_those_of_the_tables() {
        let table = [(1, 3.841, 0.05), (2, 9.210, 0.01), (9, 27.877, 0.001), (10, 18.307, 0.05)];
        for (freedom, value, tail) in table {
            let found = upper_tail(value, freedom);
            assert!((found / tail - 1.0).abs() < 2e-3, "{freedom}: {found}");
        }
        assert!(upper_tail(1e9, 19) == 0.0 && upper_tail(0.0, 19) == 1.0);
    }

    /// Each tail is that of two degrees less plus a positive term, and less than one.
    #[test]
    fn more_degrees_have_a_larger_tail() {
        for value in [1e-9, 0.3, 5.0, 40.0, 700.0] {
            let tails: Vec<f64> = (1..40).map(|k| upper_tail(value, k)).collect();
            assert!(tails.windows(2).all(|t| t[0] <= t[1] + 1e-15), "{value}: {tails:?}");
        }
    }

    #[test]
    fn even_ranks_have_none_and_one_rank_alone_has_much() {
        let even: Vec<usize> = (0..1000).map(|i| i % 100).collect();
        assert_eq!(chi_square(&even, 99), (0.0, 1.0));
        let (value, p) = chi_square(&[99; 100], 99);
        assert!((value - 900.0).abs() < 1e-9 && p < 1e-100, "{value} {p}");
        // 7 places do not fall into 3 bins of one width: 0, 1, 2; 3, 4; 5, 6.
        let odd: Vec<usize> = (0..35).map(|i| i % 7).collect();
        assert!(chi_square(&odd, 6).0 < 1e-12);
    }
}
