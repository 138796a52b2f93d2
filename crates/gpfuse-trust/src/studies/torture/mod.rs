//! Does anything make gpfuse panic, or give what is not a number? Random models on hard data.

mod case;
mod foretell;
mod laws;
mod numbers;
mod phase;
mod slope;
mod trial;

use std::collections::BTreeMap;

use gpfuse::parallel::parallel;

use crate::finding::short;
use crate::{Finding, Run, Study};
use case::Case;
use trial::{Law, Trial};

pub(super) const STUDY: Study = Study {
    name: "torture",
    title: "Numerical torture",
    about: "Random models of every method, basis, kernel and density on tables that are hard on \
            arithmetic, each fitted with a handful of draws by the functions that users call: columns of \
            scale 1e-12 to 1e12, and some beyond or of denormal numbers, on offsets up to 1e15 times as \
            large, constant columns and targets, outliers of 1e9 spreads, repeated rows, 1 to 50 inputs, \
            1 to 60 rows, experts with tiny, huge and equal standard deviations. A model is refused with \
            an error that says why, or has a finite density with the right gradient at prior draws, and \
            predictions that are distributions. `cargo run --release -p gpfuse-trust --example torture -- \
            SEED NUMBER` repeats one model.",
    run,
    figures: crate::study::none,
};

/// The least part of the models that must be fitted, so that no law is kept by testing nothing: about
/// two in three are.
const FITTED: f64 = 0.6;
/// The least part of the points where the density must be finite: at more than 99 in 100 it is.
const FINITE: f64 = 0.98;
/// The least part of the gradients that must be compared: six in seven are.
const COMPARED: f64 = 0.8;
/// The least part of the rows that must be predicted: more than 99 in 100 are.
const PREDICTED: f64 = 0.98;

/// Nothing takes longer than this on an idle machine.
const SECONDS: f64 = 30.0;

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let count = run.size(300, 10_000);
    let all = parallel(count, run.threads, |i| Trial::of(run.seed, i as u64))?;
    let mut out = findings(&all);
    out.push(time(&all, run));
    Ok(out)
}

/// Model `number` of a seed and what became of it, in words.
pub fn torture(seed: u64, number: u64) -> String {
    format!("{:#?}\n{:#?}", Case::draw(seed, number), Trial::of(seed, number))
}

fn findings(all: &[Trial]) -> Vec<Finding> {
    let sum = |of: fn(&Trial) -> usize| all.iter().map(of).sum::<usize>();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().flat_map(|t| t.refused).for_each(|kind| *kinds.entry(kind).or_default() += 1);
    let refused: usize = kinds.values().sum();
    let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let (points, lost) = (sum(|t| t.points), sum(|t| t.not_finite));
    let (agree, differ) = (sum(|t| t.agree), sum(|t| t.differ));
    let unresolved = sum(|t| t.unresolved);
    let (predicted, away, range) =
        (sum(|t| t.predicted), sum(|t| t.unpredicted), sum(|t| t.out_of_range));
    let first = all.iter().find_map(|t| t.range.as_ref().map(|text| (t.number, text)));
    let first = first.map(|(n, text)| format!(" (first model {n}: {text})")).unwrap_or_default();
    vec![
        law(
            all,
            Law::NoPanic,
            "Nothing panics",
            Floor { of: "models tried", part: 1.0, done: all.len(), all: all.len() },
            "each from its table to its predictions".into(),
        ),
        law(
            all,
            Law::Error,
            "Refusals say why",
            Floor { of: "models fitted", part: FITTED, done: all.len() - refused, all: all.len() },
            format!("{refused} refused ({})", kinds.join(", ")),
        ),
        law(
            all,
            Law::Density,
            "Densities and gradients are finite, or recoverably not",
            Floor { of: "points finite", part: FINITE, done: points - lost, all: points },
            format!("{lost} recoverably not finite"),
        ),
        law(
            all,
            Law::Gradient,
            "Gradients agree with differences",
            Floor {
                of: "gradients compared",
                part: COMPARED,
                done: agree + differ,
                all: agree + differ + unresolved,
            },
            format!("{agree} agree, of {unresolved} differences say nothing"),
        ),
        law(
            all,
            Law::Predictive,
            "Predictions are distributions",
            Floor {
                of: "rows predicted",
                part: PREDICTED,
                done: predicted,
                all: predicted + away + range,
            },
            format!(
                "{away} refused away from the table, {range} at its rows as numbers out of range{first}"
            ),
        ),
    ]
}

