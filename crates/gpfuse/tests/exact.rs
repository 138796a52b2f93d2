//! The exact basis: the GP's own law at anchors and at new rows, and what it refuses.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::case::{Case, On, Recipe, normals};
use common::{close, tolerance};
use gpfuse::basis::{Basis, Exact, GpParams, Hilbert};
use gpfuse::diagnose::mcse_mean;
use gpfuse::infer::{ChainDraws, Density, DensityError, Draws, Quiet, Settings, Stat, sample};
use gpfuse::kernel::Kernel;
use gpfuse::math::simd::Level;
use gpfuse::math::{Lanes, ROWS};
use gpfuse::model::{Given, Kind, Method, Model, Observed, Posterior, Priors};
use gpfuse::predict::Predictor;
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

/// Values of one GP at one block of rows, made as the gradient or as a prediction makes them.
fn values(basis: &Basis, p: GpParams<'_>, rows: &Rows, adjoint: bool) -> Vec<f64> {
    let level = Level::detect();
    let mut coefs = basis.coefs(1, adjoint);
    basis.prepare(level, 0, p, &mut coefs);
    let (cache, mut work) = (basis.cache(rows), basis.work(1, adjoint));
    let mut f = [Lanes::splat(f64::NAN)];
    basis.forward(level, rows, 0, &cache, &coefs, &mut work, &mut f);
    f[0][..rows.len()].to_vec()
}

/// Over `theta ~ N(0, I)`, the covariance of every pair of an anchor with an anchor or a new
/// row, and the variance of every row, are the kernel's. Per kernel 6 means and 20 products of
/// 20 000 draws, each held to 5 standard errors: false-failure rate below 1e-4.
#[test]
fn anchors_and_new_rows_have_the_law_of_the_gp() {
    let draws = 20_000;
    let anchors = [0.0, 0.1, 0.5, -0.4, 1.2, 0.3, -0.8, 0.9];
    let new = [0.2, 0.0, -2.0, 3.0];
    let all = [&anchors[..], &new[..]].concat();
    let (rows, n) = (Rows::new(&all, 2).unwrap(), anchors.len() / 2);
    let (log_var, log_ell) = (0.6, [0.1, -0.3]);
    let mut normal = normals(21);
    for kernel in Kernel::ALL {
        let basis = Basis::Exact(Exact::new(kernel, &anchors, 2).unwrap());
        let f: Vec<Vec<f64>> = (0..draws)
            .map(|_| {
                let theta: Vec<f64> = (0..n).map(|_| normal()).collect();
                let p = GpParams { log_var, log_ell: &log_ell, theta: &theta };
                values(&basis, p, &rows, false)
            })
            .collect();
        let check = |what: String, of: &dyn Fn(&[f64]) -> f64, expected: f64| {
            let mean = f.iter().map(|f| of(f)).sum::<f64>() / f64::from(draws);
            let square = f.iter().map(|f| (of(f) - mean).powi(2)).sum::<f64>();
            let z = (mean - expected) / (square.sqrt() / f64::from(draws));
            assert!(z.abs() < 5.0, "{kernel}, {what}: {mean} not {expected}, z = {z}");
        };
        for i in 0..rows.len() {
            check(format!("mean of row {i}"), &|f| f[i], 0.0);
            // Two new rows are not drawn together.
            for j in (0..=i).filter(|j| i == *j || *j < n) {
                let square =
                    |k: usize| ((all[2 * i + k] - all[2 * j + k]) / log_ell[k].exp()).powi(2);
                let expected = log_var.exp() * kernel.covariance(square(0) + square(1));
                check(format!("rows {i} and {j}"), &|f| f[i] * f[j], expected);
            }
        }
    }
}

/// The gradient and a prediction see the same function, and it is one: equal inputs have equal
/// values, wherever the row stands.
#[test]
fn a_draw_is_a_function_of_the_inputs() {
    let mut normal = normals(5);
    let x: Vec<f64> = (0..2 * 40).map(|_| normal()).collect();
    let basis = Basis::Exact(Exact::new(Kernel::Matern52, &x, 2).unwrap());
    let theta: Vec<f64> = (0..40).map(|_| normal()).collect();
    let p = GpParams { log_var: 0.3, log_ell: &[-0.2, 0.4], theta: &theta };
    let at_anchors = values(&basis, p, &Rows::new(&x, 2).unwrap(), true);
    assert_eq!(values(&basis, p, &Rows::new(&x, 2).unwrap(), false), at_anchors);
    // Anchors among other rows, last first; every other row twice.
    let new: Vec<f64> = (0..2 * 10).map(|_| normal()).collect();
    let back: Vec<f64> = x.chunks(2).rev().flatten().copied().collect();
    let mixed = [&new[..], &back[..], &new[..]].concat();
    let found = values(&basis, p, &Rows::new(&mixed, 2).unwrap(), false);
    assert_eq!(found[10..50], at_anchors.iter().rev().copied().collect::<Vec<f64>>());
    assert_eq!(found[..10], found[50..]);
    assert_eq!(values(&basis, p, &Rows::new(&mixed, 2).unwrap(), true), found);
    for row in 0..10 {
        let alone = Rows::new(&new[2 * row..2 * row + 2], 2).unwrap();
        assert_eq!(values(&basis, p, &alone, false), [found[row]]);
    }
}

