//! The sampler's settings: written freely, checked once, then used.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::error::within;
use crate::{Error, Result};

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

/// Settings of [`sample`](super::sample).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How to draw.
    pub sampler: Sampler,
    /// The mass matrix.
    pub metric: Metric,
    /// Chains, each from its own start.
    pub chains: usize,
    /// Draws per chain that adapt the step size and mass matrix, not kept.
    pub warmup: usize,
    /// Draws per chain that are kept.
    pub draws: usize,
    /// NUTS: trajectories have at most `2^max_depth - 1` leapfrog steps.
    pub max_depth: usize,
    /// HMC: trajectories have exactly `2^hmc_depth - 1` leapfrog steps.
    pub hmc_depth: usize,
    /// The mean acceptance that the step size is adapted to.
    pub target_accept: f64,
    /// Where the chains start.
    pub start: Start,
    /// Prior draws, or points made from the data, per chain from which its start is chosen.
    pub candidates: usize,
    /// L-BFGS steps (`map`) or draws (`pilot`, `data`) that improve a start.
    pub start_steps: usize,
    /// The seed of all randomness.
    pub seed: u64,
    /// Threads; the result does not depend on it.
    #[serde(skip_serializing)]
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sampler: Sampler::Nuts,
            metric: Metric::Diagonal,
            chains: 4,
            warmup: 500,
            draws: 500,
            max_depth: 10,
            hmc_depth: 5,
            target_accept: 0.8,
            start: Start::Auto,
            candidates: 4,
            start_steps: 100,
            seed: 0,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Settings that passed the check; only these are used.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked(Settings);

impl Checked {
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
    /// Check every value; the first bad one is the error.
    pub fn check(self) -> Result<Checked> {
        within("chains", self.chains, 1, 10_000)?;
        within("warmup", self.warmup, 10, 10_000_000)?;
        within("draws", self.draws, 1, 100_000_000)?;
        within("max_depth", self.max_depth, 1, 20)?;
        within("hmc_depth", self.hmc_depth, 1, 20)?;
        within("candidates", self.candidates, 1, 10_000)?;
        within("start_steps", self.start_steps, 0, 1_000_000)?;
        within("threads", self.threads, 1, 10_000)?;
        if !(self.target_accept > 0.1 && self.target_accept < 0.9999) {
            let problem = format!("{} must lie between 0.1 and 0.9999", self.target_accept);
            return Err(Error::setting("target_accept", problem));
        }
        Ok(Checked(self))
    }
}
