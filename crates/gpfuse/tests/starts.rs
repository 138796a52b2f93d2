//! Starting points made from the data.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::case::{Case, On, Recipe, normals, rows_of};
use gpfuse::basis::frequencies::Scheme;
use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::fit::{DensityChoice, FitSettings, fit};
use gpfuse::infer::{Density, Settings, Start};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Invariant, Method, Model, Observed, Posterior, Priors, Starter};

const LEARNED: [Method; 3] = [Method::Het, Method::Mogpe, Method::Pogpe];

/// Every start of a posterior has a finite density, and no two are alike.
fn finite_and_different(what: &str, posterior: &Posterior) {
    let (starter, mut normal) = (Starter::new(posterior).unwrap(), normals(5));
    let (mut density, mut grad) = (posterior.clone(), vec![0.0; posterior.model().dim()]);
    let starts: Vec<Vec<f64>> = (0..4).map(|_| starter.draw(&mut normal)).collect();
    for (i, q) in starts.iter().enumerate() {
        assert!(density.logp(q, &mut grad).is_ok(), "{what}: start {i}");
        assert!(!starts[..i].contains(q), "{what}: start {i} is not new");
    }
}

#[test]
fn starts_are_finite_and_different_whatever_the_model_and_the_rows() {
    for method in [Method::Het, Method::Mogpe, Method::Pogpe, Method::Bhs, Method::Pbhs] {
        for basis in [On::Rff, On::Hilbert, On::Eigen] {
            for (inputs, experts, rows) in [(1, 3, 30), (1, 2, 1), (1, 5, 3), (2, 3, 70), (3, 2, 9)]
            {
                let recipe = Recipe { basis, inputs, experts, rows, ..Recipe::small(method, 8) };
                let normalised = method == Method::Pogpe && rows == 70;
                let case = Case::new(Recipe { normalised, ..recipe });
                let what = format!("{method} {basis:?} {inputs} {experts} {rows}");
                finite_and_different(&what, &case.posterior());
            }
        }
        if method != Method::Bhs {
            let one = Case::new(Recipe { experts: 1, rows: 20, ..Recipe::small(method, 8) });
            finite_and_different(&format!("{method} of one expert"), &one.posterior());
        }
        let many = Recipe { inputs: 20, rows: 40, size: 30, ..Recipe::small(method, 9) };
        finite_and_different(&format!("{method} of 20 inputs"), &Case::new(many).posterior());
    }
}

#[test]
fn odd_rows_have_starts_too() {
    let n = 40;
    let line: Vec<f64> = (0..n).map(|i| 0.1 * f64::from(i)).collect();
    let flat = vec![0.7; line.len()];
    let huge: Vec<f64> = line.iter().map(|x| 1e8 * x).collect();
    let tiny: Vec<f64> = line.iter().map(|x| 1e-12 * x).collect();
    for method in LEARNED {
        let cases =
            [(&line, &flat), (&flat, &line), (&flat, &flat), (&line, &tiny), (&line, &huge)];
        for (i, (x, y)) in cases.into_iter().enumerate() {
            let case = Case::new(Recipe::small(method, 8));
            let data = Arc::new(Observed::new(x, 1, y).unwrap());
            let posterior = Posterior::new(case.model.clone(), data).unwrap();
            finite_and_different(&format!("{method}, rows {i}"), &posterior);
        }
    }
}

/// Bases that resolve a sine on (0, 6).
fn bases() -> [Basis; 2] {
    let hilbert = Hilbert::new(Kernel::Rbf, vec![3.0], vec![6.0], vec![30]).unwrap();
    let rff = Rff::draw(Kernel::Rbf, Scheme::Iid, 40, 1, 2).unwrap();
    [Basis::Hilbert(hilbert), Basis::Rff(rff)]
}

fn posterior(method: Method, experts: usize, basis: Basis, x: &[f64], y: &[f64]) -> Posterior {
    let model = Model::new(method, experts, basis, Priors::default()).unwrap();
    Posterior::new(Arc::new(model), Arc::new(Observed::new(x, 1, y).unwrap())).unwrap()
}

