//! Eigenfunctions from a pilot and rows: decomposed, cut to size, centred and made orthogonal.

use faer::linalg::solvers::SelfAdjointEigen;
use faer::{Mat, Side};
use serde::{Deserialize, Serialize};

use super::{Eigen, covariances};
use crate::kernel::Kernel;
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};
use crate::rows::Rows;
use crate::{Error, Result};

/// An eigenvalue below this share of the largest is rounding.
const SMALLEST_SHARE: f64 = 1e-11;

/// A GP whose hyperparameters were found before anything is sampled, on the model's scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    /// Its kernel.
    pub kernel: Kernel,
    /// Its variance.
    pub var: f64,
    /// Its lengthscales, one per input.
    pub ell: Vec<f64>,
}

/// What weighted rows say about the constant and each function: `sum_n w_n` and `d_j`, the precisions
/// of their coefficients under normal noise of variance `1 / w_n`, before the prior's.
pub type Information = Vec<f64>;

/// The eigenvalues of a pilot's covariance of landmarks, falling, and their vectors.
#[derive(Debug, Clone)]
pub struct Decomposition {
    pilot: Pilot,
    /// Divided by the lengthscales, (landmarks, inputs).
    landmarks: Vec<f64>,
    values: Vec<f64>,
    /// In the order of the values.
    vectors: Mat<f64>,
}

impl Decomposition {
    /// Of the covariance of the rows `landmarks` of `rows` under a pilot.
    ///
    /// # Errors
    /// If the covariance has no eigenvalues, as where inputs are too large for its lengthscales.
    pub fn new(pilot: Pilot, rows: &Rows, landmarks: &[usize]) -> Result<Decomposition> {
        let count = landmarks.len();
        let x: Vec<f64> = landmarks.iter().flat_map(|r| rows.row(*r)).collect();
        let ell = pilot.ell.iter().cycle();
        let scaled: Vec<f64> = x.iter().zip(ell).map(|(v, ell)| v / ell).collect();
        let at = Rows::new(&x, rows.inputs())?;
        let mut covariance = Mat::zeros(count, count);
        let mut k = vec![Lanes::splat(0.0); count];
        for b in 0..at.blocks() {
            covariances::covariances(Level::detect(), &pilot, &scaled, at.block(b), &mut k);
            for (j, k) in k.iter().enumerate() {
                for r in 0..at.filled(b) {
                    covariance[(b * ROWS + r, j)] = k[r];
                }
            }
        }
        let found = SelfAdjointEigen::new(covariance.as_ref(), Side::Lower);
        let found = found.map_err(|_| no_eigenvalues())?;
        let all: Vec<f64> = (0..count).rev().map(|j| found.S()[j]).collect();
        let largest = all.first().copied().unwrap_or(0.0);
        if !(largest.is_finite() && largest > 0.0) {
            return Err(no_eigenvalues());
        }
        let kept = all.iter().take_while(|v| **v > SMALLEST_SHARE * largest).count();
        let vectors = Mat::from_fn(count, kept, |i, j| found.U()[(i, count - 1 - j)]);
        Ok(Decomposition { pilot, landmarks: scaled, values: all[..kept].to_vec(), vectors })
    }

    /// The eigenvalues.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The products of `v`, one number per landmark, with each eigenvector.
    pub fn along(&self, v: &[f64]) -> Vec<f64> {
        let each = |j: usize| (0..v.len()).map(|i| self.vectors[(i, j)] * v[i]).sum();
        (0..self.values.len()).map(each).collect()
    }

    /// The first `functions` eigenfunctions, for GPs about `level`; not centred yet.
    pub fn leading(&self, functions: usize, level: f64) -> Eigen {
        let count = functions.clamp(1, self.values.len());
        let mut projection = Vec::with_capacity(count * self.vectors.nrows());
        for (j, value) in self.values[..count].iter().enumerate() {
            let root = value.sqrt();
            projection.extend((0..self.vectors.nrows()).map(|i| self.vectors[(i, j)] / root));
        }
        Eigen {
            pilot: self.pilot.clone(),
            level,
            landmarks: self.landmarks.clone(),
            projection,
            centre: vec![0.0; count],
        }
    }
}

impl Eigen {
    /// All functions at all rows, without the constant, (rows, functions), and what they leave out
    /// there.
    pub fn at(&self, rows: &Rows) -> (Mat<f64>, Vec<f64>) {
        let (level, functions) = (Level::detect(), self.functions());
        let mut out = Mat::zeros(rows.len(), functions);
        let mut block = vec![Lanes::splat(0.0); functions + 1];
        let mut left_out = Vec::with_capacity(rows.len());
        for b in 0..rows.blocks() {
            let (filled, left) = (rows.filled(b), self.features(level, rows, b, &mut block));
            left_out.extend_from_slice(&left[..filled]);
            for (j, phi) in block[1..].iter().enumerate() {
                let column = out.col_as_slice_mut(j);
                column[b * ROWS..b * ROWS + filled].copy_from_slice(&phi[..filled]);
            }
        }
        (out, left_out)
    }

    /// The same space of functions, centred and made orthogonal on rows with weights, and what these rows
    /// say about the constant and each function. `phi` has the present functions at the rows.
    ///
    /// # Errors
    /// If the weights are such that there is no decomposition.
    pub fn orthogonal(self, phi: &Mat<f64>, weight: &[f64]) -> Result<(Eigen, Information)> {
        let (n, functions) = (phi.nrows(), self.functions());
        let all: f64 = weight.iter().sum();
        let mean = |j: usize| {
            phi.col_as_slice(j).iter().zip(weight).map(|(f, w)| f * w).sum::<f64>() / all
        };
        let means: Vec<f64> = (0..functions).map(mean).collect();
        let weighted =
            Mat::from_fn(n, functions, |i, j| weight[i].sqrt() * (phi[(i, j)] - means[j]));
        let gram = weighted.transpose() * &weighted;
        let found =
            SelfAdjointEigen::new(gram.as_ref(), Side::Lower).map_err(|_| no_eigenvalues())?;
        let turn = |j: usize, old: usize| found.U()[(old, functions - 1 - j)];
        let landmarks = self.landmarks();
        let old = Mat::from_fn(functions, landmarks, |i, m| self.projection[i * landmarks + m]);
        let rotation = Mat::from_fn(functions, functions, turn);
        let new = &rotation * &old;
        let places = (0..functions).flat_map(|j| (0..landmarks).map(move |m| (j, m)));
        let projection = places.map(|at| new[at]).collect();
        let centre = (0..functions)
            .map(|j| (0..functions).map(|i| turn(j, i) * (self.centre[i] + means[i])).sum())
            .collect();
        let each = (0..functions).map(|j| found.S()[functions - 1 - j].max(0.0));
        let information = [all].into_iter().chain(each).collect();
        Ok((Eigen { projection, centre, ..self }, information))
    }
}

fn no_eigenvalues() -> Error {
    Error::Data(
        "the covariance of the rows has no eigenvalues: look at the scale of the inputs".into(),
    )
}
