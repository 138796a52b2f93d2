//! Eight GPs at once beside exact GPs one at a time, on every instruction set; gradients beside
//! differences.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::*;
use crate::gp::{Gp, Hyper};
use crate::random::{Purpose, stream};

const Q: [f64; 5] = [0.4, -0.3, 0.2, -2.0, 0.1];

/// In each lane `m` rows of two inputs with a target, and one more.
struct Case {
    kernel: Kernel,
    m: usize,
    numbers: Vec<f64>,
}

impl Case {
    fn new(kernel: Kernel, m: usize) -> Case {
        let mut rng = stream(23, Purpose::Simulate, m as u64);
        let numbers = (0..WIDTH * (m + 1) * 3).map(|_| rng.sample(StandardNormal)).collect();
        Case { kernel, m, numbers }
    }

    /// Two inputs and a target.
    fn row(&self, lane: usize, i: usize) -> &[f64] {
        let at = lane * (self.m + 1) + i;
        &self.numbers[3 * at..3 * at + 3]
    }

    /// Lane 2 has fewer rows than the others.
    fn rows(&self, lane: usize) -> usize {
        if lane == 2 { self.m / 2 } else { self.m }
    }

    /// At `log var`, two `log ell`, `log noise` and the mean.
    fn locals(&self, level: Level, q: &[f64; 5]) -> Locals {
        let mut locals = Locals::new(self.kernel, self.m, 2).at_level(level);
        let scaled = |row: &[f64]| [row[0] / q[1].exp(), row[1] / q[2].exp()];
        for lane in 0..WIDTH {
            // What was there before does not count.
            (0..self.m).for_each(|_| locals.push(lane, [1e300, f64::MAX], 1e300));
            locals.begin(lane, scaled(self.row(lane, self.m)));
            for i in 0..self.rows(lane) {
                locals.push(lane, scaled(self.row(lane, i)), self.row(lane, i)[2] - q[4]);
            }
        }
        locals
    }

    fn log_densities(&self, level: Level, q: &[f64; 5], grad: &mut [Each; 5]) -> Each {
        let targets = std::array::from_fn(|lane| self.row(lane, self.m)[2] - q[4]);
        let mut locals = self.locals(level, q);
        locals.log_density(q[0].exp(), q[3].exp(), &targets.into(), grad).unwrap()
    }
}

#[test]
fn each_lane_is_the_exact_gp_on_its_rows() {
    for kernel in Kernel::ALL {
        for m in [2, 7, 33, 64] {
            let case = Case::new(kernel, m);
            for level in Level::available() {
                let said = case.locals(level, &Q).predict(Q[0].exp(), Q[3].exp()).unwrap();
                let densities = case.log_densities(level, &Q, &mut [ZERO; 5]);
                for lane in 0..WIDTH {
                    let rows = (0..case.rows(lane)).map(|i| case.row(lane, i));
                    let x: Vec<f64> = rows.clone().flat_map(|row| [row[0], row[1]]).collect();
                    let y: Vec<f64> = rows.map(|row| row[2]).collect();
                    let hyper = Hyper {
                        mean: Q[4],
                        var: Q[0].exp(),
                        ell: vec![Q[1].exp(), Q[2].exp()],
                        noise: Q[3].exp(),
                    };
                    let gp = Gp::condition(kernel, hyper, &x, 2, &y).unwrap();
                    let row = case.row(lane, m);
                    let want = gp.predict(&row[..2], true).unwrap();
                    let (mean, sd) = (said.mean[lane] + Q[4], said.var[lane].sqrt());
                    let what = format!("{kernel}, {m} rows, lane {lane}, {}", level.name());
                    assert!((mean - want.mean[0]).abs() < 1e-12, "{what}");
                    assert!((sd / want.sd[0] - 1.0).abs() < 1e-12, "{what}");
                    let z = (row[2] - want.mean[0]) / want.sd[0];
                    let density = -0.5 * z * z - want.sd[0].ln() - HALF_LN_TWO_PI;
                    assert!((densities[lane] / density - 1.0).abs() < 1e-10, "{what}");
                }
            }
        }
    }
}

/// Central differences, extrapolated to the fourth order.
fn difference(mut at: impl FnMut(f64) -> Each) -> Each {
    let mut central = |h: f64| {
        let (up, down) = (at(h), at(-h));
        Each::from(std::array::from_fn(|lane| (up[lane] - down[lane]) / (2.0 * h)))
    };
    let (wide, narrow) = (central(4e-4), central(2e-4));
    std::array::from_fn(|lane| narrow[lane] + (narrow[lane] - wide[lane]) / 3.0).into()
}

fn assert_near(ours: &Each, want: &Each, what: &str) {
    for lane in 0..WIDTH {
        let error = (ours[lane] - want[lane]).abs() / (1.0 + want[lane].abs());
        assert!(error < 1e-8, "{what}, lane {lane}: {} {}", ours[lane], want[lane]);
    }
}

#[test]
fn the_gradient_is_the_derivative_in_every_hyperparameter() {
    for kernel in Kernel::ALL {
        for m in [2, 9, 34] {
            let case = Case::new(kernel, m);
            for level in Level::available() {
                let mut grad = [Each::splat(f64::NAN); 5];
                case.log_densities(level, &Q, &mut grad);
                for (at, grad) in grad.iter().enumerate() {
                    let want = difference(|step| {
                        let mut moved = Q;
                        moved[at] += step;
                        case.log_densities(level, &moved, &mut [ZERO; 5])
                    });
                    assert_near(
                        grad,
                        &want,
                        &format!("{kernel}, {m} rows, {at}, {}", level.name()),
                    );
                }
            }
        }
    }
}

