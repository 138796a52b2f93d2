//! Convergence of quantities that relabelling the experts does not change.
//!
//! Experts are exchangeable, so R-hat of raw parameters says nothing for joint models. These
//! are judged instead: the log joint density, and, at some of the training rows, the pointwise
//! log likelihood, the fused mean and the largest weight.

use serde::{Deserialize, Deserializer, Serialize};

use super::convergence::variance;
use super::verdict::{ESS_BAR, RHAT_BAR, Setup};
use super::{ChainWeights, Combine, ebfmi, ess_bulk, ess_tail, mcse_mean, rhat};
use crate::Result;
use crate::infer::{Draws, Settings};
use crate::model::{Invariant, Posterior};
use crate::parallel::parallel;
use crate::settings::Message;

/// At most this many training rows are looked at.
const ROWS_SEEN: usize = 50;

/// R-hat and effective sizes of a quantity that is not finite in some draw: the worst there are, so that
/// it is reported.
const NEVER: [f64; 4] = [f64::INFINITY, 0.0, 0.0, f64::INFINITY];

/// Up to this R-hat a Monte Carlo error, which takes the difference of chains into account, is to be relied on.
const RHAT_OF_ERROR: f64 = 1.05;

/// The convergence of one kind of quantity over all places where it was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// What it is.
    pub name: String,
    /// The largest R-hat.
    #[serde(deserialize_with = "or_nan")]
    pub rhat_max: f64,
    /// The median R-hat.
    #[serde(deserialize_with = "or_nan")]
    pub rhat_median: f64,
    /// The smallest bulk effective sample size.
    #[serde(deserialize_with = "or_nan")]
    pub ess_bulk_min: f64,
    /// The median bulk effective sample size.
    #[serde(deserialize_with = "or_nan")]
    pub ess_bulk_median: f64,
    /// The smallest tail effective sample size.
    #[serde(deserialize_with = "or_nan")]
    pub ess_tail_min: f64,
    /// The largest Monte Carlo error of its mean over the largest that does no harm to a prediction; NaN in files of
    /// version 0.1.0.
    #[serde(default = "nan", deserialize_with = "or_nan")]
    pub error_max: f64,
}

fn nan() -> f64 {
    f64::NAN
}

/// JSON has no NaN: what could not be computed is written as null.
fn or_nan<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

/// The diagnostics of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Chains kept.
    pub chains: usize,
    /// Draws per chain kept.
    pub draws: usize,
    /// Quantities that do not depend on labels; empty for a single draw.
    pub quantities: Vec<Quantity>,
    /// Diverging draws after the warm-up.
    pub divergences: usize,
    /// The smallest E-BFMI of a chain.
    pub ebfmi_min: Option<f64>,
    /// The share of draws whose trajectory was stopped by the depth limit.
    pub saturated: f64,
    /// Mean leapfrog steps per draw.
    pub steps: f64,
    /// How the chains were weighed, if they were.
    #[serde(default)]
    pub combined: Option<ChainWeights>,
    /// What is wrong, with what to try; empty when all is well.
    pub warnings: Vec<Message>,
}

/// Look at the draws of `posterior`. Advice is for who has set nothing of the sampler.
pub fn diagnose(posterior: &Posterior, draws: &Draws, threads: usize) -> Result<Diagnostics> {
    let stats = || draws.chains().iter().flat_map(|c| &c.stats);
    let count = draws.len() as f64;
    let energies = draws.chains().iter().map(|c| {
        let energy: Vec<f64> = c.stats.iter().map(|s| s.energy).collect();
        ebfmi(&energy)
    });
    let mut out = Diagnostics {
        chains: draws.chains().len(),
        draws: draws.per_chain(),
        quantities: if draws.len() > 1 { quantities(posterior, draws, threads)? } else { vec![] },
        divergences: stats().filter(|s| s.diverging).count(),
        ebfmi_min: energies.filter(|e| e.is_finite()).reduce(f64::min),
        saturated: stats().filter(|s| s.saturated).count() as f64 / count,
        steps: stats().map(|s| s.steps as f64).sum::<f64>() / count,
        combined: None,
        warnings: Vec::new(),
    };
    out.warnings =
        out.verdict(&Setup::new(posterior.model(), draws, &Settings::default(), Combine::Auto));
    Ok(out)
}

