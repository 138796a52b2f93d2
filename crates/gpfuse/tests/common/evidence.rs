//! The textbook's density with the coefficients of the means integrated out, by dense algebra
//! over [`Dual`]s.
//!
//! The fused mean of a row is linear in the coefficients: `m = B theta`, so with precisions T
//! `y ~ N(0, T^-1 + B B')`; and `z = T^(1/2) y ~ N(0, I + F F')` with `F = T^(1/2) B`.

use std::f64::consts::PI;
use std::ops::Range;

use super::dual::{Dual, constant};
use super::textbook::{Textbook, fuse};

/// The regression of one point: F by row, z, and the log precision of each row.
pub(crate) struct Dense {
    pub(crate) f: Vec<Vec<Dual>>,
    pub(crate) z: Vec<Dual>,
    pub(crate) log_tau: Vec<Dual>,
}

impl Textbook {
    /// The regression on the coefficients, whose places in `q` are `hole`.
    pub(crate) fn dense(&self, q: &[Dual], hole: Range<usize>) -> Dense {
        let at = |unit: Option<usize>| -> Vec<(Dual, Dual)> {
            let mut q = q.to_vec();
            q[hole.clone()].fill(constant(0.0));
            if let Some(j) = unit {
                q[hole.start + j] = constant(1.0);
            }
            let banks = self.banks(&q);
            let one = |row: usize| fuse(&self.experts_at(&banks, &self.x[row], row));
            (0..self.y.len()).map(one).collect()
        };
        let columns: Vec<_> = (0..hole.len()).map(|j| at(Some(j))).collect();
        let log_tau: Vec<Dual> = at(None).iter().map(|row| row.1).collect();
        let root = |row: usize| (log_tau[row] * 0.5).exp();
        let f = |row: usize| columns.iter().map(|c| c[row].0 * root(row)).collect();
        Dense {
            f: (0..self.y.len()).map(f).collect(),
            z: (0..self.y.len()).map(|row| root(row) * self.y[row]).collect(),
            log_tau,
        }
    }

    /// The log density of all of `q` but the coefficients.
    ///
    /// The rows of F and z are rotated, one after the other, into a triangle that begins as the
    /// identity, the prior. In the end it is R, `R'R = I + F'F`, and what is left of each z is a
    /// standard normal number: the row's error, predicted from the rows before it. Nothing
    /// cancels, whatever the precisions.
    pub(crate) fn log_collapsed(&self, q: &[Dual], hole: Range<usize>) -> Dual {
        let size = hole.len();
        let mut bare = q.to_vec();
        bare[hole.clone()].fill(constant(0.0));
        // The prior density of coefficients that are 0 is all theirs that is in it.
        let left_out = constant(0.5 * size as f64 * (2.0 * PI).ln());
        let mut value = self.banks(&bare).log_prior + left_out;
        let Dense { f, z, log_tau } = self.dense(q, hole);
        let unit = |i: usize, j: usize| constant(f64::from(u8::from(i == j)));
        let mut triangle: Vec<Vec<Dual>> =
            (0..size).map(|i| (0..=size).map(|j| unit(i, j)).collect()).collect();
        for ((mut row, z), log_tau) in f.into_iter().zip(z).zip(log_tau) {
            row.push(z);
            for (i, line) in triangle.iter_mut().enumerate() {
                let length = (line[i].square() + row[i].square()).sqrt();
                let (cos, sin) = (line[i] / length, row[i] / length);
                for (a, b) in line.iter_mut().zip(&mut row).skip(i) {
                    (*a, *b) = (cos * *a + sin * *b, cos * *b - sin * *a);
                }
            }
            value = value + (log_tau - row[size].square()) * 0.5 - constant(0.5 * (2.0 * PI).ln());
        }
        triangle.iter().enumerate().fold(value, |sum, (i, row)| sum - row[i].ln())
    }

    /// The same from the covariance of y, `T^-1 + B B'`, and its Cholesky factor.
    pub(crate) fn log_collapsed_by_covariance(&self, q: &[Dual], hole: Range<usize>) -> Dual {
        let mut bare = q.to_vec();
        bare[hole.clone()].fill(constant(0.0));
        let left_out = constant(0.5 * hole.len() as f64 * (2.0 * PI).ln());
        let mut value = self.banks(&bare).log_prior + left_out;
        let Dense { f, z, log_tau } = self.dense(q, hole);
        let (mut rows, mut solved): (Vec<Vec<Dual>>, Vec<Dual>) = (Vec::new(), Vec::new());
        let dot = |a: &[Dual], b: &[Dual]| a.iter().zip(b).map(|(a, b)| *a * *b).sum::<Dual>();
        let sd = |i: usize| (-(log_tau[i] * 0.5)).exp();
        for i in 0..z.len() {
            let mut row: Vec<Dual> = Vec::new();
            for j in 0..i {
                let covariance = dot(&f[i], &f[j]) * sd(i) * sd(j);
                row.push((covariance - dot(&row, &rows[j])) / rows[j][j]);
            }
            let variance = (constant(1.0) + dot(&f[i], &f[i])) * sd(i) * sd(i);
            let pivot = (variance - dot(&row, &row)).sqrt();
            solved.push((constant(self.y[i]) - dot(&row, &solved)) / pivot);
            row.push(pivot);
            rows.push(row);
            value = value - solved[i].square() * 0.5 - pivot.ln();
            value = value - constant(0.5 * (2.0 * PI).ln());
        }
        value
    }
}
