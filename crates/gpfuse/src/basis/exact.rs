//! The exact GP, non-centred, on the rows of a small data set: one feature per row.
//!
//! The rows of the fit are the anchors X. A GP with lengthscales ell has there the unit-variance
//! covariance `K = k(X, X) + 1e-8 I = L L'`. With `theta ~ N(0, I)` its values at the anchors are
//! `f = sqrt(var) L theta`: the GP's prior itself, not an approximation. The jitter is part of
//! the model, so that the density is smooth in ell and rows may repeat.
//!
//! At another row, with `phi(x) = L^-1 k(X, x)`,
//! `f(x) = sqrt(var) (phi(x) . theta + sqrt(1 - |phi(x)|^2) e)`, `e ~ N(0, 1)`: the law of f(x)
//! given the values at the anchors (Rasmussen and Williams 2006, equation 2.19). Each row has
//! its own e (`residual.rs`): a prediction is right row by row, and does not know how two new
//! rows vary together. A row whose inputs are those of an anchor has the anchor's value. A single
//! draw, such as a mode, has a single e per row: only many draws together predict well away
//! from the anchors.
//!
//! A gradient costs some n^3 operations per GP, and holds two (n, n) matrices for each. A
//! prediction holds no matrix per draw; it makes K and L anew for each draw, GP and block of
//! rows. That is about as much work as the block's features, which take a solve with L for
//! each row.

mod gram;
mod residual;
mod reverse;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::{MatMut, Par};
use serde::{Deserialize, Serialize};

use super::GpParams;
use crate::kernel::Kernel;
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};
use crate::rows::Rows;
use crate::{Error, Result};
use gram::Points;

/// What is added to the unit variance of each anchor.
pub const JITTER: f64 = 1e-8;

/// The most anchors: the cost of a gradient grows as their cube.
pub const MOST_ANCHORS: usize = 500;

/// A conditional variance below this, of a unit variance, is rounding and taken for 0.
const NO_RESIDUAL: f64 = 1e-9;

/// The exact GP on a set of anchors, shared by all GPs of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exact {
    kernel: Kernel,
    inputs: usize,
    /// The anchors, one column after the other, (inputs, anchors).
    columns: Vec<f64>,
}

/// The parameters of `count` GPs.
#[derive(Debug, Clone, Default)]
pub(super) struct Coefs {
    /// `scale * theta`, (count, anchors).
    coef: Vec<f64>,
    /// `sqrt(var)`, one per GP.
    scale: Vec<f64>,
    /// `1 / ell`, (count, inputs).
    inverse: Vec<f64>,
    /// K, for the gradient alone, (count, anchors, anchors).
    gram: Vec<f64>,
    /// Its L, for the gradient alone.
    factor: Vec<f64>,
    /// The values at the anchors, for the gradient alone, (count, anchors).
    value: Vec<f64>,
    /// What the residuals of each GP are made from.
    key: Vec<u64>,
}

/// What is computed once for a set of rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Cache {
    /// Which anchor each row is.
    places: Vec<Option<usize>>,
    /// What the residuals of the other rows are made from.
    keys: Vec<u64>,
}

/// One thread's working memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    /// Features of the current block, (anchors).
    phi: Vec<Lanes>,
    /// K of a draw that is not kept.
    gram: Vec<f64>,
    /// Its L; or, in the reverse pass, the adjoint of K.
    factor: Vec<f64>,
    /// Its values at the anchors; or the adjoint of theta.
    value: Vec<f64>,
    /// One column of the adjoint of K.
    column: Vec<f64>,
    /// Squared distances to one anchor.
    distance: Vec<f64>,
    /// Derivatives with respect to the log lengthscales, by anchor, (inputs, anchors).
    moment: Vec<f64>,
    /// The rows of a block, one column after the other.
    x: Vec<f64>,
}

