//! The named methods, each a choice of experts, gate and pool.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Gate;
use crate::pool::Pool;
use crate::{Error, Result};

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
}

/// What a method is made of.
pub(super) struct Parts {
    pub(super) pool: Pool,
    pub(super) gate: Gate,
    pub(super) learned: bool,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 5] =
        [Method::Bhs, Method::Pbhs, Method::Mogpe, Method::Pogpe, Method::Het];

    /// The name, as on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Method::Bhs => "bhs",
            Method::Pbhs => "pbhs",
            Method::Mogpe => "mogpe",
            Method::Pogpe => "pogpe",
            Method::Het => "het",
        }
    }

    /// Whether the experts are learned with the weights, and not given.
    pub fn learns_experts(self) -> bool {
        self.parts().learned
    }

    pub(super) fn parts(self) -> Parts {
        let (pool, gate, learned) = match self {
            Method::Bhs => (Pool::Linear, Gate::Softmax, false),
            Method::Pbhs => (Pool::LogLinear, Gate::Free, false),
            Method::Mogpe | Method::Het => (Pool::Linear, Gate::Softmax, true),
            Method::Pogpe => (Pool::LogLinear, Gate::Free, true),
        };
        Parts { pool, gate, learned }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(s: &str) -> Result<Method> {
        Method::ALL.into_iter().find(|m| m.name() == s).ok_or_else(|| {
            let names: Vec<&str> = Method::ALL.iter().map(|m| m.name()).collect();
            Error::setting("method", format!("unknown method `{s}`: use {}", names.join(", ")))
        })
    }
}
