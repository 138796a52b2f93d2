//! The parameter vector by name: which numbers belong to which bank, GP and role.
//!
//! A **bank** is `count` independent GPs on the model's basis. In the flat vector each bank
//! holds `log var` (count), then `log ell` (count, inputs), then `theta` (count, features). The
//! calibration of given experts, where a model has one, stands last.

use serde::{Deserialize, Serialize};

use crate::basis::{GpGrad, GpParams};

/// What the GPs of a bank model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The experts' means.
    Mu,
    /// The experts' log standard deviations.
    LogSd,
    /// The gates: unnormalised log weights.
    Gate,
}

impl Role {
    /// The name used in files: `mu`, `log_sd`, `gate`.
    pub fn name(self) -> &'static str {
        match self {
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
    /// Inputs per row.
    pub inputs: usize,
    /// Features per GP.
    pub features: usize,
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
    /// Banks of the given roles, counts and means, one after the other.
    pub fn new(banks: &[(Role, usize, f64)], inputs: usize, features: usize) -> Layout {
        let (mut offset, mut first) = (0, 0);
        let (mut list, mut parts) = (Vec::new(), Vec::new());
        let kinds = [("var", 1, Kind::Var), ("ell", inputs, Kind::Ell)];
        for &(role, count, mean) in banks.iter().filter(|b| b.1 > 0) {
            list.push(Bank { role, count, mean, offset, first });
            for (name, width, kind) in kinds.into_iter().chain([("theta", features, Kind::Theta)]) {
                let name = format!("{}_{name}", role.name());
                parts.push(Part { name, offset, count, width, kind, role: Some(role) });
                offset += count * width;
            }
            first += count;
        }
        Layout { banks: list, inputs, features, parts }
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
        let (ell, theta) = self.starts(bank);
        GpParams {
            log_var: q[bank.offset + k],
            log_ell: &q[ell + k * self.inputs..][..self.inputs],
            theta: &q[theta + k * self.features..][..self.features],
        }
    }

    /// The gradient's places for GP `k` of a bank.
    pub fn gp_grad<'a>(&self, bank: &Bank, k: usize, grad: &'a mut [f64]) -> GpGrad<'a> {
        let (ell, theta) = self.starts(bank);
        let (head, theta_and_on) = grad.split_at_mut(theta);
        let (var_and_on, ells) = head.split_at_mut(ell);
        GpGrad {
            log_var: &mut var_and_on[bank.offset + k],
            log_ell: &mut ells[k * self.inputs..(k + 1) * self.inputs],
            theta: &mut theta_and_on[k * self.features..(k + 1) * self.features],
        }
    }

    /// Where a bank's `log ell` and `theta` start.
    fn starts(&self, bank: &Bank) -> (usize, usize) {
        let ell = bank.offset + bank.count;
        (ell, ell + bank.count * self.inputs)
    }
}
