//! One row and its neighbours: what a GP that knows only these says about the row, and how that depends on the
//! hyperparameters.
//!
//! The row stands last, after its m neighbours, and `K = var k + noise I = L L'` is of all m + 1. With r the
//! targets of the neighbours less the mean, and 0 for the row itself, the last entry of `L^-1 r` is
//! `-(k'K_m^-1 r) / d`, with `d` the last entry of the diagonal of L, and `d^2` is the variance of the row's
//! target given the others: one factor and one solve give mean and variance.
//!
//! **Gradient** of `log p(y)`, normal with mean `mu` and variance `v = d^2`. With `alpha = K_m^-1 r` and
//! `beta = K_m^-1 k`, `d mu = (dk)'alpha - beta' dK_m alpha` and
//! `d v = d k_ss - 2 (dk)'beta + beta' dK_m beta`. In terms of `u = (beta, -1)` and `a = (alpha, 0)` and the
//! covariance of all m + 1 these are `-u' dK a` and `u' dK u`, so that with `g = d log p / d mu`,
//! `h = d log p / d v` and `w = h u - g a` the derivative is `u' dK w`: a form of rank one, and no inverse is
//! needed. As `K u = (0, -v)`, that of `log var` is `v h - noise u'w`, that of `log noise` is `noise u'w`, and
//! that of the mean is `-g sum(u)`. Both u and a come from solves with the factor:
//! `u = -v K^-1 e` with e the last unit vector, and `a = K^-1 r - (mu / v) u`, mu without the mean.

use faer::dyn_stack::MemBuffer;

use super::Table;
use super::search::Near;
use crate::gp::covariance::fill;
use crate::gp::factor;
use crate::gp::hyper::Hyper;
use crate::gp::inputs::Inputs;
use crate::kernel::Kernel;
use crate::math::simd::{Level, vectorised};
use crate::math::wide::Wide;
use crate::math::{HALF_LN_TWO_PI, Partial, WIDTH, total};
use crate::{Error, Result};

/// Room for a row and its neighbours, used again for each row.
pub(super) struct Room {
    level: Level,
    kernel: Kernel,
    points: Inputs,
    k: Vec<f64>,
    slopes: Vec<f64>,
    solved: Vec<f64>,
    pair: Vec<f64>,
    sums: Vec<Partial>,
    scratch: MemBuffer,
}

/// Mean and variance of a row's target, and what rounding had to be helped with.
struct Said {
    mean: f64,
    variance: f64,
}

impl Room {
    /// For `inputs` inputs.
    pub(super) fn new(kernel: Kernel, inputs: usize) -> Room {
        Room {
            level: Level::detect(),
            kernel,
            points: Inputs::room(1, inputs),
            k: Vec::new(),
            slopes: Vec::new(),
            solved: Vec::new(),
            pair: Vec::new(),
            sums: vec![[0.0; WIDTH]; inputs],
            scratch: factor::scratch(1),
        }
    }

    /// Make room for so many neighbours and the row itself.
    fn resize(&mut self, neighbours: usize) {
        if self.points.rows() == neighbours + 1 && !self.k.is_empty() {
            return;
        }
        self.points = Inputs::room(neighbours + 1, self.sums.len());
        let stride = self.points.stride();
        self.k = vec![0.0; (neighbours + 1) * stride];
        self.slopes = vec![0.0; (neighbours + 1) * stride];
        self.solved = vec![0.0; 2 * stride];
        self.pair = vec![0.0; 2 * stride];
        self.scratch = factor::scratch(neighbours + 1);
    }

    /// Factor the covariance of the row and its neighbours, and solve for both.
    fn said(
        &mut self,
        hyper: &Hyper,
        table: &Table,
        row: &[f64],
        near: &[Near],
        gradient: bool,
    ) -> Result<Said> {
        self.resize(near.len());
        let (m, d) = (near.len(), table.inputs);
        for (at, (_, row)) in near.iter().enumerate() {
            let row = *row as usize;
            self.points.set(at, &table.x[row * d..(row + 1) * d], &hyper.ell);
        }
        self.points.set(m, row, &hyper.ell);
        let (points, stride) = (&self.points, self.points.stride());
        let (level, kernel, diagonal) = (self.level, self.kernel, hyper.var + hyper.noise);
        let slopes = if gradient { &mut self.slopes[..] } else { &mut [] };
        let jitter = factor::factor(
            &mut self.k,
            m + 1,
            stride,
            diagonal,
            &mut self.scratch,
            |k, diagonal| {
                fill(level, kernel, points, hyper.var, diagonal, k, slopes);
            },
        );
        let jitter = jitter.map_err(|_| {
            let problem =
                "the nearest rows of a row cannot be told from each other: rescale the inputs";
            Error::Data(problem.into())
        })?;
        self.solved.fill(0.0);
        for (at, (_, row)) in near.iter().enumerate() {
            self.solved[at] = table.y[*row as usize] - hyper.mean;
        }
        let last = self.k[m * (stride + 1)];
        factor::solve_lower(&self.k, m + 1, stride, &mut self.solved[..stride]);
        let mean = hyper.mean - self.solved[m] * last;
        let variance = (last * last - jitter).max(hyper.noise).max(f64::EPSILON * hyper.var);
        Ok(Said { mean, variance })
    }

