//! A GP conditioned on data: prediction, log marginal likelihood, leave-one-out.

use std::collections::HashMap;

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use super::covariance::{cross, fill};
use super::evidence::vary;
use super::hyper::Hyper;
use super::inputs::Inputs;
use super::{LARGEST_EXACT_GP, factor};
use crate::kernel::Kernel;
use crate::math::HALF_LN_TWO_PI;
use crate::math::simd::Level;
use crate::{Error, Result};

/// New rows whose covariances are held at one time.
const BLOCK: usize = 128;

/// A GP conditioned on rows. It is a function of its kernel, hyperparameters and rows: those are
/// all that a file must keep.
#[derive(Debug, Clone)]
pub struct Gp {
    kernel: Kernel,
    hyper: Hyper,
    x: Vec<f64>,
    y: Vec<f64>,
    /// The noise of each row in units of the noise; empty where all have the same.
    relative: Vec<f64>,
    scaled: Inputs,
    /// The Cholesky factor of the covariance of the rows.
    l: Vec<f64>,
    /// `K^-1 (y - mean)`.
    alpha: Vec<f64>,
    log_marginal: f64,
}

/// Means and standard deviations, one per row.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The means.
    pub mean: Vec<f64>,
    /// The standard deviations, all positive.
    pub sd: Vec<f64>,
}

/// Refuse rows that are none, too many, out of shape or not finite; the number of rows.
pub(super) fn check_rows(x: &[f64], inputs: usize, y: &[f64]) -> Result<usize> {
    let n = y.len();
    if inputs == 0 {
        return Err(Error::Data("a GP needs at least one input column".into()));
    }
    if n == 0 {
        return Err(Error::Data("there are no rows: a GP needs at least one".into()));
    }
    check_shape(x, inputs, n)?;
    match y.iter().position(|v| !v.is_finite()) {
        Some(row) => {
            let problem = format!("row {}: the target is {}: drop the row", row + 1, y[row]);
            Err(Error::Data(problem))
        }
        None => Ok(n),
    }
}

/// Refuse rows that an exact GP has no room for.
pub(super) fn check_exact(n: usize) -> Result<()> {
    if n > LARGEST_EXACT_GP {
        let problem =
            format!("{n} rows are too many for an exact GP: give at most {LARGEST_EXACT_GP}");
        return Err(Error::Data(problem));
    }
    Ok(())
}

/// Refuse inputs that are out of shape or not finite.
pub(super) fn check_shape(x: &[f64], inputs: usize, rows: usize) -> Result<()> {
    if x.len() != rows * inputs {
        return Err(Error::Shape {
            what: "inputs".into(),
            expected: format!("{rows} rows of {inputs} numbers"),
            found: format!("{} numbers", x.len()),
        });
    }
    match x.iter().position(|v| !v.is_finite()) {
        Some(at) => {
            let (row, input) = (at / inputs + 1, at % inputs + 1);
            let problem = format!("row {row}, input {input} is {}: drop the row", x[at]);
            Err(Error::Data(problem))
        }
        None => Ok(()),
    }
}

impl Gp {
    /// Condition on the rows `x` (row-major, n x inputs) and `y`.
    pub fn condition(
        kernel: Kernel,
        hyper: Hyper,
        x: &[f64],
        inputs: usize,
        y: &[f64],
    ) -> Result<Gp> {
        Gp::noisy(kernel, hyper, x, inputs, y, Vec::new())
    }

