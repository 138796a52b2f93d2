//! Coordinates in which a pilot's posterior is standard normal: what is sampled in place of the
//! coefficients of a shared mean and of log sds on eigenfunctions.
//!
//! The functions are orthogonal on the rows, so that under normal noise the coefficients theta of a GP
//! with variance v are independent given the rows. With `d_j` what the rows say about function j and
//! `b_j = sum_n w_n phi_j(x_n) y_n` ([`Knowledge`]), and all noise `e^c` times what the pilot takes it for,
//! `theta_j ~ N(m_j, a_j^2)`, `a_j^2 = 1 / (1 + d_j v e^(-2c))`, `m_j = b_j sqrt(v) e^(-2c) a_j^2`.
//! The coordinate that is sampled is z, `theta_j = m_j + a_j z_j`. It is standard normal whatever v and c
//! are, as long as the noise of the rows keeps its pattern: neither the variance of a function nor the noise
//! about it is tied to hundreds of coefficients, which is what makes such posteriors hard to sample.
//! It is as if the coefficients were integrated out, at no cost. For the constant, which v does not scale,
//! v is 1; for the coefficients of log sds, about which rows say `2 d_j` (the Fisher information), c is 0.
//! Part of the noise does not follow the log sds: what functions leave out, and the floor. With o the share
//! of the rest in the pilot's noise and k the constant of the log sds about the pilot's,
//! `e^(2c) = o e^(2k) + 1 - o`, whose derivative is `dc/dk = o e^(2 (k - c))`. Of several experts in a mixture k is
//! the mean over them. In a product with free weights, whose constants `u_k` scale its precision,
//! `e^(-2k) = sum_k e^(u_k - 2 l_k) / K`, with derivatives `p_k` for `l_k` and `-p_k / 2` for `u_k`, p the shares of
//! the terms.
//!
//! The density of z is that of theta times `prod_j a_j`. With `w_j = 1 - a_j^2` and g_j the derivative with
//! respect to theta_j, the derivatives of the log density are `d z_j = g_j a_j`,
//! `d log v = sum_j g_j (m_j (1/2 - w_j) - a_j w_j z_j / 2) - w_j / 2` and
//! `d c = sum_j g_j (2 m_j (w_j - 1) + a_j w_j z_j) + w_j`, besides their own.

use std::ops::Range;
use std::sync::Arc;

use super::layout::Bank;
use super::{Gate, Model, Posterior, Role};
use crate::basis::eigen::Information;
use crate::infer::{Density, DensityError};
use crate::pool::Pool;

/// What a pilot knows about the GPs with one role.
#[derive(Debug, Clone)]
pub struct Knowledge {
    /// The variance of such a GP that the pilot takes for usual.
    pub var: f64,
    /// What the rows say about each coefficient, the constant first: `d_j`.
    pub information: Information,
    /// How far they pull it: `b_j`.
    pub slope: Vec<f64>,
    /// The share of the noise that follows the log sds: o.
    pub own: f64,
}

/// The coordinates of a model's GPs.
#[derive(Debug, Clone)]
pub struct Coordinates {
    /// Those of log sds first: the others depend on them.
    gps: Vec<Gp>,
    /// Where the constants of the log sds are in the parameter vector.
    constants: Vec<usize>,
    /// Where those of the gates are, in a product with free weights.
    gates: Vec<usize>,
    /// What the pilot takes them for.
    usual: f64,
    /// The share of the noise that follows them.
    own: f64,
}

/// Those of one GP.
#[derive(Debug, Clone)]
struct Gp {
    /// Where its log variance is in the parameter vector.
    var: usize,
    /// Where its coefficients are.
    theta: Range<usize>,
    /// The log of the variance that the pilot takes for usual.
    log_var: f64,
    information: Information,
    slope: Vec<f64>,
    /// Whether what the rows say depends on the noise.
    noisy: bool,
}

/// One coefficient given variance and noise.
struct Law {
    mean: f64,
    sd: f64,
    /// How much the rows have to say about it, from 0 to 1.
    share: f64,
}

impl Gp {
    /// The law of coefficient `j` at a log variance and a log noise.
    fn law(&self, j: usize, log_var: f64, c: f64) -> Law {
        let c = if self.noisy { c } else { 0.0 };
        // The constant is not scaled by the variance.
        let log_var = if j == 0 { 0.0 } else { log_var };
        let square = 1.0 / (1.0 + self.information[j] * (log_var - 2.0 * c).exp());
        let mean = self.slope[j] * (0.5 * log_var - 2.0 * c).exp() * square;
        Law { mean, sd: square.sqrt(), share: 1.0 - square }
    }
}

/// The standard deviation of a log variance about the pilot's, where a chain starts.
const START_SD: f64 = 0.2;

