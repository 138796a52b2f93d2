//! Predictions with the coefficients of the means integrated out: against dense algebra, against
//! draws of the coefficients, and whatever way the work is cut.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "blackwell/fits.rs"]
mod fits;

use std::ops::Range;

use common::case::{Case, On, Recipe, normals};
use common::dual::constants;
use common::{close, tolerance};
use gpfuse::infer::{ChainDraws, Draws, Stat};
use gpfuse::math::simd::Level;
use gpfuse::model::{Collapsed, Kind, Method, Model, Posterior, Role};
use gpfuse::predict::{Conditional, Predictive, Predictor};
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

const TARGET: Affine = Affine { shift: -1.5, scale: 2.5 };

/// Where the coefficients of the means are.
fn hole(model: &Model) -> Range<usize> {
    let parts = &model.layout().parts;
    let part = parts.iter().find(|p| p.role == Some(Role::Mu) && p.kind == Kind::Theta).unwrap();
    part.offset..part.offset + part.count * part.width
}

/// Chains of equal length.
fn draws(chains: &[Vec<Vec<f64>>]) -> Draws {
    let per_chain = chains[0].len();
    let chain = |all: &Vec<Vec<f64>>| ChainDraws {
        values: all.concat(),
        stats: vec![Stat::default(); per_chain],
    };
    Draws::new(chains[0][0].len(), per_chain, chains.iter().map(chain).collect()).unwrap()
}

fn conditional(posterior: Posterior, draws: &Draws) -> Conditional {
    Conditional::new(posterior, draws, TARGET).unwrap()
}

/// Mean, variance and log density at 0.3 of each row.
fn moments(predictive: &impl Predictive, threads: usize) -> Vec<[f64; 3]> {
    let blocks = predictive.blocks(threads, |block| {
        let row = |r: usize| {
            let m = block.row(r).unwrap();
            [m.mean(), m.variance(), m.log_density(0.3)]
        };
        (0..block.len()).map(row).collect::<Vec<_>>()
    });
    blocks.unwrap().concat()
}

/// The rows of the textbook's regression at the inputs `x`, without their precisions, and the
/// variances of the rows.
fn regression(recipe: Recipe, q: &[f64], x: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut case = Case::new(recipe);
    (case.textbook.x, case.textbook.y) = (x.to_vec(), vec![0.0; x.len()]);
    let dense = case.textbook.dense(&constants(q), hole(&case.model));
    let rows = dense.f.iter().zip(&dense.log_tau);
    let bare = rows.map(|(f, t)| f.iter().map(|v| v.value * (-0.5 * t.value).exp()).collect());
    (bare.collect(), dense.log_tau.iter().map(|t| (-t.value).exp()).collect())
}

/// Mean and variance at the inputs `new` as a GP has them, from the covariance of all targets:
/// `B B' + T^-1` with B the bare rows and T the precisions (Rasmussen and Williams 2006, equations
/// 2.25 and 2.26).
fn textbook(recipe: Recipe, case: &Case, new: &[Vec<f64>]) -> Vec<[f64; 2]> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (known, noise) = regression(recipe, &case.q, &case.textbook.x);
    let mut factor: Vec<Vec<f64>> = Vec::new();
    // L^-1 v, as far as L is there.
    let solve = |factor: &[Vec<f64>], v: &dyn Fn(usize) -> f64| {
        let mut out: Vec<f64> = Vec::new();
        for (i, row) in factor.iter().enumerate() {
            out.push((v(i) - dot(row, &out)) / row[i]);
        }
        out
    };
    for i in 0..known.len() {
        let mut row = solve(&factor, &|j| dot(&known[i], &known[j]));
        row.push((dot(&known[i], &known[i]) + noise[i] - dot(&row, &row)).sqrt());
        factor.push(row);
    }
    let y = solve(&factor, &|i| case.textbook.y[i]);
    let (bare, noise) = regression(recipe, &case.q, new);
    let one = |(f, noise): (&Vec<f64>, f64)| {
        let part = solve(&factor, &|i| dot(&known[i], f));
        let variance = noise + dot(f, f) - dot(&part, &part);
        [TARGET.restore(dot(&part, &y)), TARGET.scale.powi(2) * variance]
    };
    bare.iter().zip(noise).map(one).collect()
}

