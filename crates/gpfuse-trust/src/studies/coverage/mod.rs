//! Do predictive intervals hold as many new targets as they say?

mod covered;
mod outside;
mod prior;

use gpfuse::metrics::LEVELS;
use gpfuse::model::Method;
use gpfuse::random::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use crate::{Finding, Run, Study, jobs};
use covered::{Covered, finding};
use outside::Source;

pub(super) const STUDY: Study = Study {
    name: "coverage",
    title: "Coverage of intervals",
    about: "Central intervals of 50, 80 and 95 % of the predictive density, over 200 simulated data sets \
            per method. Where the truth is drawn from the model's own prior, the intervals must hold as \
            many new targets as they say, up to chance. The other data sets come from elsewhere: the \
            paper's generator with longer functions, and a wave whose noise grows along the input, 120 \
            rows each, fitted with the defaults but for shorter chains. No theorem promises coverage \
            there, and what misses the same bands is told.",
    run,
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
    if run.short {
        return Ok(out);
    }
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
    let all = jobs::each(count, threads, |i| one(i as u64))?;
    let done: Vec<Covered> = all.into_iter().flatten().collect();
    let failed = count - done.len();
    Ok((done, failed))
}
