//! Does anything make gpfuse panic, or give what is not a number? Random models on hard data.

mod case;
mod laws;
mod numbers;
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
    let share = 100.0 * lost as f64 / points.max(1) as f64;
    vec![
        law(all, Law::NoPanic, "Nothing panics", format!("{} models", all.len())),
        law(
            all,
            Law::Error,
            "Refusals say why",
            format!("{refused} refused ({}), the others fitted", kinds.join(", ")),
        ),
        law(
            all,
            Law::Density,
            "Densities and gradients are finite, or recoverably not",
            format!("{points} points, {lost} recoverably not finite ({} %)", short(share)),
        ),
        law(
            all,
            Law::Gradient,
            "Gradients agree with differences",
            format!(
                "{} agree, of {} differences say nothing",
                sum(|t| t.agree),
                sum(|t| t.unresolved)
            ),
        ),
        law(
            all,
            Law::Predictive,
            "Predictions are distributions",
            format!(
                "{} predictive densities, {} out of range and refused",
                sum(|t| t.predicted),
                sum(|t| t.unpredicted)
            ),
        ),
    ]
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
fn law(all: &[Trial], law: Law, claim: &str, counts: String) -> Finding {
    let broken = |t: &Trial| t.broken.iter().find(|(l, _)| *l == law).map(|(_, what)| what.clone());
    let count = all.iter().filter(|t| broken(t).is_some()).count();
    let first = all.iter().find_map(|t| broken(t).map(|what| (t.number, what)));
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
        Law::Gradient => "along a random direction, to 1e-4, in one of ten models",
        Law::Predictive => {
            "of the fit and of prior draws, at rows of the table and up to 1e6 scales away: finite mean, \
             positive variance, ordered quantiles, a distribution function that rises from 0 to 1 over \
             1e15 scales, no density that is not a number"
        }
    };
    Finding::new(claim, "no model breaks it", result, count == 0)
        .with(format!("{note}; the seed is fixed"))
}
