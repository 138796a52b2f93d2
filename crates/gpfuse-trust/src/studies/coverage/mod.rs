//! Do predictive intervals hold as many new targets as they say?

mod covered;
mod outside;
mod prior;

use gpfuse::metrics::LEVELS;
use gpfuse::model::Method;
use gpfuse::parallel::parallel;
use gpfuse::random::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use crate::study::none;
use crate::{Finding, Run, Study};
use covered::{Covered, finding};
use outside::Source;

pub(super) const STUDY: Study = Study {
    name: "coverage",
    title: "Coverage of intervals",
    about: "Central intervals of 50, 80 and 95 % of the predictive density, over 200 simulated data sets \
            per method. The truth is drawn from the model's own prior, so that the intervals must hold as \
            many new targets as they say, up to chance.",
    run,
    figures: none,
};

pub(super) const OUTSIDE: Study = Study {
    name: "outside",
    title: "Coverage outside the prior",
    about: "The same intervals where the truth does not come from the prior: the paper's generator with \
            longer functions, and a wave whose noise grows along the input; 200 data sets of 120 rows per \
            method, fitted with the defaults but for shorter chains. No theorem promises coverage here: what \
            misses the bands is told.",
    run: run_outside,
    figures: none,
};

/// New targets of each data set.
const NEW: usize = 20;

/// The randomness of the new targets of a data set.
fn new_stream(seed: u64, number: u64) -> ChaCha8Rng {
    stream(seed, Purpose::Predict, number)
}

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let (methods, levels) = (Method::ALL.len(), LEVELS.len());
    // All of one kind together; each method; in the short form a method alone has too few.
    let tests = if run.short { levels } else { (methods + 1) * levels };
    let (mut out, mut all, mut lost) = (Vec::new(), Vec::new(), 0);
    for method in Method::ALL {
        let study = prior::study(method, run)?;
        let (own, failed) =
            sets(run.size(12, 200), run.threads, |number| prior::covered(&study, number))?;
        if !run.short {
            out.push(finding(format!("{method}, truths from the prior"), &own, failed, tests));
        }
        all.extend(own);
        lost += failed;
    }
    out.push(finding("All methods, truths from the prior".into(), &all, lost, tests));
    Ok(out)
}

fn run_outside(run: &Run) -> anyhow::Result<Vec<Finding>> {
    if run.short {
        let why = "fits of 120 rows take too long for the short form";
        return Ok(vec![Finding::not_run("Truths from elsewhere", "inside the bands", why)]);
    }
    let (methods, levels, mut out) = (Method::ALL.len(), LEVELS.len(), Vec::new());
    let tests = Source::ALL.len() * methods * levels;
    for (source, method) in Source::ALL.into_iter().flat_map(|s| Method::ALL.map(|m| (s, m))) {
        let one = |number| outside::covered(method, source, run.seed, number);
        let (own, failed) = sets(200, run.threads, one)?;
        out.push(finding(format!("{method}, {}", source.name()), &own, failed, tests));
    }
    Ok(out)
}

/// Some data sets, and how many of them failed.
fn sets(
    count: usize,
    threads: usize,
    one: impl Fn(u64) -> gpfuse::Result<Covered> + Sync,
) -> anyhow::Result<(Vec<Covered>, usize)> {
    let all = parallel(count, threads, |i| one(i as u64))?;
    let done: Vec<Covered> = all.into_iter().flatten().collect();
    let failed = count - done.len();
    Ok((done, failed))
}