/// Near an anchor a value is near the anchor's: the residual goes away with the distance.
#[test]
fn the_residual_vanishes_at_an_anchor() {
    let anchors = [0.0, 1.0, 2.5];
    for kernel in Kernel::ALL {
        let basis = Basis::Exact(Exact::new(kernel, &anchors, 1).unwrap());
        let p = GpParams { log_var: 0.0, log_ell: &[0.0], theta: &[0.3, -1.0, 0.7] };
        let rows = Rows::new(&[1.0, 1.0 + 1e-8], 1).unwrap();
        let f = values(&basis, p, &rows, false);
        // The jitter and, for Matern 1/2, the distance leave sd 1.5e-4 or so.
        assert!((f[0] - f[1]).abs() < 1e-3, "{kernel}: {f:?}");
    }
}

fn logp(posterior: &mut Posterior, q: &[f64]) -> (f64, Vec<f64>) {
    let mut grad = vec![f64::NAN; q.len()];
    (posterior.logp(q, &mut grad).unwrap(), grad)
}

/// The order of the data's rows does not matter, only that each is an anchor; some of the rows
/// are a density too, with their part of the likelihood.
#[test]
fn rows_of_the_data_may_come_in_any_order() {
    let (n, third) = (70, 23);
    let case = Case::new(Recipe { basis: On::Exact, rows: n, ..Recipe::small(Method::Pogpe, 6) });
    let mut all = case.posterior();
    let (x, y) = (case.textbook.x.concat(), &case.textbook.y);
    let pick = |order: &[usize]| {
        let pick = |v: &[f64]| order.iter().map(|i| v[*i]).collect::<Vec<f64>>();
        let data = Arc::new(Observed::new(&pick(&x), 1, &pick(y)).unwrap());
        Posterior::new(case.model.clone(), data).unwrap()
    };
    let turned: Vec<usize> = (0..n).map(|i| (i * 29 + 3) % n).collect();
    let (value, grad) = logp(&mut all, &case.q);
    let found = logp(&mut pick(&turned), &case.q);
    close("log density", found.0, value, tolerance::LAW);
    // In three parts: all and the first make the first two and the first and last.
    let (first, rest) = turned.split_at(third);
    let first_and = |more: &[usize]| logp(&mut pick(&[first, more].concat()), &case.q);
    let (one, two, last) = (first_and(&[]), first_and(&rest[..third]), first_and(&rest[third..]));
    close("log density of parts", two.0 + last.0, value + one.0, tolerance::LAW);
    for i in 0..grad.len() {
        close("gradient", found.1[i], grad[i], tolerance::GRADIENT);
        close("of parts", two.1[i] + last.1[i], grad[i] + one.1[i], tolerance::GRADIENT);
    }
    let mut rows = vec![0.0; n];
    all.pointwise(&case.q, &mut rows);
    let mut thin = vec![0.0; 10];
    all.thinned(10).unwrap().pointwise(&case.q, &mut thin);
    assert_eq!(thin, (0..10).map(|i| rows[i * n / 10]).collect::<Vec<f64>>());
}

/// A stacking model on rows that are all but singular, and the point to look at it.
fn stacking(x: &[f64], kernel: Kernel) -> (Posterior, Vec<f64>) {
    let n = x.len();
    let basis = Basis::Exact(Exact::new(kernel, x, 1).unwrap());
    let model = Arc::new(Model::new(Method::Pbhs, 2, basis, Priors::default()).unwrap());
    let y: Vec<f64> = (0..n).map(|i| (1.7 * i as f64).sin()).collect();
    let (mean, sd) = (vec![vec![0.0; n], vec![0.5; n]], vec![vec![1.0; n], vec![0.4; n]]);
    let data = Observed::new(x, 1, &y).unwrap().with_given(&mean, &sd).unwrap();
    let mut normal = normals(8);
    let q = (0..model.dim()).map(|_| 0.5 * normal()).collect();
    (Posterior::new(model, Arc::new(data)).unwrap(), q)
}

