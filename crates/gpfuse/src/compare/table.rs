//! A comparison as plain data, the same for every front end but for how it words advice.

use serde_json::{Map, Value, json};

use super::{Comparison, Entry};
use crate::metrics::{LEVELS, Scores};
use crate::settings::{Message, Style};

impl Comparison {
    /// The comparison as JSON.
    pub fn to_json(&self, style: Style) -> Value {
        json!({
            "scored": if self.left_out { "leave-one-out" } else { "test" },
            "rows": self.rows,
            "experts": self.experts,
            "interrupted": self.interrupted,
            "methods": self.entries.iter().map(|e| entry(e, style)).collect::<Vec<Value>>(),
        })
    }
}

/// The same keys for each, null where there is nothing to say.
fn entry(entry: &Entry, style: Style) -> Value {
    let scored = entry.outcome.as_ref().ok();
    let scores = scored.and_then(|s| s.scores.as_ref());
    let convergence = scored.and_then(|s| s.convergence.as_ref());
    let coverage = |scores: &Scores| -> Map<String, Value> {
        LEVELS.iter().map(f64::to_string).zip(scores.coverage.map(|s| json!(s))).collect()
    };
    let words = |all: &Vec<Message>| all.iter().map(|m| m.render(style)).collect::<Vec<String>>();
    json!({
        "method": entry.contestant,
        "error": entry.outcome.as_ref().err().map(|e| e.render(style)),
        "nlpd": scored.map(|s| s.nlpd),
        "difference": scored.and_then(|s| s.difference),
        "crps": scores.map(|s| s.crps),
        "rmse": scores.map(|s| s.rmse),
        "mae": scores.map(|s| s.mae),
        "coverage": scores.map(coverage),
        "khat": scored.and_then(|s| s.trust),
        "converged": convergence.map(|c| c.passed),
        "rhat_max": convergence.and_then(|c| c.rhat_max),
        "warnings": convergence.map(|c| words(&c.warnings)),
        "notes": scored.map(|s| words(&s.notes)),
        "fit_seconds": scored.map(|s| s.fit_seconds),
        "predict_seconds": scored.map(|s| s.predict_seconds),
    })
}
