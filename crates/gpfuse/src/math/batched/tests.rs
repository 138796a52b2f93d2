//! Eight at once beside one at a time by faer, on every instruction set.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rand::RngExt;
use rand_distr::StandardNormal;

use super::*;
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
