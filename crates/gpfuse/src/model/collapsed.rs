//! The posterior density with the coefficients of the experts' means integrated out.
//!
//! The parameters are (h, theta), with theta the coefficients of the means, `N(0, I)` under the
//! prior, and h all else. Under the log-linear pool, and with one expert under the linear one, a
//! row's likelihood is `N(y; sum_k c_k mu_k, 1 / tau)`: with `a_k = log w_k - 2 log sd_k`,
//! `log tau = logsumexp_k a_k` and `c_k = exp(a_k - log tau)`, which depend on h alone. The means
//! are `mu_k = m + scale_k phi_k(x) . theta_k`. So, times `sqrt(tau)`, the rows are a linear
//! regression with unit noise, `z = F theta + e`: `z = sqrt(tau) (y - m)`, as the c_k sum to one,
//! and row n of F has `r_k scale_k phi_k(x_n)` in the columns of expert k, `r_k = sqrt(tau) c_k`.
//!
//! **Value.** As `log p(y, theta | h)` is quadratic in theta with Hessian `-A`, `A = I + F'F`, the
//! Laplace approximation about its maximum `psi = A^-1 F'z` is no approximation: with P the length
//! of theta, `log p(y, h) = log p(y, h, psi) + P log(2 pi) / 2 - log(det A) / 2`.
//!
//! **Gradient.** psi moves with h, but `d/d theta log p(y, h, theta)` vanishes there (the envelope
//! theorem): the first term's gradient is that of the plain density with theta held at psi, value
//! and gradient by the plain density itself. Only the determinant is new. Its derivative with
//! respect to F is `D = -F A^-1`, and all that is below it in the graph scales columns or rows of
//! F, or turns a cosine into a sine:
//!
//! * `e_nk = sum_f D_nkf F_nkf` is the derivative with respect to `log r_nk`. As
//!   `log r_k = a_k - log(tau) / 2`, `d a_k = e_k - c_k sum_j e_j / 2`, which joins the plain
//!   density's own derivatives with respect to `log w_k` (+1) and `log sd_k` (-2) before they go
//!   back through gates and GPs;
//! * `sum_n D_nkf F_nkf` is the derivative with respect to the log of a feature's scale, and so to
//!   the variance and, on the Hilbert basis, the lengthscales;
//! * the lengthscales of random features turn their angles ([`Basis`]).
//!
//! That is shorter than the derivative of the normal evidence `N(z; 0, I + F F')` term by term
//! (Rasmussen and Williams 2006, section 2.1), and reuses what is tested elsewhere.
//!
//! **Draws.** A draw of h becomes one of (h, theta) by drawing theta from its normal law given h
//! and y ([`Collapsed::complete`]), or a prediction with theta integrated out (`new_rows.rs`).

mod contract;
mod memory;
mod new_rows;
mod precision;
pub(super) mod regression;

use std::ops::Range;

use super::layout::{Bank, Part};
use super::posterior::Posterior;
use super::{Kind, Model, Role};
use crate::basis::Basis;
use crate::basis::weighted::Weighted;
use crate::infer::{Density, DensityError};
use crate::math::{HALF_LN_TWO_PI, Lanes, ROWS};
use crate::pool::Pool;
use crate::{Error, Result};
pub(crate) use new_rows::Law;
use regression::Regression;

/// The density of all parameters but the coefficients of the means.
#[derive(Debug, Clone)]
pub struct Collapsed {
    posterior: Posterior,
    /// The bank of the means.
    bank: Bank,
    /// Where its coefficients are in the full vector.
    hole: Range<usize>,
    regression: Regression,
    /// The full vector.
    q: Vec<f64>,
    /// Its gradient.
    grad: Vec<f64>,
    /// The shares `c_k`, (blocks, experts).
    share: Vec<Lanes>,
    /// The weights `r_k` of one block, (experts).
    weight: Vec<Lanes>,
    /// The determinant's derivatives with respect to `a_k`, (blocks, experts).
    by_row: Vec<Lanes>,
    /// Those with respect to the log scales of features, (experts, features).
    by_feature: Vec<f64>,
}

