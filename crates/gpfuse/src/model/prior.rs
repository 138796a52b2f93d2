//! The prior of a bank: `var ~ HalfNormal`, `ell ~ HalfNormal`, `theta ~ N(0, 1)`, in the
//! sampling space (`log var`, `log ell`, `theta`).
//!
//! For `v = e^q` with `v ~ HalfNormal(s)`:
//! `log p(q) = log 2 - log(2 pi)/2 - log s - v^2 / (2 s^2) + q`, the last term being the
//! log-Jacobian, and `d/dq = 1 - v^2 / s^2`.

use serde::{Deserialize, Serialize};

use super::layout::{Kind, Layout, Part, Role};
use crate::math::HALF_LN_TWO_PI;
use crate::{Error, Result};

/// The prior scales of one bank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BankPrior {
    /// Scale of the half-normal prior of the variance.
    pub var: f64,
    /// Scale of the half-normal prior of every lengthscale.
    pub ell: f64,
}

impl Default for BankPrior {
    fn default() -> Self {
        BankPrior { var: 1.0, ell: 1.0 }
    }
}

/// The prior scales of a model.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Priors {
    /// Of the experts' means.
    pub mu: BankPrior,
    /// Of the experts' log standard deviations.
    pub log_sd: BankPrior,
    /// Of the gates.
    pub gate: BankPrior,
}

impl Priors {
    /// The scales of a role.
    pub fn of(&self, role: Role) -> BankPrior {
        match role {
            Role::Mu => self.mu,
            Role::LogSd => self.log_sd,
            Role::Gate => self.gate,
        }
    }

    /// Refuse scales that are not positive and finite.
    pub fn check(&self) -> Result<()> {
        for role in [Role::Mu, Role::LogSd, Role::Gate] {
            let p = self.of(role);
            for (name, s) in [("var", p.var), ("ell", p.ell)] {
                if !(s.is_finite() && s > 0.0) {
                    let problem = format!("{}.{name} = {s} must be positive", role.name());
                    return Err(Error::setting("priors", problem));
                }
            }
        }
        Ok(())
    }

    /// The scale of the half-normal prior of a part, where it has one.
    fn scale(&self, part: &Part) -> Option<f64> {
        match part.kind {
            Kind::Var => Some(self.of(part.role).var),
            Kind::Ell => Some(self.of(part.role).ell),
            Kind::Theta => None,
        }
    }

    /// The log prior density of `q`; its gradient is added to `grad`.
    pub(super) fn log_density(&self, layout: &Layout, q: &[f64], grad: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for part in &layout.parts {
            let range = part.offset..part.offset + part.count * part.width;
            let pairs = q[range.clone()].iter().zip(&mut grad[range]);
            if let Some(s) = self.scale(part) {
                let constant = std::f64::consts::LN_2 - HALF_LN_TWO_PI - s.ln();
                for (q, g) in pairs {
                    let ratio = (q.exp() / s).powi(2);
                    sum += constant - 0.5 * ratio + q;
                    *g += 1.0 - ratio;
                }
            } else {
                for (q, g) in pairs {
                    sum += -0.5 * q * q - HALF_LN_TWO_PI;
                    *g -= q;
                }
            }
        }
        sum
    }

    /// A point of the sampling space drawn from the prior, given a source of standard normal
    /// numbers.
    pub(super) fn draw(&self, layout: &Layout, mut normal: impl FnMut() -> f64) -> Vec<f64> {
        let mut q = vec![0.0; layout.dim()];
        for part in &layout.parts {
            for q in &mut q[part.offset..part.offset + part.count * part.width] {
                *q = match self.scale(part) {
                    Some(s) => (s * normal().abs()).max(f64::MIN_POSITIVE).ln(),
                    None => normal(),
                };
            }
        }
        q
    }
}
