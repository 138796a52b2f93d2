//! What a fusion is worth on the rows that it learned from: beside each expert, beside equal and constant
//! weights. And whether its weights should depend on the inputs at all.
//!
//! Every density here is one of a row that was left out. The experts were trained without it, or say what they
//! would say without it. The weights of the mixture are learned without the fold of the row. Those of the
//! methods, whose posteriors are sampled, are those of Pareto-smoothed importance sampling leave-one-out.
//! Differences are taken row by row, which gives them a standard error of their own.
//!
//! Weights that depend on the inputs must predict better than constant ones: else they are constant, which is
//! the same model with gates that have nothing but a constant. Where there is no gain there is nothing to lose
//! either, so a gain is enough, and need not be a sure one.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::KEPT_LOG_LIKELIHOODS;
use crate::Result;
use crate::baseline::{constant, stacking};
use crate::data::Said;
use crate::diagnose::{Loo, log_likelihoods, loo, relative_efficiency};
use crate::gp::some_rows;
use crate::infer::Draws;
use crate::metrics::paired;
use crate::model::Posterior;
use crate::pool::Pool;
use crate::random::{Purpose, stream};

/// Folds by which the weights of a mixture are learned without a row.
const FOLDS: usize = 10;
/// Of more draws every second, third and so on is taken: rows left out are then weighed by as many as they need.
const MOST_DRAWS: usize = 2000;
/// A row that an expert holds impossible has this log density, so that differences are numbers.
const IMPOSSIBLE: f64 = -1e100;

/// Whether weights depend on the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateChoice {
    /// They do where that predicts rows left out better than constant weights.
    #[default]
    Auto,
    /// They do, by a GP for each.
    Gp,
    /// They do not.
    Constant,
    /// Their logits, or logarithms, are linear in them.
    Linear,
}

/// What is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scored {
    /// One expert alone, by its name.
    Expert(String),
    /// The mixture of all experts with equal weights.
    Equal,
    /// The mixture with the constant weights that predict best.
    Mixture,
    /// The mixture with constant weights by pseudo-BMA+.
    PseudoBma,
    /// The method with constant weights.
    Constant,
    /// The method with weights that depend on the inputs.
    ByInput,
    /// The same with gates that are linear in them.
    Linear,
}

impl Scored {
    /// What it is called.
    pub fn words(&self) -> String {
        match self {
            Scored::Expert(name) => format!("expert {name}"),
            Scored::Equal => "mixture, equal weights".into(),
            Scored::Mixture => "mixture, constant weights".into(),
            Scored::PseudoBma => "mixture, pseudo-BMA+ weights".into(),
            Scored::Constant => "constant weights".into(),
            Scored::ByInput => "weights by input".into(),
            Scored::Linear => "linear weights".into(),
        }
    }
}

/// One line: how well something predicts rows that were left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What.
    pub what: Scored,
    /// Its mean negative log predictive density, in the units of the target.
    pub nlpd: f64,
    /// The standard error of that over rows.
    pub se: Option<f64>,
    /// How far it is above that of the fusion that was fitted.
    pub above: f64,
    /// The standard error of that, row by row; none for the fusion itself.
    pub above_se: Option<f64>,
}

/// What a fusion is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// The rows that were left out in turn.
    pub rows: usize,
    /// Each expert, then the fusions; one of the last two is the one that was fitted.
    pub lines: Vec<Line>,
}

impl Worth {
    /// The line of the fusion that was fitted.
    pub fn fitted(&self) -> Option<&Line> {
        self.lines.iter().find(|line| line.above_se.is_none())
    }

    /// The best expert.
    pub fn best_expert(&self) -> Option<&Line> {
        let experts = self.lines.iter().filter(|line| matches!(line.what, Scored::Expert(_)));
        experts.min_by(|a, b| a.nlpd.total_cmp(&b.nlpd))
    }

    /// The best of the lines that predict better than the fusion by more than two standard errors.
    fn surely_better(&self) -> Option<&Line> {
        let better =
            self.lines.iter().filter(|line| line.above < -2.0 * line.above_se.unwrap_or(0.0));
        better.min_by(|a, b| a.above.total_cmp(&b.above))
    }

