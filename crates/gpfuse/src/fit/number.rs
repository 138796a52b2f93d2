//! How many experts: short runs with one expert and more, compared by how well they predict rows left out.
//!
//! A number K is scored by Pareto-smoothed importance sampling leave-one-out, from the draws of the chains
//! that are not surely worse than the best of the run. Differences between two numbers are taken row by row,
//! which gives them a standard error of their own. Chosen is the smallest number that is within one standard
//! error of the best: more experts cost time, and each must pay for itself.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::draws::draws_in;
use super::pilot::Ground;
use super::{CheckedFit, KEPT_LOG_LIKELIHOODS};
use crate::diagnose::{ChainLoo, Combine, Loo, log_likelihoods, loo, relative_efficiency};
use crate::gp::some_rows;
use crate::infer::{Draws, Monitor, Muted, Phase};
use crate::metrics::paired;
use crate::model::{Method, Observed, Posterior};
use crate::{Error, Result};

/// The most experts that are tried.
const MOST: usize = 5;

/// Chains of a short run, its warm-up draws and its draws.
const SHORT: [usize; 3] = [4, 150, 150];

/// After so many numbers in a row that do not surely improve on the best, no more are tried.
const IN_VAIN: usize = 2;

/// A chain is surely worse than the best by so many standard errors.
const SURELY: f64 = 2.0;

/// A k-hat above this is not to be trusted.
const LARGE_KHAT: f64 = 0.7;

/// How the number of experts was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpertChoice {
    /// The method that was asked for: with one expert it is `het`.
    pub method: Method,
    /// The number that was chosen.
    pub experts: usize,
    /// The rows that were left out in turn.
    pub rows: usize,
    /// The numbers that were tried, from 1.
    pub tried: Vec<Tried>,
}

/// A number of experts that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The number.
    pub experts: usize,
    /// The mean log predictive density of rows left out, in the units of the target.
    pub elpd: f64,
    /// Its standard error over rows.
    pub se: Option<f64>,
    /// How far it is below that of the best number.
    pub behind: f64,
    /// The standard error of that, row by row; none for the best.
    pub behind_se: Option<f64>,
    /// The share of rows whose k-hat is above 0.7.
    pub bad: f64,
}

impl Tried {
    /// Whether it predicts as well as the best, within a standard error.
    pub fn as_good(&self) -> bool {
        self.behind <= self.behind_se.unwrap_or(0.0)
    }
}

impl ExpertChoice {
    /// What was found, in words.
    pub fn words(&self) -> String {
        let best = self.tried.iter().find(|t| t.behind_se.is_none()).map_or(1, |t| t.experts);
        let fewer = match best == self.experts {
            true => "which predicts rows left out best".into(),
            false => format!("the fewest within a standard error of the best, {best}"),
        };
        let count = match self.experts {
            1 => "1 expert, which is het".into(),
            k => format!("{k} experts"),
        };
        format!("chosen: {count}, {fewer}")
    }
}

/// The settings of a fit with so many experts. One expert has no gate, in a product either: that is `het`.
pub(super) fn with(settings: &CheckedFit, experts: usize) -> Result<CheckedFit> {
    let mut settings = (**settings).clone();
    (settings.experts, settings.choose_experts) = (experts, false);
    if experts == 1 {
        settings.method = Method::Het;
    }
    settings.check()
}