    /// Mean and sd of the target of a row, given its neighbours.
    pub(super) fn predict(
        &mut self,
        hyper: &Hyper,
        table: &Table,
        row: &[f64],
        near: &[Near],
    ) -> Result<(f64, f64)> {
        let said = self.said(hyper, table, row, near, false)?;
        Ok((said.mean, said.variance.sqrt()))
    }

    /// The log density of the target `y` of a row; its gradient in `log var`, each `log ell`, `log noise` and the
    /// mean is added to `grad`.
    pub(super) fn log_density(
        &mut self,
        hyper: &Hyper,
        table: &Table,
        row: usize,
        near: &[Near],
        grad: &mut [f64],
    ) -> Result<f64> {
        let (m, d) = (near.len(), table.inputs);
        let x = &table.x[row * d..(row + 1) * d];
        let Said { mean, variance } = self.said(hyper, table, x, near, true)?;
        let stride = self.points.stride();
        let residual = table.y[row] - mean;
        let g = residual / variance;
        let h = 0.5 * (g * g - 1.0 / variance);
        // K^-1 r, of which the lower half is done, and K^-1 e.
        self.solved[stride + m] = self.k[m * (stride + 1)].recip();
        factor::solve_upper(&self.k, m + 1, stride, &mut self.solved);
        let (from_r, from_e) = self.solved.split_at(stride);
        let (u, w) = self.pair.split_at_mut(stride);
        let known = (mean - hyper.mean) / variance;
        let (mut product, mut sum) = (0.0, 0.0);
        for i in 0..=m {
            u[i] = -variance * from_e[i];
            w[i] = h * u[i] - g * (from_r[i] - known * u[i]);
            product += u[i] * w[i];
            sum += u[i];
        }
        grad[0] += variance * h - hyper.noise * product;
        grad[d + 1] += hyper.noise * product;
        grad[d + 2] -= g * sum;
        let d_log_ell = &mut grad[1..=d];
        contract_pair(self.level, &self.points, u, w, &self.slopes, &mut self.sums, d_log_ell);
        Ok(-0.5 * (residual * g + variance.ln()) - HALF_LN_TWO_PI)
    }
}

vectorised! {
    /// `d_log_ell[d] += -2 sum_(i > j) (u_i w_j + w_i u_j) s_ij (x_id - x_jd)^2`, with the slopes `s`: `u' dK w`.
    fn contract_pair = contract_kernel<wide>(
        x: &Inputs, u: &[f64], w: &[f64], slopes: &[f64], sums: &mut [Partial],
        d_log_ell: &mut [f64],
    );
}

#[inline(always)]
fn contract_kernel<V: Wide>(
    x: &Inputs,
    u: &[f64],
    w: &[f64],
    slopes: &[f64],
    sums: &mut [Partial],
    d_log_ell: &mut [f64],
) {
    /// More groups than a row has neighbours.
    const GROUPS: usize = 16;
    let stride = x.stride();
    let ((u8, _), (w8, _)) = (u.as_chunks::<WIDTH>(), w.as_chunks::<WIDTH>());
    sums.fill([0.0; WIDTH]);
    for j in 0..x.rows() {
        let (slope, _) = slopes[j * stride..(j + 1) * stride].as_chunks::<WIDTH>();
        let (u_j, w_j) = (V::splat(u[j]), V::splat(w[j]));
        let mut at = j / WIDTH;
        while at < stride / WIDTH {
            let len = GROUPS.min(stride / WIDTH - at);
            let mut g = [[0.0; WIDTH]; GROUPS];
            for c in 0..len {
                let both = V::load(&u8[at + c]).mul(w_j);
                let both = V::load(&w8[at + c]).fma(u_j, both);
                both.mul(V::load(&slope[at + c])).store(&mut g[c]);
            }
            for (column, sum) in x.columns().zip(&mut *sums) {
                let (points, _) = column.as_chunks::<WIDTH>();
                let centre = V::splat(column[j]);
                let mut s = V::load(sum);
                for c in 0..len {
                    let apart = V::load(&points[at + c]).sub(centre);
                    s = apart.mul(apart).fma(V::load(&g[c]), s);
                }
                s.store(sum);
            }
            at += len;
        }
    }
    for (d, sum) in d_log_ell.iter_mut().zip(sums) {
        *d -= 2.0 * total(sum);
    }
}
