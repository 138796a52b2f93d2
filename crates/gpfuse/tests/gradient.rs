//! The log density and its hand-written gradient against dual numbers through a textbook
//! statement of the models.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::case::{Case, On, Recipe};
use common::dual::{constants, moving};
use common::{error, tolerance};
use gpfuse::basis::eigen::{Decomposition, Pilot};
use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::infer::Density;
use gpfuse::kernel::Kernel;
use gpfuse::math::simd::Level;
use gpfuse::model::{Bases, Method, Model, Observed, Posterior, Priors};

/// Compare value, gradient and pointwise values on every instruction set; the worst errors of
/// log density and gradient.
fn compare(recipe: Recipe) -> [f64; 2] {
    let case = Case::new(recipe);
    let (book, q) = (&case.textbook, &case.q);
    let still = constants(q);
    let logp = book.log_joint(&still).value;
    let slopes: Vec<f64> = (0..q.len()).map(|i| book.log_joint(&moving(q, i)).slope).collect();
    let rows = book.pointwise(&book.banks(&still));
    let mut worst = [0.0_f64; 2];
    for level in Level::available() {
        let mut posterior = case.posterior().at_level(level);
        // What was there before must not leak into the result.
        let mut grad = vec![f64::NAN; q.len()];
        let found = posterior.logp(q, &mut grad).unwrap();
        let at = level.name();
        let e = error(found, logp);
        assert!(e <= tolerance::LOGP, "{recipe:?} {at}: {found} not {logp}, error {e:e}");
        worst[0] = worst[0].max(e);
        for (i, (found, slope)) in grad.iter().zip(&slopes).enumerate() {
            let e = error(*found, *slope);
            assert!(
                e <= tolerance::GRADIENT,
                "{recipe:?} {at}: entry {i} is {found} not {slope}, error {e:e}"
            );
            worst[1] = worst[1].max(e);
        }
        let mut pointwise = vec![f64::NAN; rows.len()];
        posterior.pointwise(q, &mut pointwise);
        for (row, (found, book)) in pointwise.iter().zip(&rows).enumerate() {
            common::close(
                &format!("{recipe:?} {at}, row {row}"),
                *found,
                book.value,
                tolerance::LOGP,
            );
        }
    }
    worst
}

/// All kernels, bases, inputs and numbers of experts of one method. The number of rows goes
/// round with them: one row, less than a block, more than a block.
fn sweep(method: Method, normalised: bool) {
    sweep_form(method, normalised, false);
}

fn sweep_form(method: Method, normalised: bool, robust: bool) {
    let shapes = [
        (On::Rff, 1, 4),
        (On::Rff, 2, 3),
        (On::Rff, 5, 2),
        (On::Hilbert, 1, 6),
        (On::Hilbert, 2, 3),
        (On::Eigen, 1, 4),
        (On::Eigen, 3, 5),
        (On::Eigen, 8, 3),
    ];
    let mut seed =
        1000 * (1 + method as u64) + 500 * u64::from(normalised) + 250 * u64::from(robust);
    let mut worst = [0.0_f64; 2];
    for (j, kernel) in Kernel::ALL.into_iter().enumerate() {
        for (i, (basis, inputs, size)) in shapes.into_iter().enumerate() {
            let counts: &[usize] = if method == Method::Het { &[1] } else { &[1, 2, 5] };
            for (k, &experts) in counts.iter().enumerate() {
                seed += 1;
                let rows = [1, 7, 70][(i + j + k) % 3];
                let recipe = Recipe {
                    method,
                    normalised,
                    robust,
                    kernel,
                    basis,
                    inputs,
                    experts,
                    rows,
                    size,
                    seed,
                };
                let found = compare(recipe);
                worst = [worst[0].max(found[0]), worst[1].max(found[1])];
            }
        }
    }
    println!("{method}: worst errors {:.1e} (log density), {:.1e} (gradient)", worst[0], worst[1]);
}

#[test]
fn bhs_agrees() {
    sweep(Method::Bhs, false);
}

#[test]
fn pbhs_agrees() {
    sweep(Method::Pbhs, false);
}

#[test]
fn mogpe_agrees() {
    sweep(Method::Mogpe, false);
}

