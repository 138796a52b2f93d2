//! What `gpfuse sbc` is told.

use std::path::PathBuf;

use clap::Args;
use gpfuse::calibrate::{self, CheckedCalibrate, Settings};
use gpfuse::settings::{Settled, Style};

use super::options::SbcOptions;
use crate::print;

#[derive(Debug, Args)]
pub(crate) struct SbcArgs {
    /// Folder for the ranks and the figures; made if it does not exist. The same command goes on
    /// where the last one stopped, and more --sims make the study longer.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Simulations.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) sims: u64,
    /// Rows of each simulated data set.
    #[arg(long, default_value_t = 20)]
    pub(crate) n: usize,
    /// Every so many draws one is ranked, so that they are nearly independent [default: what leaves
    /// 99 of them, if there are as many].
    #[arg(long, value_name = "N")]
    pub(crate) thin: Option<usize>,
    #[command(flatten)]
    pub(crate) options: SbcOptions,
    /// Exit with code 3 where the ranks are not uniform, or a simulation failed.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the table as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl SbcArgs {
    /// The checked settings of the study; what was given without effect is said.
    pub(crate) fn settings(&self) -> anyhow::Result<CheckedCalibrate> {
        let input = ["x".to_string()];
        let Settled { settings: fit, unused } =
            self.options.given.settle(&Settings::default().fit, &input)?;
        let all = fit.sampler.chains.saturating_mul(fit.sampler.first_draws());
        let thin = self.thin.unwrap_or_else(|| (all / calibrate::RANKED).max(1));
        let settings = Settings { fit, rows: self.n, thin }.check()?;
        print::warn(unused.iter().map(|unused| unused.render(Style::CommandLine)));
        Ok(settings)
    }
}
