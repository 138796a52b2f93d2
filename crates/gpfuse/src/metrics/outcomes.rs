//! Scores of the probabilities of outcomes.

use serde::Serialize;

use super::{Score, Scores, summarise};
use crate::predict::Outcomes;

/// What can be scored where experts say no more than how probable outcomes are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogScores {
    /// Mean negative log predictive density, or log probability.
    pub nlpd: Score,
    /// Of classes, the mean over rows of `sum_c (p_c - [c is the target])^2`, and half of that of two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brier: Option<Score>,
    /// Of classes, the share of rows whose class is the most probable one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Score>,
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
            Measured::Log(LogScores { nlpd, brier, accuracy, .. }) => {
                let all = [
                    ("NLPD", Some(nlpd)),
                    ("Brier", brier.as_ref()),
                    ("accuracy", accuracy.as_ref()),
                ];
                all.into_iter().filter_map(|(name, score)| Some((name.into(), score?))).collect()
            }
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
    /// Score the log densities of targets, or of classes the probabilities of all; `targets` are their numbers.
    pub(crate) fn of(outcomes: &Outcomes, targets: Option<&[usize]>) -> LogScores {
        let (rows, batches) = (outcomes.rows(), outcomes.batches());
        let one = |row: usize, shares: &[f64]| -> [f64; 3] {
            let log_p = outcomes.averaged(row, shares);
            match targets {
                None => [-log_p[0], 0.0, 0.0],
                Some(targets) => losses(&log_p, targets[row]),
            }
        };
        let all =
            |shares: &[f64]| -> Vec<[f64; 3]> { (0..rows).map(|row| one(row, shares)).collect() };
        let found = all(&batches.shares(None));
        let left = |b: usize| {
            let mut sum = [0.0; 3];
            for losses in all(&batches.shares(Some(b))) {
                sum.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss);
            }
            sum.map(|sum| sum / rows as f64)
        };
        let without: Vec<[f64; 3]> = match batches.spare() {
            true => (0..batches.len()).map(left).collect(),
            false => vec![[0.0; 3]; batches.len()],
        };
        let score = |l: usize| summarise(&found, &without, l, false, batches);
        let of_classes = |l: usize| targets.map(|_| score(l));
        LogScores {
            nlpd: score(0),
            brier: of_classes(1),
            accuracy: of_classes(2),
            rows,
            losses: found.iter().map(|losses| losses[0]).collect(),
        }
    }
}

/// What a row counts in each score, from the log probabilities of all classes.
fn losses(log_p: &[f64], target: usize) -> [f64; 3] {
    let apart = |(c, log_p): (usize, &f64)| (log_p.exp() - f64::from(c == target)).powi(2);
    let brier: f64 = log_p.iter().enumerate().map(apart).sum();
    let half = if log_p.len() == 2 { 0.5 } else { 1.0 };
    // Of classes that are as probable, the first is taken.
    let ahead = log_p[..target].iter().all(|other| *other < log_p[target]);
    let right = ahead && log_p.iter().all(|other| *other <= log_p[target]);
    [-log_p[target], half * brier, f64::from(right)]
}