    /// What it comes to, in words.
    pub fn words(&self) -> String {
        let beside = |line: &Line, than: String| {
            let verb = if line.above < 0.0 { "loses" } else { "gains" };
            let error = line.above_se.map_or(String::new(), |se| format!(" (error {se:.3})"));
            format!("{verb} {:.3} nats a row{error} beside {than}", line.above.abs())
        };
        let by_input = self.fitted().is_some_and(|line| line.what == Scored::ByInput);
        let expert =
            self.best_expert().map(|line| beside(line, format!("the best {}", line.what.words())));
        let constant = self.line(&Scored::Constant).filter(|_| by_input);
        let constant = constant.map(|line| beside(line, "constant weights".into()));
        let linear = self.line(&Scored::Linear).is_some();
        let weights = match (by_input, self.line(&Scored::ByInput)) {
            _ if linear => "have gates that are linear in the inputs",
            (true, _) => "depend on the inputs",
            (false, Some(_)) => "are constant, as weights by input predict no better",
            (false, None) => "are constant",
        };
        let sums: Vec<String> = expert.into_iter().chain(constant).collect();
        let better = self.surely_better().map_or(String::new(), |line| {
            format!("; `{}` predicts better than it, by more than two errors", line.what.words())
        });
        format!("the weights of the fusion {weights}; it {}{better}", sums.join(" and "))
    }

    /// What something is worth, by what it is.
    pub fn line(&self, what: &Scored) -> Option<&Line> {
        self.lines.iter().find(|line| line.what == *what)
    }
}

/// A fusion whose posterior was sampled, and how well it predicts each of some rows left out.
pub(super) struct Run {
    pub(super) posterior: Posterior,
    pub(super) draws: Draws,
    /// The log likelihoods of all draws at all rows, row-major, where there are few enough of them.
    pub(super) log_lik: Option<Vec<f64>>,
    left_out: Loo,
}

/// The rows at which runs with at most so many draws are compared.
pub(super) fn compared(rows: usize, draws: usize, seed: u64) -> Vec<usize> {
    let most = KEPT_LOG_LIKELIHOODS / draws.clamp(1, MOST_DRAWS);
    if rows <= most { (0..rows).collect() } else { some_rows(rows, most, seed) }
}

impl Run {
    /// The target was divided by `scale`.
    pub(super) fn new(
        posterior: Posterior,
        draws: Draws,
        rows: &[usize],
        scale: f64,
        threads: usize,
    ) -> Result<Run> {
        let (chains, thin) = (draws.chains().len(), draws.len().div_ceil(MOST_DRAWS).max(1));
        let all: Vec<&[f64]> = (0..chains).flat_map(|c| draws.chain(c).step_by(thin)).collect();
        let log_lik = log_likelihoods(&posterior, &all, rows, scale, threads)?;
        let efficiency = relative_efficiency(&log_lik, rows.len(), chains, threads)?;
        let left_out = loo(&log_lik, rows.len(), &efficiency, threads)?;
        let log_lik = (thin == 1 && rows.len() == posterior.rows()).then_some(log_lik);
        Ok(Run { posterior, draws, log_lik, left_out })
    }

    /// The sum of its log densities of rows left out.
    pub(super) fn score(&self) -> f64 {
        self.left_out.elpd
    }
}

/// What the experts say, on the model's scale, and what is known besides.
pub(super) struct Rivals<'a> {
    pub(super) names: Vec<String>,
    pub(super) experts: &'a Said,
    pub(super) y: &'a [f64],
    /// The variance of the target's rounding.
    pub(super) rounding: f64,
    pub(super) scale: f64,
    pub(super) seed: u64,
}

/// What the run that was taken is worth at `rows`, beside the experts and the other run, if there is one.
pub(super) fn worth(
    rivals: &Rivals<'_>,
    rows: &[usize],
    fitted: (Scored, &Run),
    other: Option<(Scored, &Run)>,
) -> Result<Worth> {
    let scores = scores(rivals, rows);
    let mut all: Vec<(Scored, Vec<f64>)> = rivals
        .names
        .iter()
        .zip(&scores)
        .map(|(name, scores)| (Scored::Expert(name.clone()), scores.clone()))
        .collect();
    let equal = vec![-(scores.len() as f64).ln(); scores.len()];
    all.push((Scored::Equal, mixed(&scores, &equal)));
    let seed = rivals.seed;
    if fitted.1.posterior.model().pool() == Pool::Linear {
        let learn = |others: &[Vec<f64>]| constant::pseudo_bma_plus(others, seed);
        all.push((Scored::PseudoBma, without_fold(&scores, seed, learn)));
    }
    all.push((Scored::Mixture, without_fold(&scores, seed, stacking::log_weights)));
    let of_fitted = &fitted.1.left_out.pointwise;
    let own = fitted.0.clone();
    let mut runs: Vec<(Scored, &Run)> = other.into_iter().chain([fitted]).collect();
    runs.sort_by_key(|(what, _)| *what == Scored::ByInput);
    all.extend(runs.into_iter().map(|(what, run)| (what, run.left_out.pointwise.clone())));
    let line = |(what, scores): (Scored, Vec<f64>)| {
        let (alone, above) =
            (paired(&scores, &vec![0.0; scores.len()])?, paired(of_fitted, &scores)?);
        let above_se = (what != own).then_some(above.se.unwrap_or(0.0));
        Ok(Line { what, nlpd: -alone.mean, se: alone.se, above: above.mean, above_se })
    };
    let lines = all.into_iter().map(line).collect::<Result<Vec<Line>>>()?;
    Ok(Worth { rows: rows.len(), lines })
}

