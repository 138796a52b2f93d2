//! The sorted table of a sweep.

use std::path::Path;

use gpfuse::sweep::Finished;
use serde_json::Value;

use crate::atomic::WriteError;
use crate::table::CsvSink;

/// The columns: all that is the same on every run.
const COLUMNS: [&str; 25] = [
    "data",
    "arm",
    "basis",
    "size",
    "experts",
    "split",
    "seed",
    "method",
    "nlpd",
    "nlpd_se",
    "nlpd_mcse",
    "crps",
    "rmse",
    "coverage_50",
    "coverage_80",
    "coverage_95",
    "passed",
    "rhat_median",
    "rhat_max",
    "ess_median",
    "divergences",
    "leapfrogs",
    "chain_weights",
    "error",
    "version",
];

/// Write rows; what a row does not have is empty.
pub(super) fn write(path: &Path, rows: &[&Finished]) -> Result<(), WriteError> {
    let mut sink = CsvSink::create(Some(path), &COLUMNS)?;
    for row in rows {
        // Keys are names and values are plain: this cannot fail.
        let row = serde_json::to_value(row).unwrap_or_default();
        let cells = COLUMNS.map(|name| cell(&row[name]));
        sink.cells(&cells.each_ref().map(String::as_str))?;
    }
    sink.finish()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        // Numbers are written as in all tables, and not with the exponents of JSON.
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or(String::new(), |n| n.to_string())
        }
        other => other.to_string(),
    }
}
