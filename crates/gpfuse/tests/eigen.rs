//! Eigenfunctions of a pilot's covariance: the GP that they stand for, what they leave out, and the
//! coordinates in which a pilot's posterior is standard normal.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::case::{Case, On, Recipe, normals};
use common::textbook::covariance;
use common::{close, tolerance};
use faer::Mat;
use faer::prelude::Solve;
use gpfuse::basis::eigen::{Decomposition, Parts, Pilot};
use gpfuse::basis::{Basis, Eigen};
use gpfuse::gp::{Gp, Hyper};
use gpfuse::infer::Density;
use gpfuse::kernel::Kernel;
use gpfuse::model::coordinates::{Coordinates, Knowledge, Piloted};
use gpfuse::model::{Bases, Method, Model, Observed, Posterior, Priors, Role};
use gpfuse::rows::Rows;

const INPUTS: usize = 3;
/// The pilot's own numbers, none of them one.
const VAR: f64 = 1.7;
const ELL: [f64; INPUTS] = [0.8, 1.3, 2.1];

fn pilot(kernel: Kernel) -> Pilot {
    Pilot { kernel, var: VAR, ell: ELL.to_vec() }
}

/// Random rows.
fn table(count: usize, seed: u64) -> Vec<f64> {
    let mut normal = normals(seed);
    (0..count * INPUTS).map(|_| 1.5 * normal()).collect()
}

fn rows(x: &[f64]) -> Rows {
    Rows::new(x, INPUTS).unwrap()
}

/// Positive weights of rows that differ.
fn weights(count: usize, seed: u64) -> Vec<f64> {
    let mut normal = normals(seed);
    (0..count).map(|_| normal().exp()).collect()
}

/// The leading functions, each of the rows being a landmark.
fn leading(kernel: Kernel, x: &[f64], functions: usize) -> Eigen {
    let all: Vec<usize> = (0..x.len() / INPUTS).collect();
    Decomposition::new(pilot(kernel), &rows(x), &all).unwrap().leading(functions, 0.4)
}

/// The pilot's covariance of two rows, as textbooks have it.
fn plain(kernel: Kernel, a: &[f64], b: &[f64]) -> f64 {
    let square: f64 = (0..INPUTS).map(|i| ((a[i] - b[i]) / ELL[i]).powi(2)).sum();
    VAR * covariance(kernel, square.sqrt())
}

/// The functions at rows before they were centred.
fn uncentred(basis: &Eigen, x: &[f64]) -> Mat<f64> {
    let (phi, centre) = (basis.at(&rows(x)).0, basis.parts().centre);
    Mat::from_fn(phi.nrows(), phi.ncols(), |i, j| phi[(i, j)] + centre[j])
}

/// With as many functions as landmarks the covariance of landmarks, and of a landmark with any row, is the
/// pilot's, also after the functions were centred and turned; at landmarks nothing is left out.
#[test]
fn all_functions_have_the_covariance_of_their_pilot() {
    for (i, kernel) in Kernel::ALL.into_iter().enumerate() {
        let (x, new) = (table(70, i as u64), table(9, 50 + i as u64));
        let bare = leading(kernel, &x, usize::MAX);
        let at = bare.at(&rows(&x)).0;
        let turned = bare.clone().orthogonal(&at, &weights(70, 9)).unwrap().0;
        for basis in [bare, turned] {
            let (here, there) = (uncentred(&basis, &x), uncentred(&basis, &new));
            let (found, cross) = (&here * here.transpose(), &there * here.transpose());
            for (a, row) in x.chunks(INPUTS).enumerate() {
                for (b, other) in x.chunks(INPUTS).enumerate() {
                    close("landmarks", found[(a, b)], plain(kernel, row, other), 1e-8);
                }
                for (b, other) in new.chunks(INPUTS).enumerate() {
                    close("new rows", cross[(b, a)], plain(kernel, row, other), 1e-8);
                }
            }
            for left in basis.at(&rows(&x)).1 {
                assert!((0.0..1e-8).contains(&left), "{kernel}: {left}");
            }
        }
    }
}

