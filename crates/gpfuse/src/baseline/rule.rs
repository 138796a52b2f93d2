//! The rules by their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

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

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 13] = [
        Rule::LinearPool,
        Rule::Poe,
        Rule::GpoeUniform,
        Rule::GpoeEntropy,
        Rule::GpoeSoftmax,
        Rule::Bcm,
        Rule::Rbcm,
        Rule::Barycentre,
        Rule::Stacking,
        Rule::PseudoBma,
        Rule::PseudoBmaPlus,
        Rule::Bma,
        Rule::BestExpert,
    ];

    /// The name, as on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Rule::LinearPool => "linear-pool",
            Rule::Poe => "poe",
            Rule::GpoeUniform => "gpoe-uniform",
            Rule::GpoeEntropy => "gpoe-entropy",
            Rule::GpoeSoftmax => "gpoe-softmax",
            Rule::Bcm => "bcm",
            Rule::Rbcm => "rbcm",
            Rule::Barycentre => "barycentre",
            Rule::Stacking => "stacking",
            Rule::PseudoBma => "pseudo-bma",
            Rule::PseudoBmaPlus => "pseudo-bma-plus",
            Rule::Bma => "bma",
            Rule::BestExpert => "best-expert",
        }
    }

    /// Whether it needs the experts' log marginal likelihoods.
    pub fn needs_evidence(self) -> bool {
        self == Rule::Bma
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(s: &str) -> Result<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.name() == s).ok_or_else(|| {
            let names = Rule::ALL.map(Rule::name).join(", ");
            Error::setting("rule", format!("unknown rule `{s}`: use {names}"))
        })
    }
}
