//! The settings of a calibration study: written freely, checked once, then used.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::error::within;
use crate::experts::{self, Partition};
use crate::fit::{BasisChoice, CheckedFit, DensityChoice, FitSettings, GateChoice};
use crate::infer::{self, Sampler, Start};
use crate::kernel::Kernel;
use crate::settings::Message;
use crate::{Error, Result};

/// The draws that a truth is ranked among by default: a rank is then one of a hundred.
pub const RANKED: usize = 99;

/// Settings of a [`Study`](super::Study).
///
/// Nothing is scaled: inputs and targets are on the scale of the prior.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The model and how it is sampled; how experts would be trained, data scaled and chains
    /// combined has no part in it.
    pub fit: FitSettings,
    /// Rows of each simulated data set.
    pub rows: usize,
    /// Every so many draws of a chain one is ranked.
    pub thin: usize,
}

impl Default for Settings {
    /// A small model, so that a hundred simulations take a minute or two; of twenty draws one is
    /// ranked. Nothing is left to be chosen, and `gpfuse sbc` has the same.
    fn default() -> Self {
        let sampler = infer::Settings {
            chains: 1,
            warmup: Some(500),
            draws: Some(20 * RANKED),
            max_depth: 6,
            target_accept: Some(0.9),
            start: Start::Prior,
            ..infer::Settings::default()
        };
        let fit = FitSettings {
            experts: 2,
            basis: BasisChoice::Hilbert,
            frequencies: 8,
            size: Some(8),
            kernel: Some(Kernel::Rbf),
            density: DensityChoice::Plain,
            sampler,
            ..FitSettings::default()
        };
        Settings { fit, rows: 20, thin: 20 }
    }
}

/// Settings that passed the check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedCalibrate {
    settings: Settings,
    pub(super) fit: CheckedFit,
}

impl Deref for CheckedCalibrate {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl Settings {
    /// How many draws a truth is ranked among.
    pub fn ranked(&self) -> usize {
        let sampler = &self.fit.sampler;
        sampler.chains.saturating_mul(sampler.first_draws() / self.thin.max(1))
    }

    /// Check every value; the first bad one is the error.
    pub fn check(mut self) -> Result<CheckedCalibrate> {
        // Ranks are among the same number of draws in every simulation, whatever was drawn.
        self.fit.sampler.draws = Some(self.fit.sampler.first_draws());
        self.fit.clone().check()?;
        // Experts are simulated, not trained: however they would be made, it is the same study.
        self.fit.expert = experts::Settings {
            partition: Partition::Random,
            hold_out: Some(0.2),
            ..experts::Settings::default()
        };
        self.fit.gate = GateChoice::Auto;
        if !self.fit.method.is_sampled() {
            let problem = format!("nothing of {} is sampled: use another method", self.fit.method);
            return Err(Error::setting("method", problem));
        }
        within("n", self.rows, 1, 10_000)?;
        within("thin", self.thin, 1, 1_000_000)?;
        self.fit.refuse_auto_experts("a calibration")?;
        let fit = self.fit.clone().check()?;
        if i64::try_from(self.fit.sampler.seed).is_err() {
            let problem =
                format!("{} is out of range: use 0 to {}", self.fit.sampler.seed, i64::MAX);
            return Err(Error::setting("seed", problem));
        }
        if self.fit.sampler.sampler == Sampler::Map {
            let problem = "map makes no draws to rank among: use nuts or hmc";
            return Err(Error::setting("sampler", problem));
        }
        let ranked = self.ranked();
        if !(9..=10_000).contains(&ranked) {
            let (chains, draws) = (self.fit.sampler.chains, self.fit.sampler.first_draws());
            let words = format!(
                "every {}th of {draws} draws of {chains} chains leaves {ranked} to rank among: use \
                 9 to 10000",
                self.thin
            );
            let problem = Message::new(words).advise("draws", 1980).advise("thin", 20);
            return Err(Error::setting("thin", problem));
        }
        Ok(CheckedCalibrate { settings: self, fit })
    }
}