/// The bank of the means and its coefficients, of a model that is Gaussian in them; of any other
/// what it lacks for that.
fn means(model: &Model) -> std::result::Result<(Bank, &Part), &'static str> {
    let layout = model.layout();
    let theta = |p: &&Part| p.role == Some(Role::Mu) && p.kind == Kind::Theta;
    match (layout.bank(Role::Mu), layout.parts.iter().find(theta), model.basis()) {
        _ if model.learned() && matches!(model.basis(), Basis::Eigen(_)) => {
            Err("the rff or hilbert basis")
        }
        (None, ..) | (_, None, _) => Err("experts that are learned with the weights"),
        _ if model.pool() != Pool::LogLinear && model.experts() > 1 => {
            Err("pogpe, or a single expert")
        }
        (Some(bank), Some(part), _) => Ok((*bank, part)),
    }
}

impl Collapsed {
    /// What a model lacks for its density to be collapsed, if anything.
    pub(crate) fn lacks(model: &Model) -> Option<&'static str> {
        means(model).err()
    }

    /// From the plain density, of a model that is Gaussian in the means of its experts.
    pub fn new(posterior: Posterior) -> Result<Collapsed> {
        let refuse = |need| Error::setting("density", format!("collapsed needs {need}: use plain"));
        let model = posterior.model().clone();
        let (bank, part) = means(&model).map_err(refuse)?;
        let (rows, features) = (posterior.rows(), part.count * part.width);
        let lanes = |n: usize| vec![Lanes::splat(0.0); n];
        let (experts, blocks) = (model.experts(), rows.div_ceil(ROWS));
        Ok(Collapsed {
            bank,
            hole: part.offset..part.offset + features,
            regression: Regression::new(rows, features),
            q: vec![0.0; model.dim()],
            grad: vec![0.0; model.dim()],
            share: lanes(blocks * experts),
            weight: lanes(experts),
            by_row: lanes(blocks * experts),
            by_feature: vec![0.0; features],
            posterior,
        })
    }

    /// The plain density.
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// A full vector without the coefficients of the means.
    pub fn shorten(&self, q: &[f64]) -> Vec<f64> {
        [&q[..self.hole.start], &q[self.hole.end..]].concat()
    }

    /// The full vector of `h` and a draw of the coefficients from their law given `h` and the
    /// data, made from standard normal numbers; from zeros, their mean. Nothing where the density
    /// cannot be had at `h`.
    pub fn complete(&mut self, h: &[f64], normal: impl FnMut() -> f64) -> Option<Vec<f64>> {
        self.regress(h)?;
        self.regression.draw(normal)?;
        self.q[self.hole.clone()].copy_from_slice(&self.regression.theta);
        Some(self.q.clone())
    }

    /// Set up the regression at `h` and solve it; half the log determinant.
    fn regress(&mut self, h: &[f64]) -> Option<f64> {
        let Collapsed { posterior, bank, hole, regression, q, share, weight, .. } = self;
        q[..hole.start].copy_from_slice(&h[..hole.start]);
        q[hole.end..].copy_from_slice(&h[hole.start..]);
        let (experts, features) = (bank.count, hole.len() / bank.count);
        for theta in q[hole.clone()].chunks_mut(features) {
            posterior.model().basis().bare(theta);
        }
        posterior.prepare(q);
        let (on, passes, _) = posterior.split();
        let (scratch, rows) = (&mut passes[0].scratch, &on.data.rows);
        let columns = regression.columns.as_chunks_mut::<ROWS>().0;
        let target = regression.target.as_chunks_mut::<ROWS>().0;
        let mut root = Lanes::splat(0.0);
        for (b, target) in target.iter_mut().enumerate() {
            on.model.experts_on(on.level, rows, b, on.cache, None, on.prepared, scratch);
            let share = &mut share[b * experts..(b + 1) * experts];
            precision::weights(on.level, &scratch.experts, share, weight, &mut root);
            // Rows that only fill the last block count for nothing.
            let filled = rows.filled(b);
            weight.iter_mut().chain([&mut root]).for_each(|w| w[filled..].fill(0.0));
            for (z, (root, y)) in target.iter_mut().zip(root.iter().zip(on.data.target(b).iter())) {
                *z = root * (y - bank.mean);
            }
            let chunks = columns.chunks_mut(features * rows.blocks());
            for (k, (chunk, weight)) in chunks.zip(&*weight).enumerate() {
                let (coefs, work, g) = (&on.prepared.coefs[0], &scratch.work[0], bank.first + k);
                let (basis, cache) = (on.model.basis(), &on.cache.0[0]);
                basis.weighted(on.level, g, rows, b, cache, coefs, work, weight, chunk);
            }
        }
        regression.solve()
    }

    /// The determinant's derivatives by row and by feature.
    fn differentiate(&mut self) {
        self.regression.differentiate();
        let (experts, level) = (self.bank.count, self.posterior.level());
        let Collapsed { regression, by_row, by_feature, share, .. } = self;
        let value = regression.columns.as_chunks::<ROWS>().0;
        let adjoint = regression.adjoint.as_chunks::<ROWS>().0;
        let each = value.len() / experts;
        let features = by_feature.len() / experts;
        let columns = value.chunks(each).zip(adjoint.chunks(each));
        for (k, ((f, d), out)) in columns.zip(by_feature.chunks_mut(features)).enumerate() {
            contract::contract(level, f, d, out, &mut by_row[k..], experts);
        }
        for (d, share) in by_row.chunks_mut(experts).zip(share.chunks(experts)) {
            precision::weights_adjoint(level, share, d);
        }
    }

    /// Add the determinant's gradient with respect to the hyperparameters of the means.
    fn add_hyperparameters(&mut self) {
        let Collapsed { posterior, bank, regression, q, grad, by_feature, .. } = self;
        let (on, ..) = posterior.split();
        let layout = on.model.layout();
        let value = regression.columns.as_chunks::<ROWS>().0;
        let adjoint = regression.adjoint.as_chunks::<ROWS>().0;
        let (each, features) = (value.len() / bank.count, bank.features);
        for k in 0..bank.count {
            let gp = k * each..(k + 1) * each;
            let columns = Weighted {
                value: &value[gp.clone()],
                adjoint: &adjoint[gp],
                by_feature: &by_feature[k * features..(k + 1) * features],
            };
            let (p, grad) = (layout.gp(bank, k, q), layout.gp_grad(bank, k, grad));
            on.model.basis().weighted_adjoint(on.level, p, &on.data.rows, columns, grad);
        }
    }
}

impl Density for Collapsed {
    fn dim(&self) -> usize {
        self.q.len() - self.hole.len()
    }

    fn with_threads(self, threads: usize) -> Collapsed {
        Collapsed { posterior: self.posterior.with_threads(threads), ..self }
    }

    fn logp(&mut self, h: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        let Some(half_log_det) = self.regress(h) else {
            return Err(DensityError::NotFinite { logp: f64::NAN });
        };
        self.differentiate();
        self.q[self.hole.clone()].copy_from_slice(&self.regression.theta);
        let joint = self.posterior.joint(&self.q, &self.by_row, &mut self.grad)?;
        self.add_hyperparameters();
        let logp = joint + self.hole.len() as f64 * HALF_LN_TWO_PI - half_log_det;
        let (before, after) = grad.split_at_mut(self.hole.start);
        before.copy_from_slice(&self.grad[..self.hole.start]);
        after.copy_from_slice(&self.grad[self.hole.end..]);
        if logp.is_finite() && grad.iter().all(|g| g.is_finite()) {
            Ok(logp)
        } else {
            Err(DensityError::NotFinite { logp })
        }
    }
}