    /// The same where each row has noise of its own, in units of the noise.
    pub(crate) fn noisy(
        kernel: Kernel,
        hyper: Hyper,
        x: &[f64],
        inputs: usize,
        y: &[f64],
        relative: Vec<f64>,
    ) -> Result<Gp> {
        let n = check_rows(x, inputs, y)?;
        check_exact(n)?;
        hyper.check(inputs)?;
        let scaled = Inputs::new(x, &hyper.ell)?;
        let (level, stride, var) = (Level::detect(), scaled.stride(), hyper.var);
        let mut l = vec![0.0; n * stride];
        let fill = |k: &mut [f64], diagonal| {
            fill(level, kernel, &scaled, var, diagonal, k, &mut []);
            vary(k, stride, hyper.noise, &relative);
        };
        let mut scratch = factor::scratch(n);
        factor::factor(&mut l, n, stride, var + hyper.noise, &mut scratch, fill).map_err(
            |row| {
                Error::Data(format!(
                    "row {} cannot be told from the rows before it under var = {var}, noise = {}: \
                 drop repeated rows or raise the noise",
                    row + 1,
                    hyper.noise
                ))
            },
        )?;
        let mut alpha = vec![0.0; stride];
        alpha.iter_mut().zip(y).for_each(|(a, y)| *a = y - hyper.mean);
        factor::solve(&l, n, stride, &mut alpha);
        let fit: f64 = alpha.iter().zip(y).map(|(a, y)| (y - hyper.mean) * a).sum();
        let half_log_det = factor::half_log_det(&l, n, stride);
        let log_marginal = -0.5 * fit - half_log_det - n as f64 * HALF_LN_TWO_PI;
        if !log_marginal.is_finite() {
            let problem = format!(
                "the targets are too far from the mean {} for var = {var}, noise = {}: \
                 standardise the target",
                hyper.mean, hyper.noise
            );
            return Err(Error::Data(problem));
        }
        let (x, y) = (x.to_vec(), y.to_vec());
        Ok(Gp { kernel, hyper, x, y, relative, scaled, l, alpha, log_marginal })
    }

    /// The log marginal likelihood of the rows.
    pub fn log_marginal(&self) -> f64 {
        self.log_marginal
    }

    /// Predict at the rows `x` (row-major): the function, or with `noise` a new observation.
    ///
    /// `mean + k'alpha` and `var - |L^-1 k|^2` (Rasmussen and Williams, algorithm 2.1). Where
    /// rounding leaves less of `var` than its last bit, the variance is that bit.
    pub fn predict(&self, x: &[f64], noise: bool) -> Result<Prediction> {
        let (n, stride, inputs) = (self.rows(), self.scaled.stride(), self.inputs());
        let rows = x.len() / inputs;
        check_shape(x, inputs, rows)?;
        let new = Inputs::new(x, &self.hyper.ell)?;
        let (var, level) = (self.hyper.var, Level::detect());
        let extra = if noise { self.hyper.noise } else { 0.0 };
        let mut out = Prediction { mean: Vec::with_capacity(rows), sd: Vec::with_capacity(rows) };
        let mut block = vec![0.0; stride * BLOCK.min(rows)];
        while out.mean.len() < rows {
            let from = out.mean.len();
            let k = &mut block[..stride * BLOCK.min(rows - from)];
            cross(level, self.kernel, &self.scaled, &new, from, var, k);
            for column in k.chunks_exact(stride) {
                let sum: f64 = column[..n].iter().zip(&self.alpha).map(|(k, a)| k * a).sum();
                out.mean.push(self.hyper.mean + sum);
            }
            factor::solve_lower(&self.l, n, stride, k);
            for column in k.chunks_exact(stride) {
                let known: f64 = column[..n].iter().map(|v| v * v).sum();
                out.sd.push(((var - known).max(f64::EPSILON * var) + extra).sqrt());
            }
        }
        Ok(out)
    }

    /// For each row the mean and standard deviation of its target, noise included, given all the
    /// other rows at the same hyperparameters.
    ///
    /// `y_i - alpha_i / K^-1_ii` and `1 / K^-1_ii` (Rasmussen and Williams, equations 5.10 to
    /// 5.12); `K^-1_ii` is the squared length of column i of `L^-1`.
    pub fn leave_one_out(&self) -> Vec<(f64, f64)> {
        let each = |(i, precision): (usize, f64)| {
            (self.y[i] - self.alpha[i] / precision, precision.sqrt().recip())
        };
        self.precisions().into_iter().enumerate().map(each).collect()
    }

