//! Scores of the probabilities of outcomes.

use serde::Serialize;

use super::{Score, Scores, summarise};
use crate::predict::Outcomes;

/// What can be scored where experts say no more than how probable outcomes are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogScores {
    /// Mean negative log predictive density, or log probability.
    pub nlpd: Score,
    /// The number of test rows.
    pub rows: usize,
    /// The negative log density of each row, for paired comparisons.
    #[serde(skip)]
    pub losses: Vec<f64>,
}

/// All that can be scored of a prediction.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// Of a density.
    All(Box<Scores>),
    /// Of how probable outcomes are.
    Log(LogScores),
}

impl Measured {
    /// The scores by their names.
    pub fn named(&self) -> Vec<(String, &Score)> {
        match self {
            Measured::All(scores) => scores.named(),
            Measured::Log(scores) => vec![("NLPD".into(), &scores.nlpd)],
        }
    }

    /// The mean negative log density.
    pub fn nlpd(&self) -> &Score {
        match self {
            Measured::All(scores) => &scores.nlpd,
            Measured::Log(scores) => &scores.nlpd,
        }
    }

    /// The number of test rows.
    pub fn rows(&self) -> usize {
        match self {
            Measured::All(scores) => scores.rows,
            Measured::Log(scores) => scores.rows,
        }
    }
}

impl LogScores {
    /// Score the log densities of targets.
    pub(crate) fn of(outcomes: &Outcomes) -> LogScores {
        let (rows, batches) = (outcomes.rows(), outcomes.batches());
        let all = |shares: &[f64]| -> Vec<[f64; 1]> {
            (0..rows).map(|row| [-outcomes.averaged(row, shares)[0]]).collect()
        };
        let losses = all(&batches.shares(None));
        let left = |b: usize| {
            [all(&batches.shares(Some(b))).iter().map(|[v]| v).sum::<f64>() / rows as f64]
        };
        let without: Vec<[f64; 1]> = match batches.spare() {
            true => (0..batches.len()).map(left).collect(),
            false => vec![[0.0]; batches.len()],
        };
        let nlpd = summarise(&losses, &without, 0, false, batches);
        LogScores { nlpd, rows, losses: losses.concat() }
    }
}
