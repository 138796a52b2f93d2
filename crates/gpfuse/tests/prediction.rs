//! Predictions do not depend on how the work is cut: threads, tables, blocks.
#![allow(clippy::unwrap_used)]

mod common;

use common::case::{Case, On, Recipe, normals};
use common::{close, tolerance};
use gpfuse::infer::{ChainDraws, Draws, Stat};
use gpfuse::model::{Invariant, Method};
use gpfuse::predict::{ExpertSummary, Mixture, Predictive, Predictor};
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

/// A predictor with more draws than are turned at once, and inputs for some blocks of rows.
fn predictor(method: Method, basis: On, draws: usize) -> (Predictor, Vec<f64>) {
    let case = Case::new(Recipe { basis, rows: 150, ..Recipe::small(method, 7) });
    let mut normal = normals(11);
    let values = (0..draws * case.model.dim()).map(|_| 0.5 * normal()).collect();
    let chain = ChainDraws { values, stats: vec![Stat::default(); draws] };
    let draws = Draws::new(case.model.dim(), draws, vec![chain]).unwrap();
    let target = Affine { shift: 3.0, scale: 0.7 };
    (Predictor::new(case.model.clone(), &draws, target), case.textbook.x.concat())
}

/// What is written of each row, to the last bit.
fn predict(predictor: &Predictor, rows: &Rows, threads: usize) -> Vec<[u64; 6]> {
    let blocks = predictor.fused(rows, None, threads, |block| {
        let row = |r: usize| {
            let m = block.row(r).unwrap();
            let q = m.quantiles(&[0.9, 0.1]);
            let all = [m.mean(), m.variance(), q[0], q[1], m.log_density(3.0), m.crps(3.0)];
            all.map(f64::to_bits)
        };
        (0..block.len()).map(row).collect::<Vec<_>>()
    });
    blocks.unwrap().concat()
}

fn experts(predictor: &Predictor, rows: &Rows, threads: usize) -> Vec<ExpertSummary> {
    predictor.experts(rows, None, 0.8, threads).unwrap()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for method in [Method::Mogpe, Method::Pogpe, Method::Het] {
        for (basis, draws) in [(On::Rff, 1), (On::Rff, 8), (On::Rff, 300), (On::Eigen, 300)] {
            let (predictor, x) = predictor(method, basis, draws);
            let rows = Rows::new(&x, 1).unwrap();
            let (one, weights) = (predict(&predictor, &rows, 1), experts(&predictor, &rows, 1));
            assert_eq!(one.len(), x.len());
            for threads in [2, 3, 16] {
                assert_eq!(predict(&predictor, &rows, threads), one);
                assert_eq!(experts(&predictor, &rows, threads), weights);
            }
        }
    }
}

/// A row has the prediction that it has alone, wherever it stands.
#[test]
fn rows_do_not_know_of_each_other() {
    for (method, basis) in [
        (Method::Mogpe, On::Rff),
        (Method::Pogpe, On::Rff),
        (Method::Mogpe, On::Eigen),
        (Method::Pogpe, On::Eigen),
        (Method::Het, On::Eigen),
    ] {
        let (predictor, x) = predictor(method, basis, 20);
        let all = predict(&predictor, &Rows::new(&x, 1).unwrap(), 1);
        let weights = experts(&predictor, &Rows::new(&x, 1).unwrap(), 1);
        let each = predictor.model().experts();
        for row in [0, 5, 63, 64, 149] {
            let alone = Rows::new(&x[row..=row], 1).unwrap();
            assert_eq!(predict(&predictor, &alone, 1), all[row..=row]);
            let expected = &weights[row * each..(row + 1) * each];
            assert_eq!(experts(&predictor, &alone, 1), expected);
        }
    }
}