/// Crowded, repeated and constant rows, where K is singular but for the jitter: the gradient is
/// the slope of the log density, to as many digits as it then has.
#[test]
fn gradient_holds_where_the_covariance_is_nearly_singular() {
    let crowded: Vec<f64> = (0..30).map(|i| f64::from(i) / 29.0).collect();
    let repeated: Vec<f64> = (0..30).map(|i| f64::from(i % 7)).collect();
    for x in [crowded, repeated, vec![0.4; 12], vec![0.0]] {
        for kernel in Kernel::ALL {
            let (mut posterior, q) = stacking(&x, kernel);
            let (_, grad) = logp(&mut posterior, &q);
            for i in 0..q.len() {
                let mut at = |h: f64| {
                    let mut q = q.clone();
                    q[i] += h;
                    logp(&mut posterior, &q).0
                };
                // Of fourth order: the last pivots fall as high powers of the lengthscale.
                let h = 5e-4;
                let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                close(&format!("{kernel}, {} rows, entry {i}", x.len()), grad[i], slope, 1e-4);
            }
        }
    }
}

/// A lengthscale far beyond reason gives a finite density or none, never a panic.
#[test]
fn absurd_lengthscales_are_finite_or_recoverable() {
    for x in [vec![0.0, 0.0, 0.5, 1.0], vec![-1e300, 0.0, 1e300], vec![3.0]] {
        for kernel in Kernel::ALL {
            let (mut posterior, q) = stacking(&x, kernel);
            let model = posterior.model().clone();
            let part = model.layout().parts.iter().find(|p| p.kind == Kind::Ell).unwrap();
            let mut tame = 0;
            for log_ell in [-1e4, -800.0, -300.0, -40.0, -5.0, 0.0, 3.0, 14.0, 300.0, 800.0, 1e4] {
                let mut q = q.clone();
                q[part.offset] = log_ell;
                let mut grad = vec![f64::NAN; q.len()];
                match posterior.logp(&q, &mut grad) {
                    Ok(logp) => {
                        assert!(logp.is_finite() && grad.iter().all(|g| g.is_finite()));
                        tame += 1;
                    }
                    Err(DensityError::NotFinite { .. }) => {}
                    Err(e) => panic!("{e}"),
                }
            }
            // Those from -300 to 14, and beyond it as far as the prior has a density.
            assert!(tame >= 6, "{kernel}: {tame}");
        }
    }
}

#[test]
fn what_cannot_be_used_is_refused_by_name() {
    let many: Vec<f64> = (0..501).map(f64::from).collect();
    let error = Exact::new(Kernel::Rbf, &many, 1).unwrap_err().to_string();
    assert!(error.contains("501") && error.contains("500") && error.contains("hilbert"), "{error}");
    assert!(Exact::new(Kernel::Rbf, &many[..500], 1).is_ok());
    assert!(Exact::new(Kernel::Rbf, &[], 1).is_err());
    assert!(Exact::new(Kernel::Rbf, &[1.0, f64::NAN], 1).is_err());
    let basis = Exact::new(Kernel::Rbf, &many[..5], 1).unwrap();
    let json = serde_json::to_string(&Basis::Exact(basis.clone())).unwrap();
    assert_eq!(serde_json::from_str::<Basis>(&json).unwrap(), Basis::Exact(basis.clone()));
    let model = Model::new(Method::Het, 1, Basis::Exact(basis), Priors::default()).unwrap();
    let data = Observed::new(&[0.0, 1.0, 1.5], 1, &[0.0; 3]).unwrap();
    let error = Posterior::new(Arc::new(model), Arc::new(data)).unwrap_err().to_string();
    assert!(error.contains("row 3"), "{error}");
}

/// Predictions of more rows than a block have the same bits on any number of threads.
#[test]
fn threads_do_not_change_a_prediction() {
    let case = Case::new(Recipe { basis: On::Exact, rows: 9, ..Recipe::small(Method::Mogpe, 4) });
    let predictor = Predictor::new(case.model.clone(), &draws_of(&[case.q]), Affine::IDENTITY);
    let x: Vec<f64> = (0..3 * ROWS).map(|i| 0.1 * i as f64 - 9.0).collect();
    let rows = Rows::new(&x, 1).unwrap();
    let bits = |threads: usize| {
        let means = predictor.fused(&rows, None, threads, |block| {
            (0..block.len()).map(|r| block.row(r).unwrap().mean().to_bits()).collect::<Vec<u64>>()
        });
        means.unwrap().concat()
    };
    let one = bits(1);
    assert_eq!(one.len(), x.len());
    assert_eq!(bits(3), one);
}

