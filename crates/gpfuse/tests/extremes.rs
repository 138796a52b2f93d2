//! Far outside of what data look like: a finite density with a finite gradient, or an honest
//! refusal; never NaN, never a panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::case::normals;
use common::tolerance;
use gpfuse::basis::eigen::{Parts, Pilot};
use gpfuse::basis::{Basis, Eigen, Hilbert, Rff};
use gpfuse::infer::{Density, DensityError};
use gpfuse::kernel::Kernel;
use gpfuse::math::simd::Level;
use gpfuse::model::{Bases, Kind, Method, Model, Observed, Posterior, Priors, Role};
use gpfuse::rows::Rows;

/// One frequency, one function, or a constant and one eigenfunction with two landmarks: at x = 0 each GP
/// is its first theta (times one) if [`unit`] prepared the point.
fn bases() -> [Bases; 4] {
    let rff = Rff::new(Kernel::Rbf, vec![0.8], 1).unwrap();
    let hilbert = Hilbert::new(Kernel::Rbf, vec![0.0], vec![2.0], vec![1]).unwrap();
    let pilot = Pilot { kernel: Kernel::Rbf, var: 1.0, ell: vec![0.9] };
    let (landmarks, projection) = (vec![0.3, -0.5], vec![0.8, 0.1]);
    let eigen =
        Eigen::from_parts(Parts { pilot, level: 0.0, landmarks, projection, centre: vec![0.2] });
    let eigen = Basis::Eigen(eigen.unwrap());
    let shared = Bases { common: Some(eigen.clone()), others: eigen.clone() };
    [Basis::Rff(rff).into(), Basis::Hilbert(hilbert).into(), eigen.into(), shared]
}

/// A model without data.
fn model(method: Method, experts: usize, bases: &Bases, normalised: bool) -> Arc<Model> {
    let model = Model::new(method, experts, bases.clone(), Priors::default()).unwrap();
    Arc::new(if normalised { model.normalised() } else { model })
}

/// A point with `value(role, k)` for the function value of every GP at x = 0.
fn unit(model: &Model, value: impl Fn(Role, usize) -> f64) -> Vec<f64> {
    let mut q = vec![0.0; model.dim()];
    let height = match model.basis() {
        Basis::Rff(_) => 1.0,
        // sqrt(S(w)) phi(0) for var = ell = 1, L = 2: w = pi / 4 and phi(0) = 1 / sqrt(2).
        Basis::Hilbert(_) => {
            let w = std::f64::consts::FRAC_PI_4;
            ((2.0 * std::f64::consts::PI).sqrt() * (-0.5 * w * w).exp() / 2.0).sqrt()
        }
        // The constant.
        Basis::Eigen(_) => 1.0,
    };
    for part in model.layout().parts.iter().filter(|p| p.kind == Kind::Theta) {
        let Some(role) = part.role else { continue };
        for k in 0..part.count {
            q[part.offset + k * part.width] = value(role, k) / height;
        }
    }
    q
}

/// The density on every instruction set: finite with a finite gradient, or refused as not
/// finite; the same verdict on all. The log density where there is one.
fn verdict(what: &str, model: &Arc<Model>, data: Observed, q: &[f64]) -> Option<f64> {
    let data = Arc::new(data);
    let mut first = None;
    for level in Level::available() {
        let posterior = Posterior::new(model.clone(), data.clone()).unwrap();
        let mut posterior = posterior.at_level(level);
        let mut grad = vec![f64::NAN; q.len()];
        let found = match posterior.logp(q, &mut grad) {
            Ok(logp) => {
                assert!(logp.is_finite(), "{what}, {}: log density {logp}", level.name());
                let bad = grad.iter().position(|g| !g.is_finite());
                assert_eq!(bad, None, "{what}, {}: {grad:?}", level.name());
                Some(logp)
            }
            Err(DensityError::NotFinite { .. }) => None,
            Err(e) => panic!("{what}, {}: {e}", level.name()),
        };
        match first {
            None => first = Some(found),
            Some(None) => assert_eq!(found, None, "{what}, {}", level.name()),
            Some(Some(logp)) => {
                let found = found.unwrap_or(f64::NAN);
                common::close(&format!("{what}, {}", level.name()), found, logp, tolerance::LAW);
            }
        }
    }
    first.unwrap()
}

/// The same, where the numbers are such that the answer must be finite.
fn finite(what: &str, model: &Arc<Model>, data: Observed, q: &[f64]) -> f64 {
    verdict(what, model, data, q).unwrap_or_else(|| panic!("{what}: not finite"))
}

/// One row at x = 0 with K given experts at mean 0.
fn row(y: f64, sd: &[f64]) -> Observed {
    let mean: Vec<Vec<f64>> = sd.iter().map(|_| vec![0.0]).collect();
    let sd: Vec<Vec<f64>> = sd.iter().map(|s| vec![*s]).collect();
    Observed::new(&[0.0], 1, &[y]).unwrap().with_given(&mean, &sd).unwrap()
}

