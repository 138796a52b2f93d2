//! The noise of each row before anything is sampled: the mean and the log sd of a heteroscedastic GP, each
//! found given the other, a few times.
//!
//! * Given the noise, the coefficients of the mean are normal: with F the functions at the rows and
//!   W one over the rows' variances, precision `A = I + F'WF` and mean `A^-1 F'W y`. So a row
//!   has the expected square residual `e2 = (y - f)^2 + F A^-1 F'`.
//! * Given these, the coefficients g of the log sd make `sum_n l_n + e2_n exp(-2 l_n) / 2 + |g|^2 / 2 v`
//!   small, by Fisher scoring: the functions are orthogonal, so that its matrix `2 F'F + I / v` is diagonal.
//!
//! This is the EM algorithm for the mean of the log sd's posterior.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

use super::LOG_SD_VAR;
use crate::basis::eigen::{Eigen, Information};
use crate::model::coordinates::Knowledge;
use crate::rows::Rows;
use crate::{Error, Result};

/// Rounds of mean and noise.
const ROUNDS: usize = 5;
/// Steps of Fisher scoring in each.
const STEPS: usize = 20;
/// The most rows of these rounds; the noise of the others follows from the functions.
const MOST_ROWS: usize = 2000;
/// How far the log sd of a row may be from the pilot's.
const FARTHEST: f64 = 6.0;

/// What the rounds found.
pub(super) struct Noise {
    /// The shared mean's functions at all rows.
    phi: Mat<f64>,
    /// One over the variance of each row, with what the functions leave out.
    weight: Vec<f64>,
    /// The coefficients of the log sd, the constant first.
    coefs: Vec<f64>,
}

/// Find the noise of each row about `target`, which has the pilot's mean subtracted; `few` is what the rows
/// say about the functions of the log sd.
pub(super) fn rounds(
    fine: &Eigen,
    coarse: &Eigen,
    few: &Information,
    rows: &Rows,
    target: &[f64],
) -> Result<Noise> {
    let (phi, left) = fine.at(rows);
    let gates = coarse.at(rows).0;
    let mut coefs = vec![0.0; few.len()];
    // Evenly spread rows stand for all.
    let n = rows.len();
    let count = n.min(MOST_ROWS);
    let some: Vec<usize> = (0..count).map(|i| i * n / count).collect();
    let per_row = n as f64 / count as f64;
    let weights = |coefs: &[f64], some: &[usize]| -> Vec<f64> {
        let log_sd = |r: usize| coarse.level() + value(&gates, coefs, r).clamp(-FARTHEST, FARTHEST);
        some.iter().map(|r| 1.0 / ((2.0 * log_sd(*r)).exp() + left[*r])).collect()
    };
    for _ in 0..ROUNDS {
        let weight = weights(&coefs, &some);
        let square = residuals(&phi, &some, &weight, per_row, target)?;
        for _ in 0..STEPS {
            score(&gates, few, &some, per_row, &square, coarse.level(), &mut coefs);
        }
    }
    let all: Vec<usize> = (0..n).collect();
    let weight = weights(&coefs, &all);
    Ok(Noise { phi, weight, coefs })
}

/// The constant and the functions at row `r`, times their coefficients.
fn value(functions: &Mat<f64>, coefs: &[f64], r: usize) -> f64 {
    coefs[0] + coefs[1..].iter().enumerate().map(|(j, c)| c * functions[(r, j)]).sum::<f64>()
}

/// The expected square residuals of some rows, each of which stands for `per_row` rows.
fn residuals(
    phi: &Mat<f64>,
    some: &[usize],
    weight: &[f64],
    per_row: f64,
    target: &[f64],
) -> Result<Vec<f64>> {
    let features = phi.ncols() + 1;
    let design = Mat::from_fn(some.len(), features, |i, j| match j {
        0 => 1.0,
        _ => phi[(some[i], j - 1)],
    });
    let weighted =
        Mat::from_fn(some.len(), features, |i, j| (per_row * weight[i]).sqrt() * design[(i, j)]);
    let mut precision = weighted.transpose() * &weighted;
    (0..features).for_each(|j| precision[(j, j)] += 1.0);
    let factor = Llt::new(precision.as_ref(), Side::Lower).map_err(|_| {
        Error::Data("the rows' noise cannot be found: look at the scale of the target".into())
    })?;
    let pull = Mat::from_fn(features, 1, |j, _| {
        (0..some.len()).map(|i| per_row * weight[i] * design[(i, j)] * target[some[i]]).sum()
    });
    let mean = &design * factor.solve(&pull);
    let spread = factor.solve(design.transpose());
    let each = |i: usize| {
        let variance: f64 = (0..features).map(|j| design[(i, j)] * spread[(j, i)]).sum();
        (target[some[i]] - mean[(i, 0)]).powi(2) + variance
    };
    Ok((0..some.len()).map(each).collect())
}

/// One step of Fisher scoring for the coefficients of the log sd.
fn score(
    gates: &Mat<f64>,
    few: &Information,
    some: &[usize],
    per_row: f64,
    square: &[f64],
    level: f64,
    coefs: &mut [f64],
) {
    // Half the derivative of each row's log density with respect to its log sd, at most 2 sds of it.
    let pull = |i: usize| {
        let log_sd = level + value(gates, coefs, some[i]).clamp(-FARTHEST, FARTHEST);
        (square[i] * (-2.0 * log_sd).exp() - 1.0).min(4.0)
    };
    let pulls: Vec<f64> = (0..some.len()).map(pull).collect();
    for (j, c) in coefs.iter_mut().enumerate() {
        let at = |i: usize| if j == 0 { 1.0 } else { gates[(some[i], j - 1)] };
        let prior = if j == 0 { 1.0 } else { 1.0 / LOG_SD_VAR };
        let slope: f64 = (0..some.len()).map(|i| per_row * pulls[i] * at(i)).sum();
        *c += (slope - prior * *c) / (2.0 * few[j] + prior);
    }
}

impl Noise {
    /// The functions of the shared mean made orthogonal under this noise, and what is known about their
    /// coefficients: `F'Wy / (1 + d)` and d.
    pub(super) fn orthogonal(
        &self,
        fine: Eigen,
        rows: &Rows,
        target: &[f64],
    ) -> Result<(Eigen, Knowledge)> {
        let (fine, information) = fine.orthogonal(&self.phi, &self.weight)?;
        let phi = fine.at(rows).0;
        let pull = |at: &dyn Fn(usize) -> f64| -> f64 {
            (0..target.len()).map(|r| self.weight[r] * at(r) * target[r]).sum()
        };
        let slopes = (0..=fine.functions()).map(|j| match j {
            0 => pull(&|_| 1.0),
            _ => pull(&|r| phi[(r, j - 1)]),
        });
        let mean = slopes.zip(&information).map(|(slope, d)| slope / (1.0 + d)).collect();
        Ok((fine, Knowledge { var: 1.0, mean, information }))
    }

    /// What is known about the coefficients of a log sd.
    pub(super) fn log_sd(&self, few: &Information) -> Knowledge {
        let scaled = |(j, c): (usize, &f64)| if j == 0 { *c } else { c / LOG_SD_VAR.sqrt() };
        Knowledge {
            var: LOG_SD_VAR,
            mean: self.coefs.iter().enumerate().map(scaled).collect(),
            information: few.iter().map(|d| 2.0 * d).collect(),
        }
    }
}