/// At the training rows the density of one draw has the mean and the height that the posterior has there.
#[test]
fn predictions_at_training_rows_are_what_the_posterior_says() {
    for method in Method::SAMPLED {
        for (basis, inputs) in [(On::Rff, 2), (On::Hilbert, 1), (On::Eigen, 1), (On::Eigen, 5)] {
            let case = Case::new(Recipe { basis, inputs, rows: 150, ..Recipe::small(method, 12) });
            let (mut means, mut heights) = (vec![0.0; 150], vec![0.0; 150]);
            case.posterior().invariants(&case.q, |kind, row, value| match kind {
                Invariant::FusedMean => means[row] = value,
                Invariant::LogLikelihood => heights[row] = value,
                _ => (),
            });
            let point = gpfuse::infer::map::Point { q: case.q.clone(), logp: 0.0 };
            let same = Affine { shift: 0.0, scale: 1.0 };
            let predictor = Predictor::new(case.model.clone(), &Draws::single(point), same);
            let given = case.given();
            let blocks = predictor.fused(&case.data.rows, given.as_ref(), 1, |block| {
                for r in 0..block.len() {
                    let (row, found) = (block.first + r, block.row(r).unwrap());
                    let y = case.textbook.y[row];
                    close("mean", found.mean(), means[row], tolerance::LAW);
                    close("density", found.log_density(y), heights[row], tolerance::LAW);
                }
            });
            assert_eq!(blocks.unwrap().len(), 3);
        }
    }
}

/// Of given experts in a linear pool only the weights vary: K components per batch of draws
/// say what K components per draw say, and their number does not grow with the draws.
#[test]
fn averaged_weights_are_the_full_mixture() {
    let case = Case::new(Recipe { rows: 70, ..Recipe::small(Method::Bhs, 3) });
    let (dim, experts, given) = (case.model.dim(), case.model.experts(), case.given());
    let rows = &case.data.rows;
    for per_chain in [1, 3, 23, 200] {
        let mut normal = normals(per_chain as u64);
        let chain = |_| ChainDraws {
            values: (0..per_chain * dim).map(|_| normal()).collect(),
            stats: vec![Stat::default(); per_chain],
        };
        let draws = Draws::new(dim, per_chain, (0..2).map(chain).collect()).unwrap();
        let target = Affine { shift: -2.0, scale: 1.3 };
        // Every draw alone.
        let each: Vec<Vec<ExpertSummary>> = draws
            .iter()
            .map(|q| {
                let point = gpfuse::infer::map::Point { q: q.to_vec(), logp: 0.0 };
                let one = Predictor::new(case.model.clone(), &Draws::single(point), target);
                one.experts(rows, given.as_ref(), 0.5, 1).unwrap()
            })
            .collect();
        let predictor = Predictor::new(case.model.clone(), &draws, target);
        let blocks = predictor.at(rows, given.as_ref()).blocks(1, |block| {
            for r in 0..block.len() {
                let row = (block.first + r) * experts;
                let all = || each.iter().flat_map(|draw| &draw[row..row + experts]);
                let full = Mixture::new(
                    all().map(|e| e.weight.mean.ln()).collect::<Vec<f64>>(),
                    all().map(|e| e.mean.unwrap()).collect::<Vec<f64>>(),
                    all().map(|e| e.sd.unwrap()).collect::<Vec<f64>>(),
                );
                let (full, few) = (full.unwrap(), block.row(r).unwrap());
                assert_eq!(few.len(), 2 * per_chain.min(5) * experts);
                close("mean", few.mean(), full.mean(), tolerance::AVERAGE);
                close("variance", few.variance(), full.variance(), tolerance::AVERAGE);
                for y in [-40.0, -2.0, 0.3, 7.0] {
                    close("density", few.log_density(y), full.log_density(y), tolerance::AVERAGE);
                }
                for p in [0.01, 0.5, 0.9] {
                    close("quantile", few.quantile(p), full.quantile(p), tolerance::AVERAGE);
                }
            }
        });
        assert_eq!(blocks.unwrap().len(), 2);
    }
}