/// What is left out is between nothing and all of the variance, less with more functions, and all of it far
/// away.
#[test]
fn fewer_functions_leave_more_out() {
    for kernel in Kernel::ALL {
        let (x, new) = (table(40, 3), table(100, 4));
        let mut before = vec![VAR; 100];
        for functions in [1, 3, 10, 25, 40] {
            let left = leading(kernel, &x, functions).at(&rows(&new)).1;
            for (left, before) in left.iter().zip(&before) {
                assert!((0.0..=before + 1e-12).contains(left), "{kernel}: {left} after {before}");
            }
            before = left;
        }
        let far = leading(kernel, &x, 40).at(&rows(&[1e4, -1e4, 1e4])).1;
        close("far away", far[0], VAR, 1e-14);
    }
}

/// The place of the origin does not matter, nor does the order of the landmarks.
#[test]
fn moved_and_reordered_landmarks_have_the_same_law() {
    let (x, new, shift) = (table(30, 5), table(5, 6), [3.0, -20.0, 0.7]);
    let moved = |x: &[f64]| -> Vec<f64> {
        x.iter().zip(shift.iter().cycle()).map(|(x, s)| x + s).collect()
    };
    let law = |basis: &Eigen, x: &[f64]| {
        let psi = uncentred(basis, x);
        (&psi * psi.transpose(), basis.at(&rows(x)).1)
    };
    for kernel in Kernel::ALL {
        let (gram, left) = law(&leading(kernel, &x, 8), &new);
        let backwards: Vec<usize> = (0..30).rev().collect();
        let found = Decomposition::new(pilot(kernel), &rows(&x), &backwards).unwrap();
        let reordered = law(&found.leading(8, 0.0), &new);
        let moved = law(&leading(kernel, &moved(&x), 8), &moved(&new));
        for (found, others) in [reordered, moved] {
            for a in 0..5 {
                close("left out", others[a], left[a], 1e-9);
                (0..5).for_each(|b| close("covariance", found[(a, b)], gram[(a, b)], 1e-9));
            }
        }
    }
}

/// Under the weights the functions have mean 0 and are orthogonal to each other; their squares add up to
/// what is said of them. Neither the covariance nor what is left out changes.
#[test]
fn orthogonal_functions_are_orthogonal() {
    for (kernel, functions) in [(Kernel::Rbf, 12), (Kernel::Matern12, 70), (Kernel::Matern52, 1)] {
        let (x, weight) = (table(100, 7), weights(100, 8));
        let some: Vec<usize> = (0..100).step_by(3).collect();
        let bare = Decomposition::new(pilot(kernel), &rows(&x), &some).unwrap();
        let bare = bare.leading(functions, 0.0);
        let (before, left) = bare.at(&rows(&x));
        let (basis, information) = bare.clone().orthogonal(&before, &weight).unwrap();
        let (phi, still) = basis.at(&rows(&x));
        let scale = information[1];
        let sum = |f: &dyn Fn(usize) -> f64| (0..100).map(|r| weight[r] * f(r)).sum::<f64>();
        close("all weights", information[0], sum(&|_| 1.0), 1e-12);
        assert_eq!(information.len(), basis.functions() + 1);
        for i in 0..basis.functions() {
            let mean = sum(&|r| phi[(r, i)]);
            assert!(mean.abs() <= 1e-9 * scale, "{kernel}: mean of {i}: {mean}");
            for j in 0..basis.functions() {
                let expected = if i == j { information[i + 1] } else { 0.0 };
                let found = sum(&|r| phi[(r, i)] * phi[(r, j)]);
                assert!((found - expected).abs() <= 1e-9 * scale, "{kernel} {i} {j}: {found}");
            }
        }
        assert!(information[1..].windows(2).all(|d| d[0] >= d[1]), "{information:?}");
        let (old, new) = (uncentred(&bare, &x), uncentred(&basis, &x));
        let (old, new) = (&old * old.transpose(), &new * new.transpose());
        for a in 0..100 {
            close("left out", still[a], left[a], 1e-10);
            (0..100).for_each(|b| close("covariance", new[(a, b)], old[(a, b)], 1e-10));
        }
    }
}

