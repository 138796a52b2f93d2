//! Which new targets of a data set lie inside the central intervals of their predictions.

use gpfuse::metrics::LEVELS;

use crate::Finding;
use crate::binomial::band;
use crate::finding::short;

/// The probability that a sound method leaves one of all bands of the study.
pub(super) const LEVEL: f64 = 1e-3;

/// For one data set and each level: whether the first new target is inside the central interval,
/// and the share of all new targets that are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Covered {
    first: [bool; LEVELS.len()],
    share: [f64; LEVELS.len()],
}

impl Covered {
    /// From the distribution functions at the new targets: a target is inside the central interval
    /// of level l where that lies within l / 2 of one half.
    pub(super) fn of(pit: &[f64]) -> Covered {
        let inside = |p: f64, level: f64| (p - 0.5).abs() <= level / 2.0;
        let count = |level: f64| pit.iter().filter(|p| inside(**p, level)).count();
        Covered {
            first: LEVELS.map(|level| pit.first().is_some_and(|p| inside(*p, level))),
            share: LEVELS.map(|level| count(level) as f64 / pit.len().max(1) as f64),
        }
    }
}

/// One finding over data sets: counts of first targets, which are independent, in their bands,
/// where `tests` bands in all share [`LEVEL`].
pub(super) fn finding(claim: String, all: &[Covered], failed: usize, tests: usize) -> Finding {
    let n = all.len();
    let (mut met, mut target, mut result, mut shares) = (failed == 0, vec![], vec![], vec![]);
    for (i, level) in LEVELS.into_iter().enumerate() {
        let band = band(n, level, LEVEL / tests as f64);
        let count = all.iter().filter(|c| c.first[i]).count();
        met &= band.contains(&count);
        target.push(format!("{}–{} at {} %", band.start(), band.end(), 100.0 * level));
        result.push(format!("{count} at {} %", 100.0 * level));
        let mean = all.iter().map(|c| c.share[i]).sum::<f64>() / n.max(1) as f64;
        let squares: f64 = all.iter().map(|c| (c.share[i] - mean).powi(2)).sum();
        let error = (squares / (n.max(2) as f64 * (n.max(2) - 1) as f64)).sqrt();
        shares.push(format!("{:.1} ± {:.1} %", 100.0 * mean, 100.0 * error));
    }
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    Finding::new(
        claim,
        format!("of {n} new targets inside: {}", target.join(", ")),
        format!("{}{failed}", result.join(", ")),
        met,
    )
    .with(format!(
        "one new target per data set, exact binomial bands, {tests} of them: a sound method leaves one \
         with a probability of at most {}; all new targets, with standard errors over data sets: {}",
        short(LEVEL),
        shares.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    #[test]
    fn intervals_are_central_and_bad_coverage_is_missed() {
        let one = Covered::of(&[0.2, 0.5, 0.99]);
        assert_eq!(one.first, [false, true, true]);
        assert_eq!(one.share[0], 1.0 / 3.0);
        // Evenly spread over the unit interval, and far too much in the middle.
        let even: Vec<_> = (0..100).map(|i| Covered::of(&[(f64::from(i) + 0.5) / 100.0])).collect();
        let timid: Vec<_> = (0..100).map(|_| Covered::of(&[0.5])).collect();
        assert_eq!(finding("even".into(), &even, 0, 3).outcome, Outcome::Met);
        assert_eq!(finding("timid".into(), &timid, 0, 3).outcome, Outcome::Missed);
        assert_eq!(finding("failed".into(), &even, 1, 3).outcome, Outcome::Missed);
    }
}
