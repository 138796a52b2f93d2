//! Starting points made from the data: lengthscales that the rows resolve, and functions that fit
//! the rows by ridge regression.
//!
//! A prior draw seldom looks like the data, and a short run from it ends in a mode that was near
//! the draw. Here hyperparameters are drawn from what the rows and the basis resolve (`scales.rs`)
//! and the coefficients are regressed on the rows given them:
//!
//! * one expert, or a product of experts (`product.rs`): the log sds from the residuals of one
//!   smooth function, the gates from the prior, the means all at once given both;
//! * a mixture (`mixture.rs`): a random split of the rows, a few steps of EM.
//!
//! A start need only be rough: of many rows some are used. Given experts and models
//! on eigenfunctions have no such regression: the first start at prior draws, the second where their pilot
//! says.

mod mixture;
mod product;
mod scales;
mod smoother;

use super::{Collapsed, Model, Posterior, Role};
use crate::Result;
use crate::math::ROWS;
use crate::pool::Pool;
use scales::Scales;
use smoother::Smoother;

/// The most rows that a start is made from, where there are few features.
const MOST_ROWS: usize = 1000;
/// The same where there are many features.
const FEWEST_ROWS: usize = 200;

/// The most numbers in a matrix of features at rows: a start costs less than its pilot.
const LARGEST_MATRIX: usize = 1 << 17;

/// A source of starting points for one posterior.
#[derive(Debug, Clone)]
pub struct Starter {
    /// With few enough rows.
    posterior: Posterior,
    /// Where the means are Gaussian given all else.
    collapsed: Option<Collapsed>,
    scales: Scales,
    /// The targets.
    y: Vec<f64>,
}

impl Starter {
    /// For starts of the chains of `posterior`.
    pub fn new(posterior: &Posterior) -> Result<Starter> {
        let few = LARGEST_MATRIX / posterior.model().basis().features();
        let posterior = posterior.thinned(few.clamp(FEWEST_ROWS, MOST_ROWS))?;
        let (model, data) = (posterior.model().clone(), posterior.data());
        let y = (0..data.rows.len()).map(|r| data.target(r / ROWS)[r % ROWS]).collect();
        let scales = Scales::new(&data.rows, model.basis().features());
        let gaussian = model.experts() == 1 || model.pool() == Pool::LogLinear;
        let collapsed = (regressed(&model) && gaussian)
            .then(|| Collapsed::new(posterior.clone()))
            .transpose()?;
        Ok(Starter { collapsed, scales, y, posterior })
    }

    /// A starting point, from standard normal numbers. Where a regression fails its coefficients
    /// are those of a prior draw.
    pub fn draw(&self, normal: &mut dyn FnMut() -> f64) -> Vec<f64> {
        let model = self.posterior.model();
        let mut q = model.prior_draw(&mut *normal);
        if !regressed(model) {
            return q;
        }
        self.hyperparameters(&mut q, normal);
        match &self.collapsed {
            Some(collapsed) => self.product(collapsed.clone(), &mut q, normal),
            None => self.mixture(&mut q, normal),
        };
        q
    }

    /// Draw all variances and lengthscales. The variances of the means are of the order of the
    /// target's, those of the others of the order of the prior's scale.
    fn hyperparameters(&self, q: &mut [f64], normal: &mut dyn FnMut() -> f64) {
        let (layout, priors) = (self.posterior.model().layout(), self.posterior.model().priors());
        for bank in &layout.banks {
            let prior = priors.of(bank.role);
            let usual = match bank.role {
                Role::Mu => spread(&self.y).powi(2),
                _ => prior.var,
            };
            for k in 0..bank.count {
                let gp = layout.gp_grad(bank, k, q);
                let var = usual * (0.5 * normal()).exp();
                *gp.log_var = var.clamp(0.05 * prior.var, 2.0 * prior.var).ln();
                self.scales.draw(2.0 * prior.ell, normal, gp.log_ell);
            }
        }
    }

    /// The ridge regression of GP `k` with a role, at the hyperparameters in `q`.
    fn smoother(&self, role: Role, k: usize, q: &[f64]) -> Option<Smoother> {
        let layout = self.posterior.model().layout();
        layout.bank(role).map(|bank| Smoother::new(&self.posterior, layout.gp(bank, k, q)))
    }

    /// Put coefficients of GP `k` with a role into `q`.
    fn put(&self, role: Role, k: usize, theta: &[f64], q: &mut [f64]) {
        let layout = self.posterior.model().layout();
        if let Some(bank) = layout.bank(role) {
            layout.gp_grad(bank, k, q).theta.copy_from_slice(theta);
        }
    }
}

/// Whether starts come from regressions.
fn regressed(model: &Model) -> bool {
    model.learned() && model.common().is_none()
}

/// The standard deviation.
fn spread(v: &[f64]) -> f64 {
    let n = v.len() as f64;
    let mean = v.iter().sum::<f64>() / n;
    (v.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// A number uniform on (0, 1): `exp(-(a^2 + b^2) / 2)` of two standard normal ones.
fn uniform(normal: &mut dyn FnMut() -> f64) -> f64 {
    (-0.5 * (normal().powi(2) + normal().powi(2))).exp()
}
