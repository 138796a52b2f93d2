//! Log densities and gradients against files computed by automatic differentiation.
#![allow(clippy::unwrap_used)]

// The program is the check; its `main` and argument handling are not used here.
#[allow(dead_code)]
#[path = "../../../bench/rust/src/bin/golden.rs"]
mod golden;

use std::path::Path;

#[test]
fn all_golden_files_agree() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let names = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name());
    let files = names.filter(|n| n.to_string_lossy().ends_with(".json")).count();
    // A file that got lost must not look like one that agrees.
    assert_eq!(files, 55);
    let worst = golden::check_all(&dir).unwrap();
    assert!(worst <= golden::TOLERANCE, "worst error {worst:e}");
}

/// An error that is no number is not forgotten when good ones follow.
#[test]
fn nan_stays_the_worst() {
    for errors in [[f64::NAN, 0.0, 1.0], [0.0, f64::NAN, 1.0], [0.0, 1.0, f64::NAN]] {
        assert!(errors.into_iter().fold(0.0, golden::worse).is_nan());
    }
    assert_eq!([0.5, 2.0, 1.0].into_iter().fold(0.0, golden::worse), 2.0);
}
