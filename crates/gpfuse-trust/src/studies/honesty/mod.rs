//! Are the convergence diagnostics honest? Runs on the paper's data with default settings.

mod agreement;
mod damage;
mod outcome;
mod paper;

use std::path::Path;

use gpfuse::diagnose::{EBFMI_BAR, ESS_BAR, RHAT_BAR, SATURATED_BAR};
use gpfuse::infer;
use gpfuse::model::Method;

use crate::finding::short;
use crate::study::recorded;
use crate::{Finding, Run, Study};
use agreement::{agree, repeated};
use damage::damaged;
use outcome::{DIVERGENCE_BAR, Outcome};
use paper::SPLITS;

pub(super) const STUDY: Study = Study {
    name: "honesty",
    title: "Honesty of the diagnostics",
    about: "Methods are fitted to the five splits of the paper's data with default settings and two \
            seeds; bhs and pbhs with the paper's frozen experts. These runs take hours and are kept in a \
            record, which may be incomplete: the second row tells how many it has. How many of them the \
            diagnostics pass is told, and is no target: a hard posterior should be called hard. The \
            target is that a run which passes can be relied on. Two runs of the same method and split \
            that both pass, or are both within the bars of the chains, must agree on the test NLPD within \
            their Monte Carlo errors, and a run whose R-hat, effective sample size, divergences, E-BFMI or \
            share of cut trajectories is beyond its bar must not pass; `--strict` then ends with exit \
            code 3. A sound run that is damaged, by a chain that is stuck or of another density and the like, \
            must not pass either.",
    run,
    figures: crate::study::none,
};

/// Seeds of each split in the record.
const SEEDS: u64 = 2;

/// Methods that are run anew, on the first split.
const ANEW: [Method; 3] = [Method::Bhs, Method::Pbhs, Method::Het];

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let tiny = infer::Settings {
        warmup: Some(20),
        draws: Some(20),
        max_depth: 3,
        candidates: 1,
        seed: run.seed,
        threads: run.threads,
        ..infer::Settings::default()
    };
    let mut out = vec![damaged(run)?, too_short(&[Outcome::of(Method::Het, 0, tiny)?])];
    if run.short {
        return Ok(out);
    }
    let path = recorded("honesty.csv");
    if run.long {
        record(&path, run)?;
    }
    let all = Outcome::recorded(&path)?;
    anyhow::ensure!(!all.is_empty(), "there is no record: run it with --long");
    out.push(size(&all));
    out.extend(Method::SAMPLED.map(|method| share(method, &all)));
    out.extend(Method::SAMPLED.map(|method| agree(method, &all)));
    let sampler = |seed| sampler(seed, run);
    // A seed of no recorded run.
    let new = ANEW.map(|method| Outcome::of(method, 0, sampler(SEEDS + run.seed)));
    let new = new.into_iter().collect::<anyhow::Result<Vec<Outcome>>>()?;
    out.extend(new.iter().map(|one| repeated(&all, one)));
    out.push(flagged(&[all, new].concat()));
    Ok(out)
}

/// The sampler of the record: draws are not added to it.
fn sampler(seed: u64, run: &Run) -> infer::Settings {
    let draws = Some(infer::FIRST_DRAWS);
    infer::Settings { seed, draws, threads: run.threads, ..infer::Settings::default() }
}

/// Run what the record wants: split after split, so that what was stopped has all methods.
fn record(path: &Path, run: &Run) -> anyhow::Result<()> {
    for (split, method) in (0..SPLITS).flat_map(|s| Method::SAMPLED.map(|m| (s, m))) {
        for seed in 0..SEEDS {
            let same = |o: &Outcome| (o.method, o.split, o.seed) == (method, split, seed);
            if Outcome::recorded(path)?.iter().any(same) {
                continue;
            }
            Outcome::of(method, split, sampler(seed, run))?.append(path)?;
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

/// How many runs a record of all splits and seeds has of each method.
const WANTED: usize = SPLITS * SEEDS as usize;

/// How many runs there are to judge by, which is no target.
fn size(all: &[Outcome]) -> Finding {
    let of = |method: Method| all.iter().filter(|o| o.method == method).count();
    let each: Vec<String> = Method::SAMPLED.map(|m| format!("{m} {}", of(m))).into();
    let wanted = Method::SAMPLED.len() * WANTED;
    let result = format!("{} of {wanted}: {}", all.len(), each.join(", "));
    Finding::told("Runs in the record", "none; all that are there are judged", result)
        .with(format!("{SPLITS} splits and {SEEDS} seeds of each method make it complete"))
}

/// How many runs of a method pass, which is no target.
fn share(method: Method, all: &[Outcome]) -> Finding {
    let outcomes: Vec<&Outcome> = all.iter().filter(|o| o.method == method).collect();
    let (claim, target) = (format!("{method}: runs that pass"), "none; no share is asked");
    if outcomes.is_empty() {
        return none_recorded(claim, target);
    }
    let (n, passed) = (outcomes.len(), outcomes.iter().filter(|o| o.passed()).count());
    let part = passed as f64 / n as f64;
    // Laplace's rule, so that all or none of a few runs is not without error.
    let smooth = (passed as f64 + 1.0) / (n as f64 + 2.0);
    let error = (smooth * (1.0 - smooth) / (n as f64 + 3.0)).sqrt();
    let fraction = |bad: fn(&Outcome) -> bool| outcomes.iter().filter(|o| bad(o)).count();
    let (rhat, ess) = (fraction(Outcome::rhat_beyond), fraction(Outcome::ess_beyond));
    let within = fraction(|o| !o.beyond_a_bar());
    let (diverged, cut) = (fraction(|o| o.divergences > 0.0), fraction(Outcome::cut));
    let seconds = outcomes.iter().map(|o| o.seconds).sum::<f64>() / n as f64;
    let result = format!("{passed} of {n} ({:.0} % ± {:.0} %)", 100.0 * part, 100.0 * error);
    let left = match n < WANTED {
        true => format!("; {} of {WANTED} runs are not recorded", WANTED - n),
        false => String::new(),
    };
    Finding::told(claim, target, result).with(format!(
        "{within} runs within all bars of the chains, where other warnings are of the basis; {rhat} above \
         the bar of R-hat, {ess} below that of the effective sample size, {diverged} with divergences, \
         {cut} with cut trajectories; {} s per run{left}",
        short(seconds)
    ))
}

/// Nothing is known of a method.
fn none_recorded(claim: String, target: &str) -> Finding {
    let why = "no run of the method is in the record";
    Finding { result: "none recorded".into(), ..Finding::not_run(claim, target, why) }
}

fn flagged(all: &[Outcome]) -> Finding {
    let beyond: Vec<&Outcome> = all.iter().filter(|o| o.beyond_a_bar()).collect();
    let told = beyond.iter().filter(|o| !o.passed()).count();
    let result = format!("{told} of {} flagged", beyond.len());
    let met = told == beyond.len();
    let (claim, target) = ("Runs beyond a bar are flagged", "all of them");
    if beyond.is_empty() {
        return Finding::not_run(claim, target, "no run is beyond a bar");
    }
    Finding::new(claim, target, result, met).with(format!(
        "R-hat {RHAT_BAR}, effective sample size {ESS_BAR}, {DIVERGENCE_BAR} divergences, E-BFMI \
         {EBFMI_BAR}, {SATURATED_BAR} of the trajectories cut; what is not a number is beyond; of the record, and of {} \
         new runs; nothing random",
        ANEW.len()
    ))
}
