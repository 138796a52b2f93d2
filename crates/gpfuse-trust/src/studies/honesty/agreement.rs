//! Do runs that can be relied on agree on the test score within their Monte Carlo errors?

use gpfuse::model::Method;

use super::none_recorded;
use super::outcome::Outcome;
use crate::Finding;
use crate::finding::short;

/// Runs agree within so many combined Monte Carlo errors. An error comes from 20 batches, so that a
/// difference over its error is about Welch's t ("The generalization of `Student's' problem",
/// Biometrika 34 (1947) 28–35), of 19 degrees of freedom where one error is far the larger up to 38
/// where they are equal: beyond 5 with a probability of 8e-5 down to 1.3e-5.
const ERRORS_APART: f64 = 5.0;
/// The probability that a difference of sound runs is beyond it, at most.
const BEYOND: f64 = 8e-5;

/// Whether nothing is wrong with the chains. A basis that is too coarse for the posterior is a warning
/// too, and no matter of theirs.
fn reliable(run: &Outcome) -> bool {
    run.passed() || !run.beyond_a_bar()
}

/// How many combined Monte Carlo errors two runs are apart.
fn apart((a, b): (&Outcome, &Outcome)) -> f64 {
    (a.nlpd - b.nlpd).abs() / a.mcse.hypot(b.mcse)
}

fn worst(all: &[f64]) -> f64 {
    all.iter().copied().fold(0.0, f64::max)
}

/// Whether no pair is too far apart; a pair without a number is.
fn near(all: &[f64]) -> bool {
    all.iter().all(|z| *z <= ERRORS_APART)
}

fn target() -> String {
    format!("within {ERRORS_APART} combined Monte Carlo errors")
}

fn chance(pairs: usize) -> String {
    format!("sound errors fail with a probability of at most {}", short(BEYOND * pairs as f64))
}

/// Pairs of recorded runs of a method, of the same split.
pub(super) fn agree(method: Method, all: &[Outcome]) -> Finding {
    let claim = format!("{method}: runs that pass, or are within the bars of the chains, agree");
    let outcomes: Vec<&Outcome> = all.iter().filter(|o| o.method == method).collect();
    if outcomes.is_empty() {
        return none_recorded(claim, &target());
    }
    let (mut good, mut others, mut passed) = (Vec::new(), Vec::new(), 0);
    for (i, a) in outcomes.iter().enumerate() {
        for b in outcomes[i + 1..].iter().filter(|b| b.split == a.split) {
            let both = reliable(a) && reliable(b);
            if both { &mut good } else { &mut others }.push(apart((a, b)));
            passed += usize::from(a.passed() && b.passed());
        }
    }
    let far = others.iter().filter(|z| z.is_nan() || **z > ERRORS_APART).count();
    let rest = format!(
        "of {} other pairs {far} are farther apart, at most {}",
        others.len(),
        short(worst(&others))
    );
    if good.is_empty() {
        let why = format!("no two recorded runs of a split are both within the bars; {rest}");
        return Finding::not_run(claim, target(), why);
    }
    let result = format!("{} pairs, at most {} apart", good.len(), short(worst(&good)));
    let note =
        format!("test NLPD; {passed} pairs without any warning; {rest}; {}", chance(good.len()));
    Finding::new(claim, target(), result, near(&good)).with(note)
}

/// The record is what the program does today: a new run beside those of the same method and split.
pub(super) fn repeated(all: &[Outcome], new: &Outcome) -> Finding {
    let claim = format!("{}: a new run agrees with the record", new.method);
    let mine = all.iter().filter(|o| (o.method, o.split) == (new.method, new.split));
    let good = mine.filter(|o| reliable(o) && reliable(new));
    let far: Vec<f64> = good.map(|o| apart((o, new))).collect();
    if far.is_empty() {
        let why = "it or those recorded of its split are beyond the bars of the chains";
        return Finding::not_run(claim, target(), why);
    }
    let result = format!("{} pairs, at most {} apart", far.len(), short(worst(&far)));
    Finding::new(claim, target(), result, near(&far))
        .with(format!("test NLPD on one split, with another seed; {}", chance(far.len())))
}

#[cfg(test)]
mod tests {
    use super::super::outcome::tests::good;
    use super::*;
    use crate::Outcome::{Met, Missed, NotRun};

    /// Runs of one method with scores that are 0.1 apart.
    fn two(mcse: f64) -> Vec<Outcome> {
        (0..2).map(|seed| good(Method::Bhs, seed, 1.0 + 0.1 * seed as f64, mcse)).collect()
    }

    #[test]
    fn pairs_far_apart_are_missed_and_no_pair_is_not_run() {
        assert_eq!(agree(Method::Bhs, &two(0.1)).outcome, Met);
        assert_eq!(agree(Method::Bhs, &two(0.01)).outcome, Missed);
        assert_eq!(agree(Method::Bhs, &two(f64::NAN)).outcome, Missed);
        assert_eq!(agree(Method::Bhs, &two(0.1)[..1]).outcome, NotRun);
        let none = agree(Method::Het, &two(0.1));
        assert_eq!((none.outcome, none.result.as_str()), (NotRun, "none recorded"));
        // A run that is beyond a bar is in no pair, however near it is.
        let mut bad = two(0.1);
        (bad[0].rhat_max, bad[0].warnings) = (f64::NAN, 1.0);
        assert_eq!(agree(Method::Bhs, &bad).outcome, NotRun);
    }

    #[test]
    fn new_runs_without_a_pair_are_not_run() {
        let new = good(Method::Bhs, 2, 1.0, 0.1);
        assert_eq!(repeated(&two(0.1), &new).outcome, Met);
        assert_eq!(repeated(&two(0.01), &Outcome { nlpd: 2.0, ..new.clone() }).outcome, Missed);
        assert_eq!(repeated(&[], &new).outcome, NotRun);
    }
}
