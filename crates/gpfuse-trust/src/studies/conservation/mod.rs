//! Does one transition leave its density as it is? Exact draws, one transition, exact laws.

mod case;
mod conserve;
#[cfg(test)]
mod tests;

use gpfuse::fit::BasisChoice;
use gpfuse::infer::{Density, Sampler};
use gpfuse::model::Method;

use crate::finding::short;
use crate::known::Known;
use crate::study::none;
use crate::tune::{kernel, step_size};
use crate::{Finding, Run, Study};
use case::Case;
use conserve::{Conserved, RATE, conserve, reference};

pub(super) const STUDY: Study = Study {
    name: "conservation",
    title: "One transition conserves its density",
    about: "Each start is an exact draw, one transition of NUTS or HMC follows, and the distribution \
            functions of what comes out are compared with the exact ones. Nothing is adapted and no \
            convergence is waited for: whatever is wrong with the transition shows at once. The test \
            is that of TensorFlow Probability (Dvoretzky–Kiefer–Wolfowitz–Massart), whose power is known \
            beforehand. The densities are of textbooks, of the prior of each method, and of the \
            posterior of each method given data that were drawn with the parameters: one transition \
            given such data must leave the parameters distributed as the prior.",
    run,
    figures: none,
};

/// A difference that a test must be able to see: against an exact law, and between two sets of draws.
struct Power {
    exact: f64,
    drawn: f64,
}

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let starts = run.size(5000, 200_000);
    let power = if run.short { 0.15 } else { 0.025 };
    let usual = Power { exact: power, drawn: power };
    let mut out = Vec::new();
    let textbook = [
        ("normal", Known::normal(1.0)),
        ("two normals, correlation 0.95", Known::correlated(0.95)),
        ("five correlated normals", Known::five()),
        ("funnel, sd 1.5", Known::Funnel(1.5)),
        ("two near modes", Known::Pair(1.5)),
        ("logistic", Known::Logistic),
        ("Student, 5 degrees", Known::Student),
    ];
    for (name, known) in textbook {
        let case = Case::known(name, known);
        both(&case, [starts, 5 * starts], &usual, run, &mut out)?;
    }
    // As the warm-up leaves them: a scale for each parameter.
    let case = Case::known("five correlated normals, scaled", Known::five());
    let case = case.scaled(&[0.5, 2.0, 1.0, 0.7, 1.4]);
    both(&case, [starts, 5 * starts], &usual, run, &mut out)?;
    for method in Method::SAMPLED {
        let case = Case::prior(method, run.seed)?;
        both(&case, [starts, 5 * starts], &usual, run, &mut out)?;
    }
    // Data cost more than transitions: fewer starts, and so a coarser look at the likelihood.
    let starts = run.size(5000, 60_000);
    let power = Power { exact: power, drawn: if run.short { 0.2 } else { 0.055 } };
    let hilbert = Method::SAMPLED.map(|method| (method, BasisChoice::Hilbert));
    let shared = [Method::Het, Method::Mogpe, Method::Pogpe, Method::Pbhs];
    let eigen = shared.map(|method| (method, BasisChoice::Eigen));
    for (method, basis) in hilbert.into_iter().chain(eigen) {
        let case = Case::posterior(method, basis, run.seed)?;
        both(&case, [starts, starts], &power, run, &mut out)?;
    }
    Ok(out)
}

/// A case with both samplers.
fn both<D: Density>(
    case: &Case<D>,
    draws: [usize; 2],
    power: &Power,
    run: &Run,
    out: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let [starts, drawn] = draws;
    let others = reference(case, drawn, run.threads, run.seed)?;
    for (name, sampler) in [("NUTS", Sampler::Nuts), ("HMC", Sampler::Hmc)] {
        let step = step_size(&case.start, sampler, &case.scales, case.widest, run.seed)?;
        let kernel = kernel(sampler, step, &case.scales)?;
        let transition =
            |density: &mut D, q: &[f64], rng: &mut _| Ok(kernel.step(density, q, rng)?);
        let found = conserve(case, transition, starts, &others, run.threads, run.seed)?;
        out.push(finding(&format!("{}, {name}", case.name), step, draws, power, &found));
    }
    Ok(())
}

fn finding(
    claim: &str,
    step: f64,
    [starts, drawn]: [usize; 2],
    power: &Power,
    found: &Conserved,
) -> Finding {
    let worst = &found.worst;
    let target = format!(
        "every distance within its bound; sees {} (log density: {}); over half move, by more than a \
         step of {} in root mean square; acceptance 0.6 to 0.95",
        power.exact,
        power.drawn,
        short(step)
    );
    let result = format!(
        "largest {} of {} ({}); sees {} (log density: {}); {:.0} % move, by {}; acceptance {}",
        short(worst.distance),
        short(worst.bound),
        worst.name,
        short(found.sees),
        short(found.sees_drawn),
        100.0 * found.moved,
        short(found.jump),
        short(found.acceptance)
    );
    let sees = found.sees < power.exact && found.sees_drawn < power.drawn;
    let moves = found.moved > 0.5 && found.jump > step;
    let decides = (0.6..=0.95).contains(&found.acceptance);
    let met = worst.distance <= worst.bound && sees && moves && decides;
    Finding::new(claim, target, result, met).with(format!(
        "{starts} starts; {} laws that are exact and the log density against {drawn} exact draws; a \
         sound sampler fails with a probability of at most {RATE:e}, and a difference as large as is \
         seen is missed with at most that",
        found.laws
    ))
}
