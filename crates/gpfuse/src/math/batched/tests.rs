//! Eight at once beside one at a time by faer, on every instruction set; derivatives beside
//! differences.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rand::RngExt;
use rand_distr::StandardNormal;

use super::*;
use crate::kernel::Kernel;
use crate::math::simd::Level;
use crate::random::{Purpose, stream};

/// Sizes of whole and of partly filled panels, and of one and several groups of panels.
const SIZES: [usize; 13] = [1, 2, 3, 4, 7, 16, 31, 32, 33, 64, 67, 101, 130];

/// Numbers that are not small, and another stream for each size.
fn normals(count: usize, size: usize) -> Vec<f64> {
    let mut rng = stream(17, Purpose::Simulate, size as u64);
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

/// Eight positive definite matrices of condition below a thousand.
fn matrices(m: usize) -> Vec<Mat<f64>> {
    let numbers = normals(WIDTH * m * m, m);
    (0..WIDTH)
        .map(|lane| {
            let half = Mat::from_fn(m, m, |i, j| numbers[(lane * m + i) * m + j]);
            let product = &half * half.transpose();
            Mat::from_fn(m, m, |i, j| product[(i, j)] / m as f64 + if i == j { 0.1 } else { 0.0 })
        })
        .collect()
}

fn interleaved(matrices: &[Mat<f64>]) -> Triangles {
    let m = matrices[0].nrows();
    let mut all = Triangles::new(m);
    for i in 0..m {
        for j in 0..=i {
            *all.at_mut(i, j) = std::array::from_fn(|lane| matrices[lane][(i, j)]).into();
        }
    }
    all
}

fn interleaved_pairs(sides: &[Mat<f64>], padded: usize) -> Vec<Pair> {
    let rows = sides[0].nrows();
    let at =
        |i, s| if i < rows { std::array::from_fn(|lane| sides[lane][(i, s)]) } else { [0.0; 8] };
    (0..padded).map(|i| [at(i, 0).into(), at(i, 1).into()]).collect()
}

#[test]
fn factors_and_solutions_are_those_of_faer() {
    for m in SIZES {
        let matrices = matrices(m);
        let numbers = normals(WIDTH * 2 * m, 1000 + m);
        let sides: Vec<_> = (0..WIDTH)
            .map(|lane| Mat::from_fn(m, 2, |i, s| numbers[(lane * m + i) * 2 + s]))
            .collect();
        for level in Level::available() {
            let mut all = interleaved(&matrices);
            assert_eq!(factor(level, &mut all), [None; WIDTH]);
            let mut halves = interleaved_pairs(&sides, all.padded());
            forward(level, &all, &mut halves);
            let mut whole = halves.clone();
            backward(level, &all, &mut whole);
            for lane in 0..WIDTH {
                let what = format!("{m} rows, lane {lane}, {}", level.name());
                let llt = matrices[lane].llt(Side::Lower).unwrap();
                let l = llt.L();
                for i in 0..m {
                    for j in 0..=i {
                        let ours = all.at(i, j)[lane];
                        let ours = if i == j { 1.0 / ours } else { ours };
                        assert!((ours - l[(i, j)]).abs() < 1e-12, "{what}, ({i}, {j})");
                    }
                }
                let solved = llt.solve(&sides[lane]);
                let size = solved.norm_max();
                for i in 0..m {
                    for s in 0..2 {
                        let mut product = halves[i][s][lane] * l[(i, i)];
                        (0..i).for_each(|j| product += halves[j][s][lane] * l[(i, j)]);
                        assert!((product - sides[lane][(i, s)]).abs() < 1e-12, "{what}, {i}");
                        let error = (whole[i][s][lane] - solved[(i, s)]).abs() / size;
                        assert!(error < 1e-12, "{what}, {i}: {error:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_matrix_without_a_factor_is_named_by_its_row_and_leaves_the_others_as_they_are() {
    for m in [5, 33, 64] {
        let whole = interleaved(&matrices(m));
        for level in Level::available() {
            let mut right = whole.clone();
            factor(level, &mut right);
            let mut wrong = whole.clone();
            wrong.at_mut(m - 2, m - 2)[1] = -1.0;
            wrong.at_mut(m / 2, 1)[3] = f64::NAN;
            wrong.at_mut(0, 0)[4] = 0.0;
            wrong.at_mut(m - 1, m - 1)[6] = f64::INFINITY;
            wrong.at_mut(3, 0)[7] = f64::INFINITY;
            let mut named = [None; WIDTH];
            [named[1], named[3], named[4]] = [Some(m - 2), Some(m / 2), Some(0)];
            [named[6], named[7]] = [Some(m - 1), Some(3)];
            assert_eq!(factor(level, &mut wrong), named, "{m} rows, {}", level.name());
            for i in 0..m {
                for j in 0..=i {
                    for lane in [0, 2, 5] {
                        assert_eq!(wrong.at(i, j)[lane], right.at(i, j)[lane], "({i}, {j})");
                    }
                }
            }
        }
    }
}

/// `f = sum of the log densities` up to constants, with the room that its parts need.
struct Local {
    k: Triangles,
    sides: Vec<Pair>,
    prior: f64,
}

impl Local {
    /// The log density of a target of 0.3 in each lane, and the sides `L^-1 k`, `L^-1 y`.
    fn densities(&self, level: Level) -> (Each, Triangles, Vec<Pair>, Pair) {
        let (mut factors, mut sides) = (self.k.clone(), self.sides.clone());
        assert_eq!(factor(level, &mut factors), [None; WIDTH]);
        forward(level, &factors, &mut sides);
        let both = moments(level, &sides);
        let density = std::array::from_fn(|lane| {
            let (mean, var) = (both[0][lane], self.prior - both[1][lane]);
            -0.5 * (0.3 - mean) * (0.3 - mean) / var - 0.5 * var.ln()
        });
        (density.into(), factors, sides, both)
    }

    /// The adjoints of mean and variance, then what [`adjoint`] makes of them: the sides a and c,
    /// the adjoint of k, and `a'c`.
    fn adjoints(&self, level: Level) -> ([Each; 2], Vec<Pair>, Vec<Each>, Each) {
        let (_, factors, mut sides, both) = self.densities(level);
        backward(level, &factors, &mut sides);
        let (mut g, mut h) = (ZERO, ZERO);
        for lane in 0..WIDTH {
            let (apart, var) = (0.3 - both[0][lane], self.prior - both[1][lane]);
            g[lane] = apart / var;
            h[lane] = 0.5 * (apart * apart / var - 1.0) / var;
        }
        let mut cross = vec![ZERO; sides.len()];
        let product = adjoint(level, &mut sides, &g, &h, &mut cross);
        ([g, h], sides, cross, product)
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
fn adjoints_are_derivatives_in_every_number_of_the_covariance_and_the_sides() {
    let m = 6;
    let sides: Vec<_> = normals(WIDTH * 2 * m, 6)
        .chunks(2 * m)
        .map(|v| Mat::from_fn(m, 2, |i, s| if s == 0 { 0.1 * v[2 * i] } else { v[2 * i + 1] }))
        .collect();
    let local = |edit: &dyn Fn(&mut Local)| {
        let k = interleaved(&matrices(m));
        let sides = interleaved_pairs(&sides, k.padded());
        let mut local = Local { k, sides, prior: 3.0 };
        edit(&mut local);
        local
    };
    for level in Level::available() {
        let ([g, h], ac, cross, product) = local(&|_| ()).adjoints(level);
        let moved = |edit: &dyn Fn(&mut Local, f64)| {
            difference(|step| local(&|l| edit(l, step)).densities(level).0)
        };
        for i in 0..m {
            for j in 0..=i {
                // Number (j, i) moves along.
                let want = moved(&|l, step| l.k.at_mut(i, j).iter_mut().for_each(|v| *v += step));
                let half = if i == j { 0.5 } else { 1.0 };
                let ours = std::array::from_fn(|lane| {
                    half * (ac[i][0][lane] * ac[j][1][lane] + ac[i][1][lane] * ac[j][0][lane])
                });
                assert_near(&ours.into(), &want, &format!("K ({i}, {j}), {}", level.name()));
            }
            let want = moved(&|l, step| l.sides[i][0].iter_mut().for_each(|v| *v += step));
            assert_near(&cross[i], &want, "k");
            let want = moved(&|l, step| l.sides[i][1].iter_mut().for_each(|v| *v += step));
            let ours = std::array::from_fn(|lane| g[lane] * ac[i][0][lane]);
            assert_near(&ours.into(), &want, "y");
        }
        assert_near(&h, &moved(&|l, step| l.prior += step), "v");
        let all = moved(&|l, step| {
            (0..m).for_each(|i| l.k.at_mut(i, i).iter_mut().for_each(|v| *v += step));
        });
        assert_near(&product, &all, "noise");
    }
}

/// GPs on `m` rows of two inputs at `log var`, two `log ell` and `log noise`.
struct Case {
    kernel: Kernel,
    m: usize,
    numbers: Vec<f64>,
}

impl Case {
    fn input(&self, lane: usize, i: usize, d: usize) -> f64 {
        self.numbers[(lane * (self.m + 1) + i) * 3 + d]
    }

    fn rows(&self, q: &[f64; 4]) -> (Rows, Vec<Each>) {
        let mut rows = Rows::new(self.m, 2);
        let scaled = |i: usize, d: usize| -> Each {
            std::array::from_fn(|lane| self.input(lane, i, d) * (-q[1 + d]).exp()).into()
        };
        for i in 0..self.m {
            for d in 0..2 {
                *rows.at_mut(i, d) = scaled(i, d);
            }
        }
        (rows, vec![scaled(self.m, 0), scaled(self.m, 1)])
    }

    /// The local GPs, and the slopes among their rows and to the one row.
    fn local(&self, level: Level, q: &[f64; 4]) -> (Local, Triangles, Vec<Each>) {
        let (rows, row) = self.rows(q);
        let mut k = Triangles::new(self.m);
        let mut among = k.clone();
        squares(level, &rows, &mut k);
        let mut cross = vec![ZERO; k.padded()];
        let mut to = cross.clone();
        squares_to(level, &rows, &row, &mut cross);
        let (var, noise) = (q[0].exp(), q[3].exp());
        covariances(level, self.kernel, var, k.numbers_mut(), among.numbers_mut());
        covariances(level, self.kernel, var, &mut cross, &mut to);
        k.set_diagonal(&Each::splat(var + noise));
        let mut sides = vec![[ZERO; 2]; k.padded()];
        for i in 0..self.m {
            sides[i] = [cross[i], std::array::from_fn(|lane| self.input(lane, i, 2)).into()];
        }
        (Local { k, sides, prior: var + noise }, among, to)
    }
}

#[test]
fn covariances_are_those_of_the_kernel() {
    for kernel in Kernel::ALL {
        let case = Case { kernel, m: 7, numbers: normals(8 * 8 * 3, 8) };
        let q = [0.4, -0.3, 0.2, -2.0];
        for level in Level::available() {
            let (local, _, _) = case.local(level, &q);
            let want = |i: usize, j: usize, lane: usize| {
                let square = |d| {
                    (case.input(lane, i, d) - case.input(lane, j, d)).powi(2)
                        / (2.0 * q[1 + d]).exp()
                };
                q[0].exp() * kernel.covariance(square(0) + square(1))
            };
            for lane in 0..WIDTH {
                for i in 0..case.m {
                    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{kernel} {i}");
                    (0..i).for_each(|j| near(local.k.at(i, j)[lane], want(i, j, lane)));
                    near(local.sides[i][0][lane], want(i, case.m, lane));
                }
            }
        }
        let mut far = [Each::splat(f64::INFINITY), Each::splat(1e300)];
        covariances(Level::detect(), kernel, 1.0, &mut far, &mut []);
        assert_eq!(far, [ZERO; 2], "{kernel}");
    }
}

#[test]
fn the_gradient_in_the_hyperparameters_is_the_derivative() {
    for kernel in Kernel::ALL {
        for m in [3, 9, 34] {
            let case = Case { kernel, m, numbers: normals(WIDTH * (m + 1) * 3, m) };
            let q = [0.4, -0.3, 0.2, -2.0];
            for level in Level::available() {
                let (local, among, to) = case.local(level, &q);
                let ([_, h], sides, cross, product) = local.adjoints(level);
                let explained = local.densities(level).3[1];
                let (rows, row) = case.rows(&q);
                let mut d_log_ell = [ZERO; 2];
                let slopes = Slopes { sides: &sides, among: &among, cross: &cross, to: &to };
                contract(level, &rows, &row, slopes, &mut d_log_ell);
                let noise = q[3].exp();
                let d_log_var = std::array::from_fn(|lane| {
                    h[lane] * (q[0].exp() - explained[lane]) - noise * product[lane]
                });
                let d_log_noise = std::array::from_fn(|lane| noise * (product[lane] + h[lane]));
                let ours = [d_log_var.into(), d_log_ell[0], d_log_ell[1], d_log_noise.into()];
                for (at, ours) in ours.iter().enumerate() {
                    let want = difference(|step| {
                        let mut moved = q;
                        moved[at] += step;
                        case.local(level, &moved).0.densities(level).0
                    });
                    let what = format!("{kernel}, {m} rows, parameter {at}, {}", level.name());
                    assert_near(ours, &want, &what);
                }
            }
        }
    }
}