impl Diagnostics {
    /// With how the chains were weighed, and advice for what was set.
    pub(crate) fn with_combined(
        self,
        combined: Option<ChainWeights>,
        setup: &Setup,
    ) -> Diagnostics {
        let mut out = Diagnostics { combined, ..self };
        out.warnings = out.verdict(setup);
        out
    }
}

fn quantities(posterior: &Posterior, draws: &Draws, threads: usize) -> Result<Vec<Quantity>> {
    let mut some = posterior.thinned(ROWS_SEEN)?;
    let rows = some.rows();
    let kinds: Vec<Invariant> =
        Invariant::ALL.into_iter().filter(|kind| posterior.has(*kind)).collect();
    let mut traces = vec![Vec::with_capacity(draws.len()); kinds.len() * rows];
    for q in draws.iter() {
        some.invariants(q, |kind, row, value| {
            if let Some(at) = kinds.iter().position(|known| *known == kind) {
                traces[at * rows + row].push(value);
            }
        });
    }
    let mut tolerances: Vec<f64> =
        kinds.iter().flat_map(|kind| vec![tolerated(*kind); rows]).collect();
    let joint: Vec<f64> =
        draws.chains().iter().flat_map(|c| c.stats.iter().map(|s| s.lp)).collect();
    tolerances.push(TOLERATED_OF_JOINT * variance(&joint).sqrt());
    traces.push(joint);
    let measured = parallel(traces.len(), threads, |i| {
        if !traces[i].iter().all(|value| value.is_finite()) {
            return NEVER;
        }
        let chains = draws.by_chain(&traces[i]);
        let error = mcse_mean(&chains) / tolerances[i];
        [rhat(&chains), ess_bulk(&chains), ess_tail(&chains), error]
    })?;
    let mut out: Vec<Quantity> = (kinds.iter().zip(measured.chunks(rows)))
        .map(|(kind, all)| Quantity::new(name(*kind), all))
        .collect();
    out.push(Quantity::new("log joint density", &measured[kinds.len() * rows..]));
    Ok(out)
}

/// How an invariant is called in the diagnostics.
fn name(kind: Invariant) -> &'static str {
    match kind {
        Invariant::LogLikelihood => "log likelihood of a row",
        Invariant::FusedMean => "fused mean of a row",
        Invariant::LargestLogWeight => "largest weight at a row",
    }
}

/// The Monte Carlo error that is small enough at any row for what predictions are made of: 0.05 nats of a log
/// likelihood and 5 % of a weight, which the average over rows of a score makes much smaller, and 0.01 standard
/// deviations of the target.
fn tolerated(kind: Invariant) -> f64 {
    match kind {
        Invariant::LogLikelihood | Invariant::LargestLogWeight => 0.05,
        Invariant::FusedMean => 0.01,
    }
}

/// Of the log joint density, of which nothing is predicted, in its own standard deviations: 100 independent draws.
const TOLERATED_OF_JOINT: f64 = 0.1;

impl Quantity {
    /// Whether it is as converged as it need be: by R-hat and effective sizes, which compare with the posterior's
    /// own width, or because chains agree and its Monte Carlo error is too small to matter.
    pub fn settled(&self) -> bool {
        let mixed =
            !(self.rhat_max > RHAT_BAR || self.ess_bulk_min.min(self.ess_tail_min) < ESS_BAR);
        mixed || self.rhat_max <= RHAT_OF_ERROR && self.error_max <= 1.0
    }

    fn new(name: &str, all: &[[f64; 4]]) -> Quantity {
        // A quantity that is the same in every draw has no R-hat and nothing to converge.
        let sorted = |i: usize| {
            let mut v: Vec<f64> = all.iter().map(|m| m[i]).filter(|v| !v.is_nan()).collect();
            v.sort_by(f64::total_cmp);
            v
        };
        let (rhat, bulk, tail, error) = (sorted(0), sorted(1), sorted(2), sorted(3));
        let median = |v: &[f64]| v.get(v.len() / 2).copied().unwrap_or(f64::NAN);
        Quantity {
            name: name.into(),
            rhat_max: rhat.last().copied().unwrap_or(f64::NAN),
            rhat_median: median(&rhat),
            ess_bulk_min: bulk.first().copied().unwrap_or(f64::NAN),
            ess_bulk_median: median(&bulk),
            ess_tail_min: tail.first().copied().unwrap_or(f64::NAN),
            error_max: error.last().copied().unwrap_or(f64::NAN),
        }
    }
}
