//! Monte Carlo inference: NUTS, HMC and MAP over any [`Density`], chains in parallel.
//!
//! ```text
//! Settings -> check -> Checked -> sample(density, prior, settings, monitor) -> Draws
//! ```
//!
//! Samplers know nothing of models: they see a density and a source of starting points, which are
//! prior draws or made from the data. The hidden module `transition` is for tests of the samplers.

mod chain;
mod density;
mod draws;
mod keep;
pub mod map;
mod monitor;
mod settings;
mod start;
mod target;
#[doc(hidden)]
pub mod transition;

use std::sync::atomic::AtomicBool;

pub use density::{Density, DensityError};
pub use draws::{ChainDraws, Draws, Stat};
pub use keep::{Keeper, Nothing};
pub(crate) use monitor::Muted;
pub use monitor::{ChainProgress, Monitor, Quiet};
pub use settings::{Checked, Metric, Sampler, Settings, Start};

use crate::Result;
use crate::halt::{Fail, Linked};
use crate::parallel::parallel;
use crate::random::{Purpose, stream};

/// A source of prior draws, or of other starting points: given standard normal numbers, a point of
/// the sampling space.
pub type PriorDraw<'a> = &'a (dyn Fn(&mut dyn FnMut() -> f64) -> Vec<f64> + Sync);

/// Draw from `density`. The result depends on the seed, never on the number of threads: each
/// chain has one, or several of its own when there are more threads than chains. When
/// the monitor cancels, the draws so far come back, marked as interrupted. Starts and chains that
/// the monitor's keeper has are not made again.
pub fn sample<D: Density + Sync>(
    density: &D,
    prior: PriorDraw<'_>,
    settings: &Checked,
    monitor: &dyn Monitor,
) -> Result<Draws> {
    let starts = start::find(density, prior, settings, monitor)?;
    if settings.sampler == Sampler::Map {
        return Ok(Draws::single(start::best(&starts)?));
    }
    let jobs = settings.chains;
    let failed = AtomicBool::new(false);
    let linked = Linked { monitor, stop: &failed };
    let chains = parallel(jobs, settings.threads, |c| {
        let rng = stream(settings.seed, Purpose::Chain, c as u64);
        let length = chain::Length::new(settings.warmup, settings.draws, settings);
        let guard = Fail(&failed);
        let kept = linked.keeper().chain(c);
        if let Some(kept) = kept.filter(|chain| chain.has(settings.draws, density.dim())) {
            guard.disarm();
            return Ok(kept);
        }
        let density = density.clone().with_threads(settings.threads / jobs);
        let out = chain::run(c, density, &starts[c].q, length, settings, rng, &linked);
        if let Ok(chain) = &out {
            guard.disarm();
            if chain.stats.len() == settings.draws {
                linked.keeper().keep_chain(c, chain);
            }
        }
        out
    })?;
    let chains: Result<Vec<ChainDraws>> = chains.into_iter().collect();
    Draws::new(density.dim(), settings.draws, chains?)
}
