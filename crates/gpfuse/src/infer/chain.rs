//! One chain of NUTS or HMC, by nuts-rs.
//!
//! HMC is NUTS with a tree of fixed depth and no turning check: a static trajectory of
//! `2^k - 1` leapfrog steps with a multinomial choice among its points.

use nuts_rs::{
    Chain, CpuMath, DiagNutsSettings, LowRankNutsSettings, Math, NutsSettings,
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
    fn dim(&self) -> usize {
        self.density.dim()
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        if self.monitor.cancelled() {
            return Err(DensityError::Fatal(CANCELLED.into()));
        }
        self.density.logp(q, grad)
    }
}

/// How long a chain and its trajectories are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub(super) warmup: usize,
    pub(super) draws: usize,
    pub(super) max_depth: usize,
    /// Whether every trajectory has the full length: HMC.
    pub(super) fixed: bool,
}

impl Length {
    /// Trajectories as the settings ask for.
    pub(super) fn new(warmup: usize, draws: usize, settings: &Checked) -> Length {
        let fixed = settings.sampler == Sampler::Hmc;
        let max_depth = if fixed { settings.hmc_depth } else { settings.max_depth };
        Length { warmup, draws, max_depth, fixed }
    }
}

/// Draw chain number `chain` from `start`. A cancelled chain returns what it has.
pub(super) fn run<D: Density>(
    chain: usize,
    density: D,
    start: &[f64],
    length: Length,
    settings: &Checked,
    rng: ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<ChainDraws> {
    let math = CpuMath::new(Target(Watched { density, monitor }));
    match settings.metric {
        Metric::Diagonal => {
            let mut s = DiagNutsSettings::default();
            s.adapt_options.step_size_settings.target_accept = settings.target_accept;
            drive(chain, common(s, length), math, start, length, rng, monitor)
        }
        Metric::LowRank => {
            let mut s = LowRankNutsSettings::default();
            let adapt = &mut s.adapt_options;
            adapt.step_size_settings.target_accept = settings.target_accept;
            // An update costs as much as a thousand gradients: half as often as by default.
            adapt.mass_matrix_update_freq = 40;
            adapt.early_mass_matrix_switch_freq = 25;
            drive(chain, common(s, length), math, start, length, rng, monitor)
        }
    }
}

/// What the two mass matrices' settings share.
pub(super) fn common<A>(mut s: NutsSettings<A>, length: Length) -> NutsSettings<A>
where
    A: std::fmt::Debug + Copy + Default + serde::Serialize,
{
    s.num_tune = length.warmup as u64;
    s.num_draws = length.draws as u64;
    s.maxdepth = length.max_depth as u64;
    if length.fixed {
        s.mindepth = s.maxdepth;
        s.check_turning = false;
    }
    s
}

fn drive<M: Math, S: NutsRsSettings>(
    chain: usize,
    nuts: S,
    math: M,
    start: &[f64],
    length: Length,
    mut rng: ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<ChainDraws> {
    let fail = |e: anyhow::Error| Error::Sampling(format!("chain {}: {e:#}", chain + 1).into());
    let mut sampler = nuts.new_chain(chain as u64, math, &mut rng).map_err(fail)?;
    let mut out = ChainDraws::default();
    let total = length.warmup + length.draws;
    let mut divergences = 0;
    if let Err(e) = sampler.set_position(start) {
        return if monitor.cancelled() { Ok(out) } else { Err(fail(e)) };
    }
    let room = length.draws.saturating_mul(start.len());
    if out.values.try_reserve_exact(room).is_err() {
        let (draws, dim) = (length.draws, start.len());
        return Err(Error::Memory(format!(
            "{draws} draws of {dim} parameters do not fit in memory: use fewer draws"
        )));
    }
    for done in 0..total {
        let (position, _, mut stats, progress) = match sampler.expanded_draw() {
            Ok(draw) => draw,
            Err(_) if monitor.cancelled() => break,
            Err(e) => return Err(fail(e)),
        };
        let warming_up = done < length.warmup;
        if !warming_up {
            let dims = (&*sampler.math()).into();
            out.values.extend_from_slice(&position);
            out.stats.push(stat(stats.get_all(&dims), progress.step_size, length));
            divergences += usize::from(progress.diverging);
        }
        monitor.draw(&ChainProgress {
            chain,
            done: done + 1,
            total,
            warming_up,
            divergences,
            step_size: progress.step_size,
            steps: progress.num_steps as usize,
        });
    }
    Ok(out)
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
