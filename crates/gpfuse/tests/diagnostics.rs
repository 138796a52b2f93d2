//! Convergence diagnostics against values stored from ArviZ, and on degenerate input.

use gpfuse::diagnose::{ebfmi, ess_bulk, ess_mean, ess_tail, mcse_mean, rhat};
use serde_json::Value;

type Diagnostic = fn(&[&[f64]]) -> f64;

const DIAGNOSTICS: [(&str, Diagnostic); 5] = [
    ("rhat", rhat),
    ("ess_bulk", ess_bulk),
    ("ess_tail", ess_tail),
    ("ess_mean", ess_mean),
    ("mcse_mean", mcse_mean),
];

/// Relative tolerance; ArviZ takes its autocovariances from a Fourier transform, so the last
/// digits differ.
const TOLERANCE: f64 = 1e-10;

/// A stored number; NaN is stored as null.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().map(number).collect()
}

/// The relative error, infinite where only one of the two is NaN.
fn error(ours: f64, theirs: f64) -> f64 {
    match (ours.is_nan(), theirs.is_nan()) {
        (true, true) => 0.0,
        (false, false) if ours == theirs => 0.0,
        (false, false) => (ours - theirs).abs() / theirs.abs(),
        _ => f64::INFINITY,
    }
}

#[test]
fn agree_with_arviz() {
    let file = include_str!("data/arviz_diagnostics.json");
    let stored: Value = serde_json::from_str(file).unwrap();
    let mut worst = 0.0_f64;
    let mut check = |what: &str, ours: f64, theirs: f64| {
        let error = error(ours, theirs);
        assert!(error <= TOLERANCE, "{what}: {ours} instead of {theirs}, error {error:e}");
        worst = worst.max(error);
    };
    for (name, case) in stored["cases"].as_object().unwrap() {
        let chains: Vec<Vec<f64>> =
            case["chains"].as_array().unwrap().iter().map(numbers).collect();
        let views: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        for (key, diagnostic) in DIAGNOSTICS {
            check(&format!("{name}, {key}"), diagnostic(&views), number(&case[key]));
        }
        let bfmi = numbers(&case["bfmi"]);
        assert_eq!(bfmi.len(), views.len(), "{name}");
        for (chain, theirs) in views.iter().zip(bfmi) {
            check(&format!("{name}, bfmi"), ebfmi(chain), theirs);
        }
    }
    println!("worst relative error {worst:e}");
}

#[test]
fn undefined_input_gives_nan() {
    let good = [0.1, 0.7, -0.3, 0.2, 0.5];
    let spoilt = |x: f64| [0.1, 0.7, x, 0.2, 0.5];
    let (nan, infinite) = (spoilt(f64::NAN), spoilt(f64::NEG_INFINITY));
    let cases: [&[&[f64]]; 7] = [
        &[],
        &[&[]],
        &[&[], &[]],
        &[&good[..3], &good[..3]],
        &[&good, &good[..4]],
        &[&good, &nan],
        &[&infinite, &good],
    ];
    for chains in cases {
        for (name, diagnostic) in DIAGNOSTICS {
            assert!(diagnostic(chains).is_nan(), "{name} of {chains:?}");
        }
    }
    for energy in [&[][..], &[1.0], &[1.0, 1.0, 1.0], &nan, &infinite] {
        assert!(ebfmi(energy).is_nan(), "ebfmi of {energy:?}");
    }
}

#[test]
fn huge_draws_do_not_panic() {
    let huge = [f64::MAX, -f64::MAX, f64::MAX, 1.0, -1.0, f64::MIN_POSITIVE];
    for (_, diagnostic) in DIAGNOSTICS {
        diagnostic(&[&huge, &huge]);
    }
    assert!(ess_mean(&[&huge, &huge]).is_nan());
    assert!(mcse_mean(&[&huge, &huge]).is_nan());
    ebfmi(&huge);
}

#[test]
fn stuck_chains_have_infinite_rhat() {
    // 0.1 is no binary fraction: a mean off by one bit would make a spurious finite value.
    assert_eq!(rhat(&[&[0.1; 30], &[0.3; 30]]), f64::INFINITY);
    assert!(rhat(&[&[0.1; 30], &[0.1; 30]]).is_nan());
    assert_eq!(ess_bulk(&[&[0.1; 30], &[0.1; 30]]), 60.0);
    assert_eq!(mcse_mean(&[&[0.1; 30], &[0.1; 30]]), 0.0);
}
