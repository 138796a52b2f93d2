//! The sampler's settings: written freely, checked once, then used.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::settings::Group::Sampling;
use crate::settings::{Bounds, common, rare, settings};

/// How to draw from the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampler {
    /// The No-U-Turn sampler.
    #[default]
    Nuts,
    /// Hamiltonian Monte Carlo with trajectories of fixed length.
    Hmc,
    /// No sampling: the posterior mode, as a single draw.
    Map,
}

/// The mass matrix that the warm-up adapts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// One scale per parameter.
    #[default]
    Diagonal,
    /// A diagonal and the directions in which the posterior is longer or shorter than that says;
    /// for up to about a hundred parameters (`docs/performance.md`).
    LowRank,
}

/// Where the chains start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Each chain at a draw from the prior.
    Prior,
    /// Each chain at the best of its own prior draws, improved by L-BFGS.
    Map,
    /// As `Data` where that is known to help, which is for mixtures on random features; else as
    /// `Pilot`. Whoever knows the model decides.
    #[default]
    Auto,
    /// Each chain where the best of its own pilots ended: short runs from prior draws.
    Pilot,
    /// The same with short runs from points that are made from the data, where the model can
    /// make them.
    Data,
}

/// Draws per chain that are made first where their number is left open.
pub const FIRST_DRAWS: usize = 500;

/// Draws per chain after which none are added where their number is left open.
pub const MOST_DRAWS: usize = 4000;

/// The mean acceptance where none is asked for.
const USUAL_ACCEPTANCE: f64 = 0.8;

/// Draws of warm-up per chain where no number is given.
const USUAL_WARMUP: usize = 500;

settings! {
    /// Settings of [`sample`](super::sample).
    Settings in "sampler" {
        /// Sampler; map is no sampler but the posterior mode, as a single draw.
        sampler: Sampler = Sampler::Nuts, rare(Sampling);
        /// Mass matrix that the warm-up adapts.
        metric: Metric = Metric::Diagonal, rare(Sampling);
        /// Chains, each from its own start.
        chains: usize = 4, common(Sampling).value("N").from(1.0, 1e4);
        /// Warm-up draws per chain, which adapt the sampler and are not kept.
        warmup: Option<usize> = None,
            common(Sampling).value("N").from(10.0, 1e7)
                .unless_given("500; 200 for weights of given experts");
        /// Kept draws per chain.
        draws: Option<usize> = None,
            common(Sampling).value("N").from(1.0, 1e8)
                .unless_given("500 to 4000, until the diagnostics pass");
        /// NUTS: trajectories have at most 2^D - 1 steps.
        max_depth: usize = 10, common(Sampling).value("D").from(1.0, 20.0);
        /// HMC: trajectories have exactly 2^D - 1 steps.
        hmc_depth: usize = 5, rare(Sampling).value("D").from(1.0, 20.0);
        /// Mean acceptance the step size is adapted to. If it is not given, it is 0.9 on eigen, 0.95 for weights that
        /// are sampled in coordinates of their mode, and else 0.8.
        target_accept: Option<f64> = None,
            common(Sampling).value("P").bounds(Bounds::Between(0.1, 0.9999))
                .unless_given("0.8 to 0.95");
        /// Where chains start. It is at prior draws (prior), at modes (map), or where the best of
        /// several short runs ended that began at prior draws (pilot) or at points made from the
        /// data (data); auto is data for mogpe on rff, else pilot.
        start: Start = Start::Auto, rare(Sampling);
        /// Starting points tried per chain.
        candidates: usize = 4, rare(Sampling).value("N").from(1.0, 1e4);
        /// Steps (map) or draws (pilot, data) that improve a starting point.
        start_steps: usize = 100, rare(Sampling).value("N").from(0.0, 1e6);
        /// Seed of all randomness.
        seed: u64 = 0, common(Sampling).value("N");
        /// Threads; the result does not depend on it.
        [serde(skip_serializing)]
        threads: usize = std::thread::available_parallelism().map_or(1, usize::from),
            common(Sampling).value("N").from(1.0, 1e4).unless_given("all cores");
    }
}

/// Settings that passed the check; only these are used.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked(Settings);

impl Checked {
    /// The same with chains that each have one start, which is taken as it is.
    pub(crate) fn starting_there(&self) -> Checked {
        Checked(Settings { start: Start::Prior, candidates: 1, ..self.0.clone() })
    }

    /// The same with this mean acceptance, where none was asked for.
    pub(crate) fn accepting(&self, accept: f64) -> Checked {
        let target_accept = Some(self.target_accept.unwrap_or(accept));
        Checked(Settings { target_accept, ..self.0.clone() })
    }

    /// The same with so many draws of warm-up, where no number is given.
    pub(crate) fn warming_up(&self, draws: usize) -> Checked {
        Checked(Settings { warmup: Some(self.warmup.unwrap_or(draws)), ..self.0.clone() })
    }

    /// The same with another mass matrix.
    pub(super) fn with_metric(&self, metric: Metric) -> Checked {
        Checked(Settings { metric, ..self.0.clone() })
    }
}

impl Deref for Checked {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.0
    }
}

impl Settings {
    /// Draws of warm-up per chain.
    pub fn warmup_draws(&self) -> usize {
        self.warmup.unwrap_or(USUAL_WARMUP)
    }

    /// What came before the draws that are kept.
    pub fn warmup_words(&self) -> String {
        self.warmup.map_or("after the warm-up".into(), |draws| format!("after {draws} of warm-up"))
    }

    /// The mean acceptance that the step size is adapted to.
    pub fn acceptance(&self) -> f64 {
        self.target_accept.unwrap_or(USUAL_ACCEPTANCE)
    }

    /// Draws per chain of the first round, which is the only one where a number is given.
    pub fn first_draws(&self) -> usize {
        self.draws.unwrap_or(FIRST_DRAWS)
    }

    /// Draws per chain of the round after one of `draws`, which is twice as many up to
    /// [`MOST_DRAWS`]; none where a number is given, or after the last round.
    pub(super) fn more_draws(&self, draws: usize) -> Option<usize> {
        (self.draws.is_none() && draws < MOST_DRAWS).then(|| (2 * draws).min(MOST_DRAWS))
    }

    /// Check every value; the first bad one is the error.
    pub fn check(self) -> Result<Checked> {
        self.within_bounds()?;
        Ok(Checked(self))
    }
}
