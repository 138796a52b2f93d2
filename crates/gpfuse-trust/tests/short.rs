//! The short form of every study. Seeds are fixed, so that a test fails by chance once and for all;
//! each study says how likely that was.
#![allow(clippy::unwrap_used)]

use gpfuse_trust::{Outcome, Run, STUDIES};

/// No target of a study is missed, and no claim but those that are named is left out.
fn met_but(name: &str, left: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let study = STUDIES.iter().find(|study| study.name == name).unwrap();
    let record = study.record(&Run::short(folder.path()));
    let missed: Vec<_> = record.missed().collect();
    assert!(!record.findings.is_empty() && missed.is_empty(), "{missed:#?}");
    let out = record.findings.iter().filter(|finding| finding.outcome == Outcome::NotRun);
    let out: Vec<&str> = out.map(|finding| finding.claim.as_str()).collect();
    assert!(out.iter().all(|claim| left.contains(claim)), "{out:#?}");
}

fn met(name: &str) {
    met_but(name, &[]);
}

/// Five methods at 1 % each: at most 5 %, for this seed once and for all.
#[test]
fn calibration() {
    met("calibration");
}

/// 36 cases at 1e-6 each: at most 4e-5, for this seed once and for all.
#[test]
fn conservation() {
    met("conservation");
}

/// Twelve cases at about 1e-6 each: about 1e-5, for this seed once and for all.
#[test]
fn geweke() {
    met("geweke");
}

/// About 1e-6, for this seed once and for all.
#[test]
fn long_run() {
    met("long_run");
}

/// Three exact bands and three mean shares that share 0.1 %; where the targets of a data set hang
/// together, that of 95 % alone may take 0.5 %. For this seed once and for all.
#[test]
fn coverage() {
    met("coverage");
}

/// The models are fixed by their seed: nothing fails by chance.
#[test]
fn torture() {
    met_but("torture", &["Nothing hangs"]);
}

/// Twenty draws that the diagnostics pass: next to never.
#[test]
fn honesty() {
    met("honesty");
}

/// Seven runs that fail by chance with a probability of 1e-6 each: at most 1e-5.
#[test]
fn reference() {
    met("reference");
}
