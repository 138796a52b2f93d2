//! The named methods, each a choice of experts, gate and pool, or a classical rule.

use serde::{Deserialize, Serialize};

use super::Gate;
use crate::baseline::Rule;
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
    /// The rule [`Rule::LinearPool`].
    LinearPool,
    /// The rule [`Rule::Poe`].
    Poe,
    /// The rule [`Rule::GpoeUniform`].
    GpoeUniform,
    /// The rule [`Rule::GpoeEntropy`].
    GpoeEntropy,
    /// The rule [`Rule::GpoeSoftmax`].
    GpoeSoftmax,
    /// The rule [`Rule::Bcm`].
    Bcm,
    /// The rule [`Rule::Rbcm`].
    Rbcm,
    /// The rule [`Rule::Barycentre`].
    Barycentre,
    /// The rule [`Rule::Stacking`].
    Stacking,
    /// The rule [`Rule::PseudoBma`].
    PseudoBma,
    /// The rule [`Rule::PseudoBmaPlus`].
    PseudoBmaPlus,
    /// The rule [`Rule::Bma`].
    Bma,
    /// The rule [`Rule::BestExpert`].
    BestExpert,
}

named! {
    Method, "method",
    Bhs => "bhs",
    Pbhs => "pbhs",
    Mogpe => "mogpe",
    Pogpe => "pogpe",
    Het => "het",
    Gp => "gp",
    LinearPool => "linear-pool",
    Poe => "poe",
    GpoeUniform => "gpoe-uniform",
    GpoeEntropy => "gpoe-entropy",
    GpoeSoftmax => "gpoe-softmax",
    Bcm => "bcm",
    Rbcm => "rbcm",
    Barycentre => "barycentre",
    Stacking => "stacking",
    PseudoBma => "pseudo-bma",
    PseudoBmaPlus => "pseudo-bma-plus",
    Bma => "bma",
    BestExpert => "best-expert",
}

/// What a method is made of.
pub(super) struct Parts {
    pub(super) pool: Pool,
    pub(super) gate: Gate,
    pub(super) learned: bool,
}

impl Method {
    /// Those that are sampled.
    pub const SAMPLED: [Method; 5] =
        [Method::Bhs, Method::Pbhs, Method::Mogpe, Method::Pogpe, Method::Het];

    /// Whether the experts are learned with the weights, and not given.
    pub fn learns_experts(self) -> bool {
        self.parts().learned
    }

    /// Whether it learns weights for experts that are there first, by sampling.
    pub fn stacks(self) -> bool {
        matches!(self, Method::Bhs | Method::Pbhs)
    }

    /// The classical rule that it is, if it is one.
    pub fn rule(self) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.name() == self.name())
    }

    /// Whether it fuses experts that are there first.
    pub fn fuses(self) -> bool {
        self.stacks() || self.rule().is_some()
    }

    /// Whether there are draws: gp and the rules have an answer in closed form.
    pub fn is_sampled(self) -> bool {
        self != Method::Gp && self.rule().is_none()
    }

    /// Whether its model has one expert, whatever number is asked for. Of a rule that makes one normal density of
    /// all experts, that density is it.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Method::Het | Method::Gp) || self.rule().is_some_and(Rule::makes_one)
    }

    pub(super) fn parts(self) -> Parts {
        let (pool, gate, learned) = match self {
            Method::Pbhs => (Pool::LogLinear, Gate::Free, false),
            Method::Mogpe | Method::Het => (Pool::Linear, Gate::Softmax, true),
            Method::Pogpe => (Pool::LogLinear, Gate::Free, true),
            _ => (Pool::Linear, Gate::Softmax, false),
        };
        Parts { pool, gate, learned }
    }
}