/// Without noise the fused mean of a start is near the function, whose own root mean square is 0.7.
/// Of 400 starts of each method none was further.
#[test]
fn the_means_fit_a_smooth_function() {
    let x: Vec<f64> = (0..150).map(|i| 0.04 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    for (method, bound) in [(Method::Het, 0.05), (Method::Mogpe, 0.3), (Method::Pogpe, 0.05)] {
        for basis in bases() {
            let mut posterior = posterior(method, 3, basis, &x, &y);
            let (starter, mut normal) = (Starter::new(&posterior).unwrap(), normals(6));
            for start in 0..4 {
                let q = starter.draw(&mut normal);
                let mut sum = 0.0;
                posterior.invariants(&q, |kind, row, value| {
                    if kind == Invariant::FusedMean {
                        sum += (value - y[row]).powi(2);
                    }
                });
                let error = (sum / y.len() as f64).sqrt();
                assert!(error < bound, "{method}, start {start}: {error}");
            }
        }
    }
}

/// Two bands of rows, the upper a shifted copy of the lower: of twenty starts of a mixture of two
/// at least one tells them apart, with a likelihood near that of the law the rows come from; one
/// normal law about a sine is 1.3 below it. With ten starts, 1 of 80 runs with other seeds failed.
#[test]
fn a_mixture_finds_two_bands() {
    let mut normal = normals(12);
    let x: Vec<f64> = (0..200).map(|i| 0.03 * f64::from(i)).collect();
    let band = |i: usize| f64::from(u8::from(i.is_multiple_of(2)));
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| x.sin() + 1.5 * band(i) + 0.1 * normal()).collect();
    // Entropy of the band and of the noise.
    let truth = -std::f64::consts::LN_2 - 0.1_f64.ln() - 0.5 - 0.9189;
    for basis in bases() {
        let mut posterior = posterior(Method::Mogpe, 2, basis, &x, &y);
        let starter = Starter::new(&posterior).unwrap();
        let mut pointwise = vec![0.0; y.len()];
        let mut best = f64::MIN;
        for _ in 0..20 {
            posterior.pointwise(&starter.draw(&mut normal), &mut pointwise);
            best = best.max(pointwise.iter().sum::<f64>() / y.len() as f64);
        }
        assert!(best > truth - 0.5, "{best} instead of {truth}");
    }
}

#[test]
fn given_experts_and_eigenfunctions_start_at_prior_draws() {
    let given = Case::new(Recipe::small(Method::Bhs, 4));
    let eigen = Case::new(Recipe { basis: On::Eigen, ..Recipe::small(Method::Mogpe, 4) });
    for case in [given, eigen] {
        let starter = Starter::new(&case.posterior()).unwrap();
        assert_eq!(starter.draw(&mut normals(3)), case.model.prior_draw(normals(3)));
    }
}

#[test]
fn a_fit_from_the_data_does_not_depend_on_threads() {
    let mut normal = normals(71);
    let x: Vec<f64> = (0..40).map(|i| 0.1 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin() + 0.1 * x * normal()).collect();
    let (plain, collapsed) = (DensityChoice::Plain, DensityChoice::Collapsed);
    for (method, density) in [(Method::Mogpe, plain), (Method::Pogpe, collapsed)] {
        let bits = |threads: usize, seed: u64, start: Start| {
            let (warmup, draws, candidates, start_steps) = (60, 10, 2, 20);
            let sampler = Settings {
                warmup: Some(warmup),
                draws: Some(draws),
                candidates,
                start_steps,
                start,
                threads,
                seed,
                ..Settings::default()
            };
            let settings = FitSettings {
                method,
                experts: 2,
                size: Some(8),
                density,
                sampler,
                ..FitSettings::default()
            };
            let fitted = fit(&rows_of(&x, &y), &settings).unwrap();
            fitted.draws.iter().flatten().map(|v| v.to_bits()).collect::<Vec<u64>>()
        };
        let one = bits(1, 0, Start::Data);
        assert_eq!(bits(2, 0, Start::Data), one);
        assert_eq!(bits(7, 0, Start::Data), one);
        assert_ne!(bits(2, 1, Start::Data), one);
        assert_ne!(bits(2, 0, Start::Pilot), one);
    }
}
