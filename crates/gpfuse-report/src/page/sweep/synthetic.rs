//! A sweep with made-up scores, for tests.

use gpfuse::sweep::{Finished, Key};

use gpfuse_io::ledger::Folder;
use gpfuse_io::sweep_file::SweepFile;

use super::Sweep;

/// A finished cell with this score, or one that failed.
pub(super) fn finished(
    data: &str,
    arm: &str,
    basis: &str,
    size: usize,
    experts: usize,
    split: usize,
    nlpd: Option<f64>,
) -> Finished {
    let (data, arm, basis) = (data.into(), String::from(arm), basis.into());
    let method = arm.split('-').next().unwrap_or_default().to_string();
    Finished {
        key: Key { data, arm, basis, size, experts, split, seed: 0 },
        method,
        nlpd,
        nlpd_se: Some(0.05),
        nlpd_mcse: Some(0.003),
        crps: Some(0.1),
        rmse: Some(0.2),
        coverage_50: Some(0.5),
        coverage_80: Some(0.8),
        coverage_95: Some(0.95),
        passed: Some(split.is_multiple_of(2)),
        rhat_median: Some(1.01),
        rhat_max: Some(1.2),
        ess_median: Some(900.0),
        divergences: Some(split),
        leapfrogs: Some(31.0),
        chain_weights: String::new(),
        error: if nlpd.is_some() { String::new() } else { "too few rows".into() },
        version: "0.1.0".into(),
        fit_seconds: 1.5,
        predict_seconds: 0.1,
    }
}

const SETTINGS: &str = r#"
name = "made up"
[data.paper]
simulate = {}
[data.short]
simulate = { low = 0, high = 2 }
splits = 2
[data.long]
simulate = { low = 0, high = 8 }
splits = 2
[[arm]]
name = "bhs"
method = "bhs"
label = "BHS"
[[arm]]
name = "mogpe"
method = "mogpe"
label = "MoGPE"
[[arm]]
name = "het"
method = "het"
[[arm]]
name = "mogpe-ours"
method = "mogpe"
label = "MoGPE, stacked chains"
ours = true
[[study]]
name = "experts"
title = "NLPD against the number of experts"
data = ["paper"]
arms = ["bhs", "mogpe", "het"]
basis = "rff"
sizes = [30]
experts = [2, 3]
[[study]]
name = "size"
vary = "size"
data = ["paper"]
arms = ["bhs", "mogpe", "het"]
basis = "rff"
sizes = [10, 30]
experts = [2]
[[study]]
name = "ours"
data = ["paper"]
arms = ["mogpe-ours"]
basis = "rff"
sizes = [30]
experts = [3]
[[study]]
name = "range"
data = ["short", "long"]
arms = ["mogpe"]
basis = "rff"
sizes = [30]
experts = [2]
"#;

/// Studies against experts and size, one of ours, one of input ranges; the first cell failed, and
/// the last is missing.
pub(super) fn sweep() -> Sweep {
    let file = SweepFile::parse(SETTINGS, "settings.toml".as_ref()).unwrap();
    let row = |key: &Key| {
        let Key { data, arm, basis, size, experts, split, .. } = key;
        let level = match arm.as_str() {
            "het" => 0.6,
            "bhs" => 1.2,
            _ => 1.0 - 0.05 * *experts as f64,
        };
        let score = level + 0.02 * *split as f64;
        finished(data, arm, basis, *size, *experts, *split, Some(score))
    };
    let mut rows: Vec<Finished> = file.keys().iter().map(row).collect();
    rows.pop();
    (rows[0].nlpd, rows[0].error) = (None, "too few rows".into());
    let folder = Folder {
        path: "runs/made up".into(),
        settings: SETTINGS.into(),
        file,
        version: "0.1.0".into(),
        rows,
        data: Default::default(),
        models: Default::default(),
    };
    Sweep { folder, kept: Vec::new() }
}
