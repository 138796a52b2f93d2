//! Simulation-based calibration of the density without the coefficients of the means.
//!
//! Parameters are drawn from the prior, targets from the model with them, and the posterior given
//! these targets is sampled. Then the rank of a quantity of the true parameters among those of
//! the draws is uniform (Talts, Betancourt, Simpson, Vehtari and Gelman 2018), if draws, density
//! and prior belong together. The quantities do not depend on the labels of the experts.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::case::normals;
use gpfuse::basis::{Basis, Hilbert};
use gpfuse::fit::{DensityChoice, FitSettings, draws};
use gpfuse::infer::{ChainDraws, Draws, Quiet, Settings, Start, Stat};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Data, Method, Model, Posterior, Priors};
use gpfuse::predict::{Predictive, Predictor};
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

const ROWS: usize = 12;
const SIMULATIONS: u64 = 100;
/// Kept draws are thinned to this many, nearly independent ones, so that a rank is one of 100.
const RANKED: usize = 99;
const THIN: usize = 5;
const BINS: usize = 10;
/// Chi-square with 9 degrees of freedom exceeds this with a probability of 1e-5.
const LIMIT: f64 = 39.34;

fn model(method: Method) -> Arc<Model> {
    let basis = Hilbert::new(Kernel::Rbf, vec![0.0], vec![2.0], vec![5]).unwrap();
    let experts = if method == Method::Het { 1 } else { 2 };
    Arc::new(Model::new(method, experts, Basis::Hilbert(basis), Priors::default()).unwrap())
}

fn inputs() -> Vec<f64> {
    (0..ROWS).map(|i| -1.0 + 2.0 * i as f64 / (ROWS - 1) as f64).collect()
}

/// Targets from the model with the parameters `q`, their noise multiplied by `noise`.
fn targets(model: &Arc<Model>, q: &[f64], noise: f64, normal: &mut dyn FnMut() -> f64) -> Vec<f64> {
    let one = ChainDraws { values: q.to_vec(), stats: vec![Stat::default()] };
    let draws = Draws::new(q.len(), 1, vec![one]).unwrap();
    let predictor = Predictor::new(model.clone(), &draws, Affine::IDENTITY);
    let rows = Rows::new(&inputs(), 1).unwrap();
    let moments = predictor.at(&rows, None).blocks(1, |block| {
        let row = |r: usize| block.row(r).map(|m| (m.mean(), m.variance().sqrt())).unwrap();
        (0..block.len()).map(row).collect::<Vec<_>>()
    });
    moments.unwrap().concat().into_iter().map(|(mean, sd)| mean + noise * sd * normal()).collect()
}

/// Log likelihood of all rows, and of one; the fused mean at two.
fn quantities(posterior: &mut Posterior, q: &[f64]) -> [f64; 4] {
    let mut out = [0.0; 4];
    posterior.invariants(q, |kind, row, value| match (kind, row) {
        (0, _) => {
            out[0] += value;
            if row == 4 {
                out[1] = value;
            }
        }
        (1, 2) => out[2] = value,
        (1, 9) => out[3] = value,
        _ => {}
    });
    out
}

/// Chi-square of the ranks of each quantity in equal bins.
fn chi_squares(method: Method, density: DensityChoice, simulations: u64, noise: f64) -> [f64; 4] {
    let model = model(method);
    let mut counts = [[0.0; BINS]; 4];
    for seed in 0..simulations {
        let mut normal = normals(1000 + seed);
        let truth = model.prior_draw(&mut normal);
        let y = targets(&model, &truth, noise, &mut normal);
        let data = Arc::new(Data::new(&inputs(), 1, &y).unwrap());
        let mut posterior = Posterior::new(model.clone(), data).unwrap();
        let sampler = Settings {
            chains: 1,
            warmup: 300,
            draws: RANKED * THIN,
            start: Start::Prior,
            target_accept: 0.9,
            threads: 1,
            seed,
            ..Settings::default()
        };
        let experts = model.experts();
        let settings = FitSettings { method, experts, density, sampler, ..FitSettings::default() };
        let found = draws(&posterior, &settings.check().unwrap(), &Quiet).unwrap();
        let own = quantities(&mut posterior, &truth);
        let mut below = [0; 4];
        for q in found.iter().skip(THIN - 1).step_by(THIN) {
            let drawn = quantities(&mut posterior, q);
            (0..4).for_each(|i| below[i] += usize::from(drawn[i] < own[i]));
        }
        (0..4).for_each(|i| counts[i][below[i] * BINS / (RANKED + 1)] += 1.0);
    }
    let expected = simulations as f64 / BINS as f64;
    counts.map(|bins| bins.iter().map(|count| (count - expected).powi(2) / expected).sum())
}

/// The ranks of the collapsed density are uniform. With independent draws one of the four fails
/// with a probability of 4e-5.
fn calibrated(method: Method) {
    let found = chi_squares(method, DensityChoice::Collapsed, SIMULATIONS, 1.0);
    println!("{method}: {found:.1?}");
    assert!(found.iter().all(|chi| *chi < LIMIT), "{method}: {found:?}");
}

#[test]
fn het_is_calibrated() {
    calibrated(Method::Het);
}

#[test]
fn pogpe_is_calibrated() {
    calibrated(Method::Pogpe);
}

/// Targets with a noise half as large again are not those of the model, and half of the
/// simulations is enough to show it.
#[test]
fn another_noise_is_noticed() {
    let found = chi_squares(Method::Het, DensityChoice::Collapsed, SIMULATIONS / 2, 1.5);
    println!("{found:.1?}");
    assert!(found[0] > LIMIT, "{found:?}");
}
