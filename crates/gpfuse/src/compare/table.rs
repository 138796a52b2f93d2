//! A comparison as plain data, the same for every front end.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::{Comparison, Contestant, Entry, Trust};
use crate::metrics::{Difference, LEVELS, Score};

#[derive(Serialize)]
struct Table<'a> {
    scored: &'static str,
    rows: usize,
    experts: usize,
    interrupted: bool,
    methods: &'a [Entry],
}

/// The same keys for each, null where there is nothing to say.
#[derive(Serialize)]
struct Line<'a> {
    method: Contestant,
    error: Option<String>,
    nlpd: Option<Score>,
    difference: Option<Difference>,
    crps: Option<Score>,
    rmse: Option<Score>,
    mae: Option<Score>,
    coverage: Option<BTreeMap<String, Score>>,
    khat: Option<Trust>,
    converged: Option<bool>,
    rhat_max: Option<f64>,
    warnings: Option<&'a [String]>,
    notes: Option<&'a [String]>,
    fit_seconds: Option<f64>,
    predict_seconds: Option<f64>,
}

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Table {
            scored: if self.left_out { "leave-one-out" } else { "test" },
            rows: self.rows,
            experts: self.experts,
            interrupted: self.interrupted,
            methods: &self.entries,
        }
        .serialize(to)
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let scored = self.outcome.as_ref().ok();
        let scores = scored.and_then(|s| s.scores.as_ref());
        let convergence = scored.and_then(|s| s.convergence.as_ref());
        Line {
            method: self.contestant,
            error: self.outcome.as_ref().err().map(ToString::to_string),
            nlpd: scored.map(|s| s.nlpd),
            difference: scored.and_then(|s| s.difference),
            crps: scores.map(|s| s.crps),
            rmse: scores.map(|s| s.rmse),
            mae: scores.map(|s| s.mae),
            coverage: scores.map(|s| {
                LEVELS.iter().zip(s.coverage).map(|(level, s)| (level.to_string(), s)).collect()
            }),
            khat: scored.and_then(|s| s.trust),
            converged: convergence.map(|c| c.passed),
            rhat_max: convergence.and_then(|c| c.rhat_max),
            warnings: convergence.map(|c| c.warnings.as_slice()),
            notes: scored.map(|s| s.notes.as_slice()),
            fit_seconds: scored.map(|s| s.fit_seconds),
            predict_seconds: scored.map(|s| s.predict_seconds),
        }
        .serialize(to)
    }
}
