//! What `gpfuse sbc` is told.

use std::path::PathBuf;

use clap::Args;
use gpfuse::calibrate;
use gpfuse::fit::{BasisChoice, DensityChoice, FitSettings};
use gpfuse::infer::{self, Metric, Start};
use gpfuse::kernel::Kernel;
use gpfuse::model::Method;

use super::options::{KERNELS, named};

#[derive(Debug, Args)]
pub(crate) struct SbcArgs {
    /// Folder for the ranks and the figures; made if it does not exist. The same command goes on
    /// where the last one stopped, and more --sims make the study longer.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Simulations.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) sims: u64,
    /// Method.
    #[arg(long, default_value = "pogpe", value_parser = named::<Method>(&["bhs", "pbhs", "mogpe", "pogpe", "het"]))]
    pub(crate) method: Method,
    /// Number of experts; het has one.
    #[arg(long, default_value_t = 2, value_name = "K")]
    pub(crate) experts: usize,
    /// Rows of each simulated data set.
    #[arg(long, default_value_t = 20)]
    pub(crate) n: usize,
    /// The paper's pbhs, without what makes it robust.
    #[arg(long)]
    pub(crate) plain: bool,
    /// Basis that stands for the GPs.
    #[arg(long, default_value = "hilbert", value_parser = named::<BasisChoice>(&["rff", "hilbert"]))]
    pub(crate) basis: BasisChoice,
    /// RFF: number of frequencies.
    #[arg(long, default_value_t = 8, value_name = "M")]
    pub(crate) frequencies: usize,
    /// Hilbert: number of functions.
    #[arg(long, default_value_t = 8, value_name = "J")]
    pub(crate) size: usize,
    /// Kernel of all GPs.
    #[arg(long, default_value = "rbf", value_parser = named::<Kernel>(&KERNELS))]
    pub(crate) kernel: Kernel,
    /// Normalise the weights of pogpe and pbhs to sum to one at each input.
    #[arg(long)]
    pub(crate) normalise: bool,
    /// Density that is sampled: plain (of all parameters) or collapsed (the coefficients of the
    /// experts' means integrated out, for pogpe and het).
    #[arg(long, default_value = "plain", value_parser = named::<DensityChoice>(&["plain", "collapsed"]))]
    pub(crate) density: DensityChoice,
    /// Mass matrix.
    #[arg(long, default_value = "diagonal", value_parser = named::<Metric>(&["diagonal", "low-rank"]))]
    pub(crate) metric: Metric,
    /// Chains of each simulation.
    #[arg(long, default_value_t = 1)]
    pub(crate) chains: usize,
    /// Warm-up draws per chain.
    #[arg(long, default_value_t = 500)]
    pub(crate) warmup: usize,
    /// Kept draws per chain.
    #[arg(long, default_value_t = 1980)]
    pub(crate) draws: usize,
    /// Every so many draws one is ranked, so that they are nearly independent [default: what leaves
    /// 99 of them, if there are as many].
    #[arg(long, value_name = "N")]
    pub(crate) thin: Option<usize>,
    /// Trajectories have at most 2^D - 1 steps.
    #[arg(long, default_value_t = 6, value_name = "D")]
    pub(crate) max_depth: usize,
    /// Mean acceptance that the step size is adapted to.
    #[arg(long, default_value_t = 0.9, value_name = "P")]
    pub(crate) target_accept: f64,
    /// Where chains start, as for `gpfuse fit`.
    #[arg(long, default_value = "prior", value_parser = named::<Start>(&["auto", "prior", "map", "pilot", "data"]))]
    pub(crate) start: Start,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads; the ranks do not depend on it [default: all cores].
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Exit with code 3 where the ranks are not uniform, or a simulation failed.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the table as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl SbcArgs {
    /// The settings of the study.
    pub(crate) fn settings(&self) -> calibrate::Settings {
        let sampler = infer::Settings {
            metric: self.metric,
            chains: self.chains,
            warmup: self.warmup,
            draws: self.draws,
            max_depth: self.max_depth,
            target_accept: self.target_accept,
            start: self.start,
            seed: self.seed,
            ..infer::Settings::default()
        };
        let fit = FitSettings {
            method: self.method,
            experts: self.experts,
            plain: self.plain,
            basis: self.basis,
            frequencies: self.frequencies,
            size: Some(self.size),
            kernel: self.kernel,
            normalise: self.normalise,
            density: self.density,
            sampler,
            ..FitSettings::default()
        };
        let all = self.chains.saturating_mul(self.draws);
        let thin = self.thin.unwrap_or_else(|| (all / calibrate::RANKED).max(1));
        calibrate::Settings { fit, rows: self.n, thin }
    }
}
