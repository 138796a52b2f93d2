//! A comparison as plain data, the same for every front end.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Comparison, Entry};
use crate::metrics::{LEVELS, Scores};

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("scored", if self.left_out { "leave-one-out" } else { "test" })?;
        map.serialize_entry("rows", &self.rows)?;
        map.serialize_entry("experts", &self.experts)?;
        map.serialize_entry("interrupted", &self.interrupted)?;
        map.serialize_entry("methods", &self.entries)?;
        map.end()
    }
}

impl Serialize for Entry {
    /// The same keys for each, null where there is nothing to say.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let scored = self.outcome.as_ref().ok();
        let scores = scored.and_then(|s| s.scores.as_ref());
        let convergence = scored.and_then(|s| s.convergence.as_ref());
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("method", &self.contestant)?;
        map.serialize_entry("error", &self.outcome.as_ref().err().map(ToString::to_string))?;
        map.serialize_entry("nlpd", &scored.map(|s| s.nlpd))?;
        map.serialize_entry("difference", &scored.and_then(|s| s.difference))?;
        map.serialize_entry("crps", &scores.map(|s| s.crps))?;
        map.serialize_entry("rmse", &scores.map(|s| s.rmse))?;
        map.serialize_entry("mae", &scores.map(|s| s.mae))?;
        let coverage = |scores: &Scores| -> BTreeMap<String, _> {
            LEVELS.iter().map(f64::to_string).zip(scores.coverage).collect()
        };
        map.serialize_entry("coverage", &scores.map(coverage))?;
        map.serialize_entry("khat", &scored.and_then(|s| s.trust))?;
        map.serialize_entry("converged", &convergence.map(|c| c.passed))?;
        map.serialize_entry("rhat_max", &convergence.and_then(|c| c.rhat_max))?;
        map.serialize_entry("warnings", &convergence.map(|c| &c.warnings))?;
        map.serialize_entry("notes", &scored.map(|s| &s.notes))?;
        map.serialize_entry("fit_seconds", &scored.map(|s| s.fit_seconds))?;
        map.serialize_entry("predict_seconds", &scored.map(|s| s.predict_seconds))?;
        map.end()
    }
}