    /// The same where rows with the same number in `groups` are left out together.
    ///
    /// With P the block of `K^-1` of a group, its targets have the covariance `P^-1` and the mean
    /// `y - P^-1 alpha` given all other rows.
    ///
    /// # Errors
    /// If there is not one number per row, or a row occurs so often that the block is singular.
    pub fn leave_out(&self, groups: &[usize]) -> Result<Vec<(f64, f64)>> {
        if groups.len() != self.y.len() {
            return Err(Error::Shape {
                what: "groups".into(),
                expected: format!("{}, one per row", self.y.len()),
                found: groups.len().to_string(),
            });
        }
        let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
        groups.iter().enumerate().for_each(|(i, group)| members.entry(*group).or_default().push(i));
        members.retain(|_, rows| rows.len() > 1);
        let mut out = self.leave_one_out();
        if members.is_empty() {
            return Ok(out);
        }
        let (n, stride) = (self.rows(), self.scaled.stride());
        let mut half = vec![0.0; n * stride];
        factor::invert_factor(&self.l, n, stride, &mut half);
        let product = |i: usize, j: usize| -> f64 {
            let from = i.max(j);
            let columns = [i, j].map(|c| &half[c * stride + from..c * stride + n]);
            columns[0].iter().zip(columns[1]).map(|(a, b)| a * b).sum()
        };
        for rows in members.values() {
            let block = Mat::from_fn(rows.len(), rows.len(), |a, b| product(rows[a], rows[b]));
            let factor = block.llt(Side::Lower).map_err(|_| {
                let row = rows[0] + 1;
                Error::Data(format!("row {row} occurs too often to be left out: keep it once"))
            })?;
            let alpha = Mat::from_fn(rows.len(), 1, |a, _| self.alpha[rows[a]]);
            let (shift, cov) =
                (factor.solve(alpha), factor.solve(Mat::<f64>::identity(rows.len(), rows.len())));
            for (a, row) in rows.iter().enumerate() {
                out[*row] = (self.y[*row] - shift[(a, 0)], cov[(a, a)].sqrt());
            }
        }
        Ok(out)
    }

    /// The diagonal of `K^-1`.
    fn precisions(&self) -> Vec<f64> {
        let (n, stride) = (self.rows(), self.scaled.stride());
        let mut half = vec![0.0; n * stride];
        factor::invert_factor(&self.l, n, stride, &mut half);
        let each = |i: usize| half[i * stride + i..i * stride + n].iter().map(|v| v * v).sum();
        (0..n).map(each).collect()
    }

    /// For each row the expected square of its noise given all rows. With d its variance, the noise is
    /// normal with mean `d alpha_i` and variance `d - d^2 K^-1_ii`.
    pub(crate) fn square_noise(&self) -> Vec<f64> {
        let each = |(i, precision): (usize, f64)| {
            let d = self.hyper.noise * self.relative.get(i).copied().unwrap_or(1.0);
            (d * self.alpha[i]).powi(2) + (d - d * d * precision).max(0.0)
        };
        self.precisions().into_iter().enumerate().map(each).collect()
    }

    /// The sum of the log densities of all targets, each given the other rows.
    pub fn leave_one_out_score(&self) -> f64 {
        let log_density = |(y, (mean, sd)): (&f64, (f64, f64))| {
            -0.5 * ((y - mean) / sd).powi(2) - sd.ln() - HALF_LN_TWO_PI
        };
        self.y.iter().zip(self.leave_one_out()).map(log_density).sum()
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The hyperparameters.
    pub fn hyper(&self) -> &Hyper {
        &self.hyper
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.hyper.ell.len()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.y.len()
    }

    /// The inputs it is conditioned on, row-major.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The targets it is conditioned on.
    pub fn y(&self) -> &[f64] {
        &self.y
    }
}
