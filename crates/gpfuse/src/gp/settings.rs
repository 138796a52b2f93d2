//! The settings of a fit: written freely, checked once, then used.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::error::within;
use crate::kernel::Kernel;
use crate::{Error, Result};

/// What the hyperparameters make large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The marginal likelihood (type-II maximum likelihood).
    MarginalLikelihood,
    /// The marginal likelihood times weak priors in units of the data's own scales, so that few
    /// rows with many inputs are not over-fitted.
    #[default]
    Map,
}

/// The constant mean.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    /// Found with the other hyperparameters.
    #[default]
    Learned,
    /// This, in the units of the target.
    Fixed(f64),
}

/// Settings of [`fit`](super::fit).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The kernel.
    pub kernel: Kernel,
    /// What is made large.
    pub objective: Objective,
    /// The constant mean.
    pub mean: Mean,
    /// Starts with all lengthscales free that are climbed from, at most; fewer where the first two
    /// agree, or with many rows. With one input there are three guesses instead.
    pub starts: usize,
    /// L-BFGS-B steps of a climb, at most.
    pub steps: usize,
    /// The seed of the random starts.
    pub seed: u64,
    /// Threads; the result does not depend on it.
    #[serde(skip_serializing)]
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            kernel: Kernel::default(),
            objective: Objective::default(),
            mean: Mean::default(),
            starts: 20,
            steps: 200,
            seed: 0,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Settings that passed the check; only these are used.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked(Settings);

impl Deref for Checked {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.0
    }
}

impl Settings {
    /// Check every value; the first bad one is the error.
    pub fn check(self) -> Result<Checked> {
        within("starts", self.starts, 1, 10_000)?;
        within("steps", self.steps, 1, 1_000_000)?;
        within("threads", self.threads, 1, 10_000)?;
        if let Mean::Fixed(mean) = self.mean
            && !mean.is_finite()
        {
            return Err(Error::setting("mean", format!("{mean} is not finite: give a number")));
        }
        Ok(Checked(self))
    }
}
