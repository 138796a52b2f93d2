//! Do predictive intervals hold as many new targets as they say?

mod covered;
mod outside;
mod prior;
mod share;

use gpfuse::model::Method;
use gpfuse::parallel::parallel;
use gpfuse::random::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use crate::study::none;
use crate::{Finding, Run, Study};
use covered::{Covered, Family, Sets, finding};
use outside::Source;

pub(super) const STUDY: Study = Study {
    name: "coverage",
    title: "Coverage of intervals",
    about: "Central intervals of 50, 80 and 95 % of the predictive density, over 200 simulated data sets \
            per method. The truth is drawn from the model's own prior, so that the intervals must hold as \
            many new targets as they say, up to chance. Each method has data sets of its own.",
    run,
    figures: none,
};

pub(super) const OUTSIDE: Study = Study {
    name: "outside",
    title: "Coverage outside the prior",
    about: "The same intervals where the truth does not come from the prior: the paper's generator with \
            longer functions, and a wave whose noise grows along the input; 200 data sets of 120 rows per \
            method and source. Not as by default are: 30 basis functions (size), 2 chains, 150 draws of \
            warm-up and 150 kept, trajectories of depth 5 at most, 2 candidates for a start and 40 steps \
            from it. So few draws seldom reach the bars of the diagnostics; how many fits do is told. No \
            theorem promises coverage here: each method and source is judged on its own at 1 %, and what \
            fails is told.",
    run: run_outside,
    figures: none,
};

/// New targets of each data set.
const NEW_TARGETS: usize = 20;

/// The randomness of the new targets of a data set.
fn new_stream(seed: u64, number: u64) -> ChaCha8Rng {
    stream(seed, Purpose::Predict, number)
}

/// The probability that a sound method misses a finding where the truth is from the prior: of all
/// findings together.
const RATE: f64 = 1e-3;

/// The same outside the prior, of each finding on its own: to divide it by all would make it harder
/// to tell where coverage fails, which is what is asked there.
const RATE_OUTSIDE: f64 = 0.01;

/// Numbers of data sets of one method, so that no two methods have the same random numbers.
const SETS_PER_METHOD: u64 = 10_000;

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    // All of one kind together; each method; in the short form a method alone has too few.
    let findings = if run.short { 1 } else { Method::SAMPLED.len() + 1 };
    let (mut out, mut all, family) = (Vec::new(), Sets::default(), Family { rate: RATE, findings });
    for (method, first) in Method::SAMPLED.into_iter().zip((0..).step_by(SETS_PER_METHOD as usize))
    {
        let study = prior::study(method, run)?;
        let one = |number: u64| prior::covered(&study, first + number);
        let found = sets(run.size(12, 200), run.threads, one)?;
        if !run.short {
            out.push(finding(format!("{method}, truths from the prior"), &found, family));
        }
        all.extend(found);
    }
    out.push(finding("All methods, truths from the prior".into(), &all, family));
    Ok(out)
}

fn run_outside(run: &Run) -> anyhow::Result<Vec<Finding>> {
    if run.short {
        let why = "fits of 120 rows take too long for the short form";
        return Ok(vec![Finding::not_run("Truths from elsewhere", "inside the bands", why)]);
    }
    let (mut out, family) = (Vec::new(), Family { rate: RATE_OUTSIDE, findings: 1 });
    for (source, method) in Source::ALL.into_iter().flat_map(|s| Method::SAMPLED.map(|m| (s, m))) {
        let one = |number| outside::covered(method, source, run.seed, number);
        let found = sets(200, run.threads, one)?;
        out.push(finding(format!("{method}, {}", source.name()), &found, family));
    }
    Ok(out)
}

/// Some data sets.
fn sets(
    count: usize,
    threads: usize,
    one: impl Fn(u64) -> gpfuse::Result<Covered> + Sync,
) -> anyhow::Result<Sets> {
    Ok(Sets::of(parallel(count, threads, |i| one(i as u64))?))
}
