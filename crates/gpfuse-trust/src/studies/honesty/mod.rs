//! Are the convergence diagnostics honest? Runs on the paper's data with default settings.

mod outcome;
mod paper;

use std::path::Path;

use gpfuse::infer;
use gpfuse::model::Method;

use crate::finding::short;
use crate::study::recorded;
use crate::{Finding, Run, Study};
use outcome::Outcome;
use paper::SPLITS;

pub(super) const STUDY: Study = Study {
    name: "honesty",
    title: "Honesty of the diagnostics",
    about: "Every method is fitted to the five splits of the paper's data with default settings and \
            two seeds; bhs and pbhs with the paper's frozen experts. How many runs the diagnostics \
            pass is reported, and is no target: a hard posterior should be called hard. The target is \
            that a run which passes can be relied on. Two runs of the same split that both pass must \
            agree on the test NLPD within their Monte Carlo errors, and a run whose R-hat, effective \
            sample size, divergences, E-BFMI or share of cut trajectories is beyond its bar must not \
            pass; `--strict` then ends with exit code 3.",
    run,
    figures: crate::study::none,
};

/// Seeds of each split in the record.
const SEEDS: u64 = 2;

/// Runs that pass agree within so many combined Monte Carlo errors. An error comes from 20 batches,
/// so that a difference over its error is about a t of 38 degrees of freedom: beyond 5 with a
/// probability of 1.3e-5.
const APART: f64 = 5.0;
const BEYOND: f64 = 1.3e-5;

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let tiny = infer::Settings {
        warmup: 20,
        draws: 20,
        max_depth: 3,
        candidates: 1,
        seed: run.seed,
        threads: run.threads,
        ..infer::Settings::default()
    };
    let mut out = vec![too_short(&[Outcome::of(Method::Het, 0, tiny)?])];
    if run.short {
        return Ok(out);
    }
    let path = recorded("honesty.csv");
    if run.long {
        record(&path, run)?;
    }
    let all = Outcome::recorded(&path)?;
    anyhow::ensure!(!all.is_empty(), "there is no record: run it with --long");
    out.extend(Method::ALL.map(|method| share(method, &all)));
    out.push(agree("Runs that pass agree on the test NLPD", &all, Outcome::passed));
    // A basis that is too coarse for the posterior is a warning too, and no matter of the chains.
    let within = |o: &Outcome| !o.beyond_a_bar();
    out.push(agree("Runs within the bars of the chains agree on the test NLPD", &all, within));
    out.push(flagged(&all));
    out.push(repeated(&all, run)?);
    Ok(out)
}

/// Run what the record wants: split after split, so that what was stopped has all methods.
fn record(path: &Path, run: &Run) -> anyhow::Result<()> {
    for (split, method) in (0..SPLITS).flat_map(|s| Method::ALL.map(|m| (s, m))) {
        for seed in 0..SEEDS {
            let same = |o: &Outcome| (o.method, o.split, o.seed) == (method, split, seed);
            if Outcome::recorded(path)?.iter().any(same) {
                continue;
            }
            let sampler =
                infer::Settings { seed, threads: run.threads, ..infer::Settings::default() };
            Outcome::of(method, split, sampler)?.append(path)?;
        }
    }
    Ok(())
}

/// A run that nobody should believe.
fn too_short(runs: &[Outcome]) -> Finding {
    let passed = runs.iter().filter(|o| o.passed()).count();
    let warnings: f64 = runs.iter().map(|o| o.warnings).sum();
    let result = format!("{passed} of {} passed, {warnings} warnings", runs.len());
    Finding::new("Twenty draws per chain are not passed", "none passes", result, passed == 0)
        .with("het on split 0 with 20 draws of warm-up; cannot fail by chance to any account")
}

