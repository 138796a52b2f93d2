//! One chain of NUTS or HMC, by nuts-rs.
//!
//! HMC is NUTS with a tree of fixed depth and no turning check: a static trajectory of
//! `2^k - 1` leapfrog steps with a multinomial choice among its points.

use nuts_rs::{
    Chain, CpuMath, DiagNutsSettings, LowRankNutsSettings, Math, NutsSettings, Progress,
    Settings as NutsRsSettings, Storable, Value,
};
use rand_chacha::ChaCha8Rng;

use super::target::{Answer, Target};
use super::{
    ChainDraws, ChainProgress, Checked, Density, DensityError, Metric, Monitor, Sampler, Stat,
};
use crate::{Error, Result};

/// A density that stops at the next gradient when the run is cancelled.
struct Watched<'a, D> {
    density: D,
    monitor: &'a dyn Monitor,
}

/// The message of the error that stops a cancelled chain.
const CANCELLED: &str = "cancelled";

impl<D: Density> Answer for Watched<'_, D> {
    fn dimension(&self) -> usize {
        self.density.dim()
    }

    fn answer(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        if self.monitor.cancelled() {
            return Err(DensityError::Fatal(CANCELLED.into()));
        }
        self.density.logp(q, grad)
    }
}

/// How long a chain warms up, and how long its trajectories are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub(super) warmup: usize,
    pub(super) max_depth: usize,
    /// Whether every trajectory has the full length: HMC.
    pub(super) fixed: bool,
}

impl Length {
    /// Trajectories as the settings ask for.
    pub(super) fn new(warmup: usize, settings: &Checked) -> Length {
        let fixed = settings.sampler == Sampler::Hmc;
        let max_depth = if fixed { settings.hmc_depth } else { settings.max_depth };
        Length { warmup, max_depth, fixed }
    }
}

/// A chain under way, which can be asked for more draws. It lives on one thread.
pub(super) struct Running<'a> {
    number: usize,
    sampler: Box<dyn Step + 'a>,
    warmup: usize,
    /// Draws made, warm-up included.
    done: usize,
    divergences: usize,
    /// Whether it was cancelled, after which it cannot go on.
    stopped: bool,
    monitor: &'a dyn Monitor,
}

impl<'a> Running<'a> {
    /// Chain `number` at `start`, before its warm-up.
    pub(super) fn new<D: Density>(
        number: usize,
        density: D,
        start: &[f64],
        length: Length,
        settings: &Checked,
        rng: ChaCha8Rng,
        monitor: &'a dyn Monitor,
    ) -> Result<Running<'a>> {
        let scaled = density.is_scaled();
        let target = Target(Box::new(Watched { density, monitor }));
        let mut sampler = sampler(target, scaled, number, length, settings, rng)
            .map_err(|e| failed(number, &e))?;
        let begun = sampler.begin(start);
        let stopped = begun.is_err() && monitor.cancelled();
        match begun {
            Err(e) if !stopped => Err(failed(number, &e)),
            _ => Ok(Running {
                number,
                sampler,
                warmup: length.warmup,
                done: 0,
                divergences: 0,
                stopped,
                monitor,
            }),
        }
    }

    /// Go on until `out`, which has the draws so far, has `draws` of them. A cancelled chain leaves
    /// there what it has.
    pub(super) fn go_on(&mut self, out: &mut ChainDraws, draws: usize) -> Result<()> {
        let (number, total) = (self.number, self.warmup + draws);
        let dim = self.sampler.dim();
        let room = draws.saturating_mul(dim).saturating_sub(out.values.len());
        if !self.stopped && out.values.try_reserve_exact(room).is_err() {
            return Err(Error::Memory(format!(
                "{draws} draws of {dim} parameters do not fit in memory: use fewer draws"
            )));
        }
        while self.done < total && !self.stopped {
            let warming_up = self.done < self.warmup;
            let (position, stat, progress) = match self.sampler.step(!warming_up) {
                Ok(draw) => draw,
                Err(_) if self.monitor.cancelled() => {
                    self.stopped = true;
                    break;
                }
                Err(e) => return Err(failed(number, &e)),
            };
            self.done += 1;
            if let Some(stat) = stat {
                out.values.extend_from_slice(&position);
                out.stats.push(stat);
                self.divergences += usize::from(progress.diverging);
            }
            self.monitor.draw(&ChainProgress {
                chain: number,
                done: self.done,
                total,
                warming_up,
                divergences: self.divergences,
                step_size: progress.step_size,
                steps: progress.num_steps as usize,
            });
        }
        Ok(())
    }
}

