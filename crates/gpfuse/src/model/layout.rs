//! The parameter vector by name: which numbers belong to which bank, GP and role.
//!
//! A **bank** is `count` independent GPs on one basis. In the flat vector each bank
//! holds `log var` (count), then `log ell` (count, inputs), then `theta` (count, features). The
//! calibration of given experts, where a model has one, stands last.

use serde::{Deserialize, Serialize};

use crate::basis::{GpGrad, GpParams};

/// What the GPs of a bank model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A mean that the experts share.
    Common,
    /// What the experts' means differ by from the shared one.
    Contrast,
    /// The experts' means, where each has its own.
    Mu,
    /// The experts' log standard deviations.
    LogSd,
    /// The gates: unnormalised log weights.
    Gate,
}

impl Role {
    /// The name used in files: `common`, `contrast`, `mu`, `log_sd`, `gate`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Common => "common",
            Role::Contrast => "contrast",
            Role::Mu => "mu",
            Role::LogSd => "log_sd",
            Role::Gate => "gate",
        }
    }
}

/// What a parameter of a GP is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The variance; the flat vector holds its logarithm.
    Var,
    /// A lengthscale; the flat vector holds its logarithm.
    Ell,
    /// A coefficient before scaling.
    Theta,
    /// The factor on a given expert's standard deviation; the flat vector holds its logarithm.
    Scale,
    /// The noise floor under the product; the flat vector holds its logarithm.
    Floor,
    /// The odds of the product's tails against it; the flat vector holds their logarithm.
    Tail,
    /// The odds of the linear pool against the product; the flat vector holds their logarithm.
    Blend,
    /// How much more than its precision says the surest expert is trusted.
    Temper,
}

impl Kind {
    /// From the sampling space to the natural scale.
    pub fn natural(self, q: f64) -> f64 {
        match self {
            Kind::Theta | Kind::Temper => q,
            _ => q.exp(),
        }
    }

    /// Back to the sampling space.
    pub fn sampled(self, natural: f64) -> f64 {
        match self {
            Kind::Theta | Kind::Temper => natural,
            _ => natural.ln(),
        }
    }
}

/// `count` GPs with one role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bank {
    /// What they model.
    pub role: Role,
    /// How many.
    pub count: usize,
    /// Their constant prior mean.
    pub mean: f64,
    /// Lengthscales per GP; none where they are not sampled.
    pub lengthscales: usize,
    /// Features per GP.
    pub features: usize,
    /// Where their parameters start in the flat vector.
    pub offset: usize,
    /// The number of the bank's first GP among all GPs of the model.
    pub first: usize,
}

/// The banks of a model and their places in the flat vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The banks in order.
    pub banks: Vec<Bank>,
    /// The named parts, in the order of the flat vector.
    pub parts: Vec<Part>,
}

/// One named part of the flat vector: `var`, `ell` or `theta` of a bank, or of the calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Name such as `mu_ell`.
    pub name: String,
    /// Where it starts.
    pub offset: usize,
    /// GPs in the bank.
    pub count: usize,
    /// Numbers per GP: 1, inputs or features.
    pub width: usize,
    /// What it is.
    pub kind: Kind,
    /// What the bank models that it belongs to; none for the calibration.
    pub role: Option<Role>,
}

impl Layout {
    /// Banks one after the other; their places are found here.
    pub(super) fn new(mut banks: Vec<Bank>) -> Layout {
        banks.retain(|bank| bank.count > 0);
        let (mut offset, mut first) = (0, 0);
        let mut parts = Vec::new();
        for bank in &mut banks {
            (bank.offset, bank.first) = (offset, first);
            let kinds = [
                ("var", 1, Kind::Var),
                ("ell", bank.lengthscales, Kind::Ell),
                ("theta", bank.features, Kind::Theta),
            ];
            for (name, width, kind) in kinds.into_iter().filter(|kind| kind.1 > 0) {
                let (name, role) = (format!("{}_{name}", bank.role.name()), Some(bank.role));
                parts.push(Part { name, offset, count: bank.count, width, kind, role });
                offset += bank.count * width;
            }
            first += bank.count;
        }
        Layout { banks, parts }
    }

    /// The same, followed by a scale for each of `experts` given experts, the noise floor, the odds
    /// of tails and linear pool, and the temper.
    pub fn calibrated(mut self, experts: usize) -> Layout {
        let kinds = [
            ("scale", experts, Kind::Scale),
            ("floor", 1, Kind::Floor),
            ("tail", 1, Kind::Tail),
            ("blend", 1, Kind::Blend),
            ("temper", 1, Kind::Temper),
        ];
        for (name, count, kind) in kinds {
            let (name, offset) = (name.into(), self.dim());
            self.parts.push(Part { name, offset, count, width: 1, kind, role: None });
        }
        self
    }

    /// The length of the flat vector.
    pub fn dim(&self) -> usize {
        self.parts.last().map_or(0, |p| p.offset + p.count * p.width)
    }

    /// Where the calibration starts in the flat vector, if there is one.
    pub fn calibration(&self) -> Option<usize> {
        self.parts.iter().find(|p| p.role.is_none()).map(|p| p.offset)
    }

    /// The number of GPs in all banks.
    pub fn gps(&self) -> usize {
        self.banks.iter().map(|b| b.count).sum()
    }

    /// The bank with a role, if the model has one.
    pub fn bank(&self, role: Role) -> Option<&Bank> {
        self.banks.iter().find(|b| b.role == role)
    }

    /// The parameters of GP `k` of a bank.
    pub fn gp<'a>(&self, bank: &Bank, k: usize, q: &'a [f64]) -> GpParams<'a> {
        let (ell, theta) = starts(bank);
        GpParams {
            log_var: q[bank.offset + k],
            log_ell: &q[ell + k * bank.lengthscales..][..bank.lengthscales],
            theta: &q[theta + k * bank.features..][..bank.features],
        }
    }

    /// The gradient's places for GP `k` of a bank.
    pub fn gp_grad<'a>(&self, bank: &Bank, k: usize, grad: &'a mut [f64]) -> GpGrad<'a> {
        let (ell, theta) = starts(bank);
        let (head, theta_and_on) = grad.split_at_mut(theta);
        let (var_and_on, ells) = head.split_at_mut(ell);
        GpGrad {
            log_var: &mut var_and_on[bank.offset + k],
            log_ell: &mut ells[k * bank.lengthscales..][..bank.lengthscales],
            theta: &mut theta_and_on[k * bank.features..][..bank.features],
        }
    }
}

/// Where a bank's `log ell` and `theta` start.
fn starts(bank: &Bank) -> (usize, usize) {
    let ell = bank.offset + bank.count;
    (ell, ell + bank.count * bank.lengthscales)
}
