//! The contestants by their names.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::baseline::Rule;
use crate::experts::Partition;
use crate::fit::FitSettings;
use crate::model::Method;
use crate::named::meant;
use crate::{Error, Result};

/// A way to predict that can be compared with the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contestant {
    /// A method of this crate; `pbhs` in its robust form.
    Method(Method),
    /// `pbhs` in the paper's plain form.
    PlainPbhs,
    /// A classical rule.
    Rule(Rule),
    /// One exact GP on all training rows.
    SingleGp,
}

impl Contestant {
    /// All of them.
    pub fn all() -> Vec<Contestant> {
        let joint = [Method::Het, Method::Mogpe, Method::Pogpe].map(Contestant::Method);
        let stacked = [Method::Bhs, Method::Pbhs].map(Contestant::Method);
        let rules = Rule::ALL.map(Contestant::Rule);
        let single = [Contestant::PlainPbhs, Contestant::SingleGp];
        [&joint[..], &stacked, &single, &rules].concat()
    }

    /// Those that experts of a fit's settings can be used by: trees have no marginal likelihood, which `bma` needs.
    pub fn usual(settings: &FitSettings) -> Vec<Contestant> {
        let trees = settings.expert.partition == Partition::All;
        let mut all = Contestant::all();
        all.retain(|contestant| !trees || *contestant != Contestant::Rule(Rule::Bma));
        all
    }

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Contestant::Method(method) => method.name(),
            Contestant::PlainPbhs => "pbhs-plain",
            Contestant::Rule(rule) => rule.name(),
            Contestant::SingleGp => Method::Gp.name(),
        }
    }

    /// The name of the method that fits it alone, and whether in the plain form.
    pub fn method(self) -> (&'static str, bool) {
        match self {
            Contestant::Method(method) => (method.name(), false),
            Contestant::PlainPbhs => (Method::Pbhs.name(), true),
            Contestant::Rule(rule) => (rule.name(), false),
            Contestant::SingleGp => (Method::Gp.name(), false),
        }
    }

    /// Whether it fuses the experts that are trained once for all.
    pub fn needs_experts(self) -> bool {
        match self {
            Contestant::Method(method) => !method.learns_experts(),
            Contestant::PlainPbhs | Contestant::Rule(_) => true,
            Contestant::SingleGp => false,
        }
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Contestant {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl FromStr for Contestant {
    type Err = Error;

    fn from_str(s: &str) -> Result<Contestant> {
        let names: Vec<&str> = Contestant::all().iter().map(|c| c.name()).collect();
        let known = meant(names.iter().copied(), s);
        Contestant::all().into_iter().find(|c| Some(c.name()) == known).ok_or_else(|| {
            Error::setting("methods", format!("unknown method `{s}`: use {}", names.join(", ")))
        })
    }
}
