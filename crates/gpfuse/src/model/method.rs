//! The named methods, each a choice of experts, gate and pool.

use serde::{Deserialize, Serialize};

use super::Gate;
use crate::named::named;
use crate::pool::Pool;

/// A method by its name in the literature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Bayesian hierarchical stacking: given experts, linear pool.
    Bhs,
    /// Product Bayesian hierarchical stacking: given experts, log-linear pool.
    Pbhs,
    /// Mixture of GP experts: learned experts, linear pool.
    Mogpe,
    /// Product of GP experts: learned experts, log-linear pool.
    Pogpe,
    /// One heteroscedastic GP.
    Het,
    /// One exact GP: the fusion of one expert, with nothing that is sampled.
    Gp,
}

named! {
    Method, "method",
    Bhs => "bhs",
    Pbhs => "pbhs",
    Mogpe => "mogpe",
    Pogpe => "pogpe",
    Het => "het",
    Gp => "gp",
}

/// What a method is made of.
pub(super) struct Parts {
    pub(super) pool: Pool,
    pub(super) gate: Gate,
    pub(super) learned: bool,
}

impl Method {
    /// Whether the experts are learned with the weights, and not given.
    pub fn learns_experts(self) -> bool {
        self.parts().learned
    }

    /// Whether it learns weights for experts that are there first.
    pub fn stacks(self) -> bool {
        matches!(self, Method::Bhs | Method::Pbhs)
    }

    /// Whether it has one expert, whatever number is asked for.
    pub fn is_single(self) -> bool {
        matches!(self, Method::Het | Method::Gp)
    }

    pub(super) fn parts(self) -> Parts {
        let (pool, gate, learned) = match self {
            Method::Bhs | Method::Gp => (Pool::Linear, Gate::Softmax, false),
            Method::Pbhs => (Pool::LogLinear, Gate::Free, false),
            Method::Mogpe | Method::Het => (Pool::Linear, Gate::Softmax, true),
            Method::Pogpe => (Pool::LogLinear, Gate::Free, true),
        };
        Parts { pool, gate, learned }
    }
}
