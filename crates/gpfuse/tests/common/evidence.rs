//! The textbook's density with the coefficients of the means integrated out, by dense algebra
//! over [`Dual`]s.
//!
//! The fused mean of a row is linear in the coefficients: `m = B theta`, so with precisions T
//! `y ~ N(0, T^-1 + B B')`. It is computed as `z = T^(1/2) y ~ N(0, I + F F')`, `F = T^(1/2) B`,
//! which is the same and keeps its digits when precisions differ by many orders.

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
    pub(crate) fn log_collapsed(&self, q: &[Dual], hole: Range<usize>) -> Dual {
        let mut bare = q.to_vec();
        bare[hole.clone()].fill(constant(0.0));
        // The prior density of coefficients that are 0 is all theirs that is in it.
        let own = constant(0.5 * hole.len() as f64 * (2.0 * PI).ln());
        let log_prior = self.banks(&bare).log_prior + own;
        let Dense { f, z, log_tau } = self.dense(q, hole);
        // Cholesky's L of I + F F', and L^-1 z, row by row.
        let (mut rows, mut solved): (Vec<Vec<Dual>>, Vec<Dual>) = (Vec::new(), Vec::new());
        let mut value = log_prior;
        let dot = |a: &[Dual], b: &[Dual]| a.iter().zip(b).map(|(a, b)| *a * *b).sum::<Dual>();
        for i in 0..z.len() {
            let mut row: Vec<Dual> = Vec::new();
            for j in 0..i {
                row.push((dot(&f[i], &f[j]) - dot(&row, &rows[j])) / rows[j][j]);
            }
            let pivot = (constant(1.0) + dot(&f[i], &f[i]) - dot(&row, &row)).sqrt();
            solved.push((z[i] - dot(&row, &solved)) / pivot);
            row.push(pivot);
            rows.push(row);
            value = value + (log_tau[i] - solved[i].square()) * 0.5 - pivot.ln();
            value = value - constant(0.5 * (2.0 * PI).ln());
        }
        value
    }
}
