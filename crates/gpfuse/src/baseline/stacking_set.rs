//! What a rule learns from: the experts at the stacking rows, and the prior of the target.

use crate::data::{Predictions, check_sd, check_value};
use crate::math::HALF_LN_TWO_PI;
use crate::{Error, Result};

/// Beyond this many standard deviations a log score stays where it is: its square is the
/// largest of which many can be added.
const FARTHEST_Z: f64 = 1e150;

/// The density of the target before any data: that of an expert far from its data, with noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The mean.
    pub mean: f64,
    /// The variance.
    pub var: f64,
}

impl Prior {
    /// Mean and variance of some targets.
    pub fn of(y: &[f64]) -> Result<Prior> {
        let n = y.len() as f64;
        let mean = y.iter().map(|v| v / n).sum::<f64>();
        let prior = Prior { mean, var: y.iter().map(|v| (v - mean).powi(2) / n).sum() };
        prior.check().map(|()| prior)
    }

    fn check(&self) -> Result<()> {
        let place = || "prior of the target".to_string();
        check_value(&place, "mean", self.mean)?;
        check_sd(&place, "square root of the variance", self.var.sqrt())
    }
}

/// What a rule learns from: the experts at rows that they have not seen, and the targets there.
#[derive(Debug, Clone, Copy)]
pub struct StackingSet<'a> {
    experts: &'a Predictions,
    y: &'a [f64],
    prior: Prior,
    log_evidence: Option<&'a [f64]>,
    /// The seed of the Bayesian bootstrap.
    pub seed: u64,
}

impl<'a> StackingSet<'a> {
    /// From the experts' predictions at the rows, their targets and the prior of the target.
    pub fn new(experts: &'a Predictions, y: &'a [f64], prior: Prior) -> Result<StackingSet<'a>> {
        if y.len() != experts.rows() {
            return Err(Error::Shape {
                what: "targets".into(),
                expected: format!("{}, one per row", experts.rows()),
                found: y.len().to_string(),
            });
        }
        for (row, y) in y.iter().enumerate() {
            check_value(&|| format!("row {}", row + 1), "target", *y)?;
        }
        prior.check()?;
        Ok(StackingSet { experts, y, prior, log_evidence: None, seed: 0 })
    }

    /// With each expert's log marginal likelihood, all of the same data.
    pub fn with_evidence(self, log_evidence: &'a [f64]) -> Result<StackingSet<'a>> {
        if log_evidence.len() != self.experts.experts() {
            return Err(Error::Shape {
                what: "log marginal likelihoods".into(),
                expected: format!("{}, one per expert", self.experts.experts()),
                found: log_evidence.len().to_string(),
            });
        }
        if let Some(k) = log_evidence.iter().position(|v| !v.is_finite()) {
            let (k, value) = (k + 1, log_evidence[k]);
            let problem = format!("expert {k}: log marginal likelihood is {value}: leave it out");
            return Err(Error::Data(problem));
        }
        Ok(StackingSet { log_evidence: Some(log_evidence), ..self })
    }

    /// With a seed of the Bayesian bootstrap.
    pub fn with_seed(self, seed: u64) -> StackingSet<'a> {
        StackingSet { seed, ..self }
    }

    /// With the evidence and the seed of another set of the same experts.
    pub(super) fn like(self, other: &StackingSet<'a>) -> StackingSet<'a> {
        StackingSet { log_evidence: other.log_evidence, seed: other.seed, ..self }
    }

    /// The targets.
    pub fn targets(&self) -> &'a [f64] {
        self.y
    }

    /// The experts.
    pub fn experts(&self) -> &'a Predictions {
        self.experts
    }

    /// The prior of the target.
    pub fn prior(&self) -> Prior {
        self.prior
    }

    /// The log marginal likelihoods; an error that says so where there are none.
    pub(super) fn log_evidence(&self) -> Result<&'a [f64]> {
        self.log_evidence.ok_or_else(|| {
            let problem = "bma needs each expert's log marginal likelihood, which trees have not: give them, or \
                           take pseudo-bma, which does without";
            Error::setting("rule", problem)
        })
    }

    /// `log N(y_i; mu_ki, sd_ki^2)` by expert and row.
    pub(super) fn log_scores(&self) -> Vec<Vec<f64>> {
        let score = |((y, mean), sd): ((&f64, &f64), &f64)| {
            let z = ((y - mean) / sd).clamp(-FARTHEST_Z, FARTHEST_Z);
            -0.5 * z * z - sd.ln() - HALF_LN_TWO_PI
        };
        let pairs = self.experts.mean().iter().zip(self.experts.sd());
        pairs.map(|(mean, sd)| self.y.iter().zip(mean).zip(sd).map(score).collect()).collect()
    }
}
