//! How many of n independent trials may succeed, if each does so with a known probability.

use std::ops::RangeInclusive;

/// The shortest range of counts outside of which a binomial count lies with a probability of at most
/// `level / 2` on either side: exact, by summing `C(n, k) p^k (1 - p)^(n - k)`.
pub(crate) fn band(n: usize, p: f64, level: f64) -> RangeInclusive<usize> {
    let mut log_choose = 0.0;
    let mut mass = Vec::with_capacity(n + 1);
    for k in 0..=n {
        let (k, rest) = (k as f64, (n - k) as f64);
        mass.push((log_choose + k * p.ln() + rest * (-p).ln_1p()).exp());
        log_choose += rest.max(1.0).ln() - (k + 1.0).ln();
    }
    let inside = |masses: &mut dyn Iterator<Item = &f64>| {
        let mut sum = 0.0;
        masses.take_while(|m| (sum += **m, sum <= level / 2.0).1).count()
    };
    inside(&mut mass.iter())..=n - inside(&mut mass.iter().rev())
}

#[cfg(test)]
mod tests {
    use super::band;

    /// Against sums that can be done by hand: of 10 fair coins, 0 or 1 heads have probability
    /// 11 / 1024, and 2 or fewer 56 / 1024.
    #[test]
    fn ten_coins() {
        assert_eq!(band(10, 0.5, 2.0 * 11.5 / 1024.0), 2..=8);
        assert_eq!(band(10, 0.5, 2.0 * 10.5 / 1024.0), 1..=9);
        assert_eq!(band(10, 0.5, 2.0 * 56.5 / 1024.0), 3..=7);
        assert_eq!(band(4, 0.5, 0.0), 0..=4);
        let wide = band(200, 0.95, 1e-4);
        assert!(wide.contains(&190) && !wide.contains(&170) && !wide.contains(&200));
    }
}