const TARGETS: [f64; 7] = [0.0, 1.0, -1e3, 1e5, -1e6, 1e7, -1e8];

#[test]
fn given_experts_of_any_size_are_finite() {
    let (tiny, huge) = ((-300.0_f64).exp(), 300.0_f64.exp());
    let cases: [&[f64]; 8] = [
        &[tiny],
        &[huge],
        &[1.0],
        &[tiny, huge],
        &[huge, tiny],
        &[tiny, tiny, tiny],
        &[huge, 1.0, huge],
        &[tiny, 1.0, huge],
    ];
    for basis in bases() {
        for sd in cases {
            for (method, normalised) in
                [(Method::Bhs, false), (Method::Pbhs, false), (Method::Pbhs, true)]
            {
                let model = model(method, sd.len(), &basis, normalised);
                for gate in [0.0, -800.0, 800.0] {
                    // The first expert's gate, so that weights underflow one way or the other.
                    let value = |k: usize| if k == 0 { gate } else { 0.0 };
                    let q = unit(&model, |_, k| value(k));
                    for y in TARGETS {
                        let what = format!("{method} sd {sd:?} gate {gate} y {y}");
                        // Where tau y^2 is beyond the largest number, so is the log density,
                        // and only no NaN is asked.
                        let log_tau = |(k, sd): (usize, &f64)| value(k) - 2.0 * sd.ln();
                        let most = sd.iter().enumerate().map(log_tau).fold(f64::MIN, f64::max);
                        let free = method == Method::Pbhs && !normalised;
                        if free && most + 2.0 * y.abs().ln() > 700.0 {
                            verdict(&what, &model, row(y, sd), &q);
                        } else {
                            finite(&what, &model, row(y, sd), &q);
                        }
                    }
                }
            }
        }
    }
}

/// The values, not only that there are some: one given expert has a closed form.
#[test]
fn a_far_tail_has_its_own_value() {
    for basis in bases() {
        let model = model(Method::Bhs, 1, &basis, false);
        for log_sd in [-300.0_f64, 0.0, 300.0] {
            for y in TARGETS {
                let z = y / log_sd.exp();
                let expected = -0.5 * z * z - log_sd - 0.5 * (2.0 * std::f64::consts::PI).ln();
                let found = finite("one expert", &model, row(y, &[log_sd.exp()]), &[]);
                common::close(&format!("log sd {log_sd}, y {y}"), found, expected, tolerance::LAW);
            }
        }
    }
}

/// All weights of a product at once: its precision is their common factor.
#[test]
fn weights_that_all_underflow_leave_a_wide_density() {
    for basis in bases() {
        let model = model(Method::Pbhs, 3, &basis, false);
        for gate in [-300.0, -800.0, -1200.0] {
            let q = unit(&model, |_, _| gate);
            for y in TARGETS {
                let found = finite("all gates low", &model, row(y, &[1.0, 1.0, 1.0]), &q);
                let still =
                    finite("no gates", &model, row(0.0, &[1.0; 3]), &unit(&model, |_, _| 0.0));
                let prior = |v: f64| -> f64 { q.iter().filter(|t| **t != 0.0).map(|_| v).sum() };
                let theta = q.iter().copied().find(|t| *t != 0.0).unwrap();
                // Against unit weights: log tau changes by the gate, the prior by theta; the
                // square of y is nothing at such a precision.
                let expected = still + 0.5 * gate - prior(0.5 * theta * theta);
                common::close(&format!("gate {gate}, y {y}"), found, expected, tolerance::LAW);
            }
        }
    }
}

#[test]
fn learned_experts_of_any_size_never_make_nan() {
    let mut refused = 0;
    for basis in bases() {
        for (method, normalised) in [
            (Method::Mogpe, false),
            (Method::Pogpe, false),
            (Method::Pogpe, true),
            (Method::Het, false),
        ] {
            for experts in [1, 2] {
                let model = model(method, experts, &basis, normalised);
                for log_sd in [-300.0, 300.0, -800.0, 800.0, -2000.0, 2000.0] {
                    for gate in [0.0, -800.0, 800.0] {
                        let q = unit(&model, |role, k| match (role, k) {
                            (Role::LogSd, 0) => log_sd,
                            (Role::Gate, 0) => gate,
                            _ => 0.0,
                        });
                        for y in TARGETS {
                            let what =
                                format!("{method} K {experts} log sd {log_sd} gate {gate} y {y}");
                            let data = Observed::new(&[0.0], 1, &[y]).unwrap();
                            // A standard deviation of exp(300) is ordinary arithmetic, and
                            // of exp(-300) too unless a weight of exp(800) multiplies it.
                            if log_sd.abs() <= 300.0 && (gate <= 0.0 || y == 0.0) {
                                finite(&what, &model, data, &q);
                            } else {
                                refused += usize::from(verdict(&what, &model, data, &q).is_none());
                            }
                        }
                    }
                }
            }
        }
    }
    // The other branch was taken too, or the test would say nothing about it.
    assert!(refused > 0);
}

