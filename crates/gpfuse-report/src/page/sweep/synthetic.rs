//! A sweep with made-up scores, for tests.

use gpfuse::sweep::{Finished, Key};

use super::{Arm, DataSet, Study, Sweep, Vary};

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
        passed: Some(split % 2 == 0),
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

/// Studies against experts and size on one basis, one of ours, one of input ranges, and a cell
/// that failed.
pub(super) fn sweep() -> Sweep {
    let arm = |name: &str, label: &str, ours| Arm { name: name.into(), label: label.into(), ours };
    let arms = vec![
        arm("bhs", "BHS", false),
        arm("pbhs", "P-BHS", false),
        arm("mogpe", "MoGPE", false),
        arm("pogpe", "PoGPE", false),
        arm("het", "het", false),
        arm("pogpe-ours", "PoGPE, stacked chains", true),
    ];
    let names = |own: bool| -> Vec<String> {
        arms.iter().filter(|a| a.ours == own).map(|a| a.name.clone()).collect()
    };
    let study = |name: &str, vary, data: &[&str], arms, sizes: &[usize], experts: &[usize]| Study {
        name: name.into(),
        title: format!("Study {name}"),
        vary,
        data: data.iter().map(|d| (*d).into()).collect(),
        arms,
        basis: "rff".into(),
        sizes: sizes.to_vec(),
        experts: experts.to_vec(),
    };
    let studies = vec![
        study("experts", Vary::Experts, &["paper"], names(false), &[30], &[2, 3]),
        study("size", Vary::Size, &["paper"], names(false), &[10, 30], &[2]),
        study("ours", Vary::Experts, &["paper"], names(true), &[30], &[3]),
        study("range", Vary::Experts, &["short", "long"], vec!["pogpe".into()], &[30], &[2]),
    ];
    let mut rows = Vec::new();
    for study in &studies {
        for (i, arm) in study.arms.iter().enumerate() {
            for data in &study.data {
                for size in &study.sizes {
                    for k in &study.experts {
                        for split in 0..5 {
                            let k = if arm.starts_with("het") { 1 } else { *k };
                            let score = 1.0 - 0.1 * i as f64 - 0.05 * k as f64 + 0.02 * split as f64;
                            let row = finished(data, arm, "rff", *size, k, split, Some(score));
                            if !rows.iter().any(|r: &Finished| r.key == row.key) {
                                rows.push(row);
                            }
                        }
                    }
                }
            }
        }
    }
    rows[3] = finished("paper", "bhs", "rff", 30, 2, 3, None);
    let set = |name: &str, range| DataSet { name: name.into(), range };
    Sweep {
        name: "made up".into(),
        folder: "runs/made up".into(),
        settings: "name = \"made up\"\n".into(),
        version: "0.1.0".into(),
        planned: Some(rows.len() + 2),
        ratio: 0.25,
        data: vec![
            set("paper", Some((-5.0, 5.0))),
            set("short", Some((0.0, 2.0))),
            set("long", Some((0.0, 8.0))),
        ],
        arms,
        studies,
        rows,
        kept: Vec::new(),
    }
}
