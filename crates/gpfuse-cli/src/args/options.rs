//! The options that every fitting command shares, and the settings file, which has the same keys.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gpfuse::basis::frequencies::Scheme;
use gpfuse::diagnose::Combine;
use gpfuse::experts::{self, Partition};
use gpfuse::fit::{BasisChoice, CheckedFit, DensityChoice, FitSettings};
use gpfuse::gp::Objective;
use gpfuse::infer::{self, Metric, Sampler, Start};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Method, Priors};
use gpfuse::scale::Scaling;
use serde::{Deserialize, de::DeserializeOwned};

pub(super) const KERNELS: [&str; 4] = ["rbf", "matern12", "matern32", "matern52"];

/// A flag whose values are the serde names of a type's variants.
pub(super) fn named<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(|name| {
        serde_json::from_value::<T>(serde_json::Value::String(name)).map_err(|e| e.to_string())
    })
}

/// The options that every fitting command shares; each is also a key of the settings file.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct FitOptions {
    /// Method. Experts learned with their weights: mogpe (mixture of GP experts), pogpe (product)
    /// or het (one GP with a GP for its noise; takes no --experts). Experts trained first, then
    /// weights on other rows: bhs (mixture) or pbhs (product) [default: pogpe; stack: pbhs].
    #[arg(long, value_parser = named::<Method>(&["bhs", "pbhs", "mogpe", "pogpe", "het"]))]
    pub(crate) method: Option<Method>,
    /// Number of experts [default: 3].
    #[arg(long, value_name = "K")]
    pub(crate) experts: Option<usize>,
    /// How the experts of bhs and pbhs come to differ: own random rows each, clusters of rows,
    /// stretches along an input (--along), or the same rows with other kernels or inputs
    /// (--expert-inputs) [default: random].
    #[arg(long, value_parser = named::<Partition>(&["random", "kmeans", "contiguous", "kernels", "inputs"]))]
    pub(crate) partition: Option<Partition>,
    /// Input that contiguous stretches follow [default: the first].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) along: Option<String>,
    /// Inputs of one expert, separated by commas; once for each expert.
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) expert_inputs: Option<Vec<String>>,
    /// Share of the rows that trains the weights of bhs and pbhs, not the experts [default: 0.2].
    #[arg(long, value_name = "SHARE")]
    pub(crate) hold_out: Option<f64>,
    /// Kernel of the experts of bhs and pbhs [default: of rbf and matern52, the one under which
    /// they predict their own rows better, each left out in turn].
    #[arg(long, value_parser = named::<Kernel>(&KERNELS))]
    pub(crate) expert_kernel: Option<Kernel>,
    /// How these experts find their hyperparameters: map (weak priors) or marginal-likelihood
    /// (as in the paper) [default: map].
    #[arg(long, value_parser = named::<Objective>(&["map", "marginal-likelihood"]))]
    pub(crate) expert_objective: Option<Objective>,
    /// The paper's pbhs, without a noise floor, scales of the experts, tails, a part of the linear
    /// pool and a temper [default: false].
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) plain: Option<bool>,
    /// Basis that stands for the GPs: rff (random Fourier features), hilbert (a fixed basis, for
    /// up to three inputs) or exact (no basis, for up to 500 rows) [default: rff if --frequencies
    /// or --omega is given; hilbert for one or two inputs; beyond, exact for the weights of up to
    /// 128 rows in bhs and pbhs, else rff].
    #[arg(long, value_parser = named::<BasisChoice>(&["auto", "rff", "hilbert", "exact"]))]
    pub(crate) basis: Option<BasisChoice>,
    /// RFF: number of frequencies [default: 30].
    #[arg(long, value_name = "M")]
    pub(crate) frequencies: Option<usize>,
    /// RFF: how frequencies are drawn [default: iid].
    #[arg(long, value_parser = named::<Scheme>(&["iid", "orthogonal", "quasi"]))]
    pub(crate) scheme: Option<Scheme>,
    /// RFF: table with a header of base frequencies instead of drawn ones, one row each, one
    /// column per input in their order.
    #[arg(long, value_name = "FILE")]
    pub(crate) omega: Option<PathBuf>,
    /// Hilbert: functions per input [default: chosen from the data].
    #[arg(long, value_name = "J")]
    pub(crate) size: Option<usize>,
    /// Hilbert: half-width of the box in half-ranges of the data; wider for functions that vary
    /// slowly [default: 2].
    #[arg(long = "box", value_name = "C")]
    #[serde(rename = "box")]
    pub(crate) box_factor: Option<f64>,
    /// Kernel of all GPs [default: rbf].
    #[arg(long, value_parser = named::<Kernel>(&KERNELS))]
    pub(crate) kernel: Option<Kernel>,
    /// Normalise the weights of pogpe and pbhs to sum to one at each input [default: false].
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) normalise: Option<bool>,
    /// Density that is sampled, for the same posterior: plain (of all parameters) or collapsed
    /// (the coefficients of the experts' means integrated out, for pogpe and het with hilbert or
    /// rff) [default: auto, which is plain].
    #[arg(long, value_parser = named::<DensityChoice>(&["auto", "plain", "collapsed"]))]
    pub(crate) density: Option<DensityChoice>,
    /// Scaling of the data [default: standard].
    #[arg(long, value_parser = named::<Scaling>(&["standard", "unit", "none"]))]
    pub(crate) scaling: Option<Scaling>,
    /// Do not scale the data: the same as --scaling none [default: false].
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) no_scale: Option<bool>,
    /// Sampler; map is no sampler but the posterior mode, as a single draw [default: nuts].
    #[arg(long, value_parser = named::<Sampler>(&["nuts", "hmc", "map"]))]
    pub(crate) sampler: Option<Sampler>,
    /// Mass matrix [default: diagonal].
    #[arg(long, value_parser = named::<Metric>(&["diagonal", "low-rank"]))]
    pub(crate) metric: Option<Metric>,
    /// Chains [default: 4].
    #[arg(long)]
    pub(crate) chains: Option<usize>,
    /// Warm-up draws per chain [default: 500].
    #[arg(long)]
    pub(crate) warmup: Option<usize>,
    /// Kept draws per chain [default: 500].
    #[arg(long)]
    pub(crate) draws: Option<usize>,
    /// NUTS: trajectories have at most 2^D - 1 steps [default: 10].
    #[arg(long, value_name = "D")]
    pub(crate) max_depth: Option<usize>,
    /// HMC: trajectories have exactly 2^D - 1 steps [default: 5].
    #[arg(long, value_name = "D")]
    pub(crate) hmc_depth: Option<usize>,
    /// Mean acceptance that the step size is adapted to [default: 0.8].
    #[arg(long, value_name = "P")]
    pub(crate) target_accept: Option<f64>,
    /// Where chains start: at prior draws, at modes, or where the best of several short runs ended
    /// that began at prior draws (pilot) or at points made from the data (data) [default: data for
    /// mogpe on rff, else pilot].
    #[arg(long, value_parser = named::<Start>(&["auto", "prior", "map", "pilot", "data"]))]
    pub(crate) start: Option<Start>,
    /// Starting points tried per chain [default: 4].
    #[arg(long, value_name = "N")]
    pub(crate) candidates: Option<usize>,
    /// Steps (map) or draws (pilot, data) that improve a starting point [default: 100].
    #[arg(long, value_name = "N")]
    pub(crate) start_steps: Option<usize>,
    /// How chains become one prediction: equal (all count alike), stack (weighted by how well each
    /// predicts rows left out, for chains in different modes) or auto (stack where that surely
    /// predicts better, else equal) [default: auto].
    #[arg(long, value_parser = named::<Combine>(&["equal", "stack", "auto"]))]
    pub(crate) combine: Option<Combine>,
    /// Seed of all randomness [default: 0].
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Threads; the result does not depend on it [default: all cores].
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Prior scales; only in the settings file.
    #[arg(skip)]
    pub(crate) priors: Option<Priors>,
}

