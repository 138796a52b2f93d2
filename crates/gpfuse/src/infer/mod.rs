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
mod forecast;
mod keep;
mod laplace;
pub mod map;
mod monitor;
mod rounds;
mod settings;
mod start;
mod target;
#[doc(hidden)]
pub mod transition;

pub use density::{Density, DensityError};
pub use draws::{ChainDraws, Draws, Stat, spread};
pub use forecast::Forecast;
pub use keep::{Keeper, Nothing};
pub(crate) use laplace::Laplace;
pub use monitor::{ChainProgress, Monitor, Phase, Quiet};
pub(crate) use monitor::{Inner, Muted};
pub use settings::{Checked, FIRST_DRAWS, MOST_DRAWS, Metric, Sampler, Settings, Start};

use crate::Result;

/// A source of prior draws, or of other starting points: given standard normal numbers, a point of
/// the sampling space.
pub type PriorDraw<'a> = &'a (dyn Fn(&mut dyn FnMut() -> f64) -> Vec<f64> + Sync);

/// Draw from `density`: as many draws per chain as the settings say, or [`FIRST_DRAWS`] where
/// they leave the number open. The result depends on the seed, never on the number of threads: each
/// chain has one, or several of its own when there are more threads than chains. When
/// the monitor cancels, the draws so far come back, marked as interrupted. Starts and chains that
/// the monitor's keeper has are not made again.
pub fn sample<D: Density + Sync>(
    density: &D,
    prior: PriorDraw<'_>,
    settings: &Checked,
    monitor: &dyn Monitor,
) -> Result<Draws> {
    sample_while(density, prior, settings, monitor, |_| Ok(false))
}

/// The same, where somebody judges the draws: if the settings leave their number open and `go_on`
/// says so, the same chains go on until there are twice as many, and are judged again, up to
/// [`MOST_DRAWS`]. The draws of a round are the first of the next.
///
/// # Errors
/// As [`sample`], and those of `go_on`, which must depend on nothing but the draws.
pub fn sample_while<D: Density + Sync>(
    density: &D,
    prior: PriorDraw<'_>,
    settings: &Checked,
    monitor: &dyn Monitor,
    go_on: impl FnMut(&Draws) -> Result<bool>,
) -> Result<Draws> {
    monitor.phase(Phase::Starts);
    let starts = start::find(density, prior, settings, monitor)?;
    if settings.sampler == Sampler::Map {
        return Ok(Draws::single(start::best(&starts)?));
    }
    monitor.phase(Phase::Chains);
    if monitor.wants_forecast() {
        monitor.expect(&Forecast::new(density, &starts[0].q, settings));
    }
    rounds::run(density, &starts, settings, monitor, go_on)
}
