//! The settings of a fit: written freely, checked once, then used.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::kernel::Kernel;
use crate::settings::{Group, common, settings};
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

settings! {
    /// Settings of [`fit`](super::fit).
    Settings in "gp" {
        /// Kernel.
        kernel: Kernel = Kernel::default(), common(Group::Experts);
        /// What the hyperparameters make large. It is map, which adds weak priors in units of the
        /// data's own scales so that few rows with many inputs are not over-fitted, or
        /// marginal-likelihood.
        objective: Objective = Objective::default(), common(Group::Experts);
        /// Constant mean, in the units of the target.
        mean: Mean = Mean::default(), common(Group::Experts).unless_given("learned");
        /// Starts with all lengthscales free that are climbed from, at most; fewer where the first two
        /// agree, or with many rows. With one input there are three guesses instead.
        starts: usize = 20, common(Group::Experts).from(1.0, 1e4);
        /// L-BFGS-B steps of a climb, at most.
        steps: usize = 200, common(Group::Experts).from(1.0, 1e6);
        /// Seed of the random starts.
        seed: u64 = 0, common(Group::Experts);
        /// Threads; the result does not depend on it.
        [serde(skip_serializing)]
        threads: usize = std::thread::available_parallelism().map_or(1, usize::from),
            common(Group::Experts).from(1.0, 1e4).unless_given("all cores");
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
        self.within_bounds()?;
        if let Mean::Fixed(mean) = self.mean
            && !mean.is_finite()
        {
            return Err(Error::setting("mean", format!("{mean} is not finite: give a number")));
        }
        Ok(Checked(self))
    }
}