/// One draw against dense algebra on every instruction set, at new rows and at the training rows,
/// with fewer features than rows and with more; and whatever coefficients the draw had.
#[test]
fn one_draw_agrees_with_dense_algebra() {
    let (mut wide, mut long, mut seed) = (0, 0, 8000);
    for (basis, inputs, size) in
        [(On::Rff, 1, 3), (On::Rff, 3, 2), (On::Hilbert, 1, 4), (On::Hilbert, 3, 1)]
    {
        for (method, experts, normalised) in [
            (Method::Pogpe, 1, false),
            (Method::Pogpe, 3, false),
            (Method::Pogpe, 3, true),
            (Method::Het, 1, false),
            (Method::Mogpe, 1, false),
        ] {
            for rows in [1, 3, 70] {
                seed += 1;
                let recipe = Recipe {
                    normalised,
                    basis,
                    inputs,
                    experts,
                    rows,
                    size,
                    ..Recipe::small(method, seed)
                };
                let case = Case::new(recipe);
                let hole = hole(&case.model);
                *(if hole.len() > rows { &mut wide } else { &mut long }) += 1;
                let mut normal = normals(seed + 500);
                let mut new = case.textbook.x.clone();
                new.extend((0..70).map(|_| (0..inputs).map(|_| 1.2 * normal()).collect()));
                let at = Rows::new(&new.concat(), inputs).unwrap();
                let expected = textbook(recipe, &case, &new);
                let mut other = case.q.clone();
                other[hole].iter_mut().for_each(|theta| *theta = 3.0 * normal());
                for level in Level::available() {
                    let posterior = case.posterior().at_level(level);
                    let [one, again] = [&case.q, &other].map(|q| {
                        let draws = draws(&[vec![q.clone()]]);
                        moments(&conditional(posterior.clone(), &draws).at(&at), 1)
                    });
                    assert_eq!(one, again);
                    assert_eq!(one.len(), expected.len());
                    for (found, [mean, variance]) in one.iter().zip(&expected) {
                        let what = format!("{recipe:?} {}", level.name());
                        close(&what, found[0], *mean, tolerance::SCORE);
                        close(&what, found[1], *variance, tolerance::SCORE);
                    }
                }
            }
        }
    }
    assert!(wide > 10 && long > 10, "{wide} {long}");
}

/// Precise rows leave little variance at themselves, and none of it is lost to rounding: with one
/// row of precision tau and many features, it is `v / (1 + tau v)` with v that of the prior.
#[test]
fn small_variances_keep_their_digits() {
    for seed in [8101, 8102] {
        let recipe = Recipe { rows: 1, size: 20, ..Recipe::small(Method::Het, seed) };
        let case = Case::new(recipe);
        let bank = case.model.layout().bank(Role::LogSd).unwrap();
        let features = bank.features;
        let mut q = case.q.clone();
        let theta = bank.offset + 2..bank.offset + 2 + features;
        let log_sd = |q: &[f64]| 0.5 * regression(recipe, q, &case.textbook.x).1[0].ln();
        let by = -16.0 / log_sd(&q);
        q[theta].iter_mut().for_each(|t| *t *= by);
        let (f, noise) = regression(recipe, &q, &case.textbook.x);
        let prior: f64 = f[0].iter().map(|v| v * v).sum();
        let variance = noise[0] + prior / (1.0 + prior / noise[0]);
        assert!(prior > 0.01 && variance < 1e-12, "{prior} {variance}");
        let at = Rows::new(&case.textbook.x.concat(), 1).unwrap();
        let found = moments(&conditional(case.posterior(), &draws(&[vec![q]])).at(&at), 1);
        close("variance", found[0][1] / TARGET.scale.powi(2) / variance, 1.0, 1e-9);
    }
}

