//! Transitions to be tested: starts that are exact draws, and a step size that has something to
//! decide.

use gpfuse::infer::transition::Transition;
use gpfuse::infer::{Density, Sampler};
use gpfuse::random::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

/// A starting point, and the density of which it is an exact draw.
pub(crate) type Start<D> =
    Box<dyn Fn(&mut ChaCha8Rng) -> anyhow::Result<(Vec<f64>, D)> + Send + Sync>;

/// The mean acceptance that is looked for: with less, few points move; with more, a fault in the
/// choice among the points of a trajectory would hardly show.
const ACCEPTANCE: f64 = 0.8;

/// Bisections of the step size.
const ROUNDS: u32 = 10;
/// Transitions at each step size.
const TRANSITIONS: u64 = 150;

/// NUTS takes at most `2^depth - 1` leapfrog steps.
const NUTS_DEPTH: usize = 4;
/// HMC takes `2^depth - 1` leapfrog steps.
const HMC_DEPTH: usize = 3;

/// The kernel of a sampler with a scale for each parameter, or without.
pub(crate) fn kernel(
    sampler: Sampler,
    step_size: f64,
    scales: &[f64],
) -> gpfuse::Result<Transition> {
    let kernel = match sampler {
        Sampler::Hmc => Transition::hmc(step_size, HMC_DEPTH),
        Sampler::Nuts | Sampler::Map => Transition::nuts(step_size, NUTS_DEPTH),
    }?;
    if scales.is_empty() { Ok(kernel) } else { kernel.scaled(scales.to_vec()) }
}

/// The step size at which a sampler has the acceptance that is looked for, at most `most`. It is
/// found with draws of its own: for all later ones it is a fixed number.
pub(crate) fn step_size<D: Density>(
    start: &Start<D>,
    sampler: Sampler,
    scales: &[f64],
    most: f64,
    seed: u64,
) -> anyhow::Result<f64> {
    let (mut low, mut high) = (most / 100.0, most);
    for round in 0..ROUNDS {
        // The largest first: it may do.
        let middle = if round == 0 { most } else { (low * high).sqrt() };
        let kernel = kernel(sampler, middle, scales)?;
        let mut sum = 0.0;
        for i in 0..TRANSITIONS {
            let mut rng = stream(seed, Purpose::Pilot, i);
            let (q, mut density) = start(&mut rng)?;
            sum += kernel.step(&mut density, &q, &mut rng)?.1.accept;
        }
        let enough = sum / TRANSITIONS as f64 >= ACCEPTANCE;
        if enough && round == 0 {
            return Ok(most);
        }
        *(if enough { &mut low } else { &mut high }) = middle;
    }
    Ok(low)
}