/// Try numbers of experts on what was observed, on the ground that all of them share.
pub(super) fn choose(
    observed: &Observed,
    ground: &Ground,
    scale: f64,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<ExpertChoice> {
    let observed = Arc::new(observed.clone());
    let n = observed.rows.len();
    let most = KEPT_LOG_LIKELIHOODS / (SHORT[0] * SHORT[2]);
    let rows = match n <= most {
        true => (0..n).collect(),
        false => some_rows(n, most, settings.sampler.seed),
    };
    let (mut found, mut best, mut in_vain): (Vec<Loo>, usize, usize) = (Vec::new(), 0, 0);
    for experts in 1..=MOST.min(n) {
        monitor.phase(Phase::Trying(experts));
        let settings = short(settings, experts)?;
        let model = Arc::new(settings.model(ground.bases.clone())?);
        let posterior = Posterior::new(model.clone(), observed.clone())?;
        let coordinates = ground.coordinates(&model).map(Arc::new);
        let draws = draws_in(&posterior, coordinates, &settings, &Muted(monitor))?;
        if draws.interrupted() || monitor.cancelled() {
            let problem =
                "stopped before the number of experts was chosen: there are no draws to keep";
            return Err(Error::Sampling(problem.into()));
        }
        found.push(score(&posterior, &draws, &rows, scale, &settings)?);
        if experts == 1 {
            continue;
        }
        let gain = paired(&found[experts - 1].pointwise, &found[best].pointwise)?;
        in_vain = if gain.mean > gain.se.unwrap_or(0.0) { 0 } else { in_vain + 1 };
        if gain.mean > 0.0 {
            best = experts - 1;
        }
        if in_vain == IN_VAIN {
            break;
        }
    }
    let tried = found.iter().enumerate().map(|(i, loo)| tried(i, loo, best, &found[best]));
    let tried = tried.collect::<Result<Vec<Tried>>>()?;
    let chosen = tried.iter().find(|t| t.as_good()).map_or(best + 1, |t| t.experts);
    Ok(ExpertChoice { method: settings.method, experts: chosen, rows: rows.len(), tried })
}

/// The settings of a short run.
fn short(settings: &CheckedFit, experts: usize) -> Result<CheckedFit> {
    let mut settings = (*with(settings, experts)?).clone();
    let sampler = &mut settings.sampler;
    (sampler.chains, sampler.warmup, sampler.draws) = (SHORT[0], Some(SHORT[1]), Some(SHORT[2]));
    settings.check()
}

/// Leave-one-out scores of a short run.
fn score(
    posterior: &Posterior,
    draws: &Draws,
    rows: &[usize],
    scale: f64,
    settings: &CheckedFit,
) -> Result<Loo> {
    let threads = settings.sampler.threads;
    let log_lik = |c: usize| {
        let draws: Vec<&[f64]> = draws.chain(c).collect();
        log_likelihoods(posterior, &draws, rows, scale, threads)
    };
    let all = (0..draws.chains().len()).map(log_lik).collect::<Result<Vec<Vec<f64>>>>()?;
    let used = match settings.combine {
        Combine::Equal => (0..all.len()).collect(),
        _ => good(&ChainLoo::new(all.len(), rows.len(), threads, |c| Ok(all[c].clone()))?)?,
    };
    let together = used.iter().flat_map(|c| &all[*c]).copied().collect::<Vec<f64>>();
    let efficiency = relative_efficiency(&together, rows.len(), used.len(), threads)?;
    loo(&together, rows.len(), &efficiency, threads)
}

/// The chains that are not surely worse than the best.
fn good(chains: &ChainLoo) -> Result<Vec<usize>> {
    let each = chains.each();
    let best = each.iter().max_by(|a, b| a.elpd.total_cmp(&b.elpd)).unwrap_or(&each[0]);
    let mut good = Vec::new();
    for (c, chain) in each.iter().enumerate() {
        let behind = paired(&best.pointwise, &chain.pointwise)?;
        if behind.mean <= SURELY * behind.se.unwrap_or(0.0) {
            good.push(c);
        }
    }
    Ok(good)
}

/// A line of the table.
fn tried(i: usize, loo: &Loo, best: usize, of_best: &Loo) -> Result<Tried> {
    let rows = loo.pointwise.len() as f64;
    let behind = paired(&of_best.pointwise, &loo.pointwise)?;
    Ok(Tried {
        experts: i + 1,
        elpd: loo.elpd / rows,
        se: Some(loo.se / rows).filter(|_| rows > 1.0),
        behind: behind.mean,
        // The best is not compared with itself.
        behind_se: (i != best).then_some(behind.se.unwrap_or(0.0)),
        bad: loo.khat.iter().filter(|k| **k > LARGE_KHAT).count() as f64 / rows,
    })
}
