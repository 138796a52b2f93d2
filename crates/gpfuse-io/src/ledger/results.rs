//! The sorted table of a sweep.

use std::path::Path;

use gpfuse::sweep::Finished;

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
        let cells = cells(row);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        sink.cells(&cells)?;
    }
    sink.finish()
}

fn cells(row: &Finished) -> [String; COLUMNS.len()] {
    fn shown<T: ToString>(value: Option<T>) -> String {
        value.map_or(String::new(), |v| v.to_string())
    }
    let key = &row.key;
    [
        key.data.clone(),
        key.arm.clone(),
        key.basis.clone(),
        key.size.to_string(),
        key.experts.to_string(),
        key.split.to_string(),
        key.seed.to_string(),
        row.method.clone(),
        shown(row.nlpd),
        shown(row.nlpd_se),
        shown(row.nlpd_mcse),
        shown(row.crps),
        shown(row.rmse),
        shown(row.coverage_50),
        shown(row.coverage_80),
        shown(row.coverage_95),
        shown(row.passed),
        shown(row.rhat_median),
        shown(row.rhat_max),
        shown(row.ess_median),
        shown(row.divergences),
        shown(row.leapfrogs),
        row.chain_weights.clone(),
        row.error.clone(),
        row.version.clone(),
    ]
}
