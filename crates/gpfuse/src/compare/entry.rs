//! What a comparison says: one entry for each contestant, best first.

use std::cmp::Ordering;

use serde::Serialize;

use super::Contestant;
use crate::diagnose::{Diagnostics, Loo};
use crate::metrics::{Difference, Score, Scores, paired, standard_error};
use crate::settings::Message;
use crate::{Error, Result};

/// One contestant and how it did, or why it could not.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Who.
    pub contestant: Contestant,
    /// How it did.
    pub outcome: Result<Scored>,
}

/// How a contestant did.
#[derive(Debug, Clone)]
pub struct Scored {
    /// Mean negative log predictive density.
    pub nlpd: Score,
    /// That of each row, in the order of the rows.
    pub losses: Vec<f64>,
    /// All scores; none without test rows.
    pub scores: Option<Scores>,
    /// How far to trust leave-one-out scores that are estimated from draws.
    pub trust: Option<Trust>,
    /// Its losses less those of the best; none where they have no finite difference.
    pub difference: Option<Difference>,
    /// Whether its chains converged; none where there are no chains.
    pub convergence: Option<Convergence>,
    /// Seconds to fit, those to train the experts included where it uses them.
    pub fit_seconds: f64,
    /// Seconds to predict and to score.
    pub predict_seconds: f64,
    /// What else a reader should know.
    pub notes: Vec<Message>,
}

/// How far to trust leave-one-out scores that are estimated from draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trust {
    /// The largest k-hat of a row; none where a row has no tail to fit.
    pub worst_khat: Option<f64>,
    /// The largest k-hat to trust with so many draws.
    pub good_khat: f64,
    /// How many rows exceed it.
    pub bad_rows: usize,
}

/// Whether chains converged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Convergence {
    /// Whether nothing is wrong.
    pub passed: bool,
    /// The worst R-hat; none where it cannot be told.
    pub rhat_max: Option<f64>,
    /// What is wrong, with what to try.
    pub warnings: Vec<Message>,
}

impl Convergence {
    pub(super) fn of(diagnostics: &Diagnostics) -> Convergence {
        let all = diagnostics.quantities.iter().map(|q| q.rhat_max);
        Convergence {
            passed: diagnostics.passed(),
            rhat_max: all.filter(|r| r.is_finite()).reduce(f64::max),
            warnings: diagnostics.warnings.clone(),
        }
    }
}

/// What was measured, before it is compared.
#[derive(Debug)]
pub(super) enum Judged {
    /// Scores at the test rows.
    Test(Box<Scores>),
    /// Log densities of the rows left out.
    LeftOut(Vec<f64>, Option<Trust>),
}

impl Trust {
    pub(super) fn of(loo: &Loo) -> Trust {
        let worst = loo.khat.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Trust {
            worst_khat: Some(worst).filter(|k| k.is_finite()),
            good_khat: loo.good_k,
            bad_rows: loo.bad(),
        }
    }

    /// The worse of two chains in each respect.
    pub(super) fn worse(self, other: Trust) -> Trust {
        let khat = self.worst_khat.zip(other.worst_khat);
        Trust {
            worst_khat: khat.map(|(a, b)| a.max(b)),
            good_khat: self.good_khat.min(other.good_khat),
            bad_rows: self.bad_rows.max(other.bad_rows),
        }
    }
}

impl Scored {
    /// # Errors
    /// If the mean is not a number that can be compared.
    pub(super) fn new(judged: Judged, fit_seconds: f64, predict_seconds: f64) -> Result<Scored> {
        let (losses, scores, trust): (Vec<f64>, _, _) = match judged {
            Judged::Test(scores) => {
                (scores.losses.iter().map(|row| row[0]).collect(), Some(*scores), None)
            }
            Judged::LeftOut(log_density, trust) => {
                (log_density.iter().map(|l| -l).collect(), None, trust)
            }
        };
        let nlpd = scores.as_ref().map_or_else(|| mean(&losses), |scores| scores.nlpd);
        if let Some(row) = losses.iter().position(|l| !l.is_finite()) {
            let problem = format!("row {}: the density is 0 or no number: drop the row", row + 1);
            return Err(Error::Data(problem));
        }
        let (difference, convergence, notes) = (None, None, Vec::new());
        Ok(Scored {
            nlpd,
            losses,
            scores,
            trust,
            difference,
            convergence,
            fit_seconds,
            predict_seconds,
            notes,
        })
    }
}

/// The mean over rows; left-out rows have no Monte Carlo error of their own.
fn mean(losses: &[f64]) -> Score {
    let value = losses.iter().sum::<f64>() / losses.len() as f64;
    Score { value, mcse: None, se: standard_error(losses.iter().copied()) }
}

/// All contestants on the same rows.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Best first by NLPD; those that failed last.
    pub entries: Vec<Entry>,
    /// The number of rows they were scored at.
    pub rows: usize,
    /// Whether these are stacking rows of the training table, each left out in turn, and not
    /// test rows.
    pub left_out: bool,
    /// The number of experts of those that have several.
    pub experts: usize,
    /// Whether it was stopped before all had run.
    pub interrupted: bool,
}

impl Comparison {
    pub(super) fn new(
        mut entries: Vec<Entry>,
        rows: usize,
        left_out: bool,
        experts: usize,
        interrupted: bool,
    ) -> Comparison {
        // Stable: equals and failures keep their order.
        entries.sort_by(|a, b| match (&a.outcome, &b.outcome) {
            (Ok(a), Ok(b)) => a.nlpd.value.total_cmp(&b.nlpd.value),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => Ordering::Equal,
        });
        let best = entries.first().and_then(|e| e.outcome.as_ref().ok());
        if let Some(best) = best.map(|best| best.losses.clone()) {
            for scored in entries.iter_mut().filter_map(|e| e.outcome.as_mut().ok()) {
                scored.difference = paired(&scored.losses, &best).ok();
            }
        }
        Comparison { entries, rows, left_out, experts, interrupted }
    }

    /// Those that did not fail, best first.
    pub fn scored(&self) -> impl Iterator<Item = (Contestant, &Scored)> {
        self.entries.iter().filter_map(|e| Some((e.contestant, e.outcome.as_ref().ok()?)))
    }
}