/// How many runs of a method pass, which is no target.
fn share(method: Method, all: &[Outcome]) -> Finding {
    let own: Vec<&Outcome> = all.iter().filter(|o| o.method == method).collect();
    let (n, passed) = (own.len(), own.iter().filter(|o| o.passed()).count());
    let part = passed as f64 / n.max(1) as f64;
    // Laplace's rule, so that all or none of a few runs is not without error.
    let smooth = (passed as f64 + 1.0) / (n as f64 + 2.0);
    let error = (smooth * (1.0 - smooth) / (n as f64 + 3.0)).sqrt();
    let fraction = |bad: fn(&Outcome) -> bool| own.iter().filter(|o| bad(o)).count();
    let (rhat, ess) = (fraction(|o| o.rhat_max > 1.01), fraction(|o| o.ess_min < 400.0));
    let within = fraction(|o| !o.beyond_a_bar());
    let (diverged, cut) = (fraction(|o| o.divergences > 0.0), fraction(|o| o.saturated > 0.1));
    let seconds = own.iter().map(|o| o.seconds).sum::<f64>() / n.max(1) as f64;
    let result = format!("{passed} of {n} ({:.0} % ± {:.0} %)", 100.0 * part, 100.0 * error);
    let wanted = SPLITS * SEEDS as usize;
    let left = match n < wanted {
        true => format!("; {} of {wanted} runs are not recorded", wanted - n),
        false => String::new(),
    };
    let note = format!(
        "{within} runs within all bars of the chains, where other warnings are of the basis; {rhat} above \
         the bar of R-hat, {ess} below that of the effective sample size, {diverged} with divergences, \
         {cut} with cut trajectories; {} s per run{left}",
        short(seconds)
    );
    let (claim, target) = (format!("{method}: runs that pass"), "known; no share is asked");
    match n < wanted {
        // What is known of a part is told, and not taken for the whole.
        true => Finding { result, ..Finding::not_run(claim, target, note) },
        false => Finding::new(claim, target, result, true).with(note),
    }
}

/// Pairs of runs of the same method and split.
fn pairs(all: &[Outcome]) -> impl Iterator<Item = (&Outcome, &Outcome)> {
    let same = |a: &Outcome, b: &Outcome| (a.method, a.split) == (b.method, b.split);
    let after = |i: usize| all[i + 1..].iter();
    let each = all.iter().enumerate();
    each.flat_map(move |(i, a)| after(i).filter(move |b| same(a, b)).map(move |b| (a, b)))
}

/// How many combined Monte Carlo errors two runs are apart.
fn apart((a, b): (&Outcome, &Outcome)) -> f64 {
    (a.nlpd - b.nlpd).abs() / a.mcse.hypot(b.mcse)
}

fn agree(claim: &str, all: &[Outcome], good: impl Fn(&Outcome) -> bool) -> Finding {
    let both = |pair: &(&Outcome, &Outcome)| good(pair.0) && good(pair.1);
    let passed: Vec<f64> = pairs(all).filter(both).map(apart).collect();
    let others: Vec<f64> = pairs(all).filter(|pair| !both(pair)).map(apart).collect();
    let worst = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    // Not `worst <= APART`: no number must not pass for a small one.
    let met = !passed.is_empty() && passed.iter().all(|z| *z <= APART);
    let result = format!("{} pairs, at most {} apart", passed.len(), short(worst(&passed)));
    let far = others.iter().filter(|z| **z > APART).count();
    Finding::new(claim, format!("within {APART} combined Monte Carlo errors"), result, met).with(
        format!(
            "two seeds per split; of {} other pairs {far} are farther apart, at most \
         {}; sound errors fail with a probability of {}",
            others.len(),
            short(worst(&others)),
            short(BEYOND * passed.len() as f64)
        ),
    )
}

fn flagged(all: &[Outcome]) -> Finding {
    let beyond: Vec<&Outcome> = all.iter().filter(|o| o.beyond_a_bar()).collect();
    let told = beyond.iter().filter(|o| !o.passed()).count();
    let result = format!("{told} of {} flagged", beyond.len());
    let met = told == beyond.len();
    Finding::new("Runs beyond a bar are flagged", "all of them", result, met).with(
        "R-hat 1.01, effective sample size 400, no divergence, E-BFMI 0.3, a tenth of the \
         trajectories cut; nothing random. A test of the program has `--strict` end with exit code 3",
    )
}

/// The record is what the program does today.
fn repeated(all: &[Outcome], run: &Run) -> anyhow::Result<Finding> {
    let mut far = Vec::new();
    for method in [Method::Bhs, Method::Pbhs, Method::Het] {
        // A seed of no recorded run, and whether it passes is as in the record or not.
        let seed = SEEDS + run.seed;
        let sampler = infer::Settings { seed, threads: run.threads, ..infer::Settings::default() };
        let fresh = Outcome::of(method, 0, sampler)?;
        let mine = all.iter().filter(|o| (o.method, o.split) == (method, 0));
        far.extend(mine.filter(|o| o.passed() && fresh.passed()).map(|o| apart((o, &fresh))));
    }
    let worst = far.iter().copied().fold(0.0, f64::max);
    let result = format!("{} pairs, at most {} apart", far.len(), short(worst));
    let met = far.iter().all(|z| *z <= APART);
    let target = format!("within {APART} combined Monte Carlo errors");
    Ok(Finding::new("New runs that pass agree with the record", target, result, met).with(format!(
        "bhs, pbhs and het on split 0 with another seed; sound errors fail with a probability of {}",
        short(BEYOND * far.len() as f64)
    )))
}