#[test]
fn pogpe_agrees() {
    sweep(Method::Pogpe, false);
}

#[test]
fn het_agrees() {
    sweep(Method::Het, false);
}

#[test]
fn normalised_pbhs_agrees() {
    sweep(Method::Pbhs, true);
}

#[test]
fn robust_pbhs_agrees() {
    sweep_form(Method::Pbhs, false, true);
    sweep_form(Method::Pbhs, true, true);
}

#[test]
fn normalised_pogpe_agrees() {
    sweep(Method::Pogpe, true);
}

/// One frequency, one function, one row: no loop runs twice.
#[test]
fn smallest_shapes_agree() {
    for (i, method) in Method::SAMPLED.into_iter().enumerate() {
        for basis in [On::Rff, On::Hilbert, On::Eigen] {
            let seed = 90 + 2 * i as u64;
            let small =
                Recipe { basis, size: 1, experts: 2, rows: 1, ..Recipe::small(method, seed) };
            compare(small);
        }
    }
}

/// More rows than a reverse pass on random features takes at once.
#[test]
fn eigenfunctions_agree_on_several_blocks() {
    for (i, method) in Method::SAMPLED.into_iter().enumerate() {
        let kernel = Kernel::ALL[i % Kernel::ALL.len()];
        let small = Recipe::small(method, 80 + i as u64);
        let (inputs, experts, rows, size) = (8, 3, 150, 6);
        compare(Recipe { basis: On::Eigen, kernel, inputs, experts, rows, size, ..small });
    }
}

/// Gates that are linear in the inputs, on one block and on several.
#[test]
fn linear_gates_agree() {
    for (i, method) in [Method::Bhs, Method::Pbhs].into_iter().enumerate() {
        for (inputs, rows) in [(1, 1), (3, 70), (8, 150)] {
            let small = Recipe::small(method, 70 + (10 * inputs + i) as u64);
            compare(Recipe { basis: On::Linear, inputs, experts: 3, rows, ..small });
        }
    }
}

/// Enough rows for several shares: their cut, and so every bit, is the same on any number of
/// threads.
#[test]
fn threads_do_not_change_a_bit_of_a_gradient() {
    let n = 12_345;
    let x: Vec<f64> = (0..n).map(|i| -3.0 + 6.0 * f64::from(i) / f64::from(n)).collect();
    let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin()).collect();
    let data = Arc::new(Observed::new(&x, 1, &y).unwrap());
    let rff = Rff::new(Kernel::Rbf, vec![0.3, -1.2, 2.0], 1).unwrap();
    let hilbert = Hilbert::new(Kernel::Rbf, vec![0.0], vec![4.0], vec![30]).unwrap();
    let eigen = |functions: usize, ell: f64| {
        let pilot = Pilot { kernel: Kernel::Matern32, var: 1.0, ell: vec![ell] };
        let landmarks: Vec<usize> = (0..x.len()).step_by(400).collect();
        let found = Decomposition::new(pilot, &data.rows, &landmarks).unwrap();
        Basis::Eigen(found.leading(functions, 0.0))
    };
    let shared = Bases { common: Some(eigen(20, 0.5)), others: eigen(5, 2.0) };
    for bases in [Basis::Rff(rff).into(), Basis::Hilbert(hilbert).into(), shared] {
        for method in [Method::Mogpe, Method::Pogpe] {
            let model = Model::new(method, 2, bases.clone(), Priors::default()).unwrap();
            let posterior = Posterior::new(Arc::new(model), data.clone()).unwrap();
            let q: Vec<f64> = (0..posterior.dim()).map(|i| (i as f64).sin()).collect();
            let bits = |threads: usize| {
                let mut posterior = posterior.clone().with_threads(threads);
                let mut grad = vec![f64::NAN; q.len()];
                let logp = posterior.logp(&q, &mut grad).unwrap();
                grad.iter().chain([&logp]).map(|v| v.to_bits()).collect::<Vec<u64>>()
            };
            let one = bits(1);
            for threads in [2, 3, 100] {
                assert_eq!(bits(threads), one, "{method}, {threads} threads");
            }
        }
    }
}