impl Coordinates {
    /// For the shared mean of a model and the log sds of its experts, each of which has its share of the
    /// rows.
    pub fn new(model: &Model, common: &Knowledge, log_sd: &Knowledge) -> Coordinates {
        let (mut gps, mut constants) = (Vec::new(), Vec::new());
        let banks = &model.layout().banks;
        for role in [Role::LogSd, Role::Common] {
            for bank in banks.iter().filter(|bank| bank.role == role) {
                let (known, noisy) = match role {
                    Role::Common => (common, true),
                    _ => (log_sd, false),
                };
                let share = |v: &[f64]| v.iter().map(|v| v / bank.count as f64).collect();
                for k in 0..bank.count {
                    let head = bank.count * (1 + bank.lengthscales);
                    let start = bank.offset + head + k * bank.features;
                    constants.extend((!noisy).then_some(start));
                    gps.push(Gp {
                        var: bank.offset + k,
                        theta: start..start + bank.features,
                        log_var: known.var.ln(),
                        information: share(&known.information),
                        slope: share(&known.slope),
                        noisy,
                    });
                }
            }
        }
        let usual = gps.first().map_or(0.0, |gp| gp.law(0, 0.0, 0.0).mean);
        let product = model.pool() == Pool::LogLinear && model.gate() == Gate::Free;
        let places = |bank: &Bank| {
            let theta = bank.offset + bank.count * (1 + bank.lengthscales);
            (0..bank.count).map(|k| theta + k * bank.features).collect()
        };
        let free = model.layout().bank(Role::Gate).filter(|_| product);
        Coordinates {
            gps,
            constants,
            gates: free.map_or(Vec::new(), places),
            usual,
            own: common.own,
        }
    }

    /// The log of the noise in units of the pilot's, at parameters; `each` is called with the places of the
    /// parameters that it depends on and its derivatives with respect to them.
    fn noise(&self, q: &[f64], mut each: impl FnMut(usize, f64)) -> f64 {
        let count = self.constants.len().max(1) as f64;
        let own = |k: f64| {
            let grown = self.own * (2.0 * k).exp();
            let square = grown + 1.0 - self.own;
            (0.5 * square.ln(), grown / square)
        };
        if self.gates.is_empty() {
            let k = self.constants.iter().map(|at| q[*at] - self.usual).sum::<f64>() / count;
            let (c, slope) = own(k);
            self.constants.iter().for_each(|at| each(*at, slope / count));
            return c;
        }
        let pairs = || self.constants.iter().zip(&self.gates);
        let term = |(l, u): (&usize, &usize)| q[*u] - 2.0 * (q[*l] - self.usual);
        let top = pairs().map(term).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = pairs().map(|pair| (term(pair) - top).exp()).sum();
        let (c, slope) = own(-0.5 * (top + (sum / count).ln()));
        for (l, u) in pairs() {
            let share = slope * (term((l, u)) - top).exp() / sum;
            each(*l, share);
            each(*u, -0.5 * share);
        }
        c
    }

    /// Turn coordinates into parameters, in place; the log of the determinant.
    fn apply(&self, q: &mut [f64]) -> f64 {
        let mut log_det = 0.0;
        for gp in &self.gps {
            let (log_var, c) = (q[gp.var], if gp.noisy { self.noise(q, |_, _| {}) } else { 0.0 });
            for (j, q) in q[gp.theta.clone()].iter_mut().enumerate() {
                let law = gp.law(j, log_var, c);
                log_det += law.sd.ln();
                *q = law.mean + law.sd * *q;
            }
        }
        log_det
    }

    /// The coordinates of parameters.
    pub fn of(&self, q: &[f64]) -> Vec<f64> {
        let (mut z, c) = (q.to_vec(), self.noise(q, |_, _| {}));
        for gp in &self.gps {
            for (j, z) in z[gp.theta.clone()].iter_mut().enumerate() {
                let law = gp.law(j, q[gp.var], c);
                *z = (*z - law.mean) / law.sd;
            }
        }
        z
    }

    /// Turn the gradient with respect to the parameters `q` into that with respect to the coordinates `z`.
    fn adjoint(&self, z: &[f64], q: &[f64], grad: &mut [f64]) {
        let mut slopes = Vec::new();
        let c = self.noise(q, |at, slope| slopes.push((at, slope)));
        for gp in self.gps.iter().rev() {
            let (mut by_var, mut by_noise) = (0.0, 0.0);
            for (j, at) in gp.theta.clone().enumerate() {
                let Law { mean, sd, share } = gp.law(j, q[gp.var], c);
                let (g, spread) = (grad[at], 0.5 * sd * share * z[at]);
                if j > 0 {
                    by_var += g * (mean * (0.5 - share) - spread) - 0.5 * share;
                }
                by_noise += g * (2.0 * mean * (share - 1.0) + 2.0 * spread) + share;
                grad[at] *= sd;
            }
            grad[gp.var] += by_var;
            if gp.noisy {
                slopes.iter().for_each(|(at, slope)| grad[*at] += slope * by_noise);
            }
        }
    }

    /// Where a chain starts: a draw from what the pilot takes for the posterior, in coordinates; all
    /// that it knows nothing about as in `q`, a draw from the prior.
    pub fn start(&self, mut q: Vec<f64>, mut normal: impl FnMut() -> f64) -> Vec<f64> {
        for gp in &self.gps {
            q[gp.var] = gp.log_var + START_SD * normal();
            q[gp.theta.clone()].iter_mut().for_each(|z| *z = normal());
        }
        q
    }
}

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

    fn usual_steps(&self) -> f64 {
        // In these coordinates the posterior is nearly standard normal.
        31.0
    }

    fn logp(&mut self, z: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        self.q.copy_from_slice(z);
        let log_det = self.coordinates.apply(&mut self.q);
        let logp = self.posterior.logp(&self.q, grad)? + log_det;
        self.coordinates.adjoint(z, &self.q, grad);
        if logp.is_finite() && grad.iter().all(|g| g.is_finite()) {
            Ok(logp)
        } else {
            Err(DensityError::NotFinite { logp })
        }
    }
}