/// How much of what was tried must have been tested.
struct Floor {
    of: &'static str,
    part: f64,
    done: usize,
    all: usize,
}

impl Floor {
    /// Nothing of nothing is not enough.
    fn reached(&self) -> bool {
        self.done > 0 && self.done as f64 >= self.part * self.all as f64
    }
}

/// Nothing takes long. Where other tests run beside it, time says nothing.
fn time(all: &[Trial], run: &Run) -> Finding {
    let (claim, target) = ("Nothing hangs", format!("every model within {SECONDS} s"));
    if run.short {
        return Finding::not_run(claim, target, "time is measured by the full form, alone");
    }
    let slowest = all.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let (seconds, number) = slowest.map_or((0.0, 0), |t| (t.seconds, t.number));
    let result = format!("at most {} s (model {number})", short(seconds));
    Finding::new(claim, target, result, seconds <= SECONDS).with(
        "fit, densities and predictions of one model by the clock, so that a busy machine counts",
    )
}

/// A law that no model may break.
fn law(all: &[Trial], law: Law, claim: &str, floor: Floor, counts: String) -> Finding {
    let broken = |t: &Trial| t.broken.iter().find(|(l, _)| *l == law).map(|(_, what)| what.clone());
    let count = all.iter().filter(|t| broken(t).is_some()).count();
    let first = all.iter().find_map(|t| broken(t).map(|what| (t.number, what)));
    let tested = 100.0 * floor.done as f64 / floor.all.max(1) as f64;
    let counts =
        format!("{} of {} {} ({} %), {counts}", floor.done, floor.all, floor.of, short(tested));
    let result = match first {
        None => format!("none; {counts}"),
        Some((number, what)) => {
            let what: String = what.chars().take(200).collect();
            format!("{count}, first model {number}: {what}; {counts}")
        }
    };
    let note = match law {
        Law::NoPanic => "also on threads of the library",
        Law::Error => "an error names its setting or its data",
        Law::Density => "at four prior draws, plain and collapsed",
        Law::Gradient => {
            "along a random direction of each part of the parameters, to 1e-4, in one of ten models; differences say nothing where every \
             step is too short for rounding or too long for how the density turns, as where inputs are \
             huge beside the lengthscale and no scaling was asked for"
        }
        Law::Predictive => {
            "of the fit and of prior draws of a finite density, at rows of the table and up to 1e6 scales away: finite mean, \
             positive variance, ordered quantiles, a distribution function that rises from 0 to 1 over \
             1e15 scales, no density that is not a number"
        }
    };
    let target = match floor.part < 1.0 {
        true => format!("no model breaks it; {}: at least {:.0} %", floor.of, 100.0 * floor.part),
        false => "no model breaks it".into(),
    };
    Finding::new(claim, target, result, count == 0 && floor.reached())
        .with(format!("{note}; the seed is fixed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    /// A model that was fitted, with all that is looked at.
    fn whole() -> Trial {
        Trial { points: 4, agree: 4, predicted: 16, ..Trial::default() }
    }

    #[test]
    fn laws_are_kept_by_what_was_tested_and_not_by_nothing() {
        let missed =
            |all: &[Trial]| findings(all).iter().filter(|f| f.outcome == Outcome::Missed).count();
        assert_eq!(missed(&vec![whole(); 10]), 0);
        // Every model refused: nothing was fitted, evaluated, compared or predicted.
        let refused = Trial { refused: Some("data"), ..Trial::default() };
        assert_eq!(missed(&vec![refused; 10]), 4);
        assert_eq!(missed(&[]), 5);
        let blind = Trial { agree: 1, unresolved: 3, ..whole() };
        assert_eq!(missed(&vec![blind; 10]), 1);
        let range = Trial { predicted: 10, out_of_range: 6, ..whole() };
        assert_eq!(missed(&vec![range; 10]), 1);
    }
}