impl Exact {
    /// With the rows of `x` (row-major, n x inputs) for anchors: the rows that the model will be
    /// fitted to, in any order.
    pub fn new(kernel: Kernel, x: &[f64], inputs: usize) -> Result<Exact> {
        let rows = Rows::new(x, inputs)?;
        if rows.len() > MOST_ANCHORS {
            let problem = format!(
                "the exact basis takes at most {MOST_ANCHORS} rows, not {}: use `hilbert` or `rff`",
                rows.len()
            );
            return Err(Error::setting("basis", problem));
        }
        let columns = (0..inputs).flat_map(|i| x.iter().skip(i).step_by(inputs).copied());
        Ok(Exact { kernel, inputs, columns: columns.collect() })
    }

    /// The number of anchors.
    pub fn anchors(&self) -> usize {
        self.columns.len() / self.inputs
    }

    /// The anchors as they were given, row-major (anchors, inputs).
    pub fn points(&self) -> Vec<f64> {
        (0..self.anchors()).flat_map(|a| self.anchor(a)).collect()
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The unit-variance covariance of two points.
    pub fn covariance(&self, log_ell: &[f64], a: &[f64], b: &[f64]) -> f64 {
        let part = |i: usize| ((a[i] - b[i]) * (-log_ell[i]).exp()).powi(2);
        self.kernel.covariance((0..self.inputs).map(part).sum())
    }

    fn all(&self) -> Points<'_> {
        Points { columns: &self.columns, stride: self.anchors() }
    }