macro_rules! prefer {
    ($first:expr, $second:expr; $($field:ident),* $(,)?) => {
        FitOptions { $($field: $first.$field.or($second.$field)),* }
    };
}

impl FitOptions {
    /// These options, and where they are silent those of a settings file.
    pub(crate) fn with_file(self, path: Option<&Path>) -> anyhow::Result<FitOptions> {
        let Some(path) = path else { return Ok(self) };
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("settings file `{name}`: check the path"))?;
        let file: FitOptions = toml::from_str(&text).map_err(|e| {
            let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let problem = e.message().lines().collect::<Vec<_>>().join(", ");
            anyhow!("settings file `{name}`, line {line}: {problem}")
        })?;
        Ok(
            prefer!(self, file; method, experts, partition, along, expert_inputs, hold_out, expert_kernel,
            expert_objective, plain, basis, frequencies, scheme, omega, size, box_factor, kernel,
            normalise, density, scaling, no_scale, sampler, metric, chains, warmup, draws, max_depth,
            hmc_depth, target_accept, start, candidates, start_steps,
            combine, seed, threads, priors),
        )
    }

    /// An option that says how experts are made, if one was given.
    pub(crate) fn about_experts(&self) -> Option<&'static str> {
        let given = [
            (self.experts.is_some(), "experts"),
            (self.partition.is_some(), "partition"),
            (self.along.is_some(), "along"),
            (self.expert_inputs.is_some(), "expert-inputs"),
            (self.hold_out.is_some(), "hold-out"),
            (self.expert_kernel.is_some(), "expert-kernel"),
            (self.expert_objective.is_some(), "expert-objective"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    /// How experts are made, given the names of the inputs.
    fn expert(&self, inputs: &[String]) -> anyhow::Result<experts::Settings> {
        let d = experts::Settings::default();
        let number = |flag: &str, name: &str| {
            let at = inputs.iter().position(|input| input == name.trim());
            at.ok_or_else(|| {
                let known = inputs.iter().map(|i| format!("`{i}`")).collect::<Vec<_>>().join(", ");
                anyhow!("setting `{flag}`: there is no input `{}`: use {known}", name.trim())
            })
        };
        let list = |names: &String| -> anyhow::Result<Vec<usize>> {
            names.split(',').map(|name| number("expert-inputs", name)).collect()
        };
        let lists = self.expert_inputs.iter().flatten().map(list);
        // Asking for an input to follow, or for own inputs, is asking for what uses it.
        let implied = match (&self.along, &self.expert_inputs) {
            (Some(_), _) => Partition::Contiguous,
            (_, Some(_)) => Partition::Inputs,
            _ => d.partition,
        };
        Ok(experts::Settings {
            partition: self.partition.unwrap_or(implied),
            along: self.along.as_ref().map_or(Ok(d.along), |name| number("along", name))?,
            hold_out: self.hold_out.unwrap_or(d.hold_out),
            kernel: self.expert_kernel.or(d.kernel),
            objective: self.expert_objective.unwrap_or(d.objective),
            inputs: lists.collect::<anyhow::Result<_>>()?,
        })
    }

    /// Checked settings for these inputs, with the library's defaults where nothing was said.
    pub(crate) fn check(
        &self,
        inputs: &[String],
        omega: Option<Vec<f64>>,
    ) -> anyhow::Result<CheckedFit> {
        let d = FitSettings::default();
        let s = infer::Settings::default();
        let sampler = infer::Settings {
            sampler: self.sampler.unwrap_or(s.sampler),
            metric: self.metric.unwrap_or(s.metric),
            chains: self.chains.unwrap_or(s.chains),
            warmup: self.warmup.unwrap_or(s.warmup),
            draws: self.draws.unwrap_or(s.draws),
            max_depth: self.max_depth.unwrap_or(s.max_depth),
            hmc_depth: self.hmc_depth.unwrap_or(s.hmc_depth),
            target_accept: self.target_accept.unwrap_or(s.target_accept),
            start: self.start.unwrap_or(s.start),
            candidates: self.candidates.unwrap_or(s.candidates),
            start_steps: self.start_steps.unwrap_or(s.start_steps),
            seed: self.seed.unwrap_or(s.seed),
            threads: self.threads.unwrap_or(s.threads),
        };
        // Asking for frequencies is asking for the basis that has them.
        let rff = self.frequencies.is_some() || self.scheme.is_some() || omega.is_some();
        let implied = match (rff, self.size) {
            (true, _) => BasisChoice::Rff,
            (false, Some(_)) => BasisChoice::Hilbert,
            (false, None) => BasisChoice::Auto,
        };
        let basis = self.basis.filter(|b| *b != BasisChoice::Auto).unwrap_or(implied);
        if basis == BasisChoice::Rff && self.size.is_some() {
            anyhow::bail!("setting `size`: is for the Hilbert basis: use --frequencies for RFF");
        }
        if basis == BasisChoice::Hilbert && rff {
            anyhow::bail!("setting `frequencies`: is for RFF: use --size for the Hilbert basis");
        }
        let scaling = match self.no_scale {
            Some(true) => Scaling::None,
            _ => self.scaling.unwrap_or(d.scaling),
        };
        Ok(FitSettings {
            method: self.method.unwrap_or(d.method),
            experts: self.experts.unwrap_or(d.experts),
            expert: self.expert(inputs)?,
            plain: self.plain.unwrap_or(d.plain),
            basis,
            frequencies: self.frequencies.unwrap_or(d.frequencies),
            scheme: self.scheme.unwrap_or(d.scheme),
            omega,
            size: self.size,
            box_factor: self.box_factor.unwrap_or(d.box_factor),
            kernel: self.kernel.unwrap_or(d.kernel),
            normalise: self.normalise.unwrap_or(d.normalise),
            density: self.density.unwrap_or(d.density),
            scaling,
            priors: self.priors.unwrap_or(d.priors),
            sampler,
            combine: self.combine.unwrap_or(d.combine),
        }
        .check()?)
    }
}
