//! Which new targets of a data set lie inside the central intervals of their predictions.

use gpfuse::metrics::LEVELS;

use super::share::Share;
use crate::Finding;
use crate::binomial::band;
use crate::finding::short;

/// For one data set and each level: whether the first new target is inside the central interval,
/// and the share of all new targets that are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Covered {
    first: [bool; LEVELS.len()],
    share: [f64; LEVELS.len()],
    /// Whether the diagnostics of the fit say that nothing is wrong, where they were asked.
    passed: Option<bool>,
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
            passed: None,
        }
    }

    /// The same with what the diagnostics say of the fit.
    pub(super) fn by(self, passed: bool) -> Covered {
        Covered { passed: Some(passed), ..self }
    }
}

/// Some data sets.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sets {
    pub(super) done: Vec<Covered>,
    /// How many failed.
    pub(super) failed: usize,
    /// The error of the first that failed.
    pub(super) why: Option<String>,
}

impl Sets {
    /// From what became of each.
    pub(super) fn of(all: Vec<gpfuse::Result<Covered>>) -> Sets {
        let mut sets = Sets::default();
        for one in all {
            match one {
                Ok(covered) => sets.done.push(covered),
                Err(error) => {
                    sets.failed += 1;
                    sets.why.get_or_insert_with(|| error.to_string());
                }
            }
        }
        sets
    }

    /// Together with others.
    pub(super) fn extend(&mut self, others: Sets) {
        self.done.extend(others.done);
        self.failed += others.failed;
        self.why = self.why.take().or(others.why);
    }
}

/// How often findings are missed by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Family {
    /// The probability that a sound method misses one of them.
    pub(super) rate: f64,
    /// How many of them share it, each of as many bands as levels, and of as many mean shares.
    pub(super) findings: usize,
}

impl Family {
    /// The rate of each band and of each mean share: all have the same.
    fn each(self) -> f64 {
        self.rate / self.tests() as f64
    }

    fn tests(self) -> usize {
        2 * LEVELS.len() * self.findings
    }
}

/// One finding over data sets. Counts of first targets, which are independent, must be in their exact
/// bands, and mean shares of all targets near their levels: the bands hold for any number of data
/// sets, the shares find less.
pub(super) fn finding(claim: String, sets: &Sets, family: Family) -> Finding {
    let (n, rate, mut met) = (sets.done.len(), family.each(), sets.failed == 0);
    let (mut target, mut result, mut detectable) = (vec![], vec![], vec![]);
    for (i, level) in LEVELS.into_iter().enumerate() {
        let band = band(n, level, rate);
        let count = sets.done.iter().filter(|c| c.first[i]).count();
        let share = Share::of(&sets.done.iter().map(|c| c.share[i]).collect::<Vec<f64>>());
        met &= band.contains(&count) && share.is(level, rate);
        target.push(format!("{} % ({}–{} of {n})", 100.0 * level, band.start(), band.end()));
        result.push(format!("{} and {count}", share.words()));
        detectable.push(format!("{:.1} %", 100.0 * share.detectable(rate)));
    }
    let mut result = result.join("; ");
    let asked: Vec<bool> = sets.done.iter().filter_map(|c| c.passed).collect();
    if !asked.is_empty() {
        let passed = asked.iter().filter(|passed| **passed).count();
        result += &format!("; the diagnostics pass {passed} of {} fits", asked.len());
    }
    if sets.failed > 0 {
        let why: String = sets.why.iter().flat_map(|why| why.chars()).take(200).collect();
        result += &format!("; {} failed, the first: {why}", sets.failed);
    }
    let target = format!("inside, up to chance: {}", target.join(", "));
    Finding::new(claim, target, result, met).with(format!(
        "the mean share of all new targets with its interval of 95 %, by its standard error over data \
         sets; and how many first targets of a data set are inside, by exact binomial bands. {} tests \
         share the probability {} that a sound method misses one, {} each: at most that for the bands, \
         about that for the shares, whose means are nearly normal; that at 95 % is skewed, and where the \
         targets of a data set have a correlation of 0.1 it has up to 5e-3. These find, nine times in ten, a \
         coverage that is off by {}",
        family.tests(),
        short(family.rate),
        short(rate),
        detectable.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use gpfuse::Error;

    const FAMILY: Family = Family { rate: 1e-3, findings: 1 };

    fn sets(pits: impl Iterator<Item = Vec<f64>>) -> Sets {
        Sets::of(pits.map(|pit| Ok(Covered::of(&pit))).collect())
    }

    fn outcome(sets: &Sets) -> Outcome {
        finding("coverage".into(), sets, FAMILY).outcome
    }

    #[test]
    fn intervals_are_central_and_bad_coverage_is_missed() {
        let one = Covered::of(&[0.2, 0.5, 0.99]);
        assert_eq!(one.first, [false, true, true]);
        assert_eq!(one.share[0], 1.0 / 3.0);
        // Evenly spread over the unit interval, and far too much in the middle.
        let even = sets((0..100).map(|i| vec![(f64::from(i) + 0.5) / 100.0]));
        assert_eq!(outcome(&even), Outcome::Met);
        assert_eq!(outcome(&sets((0..100).map(|_| vec![0.5]))), Outcome::Missed);
        assert_eq!(outcome(&Sets::default()), Outcome::Missed);
    }

    /// Intervals of 95 % that hold 90 % of 20 targets in each of 200 data sets: the bands let it pass,
    /// the mean share does not. Nothing is random.
    #[test]
    fn too_little_coverage_that_the_bands_let_pass_is_missed() {
        let place = |i: usize| (i as f64 + 0.5) / 200.0;
        // The first target as it should be; in each tenth target of the others too far out.
        let pit = |set: usize| {
            let other = |t: usize| match (set + t) % 20 {
                0 | 1 => 0.99,
                _ => 0.03 + 0.94 * place((set * 37 + t * 11) % 200),
            };
            [place(set)].into_iter().chain((1..20).map(other)).collect()
        };
        let sets = sets((0..200).map(pit));
        for (i, level) in LEVELS.into_iter().enumerate() {
            let count = sets.done.iter().filter(|c| c.first[i]).count();
            assert!(band(200, level, FAMILY.each()).contains(&count), "{count} at {level}");
        }
        assert_eq!(outcome(&sets), Outcome::Missed);
    }

    #[test]
    fn what_failed_is_missed_and_says_why() {
        let mut all: Vec<_> =
            (0..100).map(|i| Ok(Covered::of(&[(f64::from(i) + 0.5) / 100.0]).by(i < 7))).collect();
        all.push(Err(Error::Data("the moon is full".into())));
        let finding = finding("failed".into(), &Sets::of(all), FAMILY);
        assert_eq!(finding.outcome, Outcome::Missed);
        assert!(finding.result.contains("the diagnostics pass 7 of 100 fits"), "{finding:?}");
        assert!(finding.result.contains("1 failed, the first: "), "{finding:?}");
        assert!(finding.result.contains("the moon is full"), "{finding:?}");
    }
}
