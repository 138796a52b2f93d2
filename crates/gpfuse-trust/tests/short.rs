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

/// Seven runs that fail by chance with a probability of 1e-6 each: at most 1e-5.
#[test]
fn reference() {
    met("reference");
}
