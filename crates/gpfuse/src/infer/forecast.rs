//! How long chains are expected to take.

use std::time::{Duration, Instant};

use super::{Checked, Density, MOST_DRAWS, Sampler};

/// Gradients that are timed at least, and at most.
const GRADIENTS: std::ops::RangeInclusive<usize> = 5..=1000;

/// Gradients are timed for so long.
const TIMED: Duration = Duration::from_millis(20);

/// How much longer trajectories are in the warm-up, which begins with steps that are too short.
const WARMING_UP: f64 = 1.3;

/// How long chains are expected to take: within a factor of a few, since trajectories are as long as the
/// posterior makes them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Seconds, for the draws that are made first.
    pub seconds: f64,
    /// Chains.
    pub chains: usize,
    /// Warm-up draws of each.
    pub warmup: usize,
    /// Draws of each that are made first.
    pub draws: usize,
    /// Draws of each after which none are added.
    pub most_draws: usize,
    /// Parameters.
    pub parameters: usize,
}

impl Forecast {
    /// For chains that begin about `q`, by the time of a few gradients there.
    pub(crate) fn new<D: Density>(density: &D, q: &[f64], settings: &Checked) -> Forecast {
        let (chains, threads) = (settings.chains, settings.threads);
        let mut density = density.clone().with_threads(threads / chains);
        let longest = |depth: usize| 2.0_f64.powi(depth as i32) - 1.0;
        let steps = match settings.sampler {
            Sampler::Hmc => longest(settings.hmc_depth),
            _ => density.usual_steps().min(longest(settings.max_depth)),
        };
        let draws = settings.first_draws();
        let each = steps * (WARMING_UP * settings.warmup_draws() as f64 + draws as f64);
        let turns = chains.div_ceil(threads.min(chains)) as f64;
        Forecast {
            seconds: turns * each * gradient(&mut density, q),
            chains,
            warmup: settings.warmup_draws(),
            draws,
            most_draws: if settings.draws.is_none() { MOST_DRAWS.max(draws) } else { draws },
            parameters: q.len(),
        }
    }
}

/// Seconds of a gradient at `q`.
fn gradient<D: Density>(density: &mut D, q: &[f64]) -> f64 {
    let mut grad = vec![0.0; q.len()];
    let (begun, mut done) = (Instant::now(), 0);
    while done < *GRADIENTS.start() || (done < *GRADIENTS.end() && begun.elapsed() < TIMED) {
        // What it is does not matter, nor whether it is finite.
        let _ = density.logp(q, &mut grad);
        done += 1;
    }
    begun.elapsed().as_secs_f64() / done as f64
}
