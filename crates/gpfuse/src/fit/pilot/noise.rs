//! The noise of each row before anything is sampled: a GP and the log sds of its rows, each found given
//! the other, a few times.
//!
//! * Given the log sds, the GP says what the square of each row's noise is expected to be, `e2`.
//! * Given these, the coefficients c of the log sd `l = level + f . c` make
//!   `sum_n l_n + e2_n exp(-2 l_n) / 2 + |c|^2 / 2 v` small, by Fisher scoring: the functions f are
//!   orthogonal on the rows, so that its matrix `2 f'f + I / v` is diagonal. The constant has the
//!   prior variance 1.
//!
//! This is the EM algorithm for the mode of the log sds given the GP's hyperparameters, which follow
//! by a few steps of their own climb.

use faer::Mat;

use super::LOG_SD_VAR;
use crate::basis::eigen::{Eigen, Information};
use crate::gp::{self, Gp};
use crate::infer::Monitor;
use crate::model::coordinates::Knowledge;
use crate::rows::Rows;
use crate::{Error, Result};

/// Rounds of GP and noise.
const ROUNDS: usize = 3;
/// Steps of Fisher scoring in each.
const STEPS: usize = 30;
/// How far the log sd of a row may be from the level.
const FARTHEST: f64 = 6.0;

/// A log sd on fixed functions.
#[derive(Debug, Clone)]
pub(super) struct Noise {
    /// The functions, about the log sd of the first GP.
    pub(super) basis: Eigen,
    /// What the rows say about them.
    few: Information,
    /// The coefficients, the constant first.
    coefs: Vec<f64>,
}

impl Noise {
    /// The same noise in all rows.
    pub(super) fn even(basis: Eigen, few: Information) -> Noise {
        let coefs = vec![0.0; few.len()];
        Noise { basis, few, coefs }
    }

    /// The same for `n` rows, of which the present ones are a part.
    pub(super) fn for_rows(mut self, n: usize) -> Noise {
        let more = n as f64 / self.few[0];
        self.few.iter_mut().for_each(|d| *d *= more);
        self
    }

    /// Find the noise of rows and a GP that has it, from one that is near.
    pub(super) fn rounds(
        &mut self,
        gp: Gp,
        rows: &Rows,
        settings: &gp::Checked,
        monitor: &dyn Monitor,
    ) -> Result<Gp> {
        let functions = self.basis.at(rows).0;
        let mut gp = gp;
        for _ in 0..ROUNDS {
            let square = gp.square_noise();
            for _ in 0..STEPS {
                self.score(&functions, &square);
            }
            gp = self.refine(&gp, gp.x(), gp.y(), &functions, settings, monitor)?;
        }
        Ok(gp)
    }

    /// The GP of rows with this noise, found by a climb from one that is near.
    pub(super) fn refine(
        &self,
        near: &Gp,
        x: &[f64],
        y: &[f64],
        functions: &Mat<f64>,
        settings: &gp::Checked,
        monitor: &dyn Monitor,
    ) -> Result<Gp> {
        // In units of the level, which the climb begins at.
        let unit = (2.0 * self.basis.level()).exp();
        let relative: Vec<f64> = (0..y.len()).map(|r| self.variance(functions, r) / unit).collect();
        let hyper = gp::Hyper { noise: unit, ..near.hyper().clone() };
        gp::refine(x, near.inputs(), y, &relative, &hyper, settings, monitor)
    }

    /// The log sd of row `r` less the level.
    fn value(&self, functions: &Mat<f64>, r: usize) -> f64 {
        let each = self.coefs[1..].iter().enumerate().map(|(j, c)| c * functions[(r, j)]);
        (self.coefs[0] + each.sum::<f64>()).clamp(-FARTHEST, FARTHEST)
    }

    /// The variance of row `r`.
    pub(super) fn variance(&self, functions: &Mat<f64>, r: usize) -> f64 {
        (2.0 * (self.basis.level() + self.value(functions, r))).exp()
    }

    /// One step of Fisher scoring.
    fn score(&mut self, functions: &Mat<f64>, square: &[f64]) {
        // The derivative of each row's log density with respect to its log sd, not more than that of a row
        // at two sds.
        let pull = |r: usize| (square[r] / self.variance(functions, r) - 1.0).min(4.0);
        let pulls: Vec<f64> = (0..square.len()).map(pull).collect();
        for (j, c) in self.coefs.iter_mut().enumerate() {
            let at = |r: usize| if j == 0 { 1.0 } else { functions[(r, j - 1)] };
            let prior = if j == 0 { 1.0 } else { 1.0 / LOG_SD_VAR };
            let slope: f64 = pulls.iter().enumerate().map(|(r, pull)| pull * at(r)).sum();
            *c += (slope - prior * *c) / (2.0 * self.few[j] + prior);
        }
    }

    /// What is known about the coefficients of a log sd, as if from normal observations with the mode
    /// that was found.
    pub(super) fn knowledge(&self) -> Knowledge {
        let information: Vec<f64> = self.few.iter().map(|d| 2.0 * d).collect();
        let slope = |(j, c): (usize, &f64)| {
            let var = if j == 0 { 1.0 } else { LOG_SD_VAR };
            c * (1.0 + information[j] * var) / var
        };
        let slope = self.coefs.iter().enumerate().map(slope).collect();
        Knowledge { var: LOG_SD_VAR, information, slope, own: 1.0 }
    }
}

/// Functions made orthogonal on rows with noise of these variances, to which what they leave out and a floor
/// are added, and what is known about their coefficients: d and `F'Wy`.
pub(super) fn orthogonal(
    fine: Eigen,
    rows: &Rows,
    noise: &[f64],
    floor: f64,
    target: &[f64],
) -> Result<(Eigen, Knowledge)> {
    let (phi, left) = fine.at(rows);
    let each = noise.iter().zip(&left);
    let weight: Vec<f64> = each.map(|(noise, left)| 1.0 / (noise + left + floor)).collect();
    let own =
        noise.iter().zip(&weight).map(|(noise, w)| noise * w).sum::<f64>() / noise.len() as f64;
    if !weight.iter().all(|w| w.is_finite()) {
        return Err(Error::Data("the noise of a row is 0: look at the scale of the target".into()));
    }
    let (fine, information) = fine.orthogonal(&phi, &weight)?;
    let phi = fine.at(rows).0;
    let slope = |j: usize| -> f64 {
        let at = |r: usize| if j == 0 { 1.0 } else { phi[(r, j - 1)] };
        (0..target.len()).map(|r| weight[r] * at(r) * target[r]).sum()
    };
    let slope = (0..information.len()).map(slope).collect();
    Ok((fine, Knowledge { var: 1.0, information, slope, own }))
}