/// A linear model on all functions, with normal noise and what they leave out added to its variance, is the
/// exact GP, at training rows and at new ones.
#[test]
fn a_linear_model_on_all_functions_is_the_gp() {
    let noise = 0.09;
    for kernel in [Kernel::Matern12, Kernel::Matern32, Kernel::Matern52, Kernel::Rbf] {
        let (x, mut normal) = (table(50, 11), normals(12));
        let y: Vec<f64> =
            x.chunks(INPUTS).map(|x| x[0].sin() + x[1] * 0.3 + 0.3 * normal()).collect();
        let new = [table(20, 13), x[..6].to_vec(), vec![90.0, 90.0, 90.0]].concat();
        let hyper = Hyper { mean: 0.4, var: VAR, ell: ELL.to_vec(), noise };
        let gp = Gp::condition(kernel, hyper, &x, INPUTS, &y).unwrap();
        let expected = gp.predict(&new, false).unwrap();
        let bare = leading(kernel, &x, usize::MAX);
        let at = bare.at(&rows(&x)).0;
        let basis = bare.orthogonal(&at, &weights(50, 14)).unwrap().0;
        let (psi, there, left) =
            (uncentred(&basis, &x), uncentred(&basis, &new), basis.at(&rows(&new)).1);
        let count = basis.functions();
        let mut precision = psi.transpose() * &psi;
        for i in 0..count {
            (0..count).for_each(|j| precision[(i, j)] /= noise);
            precision[(i, i)] += 1.0;
        }
        let target = Mat::from_fn(50, 1, |r, _| (y[r] - 0.4) / noise);
        let factor = precision.llt(faer::Side::Lower).unwrap();
        let mean = factor.solve(psi.transpose() * &target);
        let spread = factor.solve(there.transpose().to_owned());
        for r in 0..there.nrows() {
            let found: f64 = (0..count).map(|j| there[(r, j)] * mean[(j, 0)]).sum();
            close("mean", 0.4 + found, expected.mean[r], 1e-7);
            let known: f64 = (0..count).map(|j| there[(r, j)] * spread[(j, r)]).sum();
            close("variance", known + left[r], expected.sd[r].powi(2), 1e-7);
        }
    }
}

/// Knowledge of any kind about GPs with so many coefficients.
fn knowledge(features: usize, seed: u64) -> Knowledge {
    let mut normal = normals(seed);
    let information = (0..features).map(|_| (1.5 * normal()).exp()).collect();
    Knowledge {
        var: 0.7,
        own: 0.8,
        information,
        slope: (0..features).map(|_| 2.0 * normal()).collect(),
    }
}

/// A posterior on eigenfunctions in the coordinates of a pilot that knows anything, and a point.
fn piloted(method: Method, experts: usize) -> (Posterior, Arc<Coordinates>, Vec<f64>) {
    let (basis, inputs) = (On::Eigen, 2);
    let seed = 30 + experts as u64;
    let case = Case::new(Recipe {
        basis,
        inputs,
        experts,
        rows: 9,
        size: 3,
        ..Recipe::small(method, seed)
    });
    let features = |role: Role| case.model.layout().bank(role).unwrap().features;
    let (common, log_sd) =
        (knowledge(features(Role::Common), 1), knowledge(features(Role::LogSd), 2));
    let coordinates = Coordinates::new(&case.model, &common, &log_sd);
    (case.posterior(), Arc::new(coordinates), case.q)
}

