//! The band that the distribution function of uniform ranks leaves with a given probability.
//!
//! Of N ranks, each one of 0 to L, let `c_j` be how many are at most j, j = 0 .. L - 1. If ranks
//! are uniform, `c_j ~ Binomial(N, z_j)` with `z_j = (j + 1) / (L + 1)`. The band keeps at each j the
//! counts whose tail `t_j(c) = 2 min(P(c_j <= c), P(c_j >= c))` exceeds one number gamma, the same
//! for all j, and gamma is such that all counts together are inside with the wanted probability
//! (Säilynoja, Bürkner and Vehtari, "Graphical test for discrete uniformity and its applications in
//! goodness-of-fit evaluation and multiple sample comparison", Statistics and Computing 32 (2022)
//! 32). That probability is exact here, not simulated: the counts are a Markov chain,
//! `c_j - c_{j-1} ~ Binomial(N - c_{j-1}, (z_j - z_{j-1}) / (1 - z_{j-1}))`, and their law inside the
//! band is carried from j to j. So is the p-value, the probability that uniform ranks have a
//! smallest tail no larger than the one found.

/// Tails that differ by less than this part are one and the same but for rounding.
const ROUNDING: f64 = 1e-9;

/// Halvings of the interval in which gamma lies; it is then known to five digits.
const HALVINGS: usize = 40;

/// Binomial counts beyond this many standard deviations, and as many counts, have no probability.
const FARTHEST_COUNT: f64 = 40.0;

/// A probability that may be left out: all of them together are rounding.
const NEGLIGIBLE: f64 = 1e-22;

/// The law of the counts of uniform ranks.
pub(super) struct Law {
    n: usize,
    /// `z_j`.
    points: Vec<f64>,
    /// `ln i!`, i = 0 .. N.
    log_factorial: Vec<f64>,
}

/// The lowest and the highest count at each point that lie inside a band.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// The probability of uniform ranks to leave it anywhere, at most.
    pub level: f64,
    /// Share of ranks at or below each point that is expected.
    pub points: Vec<f64>,
    /// The smallest share inside.
    pub low: Vec<f64>,
    /// The largest.
    pub high: Vec<f64>,
}

impl Law {
    /// Of `n` ranks, each one of 0 to `ranked`.
    pub(super) fn new(n: usize, ranked: usize) -> Law {
        let mut log_factorial = vec![0.0; n + 1];
        (1..=n).for_each(|i| log_factorial[i] = log_factorial[i - 1] + (i as f64).ln());
        let points = (1..=ranked).map(|j| j as f64 / (ranked + 1) as f64).collect();
        Law { n, points, log_factorial }
    }

    /// The probability of `k` of `n` at `p` each, p between 0 and 1.
    fn binomial(&self, n: usize, k: usize, log_p: f64, log_rest: f64) -> f64 {
        let ways = self.log_factorial[n] - self.log_factorial[k] - self.log_factorial[n - k];
        (ways + k as f64 * log_p + (n - k) as f64 * log_rest).exp()
    }

    /// The counts at `z` that have any probability, with it.
    fn counts(&self, z: f64) -> (usize, Vec<f64>) {
        let n = self.n as f64;
        let reach = FARTHEST_COUNT * (n * z * (1.0 - z)).sqrt() + FARTHEST_COUNT;
        let first = (n * z - reach).floor().max(0.0) as usize;
        let last = ((n * z + reach).ceil() as usize).min(self.n);
        let (log_p, log_rest) = (z.ln(), (-z).ln_1p());
        (first, (first..=last).map(|k| self.binomial(self.n, k, log_p, log_rest)).collect())
    }

    /// The tail of the count `c` at point `j`.
    fn tail(&self, j: usize, c: usize) -> f64 {
        let (first, each) = self.counts(self.points[j]);
        let at = c.saturating_sub(first);
        let below: f64 = each.iter().take(at + 1).sum();
        let above: f64 = each.iter().skip(at).rev().sum();
        2.0 * below.min(above)
    }

    /// At each point the lowest and the highest count whose tail exceeds `gamma`; none at a point
    /// where no count's does.
    fn limits(&self, gamma: f64) -> Vec<Option<(usize, usize)>> {
        let one = |z: &f64| {
            let (first, each) = self.counts(*z);
            let low = first + beyond(each.iter(), gamma)?;
            let high = first + each.len() - 1 - beyond(each.iter().rev(), gamma)?;
            (low <= high).then_some((low, high))
        };
        self.points.iter().map(one).collect()
    }

