//! Predictions do not depend on how the work is cut: threads, tables, blocks.
#![allow(clippy::unwrap_used)]

mod common;

use common::case::{Case, Recipe, normals};
use gpfuse::infer::{ChainDraws, Draws, Stat};
use gpfuse::model::Method;
use gpfuse::predict::{ExpertSummary, Predictor};
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

/// A predictor with more draws than are turned at once, and inputs for some blocks of rows.
fn predictor(method: Method, draws: usize) -> (Predictor, Vec<f64>) {
    let case = Case::new(Recipe { rows: 150, ..Recipe::small(method, 7) });
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
        for draws in [1, 8, 300] {
            let (predictor, x) = predictor(method, draws);
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
    for method in [Method::Mogpe, Method::Pogpe] {
        let (predictor, x) = predictor(method, 20);
        let all = predict(&predictor, &Rows::new(&x, 1).unwrap(), 1);
        let weights = experts(&predictor, &Rows::new(&x, 1).unwrap(), 1);
        let each = predictor.model().experts();
        for row in [0, 5, 63, 64, 149] {
            let alone = Rows::new(&x[row..=row], 1).unwrap();
            assert_eq!(predict(&predictor, &alone, 1), all[row..=row]);
            let own = &weights[row * each..(row + 1) * each];
            assert_eq!(experts(&predictor, &alone, 1), own);
        }
    }
}
