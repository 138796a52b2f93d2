//! The short form of every study. Seeds are fixed, so that a test fails by chance once and for all;
//! each study says how likely that was.
#![allow(clippy::unwrap_used)]

use gpfuse_trust::{Run, STUDIES};

/// No target of a study is missed.
fn met(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let study = STUDIES.iter().find(|study| study.name == name).unwrap();
    let record = study.record(&Run::short(folder.path())).unwrap();
    let missed: Vec<_> = record.missed().collect();
    assert!(!record.findings.is_empty() && missed.is_empty(), "{missed:#?}");
}

/// Five methods at 1 % each: at most 5 %, for this seed once and for all.
#[test]
fn calibration() {
    met("calibration");
}

/// Three exact bands that share 0.1 %.
#[test]
fn coverage() {
    met("coverage");
}

/// The models are fixed by their seed: nothing fails by chance.
#[test]
fn torture() {
    met("torture");
}

/// Twenty draws that the diagnostics pass: next to never.
#[test]
fn honesty() {
    met("honesty");
}
