use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::bins::Bins;
use super::boost::Boost;
use super::*;
use crate::infer::Quiet;

fn folds(rows: usize) -> Vec<usize> {
    (0..rows).map(|row| row % 5).collect()
}

/// About Normal: twelve uniforms, less their mean.
fn normal(rng: &mut impl Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// Rows of two inputs; a step of the mean at 0.5 in the first, one of the sd at 0.3 in the second.
fn steps(rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x: Vec<f64> = (0..2 * rows).map(|_| rng.random::<f64>()).collect();
    let y = x.chunks_exact(2).map(|x| step_mean(x) + step_sd(x) * normal(&mut rng)).collect();
    (x, y)
}

fn step_mean(x: &[f64]) -> f64 {
    if x[0] > 0.5 { 1.0 } else { -1.0 }
}

fn step_sd(x: &[f64]) -> f64 {
    if x[1] > 0.3 { 0.5 } else { 0.1 }
}

fn fitted(x: &[f64], inputs: usize, y: &[f64]) -> CrossFitted {
    let c = cross_fit(x, inputs, y, &folds(y.len()), &Settings::default(), 7, &Quiet);
    assert_eq!(c.left_out.len(), y.len());
    c
}

fn sound(c: &CrossFitted, x: &[f64], rows: usize) {
    let (mean, sd) = c.trees.predict(x);
    assert_eq!((mean.len(), sd.len()), (rows, rows));
    let all = mean.into_iter().zip(sd).chain(c.left_out.iter().copied());
    for (mean, sd) in all {
        assert!(mean.is_finite() && sd.is_finite() && sd > 0.0, "mean {mean}, sd {sd}");
    }
}

/// The mean divergence of the prediction from the truth at new rows away from the steps:
/// `log(s / t) + (t^2 + (m - u)^2) / (2 s^2) - 1/2` for a truth `N(u, t^2)`. One Normal for all rows
/// has about 1.3.
fn divergence(seed: u64) -> f64 {
    let (x, y) = steps(1000, seed);
    let (mut new, _) = steps(500, seed + 10_000);
    let near = |x: &[f64]| (x[0] - 0.5).abs() < 0.02 || (x[1] - 0.3).abs() < 0.02;
    new = new.chunks_exact(2).filter(|x| !near(x)).flatten().copied().collect();
    let (mean, sd) = fitted(&x, 2, &y).trees.predict(&new);
    let rows = mean.iter().zip(&sd).zip(new.chunks_exact(2));
    let each = rows.map(|((m, s), x)| {
        let (u, t) = (step_mean(x), step_sd(x));
        (s / t).ln() + (t * t + (m - u).powi(2)) / (2.0 * s * s) - 0.5
    });
    each.sum::<f64>() / mean.len() as f64
}

/// Rows that are never left out train the trees of the others, whose targets these trees do not know.
#[test]
fn few_rows_may_be_left_out() {
    let (x, y) = steps(400, 3);
    let few: Vec<usize> = (0..400).map(|row| if row < 50 { 1 } else { NEVER }).collect();
    let means = |y: &[f64]| -> Vec<f64> {
        let settings = Settings { rounds: 20, ..Settings::default() };
        let c = cross_fit(&x, 2, y, &few, &settings, 7, &Quiet);
        sound(&c, &x, 400);
        assert_eq!(c.rounds, 20);
        c.left_out.iter().map(|said| said.0).collect()
    };
    let (mut out, mut known) = (y.clone(), y.clone());
    out[..50].iter_mut().for_each(|y| *y *= 1.01);
    known[50..].iter_mut().for_each(|y| *y *= 1.01);
    assert_eq!(means(&y).len(), 50);
    assert_eq!(means(&y), means(&out));
    assert_ne!(means(&y), means(&known));
}

/// The seeds are fixed, so that this fails never or always; of 200 other seeds none would fail.
#[test]
fn a_step_of_the_mean_and_one_of_the_sd_are_found() {
    for seed in 0..3 {
        let divergence = divergence(seed);
        assert!(divergence < 0.2, "seed {seed}: {divergence}");
    }
}

/// The study behind the number above.
#[test]
#[ignore = "a study"]
fn divergences_of_other_seeds() {
    let mut all: Vec<f64> = (100..300).map(divergence).collect();
    all.sort_by(f64::total_cmp);
    println!("median {}, most {:?}", all[100], &all[195..]);
}

#[test]
fn a_monotone_transformation_of_an_input_changes_nothing() {
    let (x, y) = steps(300, 1);
    let bent: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| if i % 2 == 0 { (5.0 * x).exp() } else { *x }).collect();
    let (a, b) = (fitted(&x, 2, &y), fitted(&bent, 2, &y));
    assert_eq!(a.left_out, b.left_out);
    assert_eq!(a.trees.predict(&x), b.trees.predict(&bent));
}

