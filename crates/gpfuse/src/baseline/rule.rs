//! The rules by their names.

use serde::{Deserialize, Serialize};

use crate::named::named;

/// A classical rule that fuses the predictions of K experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The linear pool with equal weights.
    LinearPool,
    /// Product of experts: precisions add up.
    Poe,
    /// Generalised product of experts, each to the power 1/K.
    GpoeUniform,
    /// Generalised product of experts with powers from differential entropy, which sum to one.
    GpoeEntropy,
    /// Generalised product of experts with powers from a softmax of minus the variance.
    GpoeSoftmax,
    /// Bayesian committee machine: the product, less the prior that it counts K times.
    Bcm,
    /// Robust Bayesian committee machine: powers from differential entropy, not normalised.
    Rbcm,
    /// The Wasserstein barycentre with equal weights.
    Barycentre,
    /// The linear pool with the constant weights that predict the stacking set best.
    Stacking,
    /// The linear pool with weights from the experts' summed log scores.
    PseudoBma,
    /// The same, averaged over a Bayesian bootstrap of the rows.
    PseudoBmaPlus,
    /// Bayesian model averaging by the experts' marginal likelihoods.
    Bma,
    /// The one expert with the highest log score on the stacking set.
    BestExpert,
}

named! {
    Rule, "rule",
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

impl Rule {
    /// Whether it needs the experts' log marginal likelihoods.
    pub fn needs_evidence(self) -> bool {
        self == Rule::Bma
    }

    /// Whether it makes one normal density of all experts, and not a mixture of them.
    pub fn makes_one(self) -> bool {
        matches!(
            self,
            Rule::Poe
                | Rule::GpoeUniform
                | Rule::GpoeEntropy
                | Rule::GpoeSoftmax
                | Rule::Bcm
                | Rule::Rbcm
                | Rule::Barycentre
        )
    }
}