    fn anchor(&self, a: usize) -> impl Iterator<Item = f64> + '_ {
        self.columns.iter().skip(a).step_by(self.anchors()).copied()
    }

    /// Which anchor each row is. Where the rows are the anchors in their order, repeated rows
    /// keep their own; elsewhere they go to the first.
    fn places(&self, rows: &Rows) -> Vec<Option<usize>> {
        let n = self.anchors();
        let is = |row: usize, a: usize| rows.row(row).eq(self.anchor(a));
        if rows.len() == n && (0..n).all(|a| is(a, a)) {
            return (0..n).map(Some).collect();
        }
        (0..rows.len()).map(|row| (0..n).find(|a| is(row, *a))).collect()
    }

    /// Refuse rows of which one is not an anchor: there is no gradient there.
    pub(super) fn check(&self, rows: &Rows) -> Result<()> {
        match self.places(rows).iter().position(Option::is_none) {
            None => Ok(()),
            Some(row) => Err(Error::Data(format!(
                "row {} is not an anchor of the exact basis: make the basis from the rows that \
                 the model is fitted to",
                rows.origin() + row + 1
            ))),
        }
    }

    pub(super) fn cache(&self, rows: &Rows) -> Cache {
        let keys = (0..rows.len()).map(|row| residual::row_key(rows.row(row))).collect();
        Cache { places: self.places(rows), keys }
    }

    /// Without `adjoint`, no matrices.
    pub(super) fn coefs(&self, count: usize, adjoint: bool) -> Coefs {
        let n = self.anchors();
        let zeros = |n: usize| vec![0.0; count * n];
        let (square, value) = if adjoint { (n * n, n) } else { (0, 0) };
        Coefs {
            coef: zeros(n),
            scale: zeros(1),
            inverse: zeros(self.inputs),
            gram: zeros(square),
            factor: zeros(square),
            value: zeros(value),
            key: vec![0; count],
        }
    }

    pub(super) fn work(&self) -> Work {
        let n = self.anchors();
        let zeros = |n: usize| vec![0.0; n];
        Work {
            phi: vec![Lanes::splat(0.0); n],
            gram: zeros(n * n),
            factor: zeros(n * n),
            value: zeros(n),
            column: zeros(n),
            distance: zeros(n),
            moment: zeros(n * self.inputs),
            x: zeros(ROWS * self.inputs),
        }
    }

    pub(super) fn prepare(&self, level: Level, g: usize, p: GpParams<'_>, coefs: &mut Coefs) {
        let (n, d) = (self.anchors(), self.inputs);
        let scale = (0.5 * p.log_var).exp();
        coefs.scale[g] = scale;
        coefs.key[g] = residual::gp_key(g, p);
        let coef = &mut coefs.coef[g * n..(g + 1) * n];
        coef.iter_mut().zip(p.theta).for_each(|(c, theta)| *c = scale * theta);
        let inverse = &mut coefs.inverse[g * d..(g + 1) * d];
        inverse.iter_mut().zip(p.log_ell).for_each(|(v, log_ell)| *v = (-log_ell).exp());
        if !coefs.factor.is_empty() {
            let square = g * n * n..(g + 1) * n * n;
            let (gram, factor) = (&mut coefs.gram[square.clone()], &mut coefs.factor[square]);
            self.decompose(level, inverse, gram, factor);
            multiply(factor, coef, &mut coefs.value[g * n..(g + 1) * n]);
        }
    }

    /// K above the diagonal of `gram`, and its L on and below the diagonal of `factor`. Where
    /// there is none, for lengthscales that are no numbers, L is NaN, and so is the density.
    fn decompose(&self, level: Level, inverse: &[f64], gram: &mut [f64], factor: &mut [f64]) {
        let n = self.anchors();
        let anchors = self.all();
        for b in 0..n {
            let column = &mut gram[b * n..b * n + b];
            gram::covariances(level, self.kernel, anchors, anchors, b, inverse, column);
            for (a, k) in column.iter().enumerate() {
                factor[a * n + b] = *k;
            }
            factor[b * n + b] = 1.0 + JITTER;
        }
        let square = MatMut::from_column_major_slice_mut(&mut *factor, n, n);
        let need = cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(need);
        let (stack, params) = (MemStack::new(&mut memory), Default::default());
        if cholesky_in_place(square, Default::default(), Par::Seq, stack, params).is_err() {
            factor.fill(f64::NAN);
        }
    }

    pub(super) fn forward(
        &self,
        level: Level,
        rows: &Rows,
        b: usize,
        cache: &Cache,
        coefs: &Coefs,
        work: &mut Work,
        f: &mut [Lanes],
    ) {
        let (n, d) = (self.anchors(), self.inputs);
        let block = b * ROWS..b * ROWS + rows.filled(b);
        let (places, keys) = (&cache.places[block.clone()], &cache.keys[block]);
        let elsewhere = places.iter().any(Option::is_none);
        for (x, column) in work.x.chunks_mut(ROWS).zip(rows.block(b)) {
            x.copy_from_slice(&column[..]);
        }
        for (g, f) in f.iter_mut().enumerate() {
            let coef = &coefs.coef[g * n..(g + 1) * n];
            let inverse = &coefs.inverse[g * d..(g + 1) * d];
            let (factor, value) = if coefs.factor.is_empty() {
                self.decompose(level, inverse, &mut work.gram, &mut work.factor);
                multiply(&work.factor, coef, &mut work.value);
                (&work.factor[..], &work.value[..])
            } else {
                (&coefs.factor[g * n * n..(g + 1) * n * n], &coefs.value[g * n..(g + 1) * n])
            };
            let mut norm = Lanes::splat(1.0);
            if elsewhere {
                for (a, phi) in work.phi.iter_mut().enumerate() {
                    let (x, out) = (Points { columns: &work.x, stride: ROWS }, &mut phi[..]);
                    gram::covariances(level, self.kernel, x, self.all(), a, inverse, out);
                }
                gram::solve(level, factor, &mut work.phi);
                gram::values(level, coef, &work.phi, f, &mut norm);
            }
            for (r, (place, key)) in places.iter().zip(keys).enumerate() {
                let left = 1.0 - norm[r];
                match place {
                    Some(a) => f[r] = value[*a],
                    None if left > NO_RESIDUAL => {
                        let e = residual::normal(coefs.key[g], *key);
                        f[r] += coefs.scale[g] * left.sqrt() * e;
                    }
                    None => {}
                }
            }
            // The padding repeats the block's first row.
            let first = f[0];
            f[places.len()..].fill(first);
        }
    }
}

/// `out = L v`.
fn multiply(factor: &[f64], v: &[f64], out: &mut [f64]) {
    let n = v.len();
    out.fill(0.0);
    for (j, v) in v.iter().enumerate() {
        for (out, l) in out[j..].iter_mut().zip(&factor[j * n + j..(j + 1) * n]) {
            *out += l * v;
        }
    }
}