const PILOTED: [(Method, usize); 5] = [
    (Method::Het, 1),
    (Method::Mogpe, 1),
    (Method::Mogpe, 3),
    (Method::Pogpe, 2),
    (Method::Pogpe, 3),
];

/// The derivative of `f` at 0: central differences, extrapolated twice (Richardson).
fn slope(f: impl Fn(f64) -> f64) -> f64 {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    let h = 8e-3;
    let [a, b, c] = [h, h / 2.0, h / 4.0].map(central);
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * bc - ab) / 15.0
}

/// The log of the absolute determinant, by elimination.
fn log_det(mut m: Vec<Vec<f64>>) -> f64 {
    let mut sum = 0.0;
    for i in 0..m.len() {
        let best = (i..m.len()).max_by(|a, b| m[*a][i].abs().total_cmp(&m[*b][i].abs())).unwrap();
        m.swap(i, best);
        sum += m[i][i].abs().ln();
        for k in i + 1..m.len() {
            let by = m[k][i] / m[i][i];
            for j in i..m.len() {
                m[k][j] -= by * m[i][j];
            }
        }
    }
    sum
}

fn moved(z: &[f64], i: usize, h: f64) -> Vec<f64> {
    let mut z = z.to_vec();
    z[i] += h;
    z
}

#[test]
fn coordinates_and_parameters_are_each_others_inverse() {
    for (method, experts) in PILOTED {
        let (posterior, coordinates, z) = piloted(method, experts);
        let q = Piloted::new(posterior, coordinates.clone()).parameters(&z);
        assert!(z.iter().zip(&q).any(|(z, q)| (z - q).abs() > 0.1));
        for (found, z) in coordinates.of(&q).iter().zip(&z) {
            close("coordinate", *found, *z, 1e-9);
        }
    }
}

/// The density of coordinates is that of parameters times the determinant of the map, and its gradient
/// is its slope.
#[test]
fn the_density_of_coordinates_is_that_of_parameters() {
    for (method, experts) in PILOTED {
        let (mut posterior, coordinates, z) = piloted(method, experts);
        let piloted = Piloted::new(posterior.clone(), coordinates);
        let logp = |z: &[f64]| piloted.clone().logp(z, &mut vec![0.0; z.len()]).unwrap();
        let map = |i: usize, out: usize| slope(|h| piloted.parameters(&moved(&z, i, h))[out]);
        let jacobian = (0..z.len()).map(|i| (0..z.len()).map(|out| map(i, out)).collect());
        let q = piloted.parameters(&z);
        let there = posterior.logp(&q, &mut vec![0.0; q.len()]).unwrap();
        let expected = there + log_det(jacobian.collect());
        close(&format!("{method} {experts}"), logp(&z), expected, 1e-8);
        let mut grad = vec![f64::NAN; z.len()];
        piloted.clone().logp(&z, &mut grad).unwrap();
        for (i, grad) in grad.iter().enumerate() {
            let found = slope(|h| logp(&moved(&z, i, h)));
            close(&format!("{method} {experts}, coordinate {i}"), *grad, found, 1e-7);
        }
    }
}

