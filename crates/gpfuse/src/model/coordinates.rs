//! Coordinates in which a pilot's posterior is standard normal: what is sampled in place of the
//! coefficients of a shared mean and of log sds on eigenfunctions.
//!
//! Rows with weights say as much about coefficient j as `d_j` observations of unit noise would
//! ([`Information`]), and under normal noise its posterior about the pilot's mean `m_j` has the
//! standard deviation `a_j = 1 / sqrt(1 + d_j)`, independent of all others. With z the coordinate that is
//! sampled and v the variance of the GP in units of the one that the pilot assumed,
//! `theta_j = v^(-w_j / 2) (m_j + a_j z_j)`, `w_j = d_j / (1 + d_j)`.
//!
//! A coefficient that the rows know well (w near 1) makes the same function whatever v is, so that v
//! and it do not fight; one that they know nothing about (w = 0) is standard normal whatever v is, so that
//! v is not tied to hundreds of them: the partial non-centring of Papaspiliopoulos, Roberts and Sköld
//! (2003). The constant, which v does not scale, has w = 0.
//!
//! The density of z is that of theta times `prod_j a_j v^(-w_j / 2)`. With g_j the derivative with respect to
//! theta_j, those of the log density are `d z_j = g_j a_j v^(-w_j / 2)` and
//! `d log v = -sum_j w_j (g_j theta_j + 1) / 2`, besides its own.

use std::ops::Range;
use std::sync::Arc;

use super::{Model, Posterior, Role};
use crate::basis::eigen::Information;
use crate::infer::{Density, DensityError};

/// What a pilot knows about the GPs with one role.
#[derive(Debug, Clone)]
pub struct Knowledge {
    /// The variance of the GP that the pilot assumed.
    pub var: f64,
    /// The mean of each coefficient at that variance.
    pub mean: Vec<f64>,
    /// What the rows say about each.
    pub information: Information,
}

/// The coordinates of a model's GPs.
#[derive(Debug, Clone)]
pub struct Coordinates(Vec<Gp>);

/// Those of one GP.
#[derive(Debug, Clone)]
struct Gp {
    /// Where its log variance is in the parameter vector.
    var: usize,
    /// Where its coefficients are.
    theta: Range<usize>,
    /// The log of the variance that the pilot assumed.
    log_var: f64,
    shift: Vec<f64>,
    scale: Vec<f64>,
    power: Vec<f64>,
    /// The sum of the log scales.
    log_scale: f64,
}

impl Coordinates {
    /// For the shared mean of a model and the log sds of its experts, which have the same pilot; each
    /// of several experts has its share of the rows.
    pub fn new(model: &Model, common: &Knowledge, log_sd: &Knowledge) -> Coordinates {
        let mut gps = Vec::new();
        for bank in &model.layout().banks {
            let (known, share) = match bank.role {
                Role::Common => (common, 1.0),
                Role::LogSd => (log_sd, 1.0 / bank.count as f64),
                _ => continue,
            };
            let each = known.information.iter().enumerate().map(|(j, d)| {
                // The constant is not scaled by the variance.
                let unit = if j == 0 { 1.0 } else { known.var };
                (j, 1.0 / (1.0 + d * unit * share))
            });
            let (scale, power): (Vec<f64>, Vec<f64>) =
                each.map(|(j, s)| (s.sqrt(), if j == 0 { 0.0 } else { 1.0 - s })).unzip();
            for k in 0..bank.count {
                let start = bank.offset
                    + bank.count * (1 + bank.lengthscales)
                    + k * bank.features;
                gps.push(Gp {
                    var: bank.offset + k,
                    theta: start..start + bank.features,
                    log_var: known.var.ln(),
                    shift: known.mean.clone(),
                    log_scale: scale.iter().map(|s| s.ln()).sum(),
                    scale: scale.clone(),
                    power: power.clone(),
                });
            }
        }
        Coordinates(gps)
    }

    /// Turn coordinates into parameters, in place; the log of the determinant.
    fn apply(&self, q: &mut [f64]) -> f64 {
        let mut log_det = 0.0;
        for gp in &self.0 {
            let half = 0.5 * (q[gp.var] - gp.log_var);
            log_det += gp.log_scale;
            for (j, q) in q[gp.theta.clone()].iter_mut().enumerate() {
                log_det -= gp.power[j] * half;
                *q = (-gp.power[j] * half).exp() * (gp.shift[j] + gp.scale[j] * *q);
            }
        }
        log_det
    }

    /// The coordinates of parameters.
    pub fn of(&self, q: &[f64]) -> Vec<f64> {
        let mut z = q.to_vec();
        for gp in &self.0 {
            let half = 0.5 * (q[gp.var] - gp.log_var);
            for (j, z) in z[gp.theta.clone()].iter_mut().enumerate() {
                *z = ((gp.power[j] * half).exp() * *z - gp.shift[j]) / gp.scale[j];
            }
        }
        z
    }

    /// Where a chain starts: a draw from what the pilot takes for the posterior, in coordinates; all
    /// that it knows nothing about as in `q`, a draw from the prior.
    pub fn start(&self, mut q: Vec<f64>, mut normal: impl FnMut() -> f64) -> Vec<f64> {
        for gp in &self.0 {
            q[gp.var] = gp.log_var + START_SD * normal();
            q[gp.theta.clone()].iter_mut().for_each(|z| *z = normal());
        }
        q
    }
}

/// The standard deviation of a log variance about the pilot's, where a chain starts.
const START_SD: f64 = 0.2;

/// A posterior in the coordinates of its pilot.
#[derive(Debug, Clone)]
pub struct Piloted {
    posterior: Posterior,
    coordinates: Arc<Coordinates>,
    q: Vec<f64>,
}

impl Piloted {
    /// Of a posterior.
    pub fn new(posterior: Posterior, coordinates: Arc<Coordinates>) -> Piloted {
        let q = vec![0.0; posterior.model().dim()];
        Piloted { posterior, coordinates, q }
    }

    /// The parameters at coordinates `z`.
    pub fn parameters(&self, z: &[f64]) -> Vec<f64> {
        let mut q = z.to_vec();
        self.coordinates.apply(&mut q);
        q
    }
}

impl Density for Piloted {
    fn dim(&self) -> usize {
        self.q.len()
    }

    fn with_threads(self, threads: usize) -> Piloted {
        Piloted { posterior: self.posterior.with_threads(threads), ..self }
    }

    fn logp(&mut self, z: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        self.q.copy_from_slice(z);
        let log_det = self.coordinates.apply(&mut self.q);
        let logp = self.posterior.logp(&self.q, grad)? + log_det;
        for gp in &self.coordinates.0 {
            let half = 0.5 * (z[gp.var] - gp.log_var);
            let (mut by_var, thetas) = (0.0, &self.q[gp.theta.clone()]);
            for (j, (g, theta)) in grad[gp.theta.clone()].iter_mut().zip(thetas).enumerate() {
                by_var -= 0.5 * gp.power[j] * (*g * theta + 1.0);
                *g *= gp.scale[j] * (-gp.power[j] * half).exp();
            }
            grad[gp.var] += by_var;
        }
        if logp.is_finite() && grad.iter().all(|g| g.is_finite()) {
            Ok(logp)
        } else {
            Err(DensityError::NotFinite { logp })
        }
    }
}