/// The log density of each expert at each row, in the units of the target.
fn scores(rivals: &Rivals<'_>, rows: &[usize]) -> Vec<Vec<f64>> {
    let all = rivals.experts.log_density(rivals.y, rivals.rounding, rivals.scale);
    let log_scale = rivals.scale.ln();
    let at = |v: &Vec<f64>| rows.iter().map(|r| (v[*r] - log_scale).max(IMPOSSIBLE)).collect();
    all.iter().map(at).collect()
}

/// The log density of the mixture at each row.
fn mixed(scores: &[Vec<f64>], log_weights: &[f64]) -> Vec<f64> {
    let rows = scores.first().map_or(0, Vec::len);
    let at = |r: usize| {
        let terms = scores.iter().zip(log_weights).map(move |(s, w)| s[r] + w);
        let top = terms.clone().fold(f64::MIN, f64::max);
        top + terms.map(|t| (t - top).exp()).sum::<f64>().ln()
    };
    (0..rows).map(at).collect()
}

/// The same with the log weights that are learned from the other folds.
fn without_fold(
    scores: &[Vec<f64>],
    seed: u64,
    learn: impl Fn(&[Vec<f64>]) -> Vec<f64>,
) -> Vec<f64> {
    let rows = scores.first().map_or(0, Vec::len);
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut stream(seed, Purpose::Folds, 1));
    let mut out = vec![0.0; rows];
    for fold in 0..FOLDS.min(rows) {
        let inside = |at: &usize| at % FOLDS == fold;
        let pick = |keep: &dyn Fn(&usize) -> bool| -> Vec<Vec<f64>> {
            let places = (0..rows).filter(|at| keep(at)).map(|at| order[at]);
            let places: Vec<usize> = places.collect();
            scores.iter().map(|s| places.iter().map(|r| s[*r]).collect()).collect()
        };
        let others = pick(&|at| !inside(at));
        let weights = match others.first().is_some_and(|s| !s.is_empty()) {
            true => learn(&others),
            false => vec![-(scores.len() as f64).ln(); scores.len()],
        };
        let own = mixed(&pick(&|at| inside(at)), &weights);
        for (at, score) in (0..rows).filter(inside).zip(own) {
            out[order[at]] = score;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights learned without a row's fold know nothing of it: changing its scores changes only it, and rows of
    /// other folds by what the weights learn from it.
    #[test]
    fn the_weights_of_a_mixture_do_not_see_the_fold() {
        let at = |i: usize, k: f64| -((k * i as f64).sin().powi(2));
        let scores: Vec<Vec<f64>> =
            [1.3, 2.9].iter().map(|k| (0..40).map(|i| at(i, *k)).collect()).collect();
        let before = without_fold(&scores, 3, stacking::log_weights);
        assert!(before.iter().all(|v| v.is_finite()));
        let mut order: Vec<usize> = (0..40).collect();
        order.shuffle(&mut stream(3, Purpose::Folds, 1));
        let (row, same_fold) = (order[4], order[14]);
        let mut other = scores.clone();
        other[0][row] = -9.0;
        let after = without_fold(&other, 3, stacking::log_weights);
        assert_eq!(before[same_fold], after[same_fold]);
        assert!((0..40).any(|i| i != row && before[i] != after[i]));
    }

    /// What predicts better than the fusion is named where that is sure, and only there.
    #[test]
    fn a_line_that_is_surely_better_is_named() {
        let line =
            |what, above, above_se| Line { what, nlpd: 1.0 + above, se: None, above, above_se };
        let worth = |equal: f64| Worth {
            rows: 9,
            lines: vec![
                line(Scored::Expert("a".into()), 0.3, Some(0.1)),
                line(Scored::Equal, equal, Some(0.1)),
                line(Scored::Constant, 0.0, None),
            ],
        };
        assert!(worth(-0.25).words().ends_with(
            "; `mixture, equal weights` predicts better than it, by more than two errors"
        ));
        assert!(!worth(-0.15).words().contains("predicts better than it"));
    }

    /// Of an expert that is right everywhere and one that is not, the mixture comes near the first.
    #[test]
    fn the_mixture_finds_the_better_expert() {
        let scores = vec![vec![-0.5; 200], vec![-3.0; 200]];
        let found = without_fold(&scores, 0, stacking::log_weights);
        assert!(found.iter().all(|s| (s + 0.5).abs() < 0.05), "{}", found[0]);
    }
}