/// The plain predictor, from many draws of the coefficients at one h, has the same mean and
/// variance within 5 standard errors. A mean is that far off by chance once in 1.7 million times
/// and a variance, of 4000 draws, once in a million; one of the 64 fails with a probability of
/// 5e-5.
#[test]
fn draws_of_the_coefficients_have_the_same_moments() {
    const DRAWS: usize = 4000;
    for (method, seed, rows) in [
        (Method::Pogpe, 8201, 30),
        (Method::Pogpe, 8202, 30),
        (Method::Pogpe, 8203, 4),
        (Method::Het, 8204, 4),
    ] {
        let case = Case::new(Recipe { rows, ..Recipe::small(method, seed) });
        let mut density = Collapsed::new(case.posterior()).unwrap();
        let (h, mut normal) = (density.shorten(&case.q), normals(seed));
        let many: Vec<Vec<f64>> =
            (0..DRAWS).map(|_| density.complete(&h, &mut normal).unwrap()).collect();
        let x: Vec<f64> = (0..8).map(|_| normal()).collect();
        let at = Rows::new(&x, 1).unwrap();
        let one = moments(&conditional(case.posterior(), &draws(&[many[..1].to_vec()])).at(&at), 1);
        let plain = |q: &[Vec<f64>]| {
            let draws = draws(&[q.to_vec()]);
            moments(&Predictor::new(case.model.clone(), &draws, TARGET).at(&at, None), 2)
        };
        let (noise, plain) = (plain(&many[..1]), plain(&many));
        for ((found, sum), noise) in one.iter().zip(&plain).zip(&noise) {
            let (variance, n) = (found[1] - noise[1], DRAWS as f64);
            let z = [
                (sum[0] - found[0]) / (variance / n).sqrt(),
                (sum[1] - noise[1] - variance) / (variance * (2.0 / n).sqrt()),
            ];
            assert!(variance > 0.0 && z.iter().all(|z| z.abs() < tolerance::Z), "{method}: {z:?}");
        }
    }
}

/// Different draws of one model, the coefficients of the means among them.
fn chains(case: &Case, chains: usize, each: usize) -> Vec<Vec<Vec<f64>>> {
    let mut normal = normals(8300);
    let mut draw = || (0..case.model.dim()).map(|_| 0.6 * normal()).collect();
    (0..chains).map(|_| (0..each).map(|_| draw()).collect()).collect()
}

/// Many draws are the average of each alone, with the weights of their chains.
#[test]
fn draws_are_averaged_with_the_weights_of_their_chains() {
    let case = Case::new(Recipe { rows: 20, ..Recipe::small(Method::Pogpe, 8301) });
    let all = chains(&case, 3, 15);
    let at = Rows::new(&[-0.7, 0.1, 0.9, 2.0], 1).unwrap();
    let alone: Vec<Vec<[f64; 3]>> = all
        .iter()
        .flatten()
        .map(|q| moments(&conditional(case.posterior(), &draws(&[vec![q.clone()]])).at(&at), 1))
        .collect();
    for weights in [[1.0, 1.0, 1.0], [0.2, 0.0, 0.8], [0.1, 0.3, 0.6]] {
        let draws = draws(&all).weighted(&weights).unwrap();
        let conditional = conditional(case.posterior(), &draws);
        let found = moments(&conditional.at(&at), 2);
        let total: f64 = weights.iter().sum();
        for (row, found) in found.iter().enumerate() {
            let mean = |f: &dyn Fn(&[f64; 3]) -> f64| -> f64 {
                let weight = |j: usize| weights[j / 15] / total / 15.0;
                alone.iter().enumerate().map(|(j, alone)| weight(j) * f(&alone[row])).sum()
            };
            let centre = mean(&|alone| alone[0]);
            let variance = mean(&|alone| alone[1] + (alone[0] - centre).powi(2));
            let density = mean(&|alone| alone[2].exp());
            let what = format!("{weights:?}, row {row}");
            close(&what, found[0], centre, tolerance::SCORE);
            close(&what, found[1], variance, tolerance::SCORE);
            close(&what, found[2].exp(), density, tolerance::SCORE);
        }
        let plain = Predictor::new(case.model.clone(), &draws, TARGET);
        assert_eq!(conditional.at(&at).batches(), plain.at(&at, None).batches());
    }
}

