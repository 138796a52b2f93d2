//! The prior of a bank: `var ~ HalfNormal`, `ell ~ HalfNormal`, `theta ~ N(0, 1)`, in the
//! sampling space (`log var`, `log ell`, `theta`). Of a calibration: `log scale ~ N(0, .)`,
//! `floor ~ HalfNormal`, `log tail ~ N(., 1)`, `log blend ~ N(., 1.5)`, `temper ~ N(g, (2 g)^2)`.
//!
//! For `v = e^q` with `v ~ HalfNormal(s)`:
//! `log p(q) = log 2 - log(2 pi)/2 - log s - v^2 / (2 s^2) + q`, the last term being the
//! log-Jacobian, and `d/dq = 1 - v^2 / s^2`.

mod density;

use serde::{Deserialize, Serialize};

pub use density::Prior;

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

/// The prior of what is learned about given experts besides their weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CalibrationPrior {
    /// Standard deviation of the log of an expert's scale, which is 1 in the median.
    pub scale: f64,
    /// Scale of the half-normal prior of the noise floor.
    pub floor: f64,
    /// The median odds of the product's tails against it.
    pub tail: f64,
    /// The median odds of the linear pool against the product.
    pub blend: f64,
    /// Mean and half the standard deviation of the temper.
    pub temper: f64,
}

impl Default for CalibrationPrior {
    fn default() -> Self {
        CalibrationPrior { scale: 0.5, floor: 0.1, tail: 0.02, blend: 0.25, temper: 0.5 }
    }
}

/// A distribution on the sampling space.
#[derive(Debug, Clone, Copy)]
enum Law {
    /// Of the logarithm of a half-normal number.
    LogHalfNormal(f64),
    /// Normal, by mean and standard deviation.
    Normal(f64, f64),
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
    /// Of the calibration of given experts.
    pub calibration: CalibrationPrior,
}

impl Priors {
    /// The scales of the bank with a role.
    pub(super) fn of(&self, role: Role) -> BankPrior {
        match role {
            Role::Common | Role::Contrast | Role::Mu => self.mu,
            Role::LogSd => self.log_sd,
            Role::Gate => self.gate,
        }
    }

    /// Refuse scales that are not positive and finite.
    pub fn check(&self) -> Result<()> {
        let CalibrationPrior { scale, floor, tail, blend, temper } = self.calibration;
        let banks = [Role::Mu, Role::LogSd, Role::Gate].map(|role| (role.name(), self.of(role)));
        let scales = banks.into_iter().flat_map(|(r, p)| [(r, "var", p.var), (r, "ell", p.ell)]);
        let calibration = [
            ("scale", scale),
            ("floor", floor),
            ("tail", tail),
            ("blend", blend),
            ("temper", temper),
        ];
        for (of, name, s) in scales.chain(calibration.map(|(name, s)| ("calibration", name, s))) {
            if !(s.is_finite() && s > 0.0) {
                let problem = format!("{of}.{name} = {s} must be positive");
                return Err(Error::setting("priors", problem));
            }
        }
        Ok(())
    }

    /// The prior of the numbers of a part.
    fn law(&self, part: &Part) -> Law {
        let CalibrationPrior { scale, floor, tail, blend, temper } = self.calibration;
        let bank = part.role.map(|role| self.of(role)).unwrap_or_default();
        match part.kind {
            Kind::Var => Law::LogHalfNormal(bank.var),
            Kind::Ell => Law::LogHalfNormal(bank.ell),
            Kind::Theta => Law::Normal(0.0, 1.0),
            Kind::Scale => Law::Normal(0.0, scale),
            Kind::Floor => Law::LogHalfNormal(floor),
            Kind::Tail => Law::Normal(tail.ln(), 1.0),
            Kind::Blend => Law::Normal(blend.ln(), 1.5),
            Kind::Temper => Law::Normal(temper, 2.0 * temper),
        }
    }

    /// The log prior density of `q`; its gradient is added to `grad`.
    pub(super) fn log_density(&self, layout: &Layout, q: &[f64], grad: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for part in &layout.parts {
            let range = part.offset..part.offset + part.count * part.width;
            let pairs = q[range.clone()].iter().zip(&mut grad[range]);
            match self.law(part) {
                Law::LogHalfNormal(s) => {
                    let constant = std::f64::consts::LN_2 - HALF_LN_TWO_PI - s.ln();
                    for (q, g) in pairs {
                        let ratio = (q.exp() / s).powi(2);
                        sum += constant - 0.5 * ratio + q;
                        *g += 1.0 - ratio;
                    }
                }
                Law::Normal(mean, sd) => {
                    let constant = HALF_LN_TWO_PI + sd.ln();
                    for (q, g) in pairs {
                        let z = (q - mean) / sd;
                        sum += -0.5 * z * z - constant;
                        *g -= z / sd;
                    }
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
                *q = match self.law(part) {
                    Law::LogHalfNormal(s) => (s * normal().abs()).max(f64::MIN_POSITIVE).ln(),
                    Law::Normal(mean, sd) => mean + sd * normal(),
                };
            }
        }
        q
    }
}