#[test]
fn a_seed_repeats_and_another_differs() {
    let (x, y) = steps(200, 2);
    let fit = |seed| cross_fit(&x, 2, &y, &folds(200), &Settings::default(), seed, &Quiet);
    assert_eq!(fit(1).left_out, fit(1).left_out);
    assert_eq!(fit(1).trees, fit(1).trees);
    assert_ne!(fit(1).left_out, fit(2).left_out);
}

#[test]
fn left_out_rows_are_predicted_by_trees_that_have_not_seen_their_fold() {
    let (x, y) = steps(200, 3);
    let settings = Settings::default();
    let folds = folds(200);
    let c = fitted(&x, 2, &y);
    assert!(c.rounds > 10);
    let bins = Bins::new(&x, 2);
    for fold in 0..5 {
        let hidden: Vec<f64> =
            (0..200).map(|r| if folds[r] == fold { 1e3 } else { y[r] }).collect();
        let rng = super::cross::stream(7, fold);
        let mut fit = Boost::new(&bins, &hidden, &settings, |r| folds[r] != fold, rng);
        (0..c.rounds).for_each(|_| fit.round());
        fit.trees.scale(c.log_scale);
        let (mean, sd) = fit.trees.predict(&x);
        for r in (0..200).filter(|r| folds[*r] == fold) {
            assert!((mean[r] - c.left_out[r].0).abs() < 1e-12);
            assert!((sd[r] / c.left_out[r].1 - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_sd_of_left_out_rows_is_theirs() {
    let (x, y) = steps(400, 4);
    let c = fitted(&x, 2, &y);
    let z = |(y, (m, sd)): (&f64, &(f64, f64))| ((y - m) / sd).powi(2);
    let square = y.iter().zip(&c.left_out).map(z).sum::<f64>() / 400.0;
    assert!((square - 1.0).abs() < 1e-9, "{square}");
}

#[test]
fn constant_inputs_and_targets_do_no_harm() {
    let (x, y) = steps(100, 5);
    let flat = vec![3.0; 200];
    let c = fitted(&flat, 2, &y);
    sound(&c, &flat, 100);
    assert!(c.trees.parts().left.iter().all(|left| *left == 0));
    let c = fitted(&x, 2, &[0.0; 100]);
    sound(&c, &x, 100);
}

#[test]
fn a_constant_input_beside_others_is_never_split_on() {
    let (x, y) = steps(200, 6);
    let wide: Vec<f64> = x.chunks_exact(2).flat_map(|x| [x[0], 1.0, x[1]]).collect();
    let c = fitted(&wide, 3, &y);
    let parts = c.trees.parts();
    let split = |i: &usize| parts.left[*i] != 0;
    assert!((0..parts.left.len()).filter(split).count() > 0);
    assert!((0..parts.left.len()).filter(split).all(|i| parts.input[i] != 1));
}

#[test]
fn leaves_of_one_row() {
    let (x, y) = steps(40, 7);
    for shrinkage in [0.0, 1.0] {
        let settings = Settings {
            leaf_rows: 1,
            sd_leaf_rows: 1,
            leaves: 64,
            sd_leaves: 64,
            shrinkage,
            row_share: 1.0,
            ..Settings::default()
        };
        sound(&cross_fit(&x, 2, &y, &folds(40), &settings, 1, &Quiet), &x, 40);
        let none = Settings { leaf_rows: 0, sd_leaf_rows: 0, row_share: 0.0, ..settings };
        sound(&cross_fit(&x, 2, &y, &folds(40), &none, 1, &Quiet), &x, 40);
    }
}

#[test]
fn twin_rows_are_predicted_alike() {
    let (mut x, mut y) = steps(60, 8);
    x.extend(x.clone());
    y.extend(y.clone());
    let folds: Vec<usize> = (0..120).map(|r| r % 60 % 5).collect();
    let c = cross_fit(&x, 2, &y, &folds, &Settings::default(), 1, &Quiet);
    sound(&c, &x, 120);
    for r in 0..60 {
        assert_eq!(c.left_out[r], c.left_out[r + 60]);
    }
}

#[test]
fn tiny_tables() {
    for rows in 0..8 {
        let (x, y) = steps(rows, 9);
        sound(&fitted(&x, 2, &y), &x, rows);
        let one = cross_fit(&x, 2, &y, &vec![3; rows], &Settings::default(), 1, &Quiet);
        sound(&one, &x, rows);
    }
    let none = cross_fit(&[], 0, &[], &[], &Settings::default(), 1, &Quiet);
    assert_eq!(none.trees.predict(&[]), (vec![], vec![]));
}

#[test]
fn outliers_leave_all_numbers_finite() {
    let (mut x, mut y) = steps(300, 10);
    for size in [1e2, 1e6, 1e12] {
        (y[7], y[120]) = (size, -size);
        sound(&fitted(&x, 2, &y), &x, 300);
    }
    x[0] = f64::MAX;
    x[2] = f64::MIN;
    sound(&fitted(&x, 2, &y), &x, 300);
}

#[test]
fn rows_in_no_order_of_magnitude_have_exact_levels() {
    let x: Vec<f64> = (0..200).map(|r| [1.0, 2.0, 1e9][r % 3]).collect();
    let y: Vec<f64> = (0..200).map(|r| [0.0, 1.0, -1.0][r % 3] + 0.01 * (r % 7) as f64).collect();
    let (mean, _) = fitted(&x, 1, &y).trees.predict(&[1.0, 2.0, 1e9]);
    for (mean, truth) in mean.iter().zip([0.03, 1.03, -0.97]) {
        assert!((mean - truth).abs() < 0.05, "{mean} is not {truth}");
    }
}

#[test]
fn what_is_stored_is_restored_and_what_is_broken_refused() {
    let (x, y) = steps(200, 11);
    let trees = fitted(&x, 2, &y).trees;
    let parts = trees.parts().clone();
    assert_eq!(Boosted::from_parts(parts.clone()).as_ref(), Ok(&trees));
    let split = (1..parts.left.len()).find(|i| parts.left[*i] != 0).unwrap();
    let refused = |what: &str, change: &dyn Fn(&mut Parts)| {
        let mut broken = parts.clone();
        change(&mut broken);
        let said = Boosted::from_parts(broken).map(|_| ());
        assert!(said.is_err_and(|said| said.contains(what)), "{what}");
    };
    refused("no inputs", &|p| p.inputs = 0);
    refused("an input that there is not", &|p| p.input[split] = 2);
    refused("after its parent", &|p| p.left[split] = split as u32);
    refused("after its parent", &|p| p.left[split] = p.value.len() as u32 - 1);
    refused("a threshold", &|p| p.threshold[split] = f64::NAN);
    refused("a value", &|p| p.value[0] = f64::INFINITY);
    refused("a constant", &|p| p.start[1] = f64::NAN);
    refused("the least log sd", &|p| p.least_log_sd = f64::NAN);
    refused("differ in length", &|p| p.input.truncate(3));
    refused("differ in length", &|p| p.left.clear());
    refused("is missing", &|p| p.roots.truncate(1));
    refused("no first node", &|p| p.roots[0] = p.value.len() as u32);
}