    /// The probability that the counts of uniform ranks lie inside limits at every point.
    fn inside(&self, limits: &[Option<(usize, usize)>]) -> f64 {
        let (mut start, mut law, mut z) = (0, vec![1.0], 0.0);
        for (point, limit) in self.points.iter().zip(limits) {
            let Some((low, high)) = *limit else { return 0.0 };
            let p = (point - z) / (1.0 - z);
            let mut next = vec![0.0; high - low + 1];
            for (i, mass) in law.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                let before = start + i;
                if before <= high {
                    self.spread(before, low, p, *mass, &mut next);
                }
            }
            (start, law, z) = (low, next, *point);
        }
        law.iter().sum()
    }

    /// Add to `next`, the law of counts from `low` on, what a count of `before` with probability
    /// `mass` becomes when each of the other ranks joins it with probability `p`.
    fn spread(&self, before: usize, low: usize, p: f64, mass: f64, next: &mut [f64]) {
        let (left, odds) = (self.n - before, p / (1.0 - p));
        let (first, last) = (low.saturating_sub(before), low + next.len() - 1 - before);
        // From the likeliest number outwards, each from its neighbour, until it does not matter.
        let top = (((left + 1) as f64 * p) as usize).clamp(first, last);
        let peak = mass * self.binomial(left, top, p.ln(), (-p).ln_1p());
        let (mut k, mut value) = (top, peak);
        while value > NEGLIGIBLE {
            next[before + k - low] += value;
            if k == last {
                break;
            }
            value *= (left - k) as f64 / (k + 1) as f64 * odds;
            k += 1;
        }
        (k, value) = (top, peak);
        while k > first {
            value *= k as f64 / ((left - k + 1) as f64 * odds);
            k -= 1;
            if value <= NEGLIGIBLE {
                break;
            }
            next[before + k - low] += value;
        }
    }

    /// How many of the ranks are at most j, for each j.
    fn found(&self, ranks: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; self.points.len() + 1];
        ranks.iter().for_each(|rank| counts[(*rank).min(self.points.len())] += 1);
        let mut sum = 0;
        counts.iter().take(self.points.len()).map(|c| (sum += c, sum).1).collect()
    }

    /// The probability that uniform ranks stray at least as far as these.
    pub(super) fn p_value(&self, ranks: &[usize]) -> f64 {
        let tails = self.found(ranks).into_iter().enumerate().map(|(j, c)| self.tail(j, c));
        let smallest = tails.fold(f64::INFINITY, f64::min);
        (1.0 - self.inside(&self.limits(smallest * (1.0 + ROUNDING)))).clamp(0.0, 1.0)
    }

    /// The narrowest such band that uniform ranks leave with a probability of at most `level`.
    pub(super) fn band(&self, level: f64) -> Band {
        // At gamma = level all counts leave with at least that probability, at one point alone.
        let (mut low, mut high) = (0.0, level);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let outside = 1.0 - self.inside(&self.limits(middle));
            if outside <= level {
                low = middle
            } else {
                high = middle
            }
            if high - low <= 1e-5 * high {
                break;
            }
        }
        let share = |count: usize| count as f64 / self.n.max(1) as f64;
        let limits = self.limits(low).into_iter().map(|limit| limit.unwrap_or((0, self.n)));
        let (low, high) = limits.map(|(a, b)| (share(a), share(b))).unzip();
        Band { level, points: self.points.clone(), low, high }
    }

    /// The share of ranks at most j, for each j.
    pub(super) fn shares(&self, ranks: &[usize]) -> Vec<f64> {
        self.found(ranks).into_iter().map(|c| c as f64 / self.n.max(1) as f64).collect()
    }
}

/// The first place where twice the sum so far exceeds `gamma`.
fn beyond<'a>(mut each: impl Iterator<Item = &'a f64>, gamma: f64) -> Option<usize> {
    let mut sum = 0.0;
    each.position(|p| {
        sum += p;
        2.0 * sum > gamma
    })
}

impl Band {
    /// How far a distribution function lies beyond the band where it does so most; 0 inside.
    pub fn excess(&self, shares: &[f64]) -> f64 {
        let ends = self.low.iter().zip(&self.high);
        let beyond = shares.iter().zip(ends).map(|(s, (low, high))| (low - s).max(s - high));
        // Less than half a rank is rounding.
        beyond.fold(0.0, |a: f64, b| if b > 1e-9 { a.max(b) } else { a })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    /// Two ranks of three, by hand: nine outcomes of one probability each.
    #[test]
    fn p_values_are_shares_of_all_outcomes() {
        for (n, ranked) in [(2, 2), (3, 3), (4, 2)] {
            let law = Law::new(n, ranked);
            let places = ranked + 1;
            let all: Vec<Vec<usize>> = (0..places.pow(n as u32))
                .map(|i| (0..n).map(|k| i / places.pow(k as u32) % places).collect())
                .collect();
            let smallest = |ranks: &Vec<usize>| {
                let found = law.found(ranks);
                found.iter().enumerate().map(|(j, c)| law.tail(j, *c)).fold(9.0, f64::min)
            };
            for ranks in &all {
                let bound = smallest(ranks) * (1.0 + 1e-9);
                let worse = all.iter().filter(|other| smallest(other) <= bound).count();
                let expected = worse as f64 / all.len() as f64;
                assert!((law.p_value(ranks) - expected).abs() < 1e-9, "{ranks:?}");
            }
        }
    }

    /// Uniform ranks leave the band of 10 % in 10 % of 2000 trials, or a little less: counts are
    /// whole numbers. A share beyond five standard errors has a probability of 6e-7.
    #[test]
    fn uniform_ranks_leave_the_band_as_often_as_it_says() {
        let law = Law::new(100, 99);
        let band = law.band(0.1);
        let mut rng = stream(3, Purpose::Calibrate, 0);
        let mut left = [0, 0];
        for _ in 0..2000 {
            let ranks: Vec<usize> = (0..100).map(|_| rng.random_range(0..100)).collect();
            let outside = band.excess(&law.shares(&ranks)) > 0.0;
            left[0] += usize::from(outside);
            left[1] += usize::from(law.p_value(&ranks) <= 0.1);
        }
        assert_eq!(left[0], left[1]);
        let se = (0.1_f64 * 0.9 / 2000.0).sqrt();
        assert!((left[0] as f64 / 2000.0 - 0.1).abs() < 0.01 + 5.0 * se, "{left:?}");
    }

    /// The counts of uniform ranks lie somewhere.
    #[test]
    fn without_limits_nothing_is_outside() {
        for (n, ranked) in [(1, 1), (7, 9), (200, 99), (3000, 9)] {
            let law = Law::new(n, ranked);
            let all = vec![Some((0, n)); ranked];
            assert!((law.inside(&all) - 1.0).abs() < 1e-9, "{n} {ranked}");
        }
    }
}