fn failed(chain: usize, e: &anyhow::Error) -> Error {
    Error::Sampling(format!("chain {}: {e:#}", chain + 1).into())
}

/// A chain of nuts-rs, whatever its mass matrix.
trait Step {
    /// The dimension.
    fn dim(&self) -> usize;

    /// Take the first position.
    fn begin(&mut self, start: &[f64]) -> anyhow::Result<()>;

    /// The next draw; with what the sampler says about it if it is to be kept.
    fn step(&mut self, kept: bool) -> anyhow::Result<(Box<[f64]>, Option<Stat>, Progress)>;
}

struct Nuts<M: Math, S: NutsRsSettings> {
    chain: S::Chain<M>,
    length: Length,
}

/// The sampler that the settings ask for; `scaled` is what [`Density::is_scaled`] says.
fn sampler<'a>(
    target: Target<'a>,
    scaled: bool,
    number: usize,
    length: Length,
    settings: &Checked,
    mut rng: ChaCha8Rng,
) -> anyhow::Result<Box<dyn Step + 'a>> {
    let math = CpuMath::new(target);
    let target_accept = settings.acceptance();
    match settings.metric {
        Metric::Diagonal => {
            let mut s = DiagNutsSettings::default();
            s.adapt_options.step_size_settings.target_accept = target_accept;
            if scaled {
                // The variance of three draws, of which some are equal, can be next to nothing.
                s.adapt_options.mass_matrix_update_freq = 20;
                s.adapt_options.early_mass_matrix_switch_freq = 20;
            }
            boxed(common(s, length), number, math, length, &mut rng)
        }
        Metric::LowRank => {
            let mut s = LowRankNutsSettings::default();
            let adapt = &mut s.adapt_options;
            adapt.step_size_settings.target_accept = target_accept;
            // An update costs as much as a thousand gradients: half as often as by default.
            adapt.mass_matrix_update_freq = 40;
            adapt.early_mass_matrix_switch_freq = 25;
            boxed(common(s, length), number, math, length, &mut rng)
        }
    }
}

fn boxed<'a, M: Math + 'a, S: NutsRsSettings + 'a>(
    nuts: S,
    number: usize,
    math: M,
    length: Length,
    rng: &mut ChaCha8Rng,
) -> anyhow::Result<Box<dyn Step + 'a>> {
    let chain = nuts.new_chain(number as u64, math, rng)?;
    Ok(Box::new(Nuts::<M, S> { chain, length }))
}

impl<M: Math, S: NutsRsSettings> Step for Nuts<M, S> {
    fn dim(&self) -> usize {
        self.chain.dim()
    }

    fn begin(&mut self, start: &[f64]) -> anyhow::Result<()> {
        self.chain.set_position(start)
    }

    fn step(&mut self, kept: bool) -> anyhow::Result<(Box<[f64]>, Option<Stat>, Progress)> {
        let (position, _, mut stats, progress) = self.chain.expanded_draw()?;
        let stat = kept.then(|| {
            let dims = (&*self.chain.math()).into();
            stat(stats.get_all(&dims), progress.step_size, self.length)
        });
        Ok((position, stat, progress))
    }
}

/// What the two mass matrices' settings share.
pub(super) fn common<A>(mut s: NutsSettings<A>, length: Length) -> NutsSettings<A>
where
    A: std::fmt::Debug + Copy + Default + serde::Serialize,
{
    s.num_tune = length.warmup as u64;
    s.maxdepth = length.max_depth as u64;
    if length.fixed {
        s.mindepth = s.maxdepth;
        s.check_turning = false;
    }
    s
}

/// The statistics that are kept, by their names in nuts-rs.
pub(super) fn stat(all: Vec<(&str, Option<Value>)>, step_size: f64, length: Length) -> Stat {
    let mut stat = Stat { step_size, ..Stat::default() };
    for (name, value) in all {
        match (name, value) {
            ("logp", Some(Value::ScalarF64(v))) => stat.lp = v,
            ("energy", Some(Value::ScalarF64(v))) => stat.energy = v,
            ("mean_tree_accept", Some(Value::ScalarF64(v))) => stat.accept = v,
            ("depth", Some(Value::ScalarU64(v))) => stat.depth = v as usize,
            ("n_steps", Some(Value::ScalarU64(v))) => stat.steps = v as usize,
            ("diverging", Some(Value::ScalarBool(v))) => stat.diverging = v,
            ("maxdepth_reached", Some(Value::ScalarBool(v))) => stat.saturated = v,
            _ => {}
        }
    }
    // A static trajectory always has its full length.
    stat.saturated &= !length.fixed;
    stat
}
