//! Two ways to draw parameters and data together: do they agree?

mod compare;
mod form;
mod simulate;
#[cfg(test)]
mod tests;

use anyhow::Context;
use gpfuse::calibrate;
use gpfuse::fit::BasisChoice;
use gpfuse::infer::{Density, Sampler};
use gpfuse::model::Method;

use crate::finding::short;
use crate::joint::{draw, on};
use crate::study::none;
use crate::tune::{Start, kernel, step_size};
use crate::{Finding, Run, Study};
use compare::{Compared, RATE, compare};
use form::{COLLAPSED, Form, PLAIN};
use simulate::{CHAINS, Columns, independent, successive};

pub(super) const STUDY: Study = Study {
    name: "geweke",
    title: "Joint distribution of parameters and data",
    about: "Parameters and data are drawn together in two ways. Once parameters come from the prior and \
            data from the model with them, each pair anew. Once a chain alternates: one transition of \
            the sampler given the data, then new data given the parameters. Prior, density, sampler \
            and the drawing of data must all belong together for the two to agree (Geweke, “Getting it \
            right”, Journal of the American Statistical Association 99 (2004) 799–804). A wrong gradient \
            only makes the sampler slow: gradients are compared with others. Compared are ranks, which \
            have no heavy tails: their mean, and their mean distance from the middle.",
    run,
    figures: none,
};

/// The fewest functions of parameters and data that are compared.
const FUNCTIONS: usize = 20;

/// What is left out, but for its collapsed density.
const SLOW: (Method, BasisChoice) = (Method::Pogpe, BasisChoice::Rff);

/// How many batches of each chain check the standard errors.
const BATCHES: usize = 40;

/// Standard errors by batch means and by autocorrelations must agree within this factor.
const AGREEMENT: f64 = 1.5;

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let cycles = run.size(4000, 100_000);
    let mut out = Vec::new();
    let bases = [("", BasisChoice::Hilbert), (", random features", BasisChoice::Rff)];
    // Chains on random features are too slow for a few cycles.
    for (words, basis) in bases.into_iter().take(if run.short { 1 } else { 2 }) {
        for method in Method::SAMPLED {
            let study = on(basis, method, run.seed)?;
            let reference = independent(&study, cycles, run.threads, run.seed)?;
            let mut add = |name: &str, (found, step): (Compared, f64)| {
                let claim = format!("{method}, {name}{words}");
                out.push(finding(&claim, cycles, step, run.short, &found));
            };
            if (method, basis) != SLOW {
                add("NUTS", joint(&study, &PLAIN, Sampler::Nuts, &reference, cycles, run)?);
            }
            if basis == BasisChoice::Hilbert {
                add("HMC", joint(&study, &PLAIN, Sampler::Hmc, &reference, cycles, run)?);
            }
            if matches!(method, Method::Pogpe | Method::Het) {
                let found = joint(&study, &COLLAPSED, Sampler::Nuts, &reference, cycles, run)?;
                add("NUTS, collapsed", found);
            }
            if (method, basis) == SLOW {
                let why =
                    "its chains stay where a standard deviation is tiny, for too long to be judged";
                out.push(Finding::not_run(
                    format!("{method}, NUTS{words}"),
                    "as of the others",
                    why,
                ));
            }
        }
    }
    Ok(out)
}

/// Chains of a sampler beside independent draws, and the step size of their transitions.
fn joint<D: Density>(
    study: &calibrate::Study,
    form: &'static Form<D>,
    sampler: Sampler,
    reference: &Columns,
    cycles: usize,
    run: &Run,
) -> anyhow::Result<(Compared, f64)> {
    let sampled = study.clone();
    let start: Start<_> = Box::new(move |rng| {
        let truth = draw(&sampled, rng)?;
        Ok((form.of)(sampled.posterior(&truth.y)?, &truth.q)?)
    });
    let step = step_size(&start, sampler, &[], 1.0, run.seed)?;
    let kernel = kernel(sampler, step, &[])?;
    let transition = |posterior, q: &[f64], rng: &mut _| {
        let (q, mut density) = (form.of)(posterior, q)?;
        let (q, _) = kernel.step(&mut density, &q, rng)?;
        (form.whole)(density, q, rng).context("the rest of the parameters cannot be drawn")
    };
    let renew = |q: &[f64], rng: &mut _| study.targets(q, rng);
    let chains = successive(study, renew, transition, cycles / CHAINS, run.threads, run.seed)?;
    let batches = if run.short { BATCHES / 4 } else { BATCHES };
    Ok((compare(&simulate::names(study), reference.clone(), &chains, batches)?, step))
}

fn finding(claim: &str, cycles: usize, step: f64, brief: bool, found: &Compared) -> Finding {
    let least = if brief { 100.0 } else { 1000.0 };
    let target = format!(
        "at least {FUNCTIONS} functions; every |z| below {}; every effective size above {least}; standard errors agree within a \
         factor of {AGREEMENT}",
        short(found.threshold)
    );
    let result = format!(
        "{} functions; largest |z| {} ({}); smallest effective size {:.0} ({}); standard errors within a factor of {}",
        found.functions,
        short(found.largest.1),
        found.largest.0,
        found.least.1,
        found.least.0,
        short(found.agreement)
    );
    let met = found.functions >= FUNCTIONS
        && found.largest.1 < found.threshold
        && found.least.1 > least
        && found.agreement < AGREEMENT;
    Finding::new(claim, target, result, met).with(format!(
        "{} functions of parameters and data, two tests each; {cycles} independent draws and {cycles} \
         cycles of {CHAINS} chains that start exactly, one transition of step size {} each; a sound \
         sampler fails by |z| with a probability of about {RATE:e}: means of bounded ranks are taken \
         as normal, with the larger of their standard errors by autocorrelations and by batch means. The agreement of standard errors guards the others \
         and has no rate of its own: by batch means they are uncertain by a twentieth, in the short \
         form by a tenth",
        found.functions,
        short(step)
    ))
}