/// `f = 2 mean + 3 var` of given covariances and sides `k` and `y`, and what the adjoints need.
fn parts(level: Level, k: &Triangles, sides: &[Pair], v: f64) -> (Each, Vec<Pair>) {
    let (mut factors, mut sides) = (k.clone(), sides.to_vec());
    assert_eq!(factor(level, &mut factors), [None; WIDTH]);
    forward(level, &factors, &mut sides);
    let [mean, explained] = moments(level, &sides);
    backward(level, &factors, &mut sides);
    let f = std::array::from_fn(|lane| 2.0 * mean[lane] + 3.0 * (v - explained[lane]));
    (f.into(), sides)
}

#[test]
fn adjoints_are_derivatives_in_every_number_of_the_covariance_and_the_sides() {
    let case = Case::new(Kernel::Rbf, 6);
    for level in Level::available() {
        let mut locals = case.locals(level, &Q);
        locals.fill(1.0, 0.1, &ZERO, false);
        locals.set_sides();
        let (k, sides) = (locals.k, locals.sides);
        let moved = |edit: &dyn Fn(&mut Triangles, &mut [Pair], f64)| {
            difference(|step| {
                let (mut k, mut sides) = (k.clone(), sides.clone());
                edit(&mut k, &mut sides, step);
                parts(level, &k, &sides, 1.0).0
            })
        };
        let (g, h) = (Each::splat(2.0), Each::splat(3.0));
        let (_, mut ac) = parts(level, &k, &sides, 1.0);
        let mut cross = vec![ZERO; k.padded()];
        let product = adjoint(level, &mut ac, &g, &h, &mut cross);
        for i in 0..case.m {
            for j in 0..=i {
                // Number (j, i) moves along.
                let want = moved(&|k, _, step| k.at_mut(i, j).iter_mut().for_each(|v| *v += step));
                let half = if i == j { 0.5 } else { 1.0 };
                let ours = std::array::from_fn(|lane| {
                    half * (ac[i][0][lane] * ac[j][1][lane] + ac[i][1][lane] * ac[j][0][lane])
                });
                assert_near(&ours.into(), &want, &format!("K ({i}, {j}), {}", level.name()));
            }
            let want = moved(&|_, sides, step| sides[i][0].iter_mut().for_each(|v| *v += step));
            assert_near(&cross[i], &want, "k");
            let want = moved(&|_, sides, step| sides[i][1].iter_mut().for_each(|v| *v += step));
            assert_near(&ac[i][0].map(|a| 2.0 * a).into(), &want, "y");
        }
        let want = moved(&|k, _, step| {
            (0..case.m).for_each(|i| k.at_mut(i, i).iter_mut().for_each(|v| *v += step));
        });
        assert_near(&product, &want, "noise");
    }
}

#[test]
fn equal_rows_without_noise_get_jitter_in_their_lane_alone() {
    for level in Level::available() {
        let case = Case::new(Kernel::Matern32, 8);
        let mut locals = case.locals(level, &Q);
        let right = locals.predict(1.0, 0.0).unwrap();
        let [u, v, y] = [0, 1, 2].map(|d| case.row(5, 3)[d]);
        locals.begin(5, [u, v]);
        (0..8).for_each(|_| locals.push(5, [u, v], y));
        let said = locals.predict(1.0, 0.0).unwrap();
        for lane in 0..WIDTH {
            let jitter = if lane == 5 { JITTERS[1] } else { 0.0 };
            assert_eq!(said.jitter[lane], jitter, "{}", level.name());
            if lane != 5 {
                assert_eq!((said.mean[lane], said.var[lane]), (right.mean[lane], right.var[lane]));
            }
        }
        assert!((said.mean[5] - y).abs() < 1e-8 && said.var[5] > 0.0 && said.var[5] < 1e-9);
    }
}

#[test]
fn rows_out_of_reach_say_nothing_and_there_is_no_factor_of_what_is_no_number() {
    for kernel in Kernel::ALL {
        let case = Case::new(kernel, 5);
        let mut locals = case.locals(Level::detect(), &Q);
        locals.begin(1, [f64::MAX, f64::NEG_INFINITY]);
        locals.push(1, [-f64::MAX, 0.0], 7.0);
        let mut grad = [ZERO; 5];
        locals.log_density(1.5, 0.5, &Each::splat(1.0), &mut grad).unwrap();
        assert!(grad.iter().all(|each| each.iter().all(|g| g.is_finite())), "{kernel}");
        let said = locals.predict(1.5, 0.5).unwrap();
        assert_eq!((said.mean[1], said.var[1]), (0.0, 2.0), "{kernel}");
        locals.begin(4, [0.0; 2]);
        let said = locals.predict(1.5, 0.5).unwrap();
        assert_eq!((said.mean[4], said.var[4]), (0.0, 2.0), "no rows, {kernel}");
        assert_eq!(locals.predict(f64::NAN, 0.5).unwrap_err(), 0, "{kernel}");
    }
}