fn draws_of(points: &[Vec<f64>]) -> Draws {
    let chain = ChainDraws { values: points.concat(), stats: vec![Stat::default(); points.len()] };
    Draws::new(points[0].len(), points.len(), vec![chain]).unwrap()
}

/// For each row of `x`, the fused mean of every draw, by chain.
fn fused_means(basis: Basis, x: &[f64]) -> Vec<Vec<Vec<f64>>> {
    let truth = |x: f64| if x < 0.0 { 0.0 } else { 1.0 };
    let at = anchors();
    let mut normal = normals(14);
    let y: Vec<f64> = at.iter().map(|x| truth(*x) + 0.3 * normal()).collect();
    let experts = |n: usize| (vec![vec![0.0; n], vec![1.0; n]], vec![vec![0.3; n]; 2]);
    let (mean, sd) = experts(at.len());
    let data = Observed::new(&at, 1, &y).unwrap().with_given(&mean, &sd).unwrap();
    let model = Arc::new(Model::new(Method::Pbhs, 2, basis, Priors::default()).unwrap());
    let posterior = Posterior::new(model.clone(), Arc::new(data)).unwrap();
    let settings = Settings { seed: 3, threads: 2, draws: Some(1000), ..Settings::default() };
    let prior = |normal: &mut dyn FnMut() -> f64| model.prior_draw(normal);
    let draws = sample(&posterior, &prior, &settings.check().unwrap(), &Quiet).unwrap();
    let rows = Rows::new(x, 1).unwrap();
    let (mean, sd) = experts(x.len());
    let given = Given::new(&mean, &sd).unwrap();
    let mut means = vec![Vec::new(); x.len()];
    for q in draws.iter() {
        let one = draws_of(&[q.to_vec()]);
        let predictor = Predictor::new(model.clone(), &one, Affine::IDENTITY);
        let found = predictor.fused(&rows, Some(&given), 1, |block| {
            (0..block.len()).map(|r| block.row(r).unwrap().mean()).collect::<Vec<f64>>()
        });
        means.iter_mut().zip(found.unwrap().concat()).for_each(|(m, v)| m.push(v));
    }
    means.iter().map(|m| draws.by_chain(m).iter().map(|c| c.to_vec()).collect()).collect()
}

/// Twenty rows on either side of a gap.
fn anchors() -> Vec<f64> {
    (0..20)
        .map(|i| if i < 10 { -3.0 + 0.2 * f64::from(i) } else { -0.8 + 0.2 * f64::from(i) })
        .collect()
}

/// The posterior predictive of a pbhs model is that of a fine Hilbert basis in a wide box: mean
/// and mean square of the fused mean at anchors, in the gap and outside, each within 5 Monte
/// Carlo standard errors. Were they normal, ten statistics would fail with probability 6e-6;
/// with the error of the standard errors themselves, below 1e-4.
#[test]
fn the_posterior_agrees_with_a_fine_hilbert_basis() {
    let x = [-2.0, 1.4, 0.0, 3.6, 5.0];
    let exact = Exact::new(Kernel::Matern52, &anchors(), 1).unwrap();
    let hilbert = Hilbert::new(Kernel::Matern52, vec![0.0], vec![10.0], vec![200]).unwrap();
    let exact = fused_means(Basis::Exact(exact), &x);
    let hilbert = fused_means(Basis::Hilbert(hilbert), &x);
    for (row, (a, b)) in exact.iter().zip(&hilbert).enumerate() {
        for power in [1, 2] {
            let moment = |chains: &[Vec<f64>]| {
                let values: Vec<Vec<f64>> =
                    chains.iter().map(|c| c.iter().map(|v| v.powi(power)).collect()).collect();
                let parts: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
                let count = values.iter().map(Vec::len).sum::<usize>() as f64;
                (values.iter().flatten().sum::<f64>() / count, mcse_mean(&parts))
            };
            let ((a, se_a), (b, se_b)) = (moment(a), moment(b));
            let z = (a - b) / se_a.hypot(se_b);
            println!("row {row}, power {power}: {a:.4} ({se_a:.4}), {b:.4} ({se_b:.4}), z {z:.2}");
            assert!(z.abs() < tolerance::Z, "row {row}, power {power}: {a} and {b}, z = {z}");
        }
    }
}