/// The same bits on any number of threads, and for rows together, in parts or alone, also where
/// they are more than are taken at once.
#[test]
fn the_cut_of_the_work_does_not_show() {
    for (method, seed, rows) in [(Method::Pogpe, 8401, 30), (Method::Pogpe, 8402, 5)] {
        let case = Case::new(Recipe { rows, ..Recipe::small(method, seed) });
        let conditional = conditional(case.posterior(), &draws(&chains(&case, 2, 3)));
        let x: Vec<f64> = (0..8300).map(|i| (0.37 * f64::from(i)).sin()).collect();
        let at = Rows::new(&x, 1).unwrap();
        let one = moments(&conditional.at(&at), 1);
        assert_eq!(one.len(), x.len());
        for threads in [2, 5] {
            assert_eq!(moments(&conditional.at(&at), threads), one);
        }
        for part in [0..1, 70..75, 64..200, 8180..8300] {
            let some = Rows::new(&x[part.clone()], 1).unwrap().numbered_from(part.start);
            let some = conditional.at(&some);
            assert_eq!(some.rows(), part);
            assert_eq!(moments(&some, 2), one[part]);
        }
    }
}

/// A draw without a law is named as the user counts, chains without weight included.
#[test]
fn a_draw_without_a_law_is_named() {
    for (seed, rows) in [(8501, 30), (8502, 4)] {
        let case = Case::new(Recipe { rows, ..Recipe::small(Method::Pogpe, seed) });
        let mut all = chains(&case, 3, 2);
        all[2][1][0] = 1e4;
        let draws = draws(&all).weighted(&[0.0, 0.5, 0.5]).unwrap();
        let conditional = conditional(case.posterior(), &draws);
        let at = Rows::new(&[0.0], 1).unwrap();
        let message = conditional.at(&at).blocks(2, |_| ()).unwrap_err().to_string();
        assert!(message.contains("chain 3, draw 2: the law"), "{message}");
    }
}

/// Models that are not Gaussian in the means, and draws and rows of other models.
#[test]
fn what_does_not_fit_is_refused() {
    let refused = |recipe: Recipe, part: &str| {
        let case = Case::new(recipe);
        let draws = draws(&[vec![case.q.clone()]]);
        let message = Conditional::new(case.posterior(), &draws, TARGET).unwrap_err().to_string();
        assert!(message.starts_with("setting `rao_blackwell`: it needs "), "{message}");
        assert!(message.contains(part), "{message}");
    };
    refused(Recipe::small(Method::Mogpe, 1), "pogpe, or a single expert");
    refused(Recipe::small(Method::Bhs, 1), "experts that are learned");
    refused(Recipe::small(Method::Pbhs, 1), "experts that are learned");
    let eigen = Recipe { basis: On::Eigen, ..Recipe::small(Method::Pogpe, 1) };
    refused(eigen, "the rff or hilbert basis");
    let case = Case::new(Recipe::small(Method::Pogpe, 1));
    let short = draws(&[vec![case.q[1..].to_vec()]]);
    assert!(Conditional::new(case.posterior(), &short, TARGET).is_err());
    let conditional = conditional(case.posterior(), &draws(&[vec![case.q.clone()]]));
    let wide = Rows::new(&[0.0, 1.0], 2).unwrap();
    let message = conditional.at(&wide).blocks(1, |_| ()).unwrap_err().to_string();
    assert_eq!(message, "inputs per row: expected 1, found 2");
}