/// Where the noise is what the pilot takes it for, the coordinates of the mean are standard normal whatever
/// its variance, the left-out part and the floor included: the gradient is `-z`.
#[test]
fn coordinates_of_a_pilots_own_model_are_standard_normal() {
    let (n, level, mean) = (90, -0.7, 0.4);
    let (x, mut normal) = (table(n, 21), normals(22));
    let y: Vec<f64> = x.chunks(INPUTS).map(|x| x[0].sin() + 0.5 * normal()).collect();
    let at = rows(&x);
    for log_var in [-1.0_f64, 0.0, 0.8] {
        let fine = leading(Kernel::Matern32, &x, 20);
        let (phi, left) = fine.at(&at);
        let own: f64 = (2.0_f64 * level).exp();
        let weight: Vec<f64> =
            left.iter().map(|left| 1.0 / (own + log_var.exp() * left + 0.01 * own)).collect();
        assert!(left.iter().any(|left| *left > 0.1));
        let (fine, information) = fine.orthogonal(&phi, &weight).unwrap();
        let phi = fine.at(&at).0;
        let function = |r: usize, j: usize| if j == 0 { 1.0 } else { phi[(r, j - 1)] };
        let slope = |j: usize| (0..n).map(|r| weight[r] * function(r, j) * (y[r] - mean)).sum();
        let slope = (0..information.len()).map(slope).collect();
        let common = Knowledge { var: 1.0, own: 1.0, information, slope };
        let few =
            Eigen::from_parts(Parts { level, ..leading(Kernel::Rbf, &x, 4).parts() }).unwrap();
        let nothing =
            Knowledge { var: 1.0, own: 1.0, information: vec![0.0; 5], slope: vec![0.0; 5] };
        let bases = Bases { common: Some(Basis::Eigen(fine)), others: Basis::Eigen(few) };
        let model = Arc::new(Model::new(Method::Het, 1, bases, Priors::default()).unwrap());
        let coordinates = Arc::new(Coordinates::new(&model, &common, &nothing));
        let data = Arc::new(Observed::new(&x, INPUTS, &y).unwrap());
        let mut piloted = Piloted::new(Posterior::new(model.clone(), data).unwrap(), coordinates);
        let bank = *model.layout().bank(Role::Common).unwrap();
        let theta = bank.offset + 1..bank.offset + 1 + bank.features;
        let mut z = vec![0.0; model.dim()];
        z[bank.offset] = log_var;
        z[theta.clone()].iter_mut().for_each(|z| *z = normal());
        let mut grad = vec![0.0; z.len()];
        piloted.logp(&z, &mut grad).unwrap();
        for j in theta {
            close(&format!("variance e^{log_var}, coordinate {j}"), grad[j], -z[j], 1e-9);
        }
    }
}

/// A file may say anything.
#[test]
fn bad_parts_are_refused() {
    let good = leading(Kernel::Rbf, &table(10, 1), 4);
    assert_eq!(Eigen::from_parts(good.parts()).unwrap(), good);
    let refused = |change: &dyn Fn(&mut Parts), words: &str| {
        let mut parts = good.parts();
        change(&mut parts);
        let error = Eigen::from_parts(parts).unwrap_err().to_string();
        assert!(error.contains(words) && error.lines().count() == 1, "{error}");
    };
    let shape = "eigenfunctions: expected ";
    refused(&|p| p.landmarks.clear(), shape);
    refused(&|p| p.landmarks.truncate(29), shape);
    refused(&|p| p.pilot.ell.clear(), shape);
    refused(&|p| p.projection.truncate(39), "4 functions on 10 landmarks of 3 inputs");
    refused(&|p| p.centre.clear(), shape);
    refused(&|p| p.centre.push(0.0), shape);
    for bad in [f64::NAN, f64::INFINITY] {
        refused(&|p| p.landmarks[3] = bad, "not finite");
        refused(&|p| p.projection[3] = bad, "not finite");
        refused(&|p| p.centre[3] = bad, "not finite");
        refused(&|p| p.level = bad, "not finite");
        refused(&|p| p.pilot.var = bad, "not finite");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(&|p| p.pilot.ell[1] = bad, "a scale that is not positive");
    }
    refused(&|p| p.pilot.var = 0.0, "a scale that is not positive");
}

/// Inputs that overflow the covariance have no eigenvalues, or all are their own; never a panic.
#[test]
fn huge_inputs_have_functions_or_an_error() {
    for scale in [1e150, 1e300] {
        let x: Vec<f64> = table(12, 2).iter().map(|v| scale * v).collect();
        let all: Vec<usize> = (0..12).collect();
        if let Ok(found) = Decomposition::new(pilot(Kernel::Rbf), &rows(&x), &all) {
            found.values().iter().for_each(|v| close("eigenvalue", *v, VAR, tolerance::LAW));
        }
    }
}