#[test]
fn hyperparameters_far_out_never_make_nan() {
    let mut seed = 0;
    for basis in bases() {
        for method in Method::SAMPLED {
            let model = model(method, 2, &basis, false);
            for kind in [Kind::Var, Kind::Ell, Kind::Theta] {
                for value in [-1e4, -800.0, -40.0, 40.0, 350.0, 800.0, 1e4, 1e160] {
                    seed += 1;
                    let mut normal = normals(seed);
                    let mut q: Vec<f64> = (0..model.dim()).map(|_| normal()).collect();
                    for part in model.layout().parts.iter().filter(|p| p.kind == kind) {
                        q[part.offset..][..part.count * part.width].fill(value);
                    }
                    let mut data = Observed::new(&[0.0, 0.3, -1.1], 1, &[0.1, -2.0, 1e8]).unwrap();
                    if !model.learned() {
                        let (mean, sd) = (vec![vec![0.5; 3]; 2], vec![vec![0.1; 3]; 2]);
                        data = data.with_given(&mean, &sd).unwrap();
                    }
                    let what = format!("{method} {kind:?} = {value}");
                    let found = verdict(&what, &model, data, &q);
                    if value == -40.0 && kind == Kind::Var {
                        assert!(found.is_some(), "{what}: a tiny variance is an ordinary one");
                    }
                }
            }
        }
    }
}

/// Phases past the range of the fast sine fall back to the exact one; phases that overflow
/// are refused.
#[test]
fn huge_inputs_are_finite_until_phases_overflow() {
    let x = [1e5, -3e5, 1e9, -1e12, 1e12];
    for basis in bases() {
        for method in [Method::Mogpe, Method::Pogpe, Method::Het] {
            let model = model(method, 2, &basis, false);
            let mut normal = normals(5);
            let q: Vec<f64> = (0..model.dim()).map(|_| 0.5 * normal()).collect();
            let y = [1.0, -1.0, 2.0, 0.0, 1e8];
            let data = |x: &[f64]| Observed::new(x, 1, &y[..x.len()]).unwrap();
            finite(&format!("{method} at huge inputs"), &model, data(&x), &q);
            // One huge row among ordinary ones: the whole block falls back.
            finite(&format!("{method} mixed"), &model, data(&[0.1, 1e12, 0.2]), &q);
            let mut q = q;
            for part in model.layout().parts.iter().filter(|p| p.kind == Kind::Ell) {
                q[part.offset..][..part.count].fill(-700.0);
            }
            // exp(700) * 1e12 is beyond the largest number.
            let found = verdict("overflow", &model, data(&[1e12, 0.0]), &q);
            if matches!(basis.others, Basis::Rff(_)) {
                assert_eq!(found, None, "{method}: a phase of infinity has no sine");
            }
        }
    }
}

/// The fall-back gives the same function as the fast sine: scaled inputs and frequencies.
#[test]
fn phases_on_both_sides_of_the_fast_range_agree() {
    // Two rows: with the second one far out, the first one's block falls back.
    let both = |x2: f64, omega: f64| {
        let basis = Basis::Rff(Rff::new(Kernel::Rbf, vec![omega], 1).unwrap()).into();
        let model = model(Method::Het, 1, &basis, false);
        let mut normal = normals(8);
        let q: Vec<f64> = (0..model.dim()).map(|_| 0.3 * normal()).collect();
        let data = Arc::new(Observed::new(&[0.7, x2], 1, &[0.4, 0.0]).unwrap());
        let mut out = [0.0; 2];
        Posterior::new(model, data).unwrap().pointwise(&q, &mut out);
        out[0]
    };
    common::close("row 1", both(1e8, 1.3), both(1.0, 1.3), tolerance::LAW);
}

/// A day in nanoseconds since 1970 has no digit of an angle left; in seconds it has.
#[test]
fn inputs_without_digits_are_refused_by_random_features() {
    let rff = Basis::Rff(Rff::new(Kernel::Rbf, vec![1.0, 2.0], 2).unwrap());
    let check = |x: f64| rff.check(&Rows::new(&[0.0, 1.0, 0.5, x], 2).unwrap());
    assert!(check(1.7e9).is_ok());
    let error = check(-1.7e18).unwrap_err().to_string();
    assert!(error.contains("row 2, input 2 is -1.7e18"), "{error}");
}
