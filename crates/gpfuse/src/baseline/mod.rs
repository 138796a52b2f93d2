//! The classical fusion rules: fixed formulas and constant weights over experts' predictions,
//! to compare the methods of this crate with.
//!
//! A rule learns from the stacking set, the rows that no expert has seen, and fuses predictions
//! at new rows. Every expert predicts the target itself, its standard deviation includes the
//! noise, and the prior is that of the target too.
//!
//! ```
//! use gpfuse::Predictions;
//! use gpfuse::baseline::{Prior, Rule, StackingSet};
//! # fn main() -> gpfuse::Result<()> {
//! let y = [0.1, 0.9, 2.1];
//! let means = vec![vec![0.0, 1.0, 2.0], vec![0.5, 0.5, 0.5]];
//! let experts = Predictions::new(means, vec![vec![0.2; 3], vec![1.0; 3]])?;
//! let set = StackingSet::new(&experts, &y, Prior::of(&y)?)?;
//! let learned = Rule::Stacking.learn(&set)?;
//! let new = Predictions::new(vec![vec![3.0], vec![0.5]], vec![vec![0.2], vec![1.0]])?;
//! println!("mean {}", learned.fuse(&new)?.row(0)?.mean());
//! # Ok(())
//! # }
//! ```

pub(crate) mod constant;
mod left_out;
mod product;
mod rule;
pub(crate) mod stacking;
mod stacking_set;

pub use product::{ENTROPY_FLOOR, TEMPERATURE};
pub use rule::Rule;
pub use stacking_set::{Prior, StackingSet};

use crate::data::Predictions;
use crate::predict::Fused;
use crate::{Error, Result};

/// A rule that has seen the stacking set, ready to fuse.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    rule: Rule,
    experts: usize,
    prior: Prior,
    /// Of the constant weights, where the rule has such.
    log_weights: Option<Vec<f64>>,
}

impl Rule {
    /// Learn what the rule needs from the stacking set.
    ///
    /// # Errors
    /// If the rule needs the experts' log marginal likelihoods and the set has none.
    pub fn learn(self, set: &StackingSet<'_>) -> Result<Learned> {
        let experts = set.experts().experts();
        let log_weights = match self {
            Rule::LinearPool | Rule::GpoeUniform | Rule::Barycentre => {
                Some(vec![-(experts as f64).ln(); experts])
            }
            Rule::Stacking => Some(stacking::log_weights(&set.log_scores())),
            Rule::PseudoBma => Some(constant::pseudo_bma(&set.log_scores())),
            Rule::PseudoBmaPlus => Some(constant::pseudo_bma_plus(&set.log_scores(), set.seed)),
            Rule::Bma => Some(constant::bma(set.log_evidence()?)),
            Rule::BestExpert => Some(constant::best(&set.log_scores())),
            Rule::Poe | Rule::GpoeEntropy | Rule::GpoeSoftmax | Rule::Bcm | Rule::Rbcm => None,
        };
        Ok(Learned { log_weights, ..self.with_prior(experts, set.prior()) })
    }

    /// A rule that learns no weights.
    pub(crate) fn with_prior(self, experts: usize, prior: Prior) -> Learned {
        Learned { rule: self, experts, prior, log_weights: None }
    }
}

impl Learned {
    /// The logarithms of the constant weights.
    pub(crate) fn log_weights(&self) -> Option<&[f64]> {
        self.log_weights.as_deref()
    }

    /// The rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The constant weights of the experts, which sum to one; none where the rule has no
    /// weights or others at each row.
    pub fn weights(&self) -> Option<Vec<f64>> {
        self.log_weights.as_ref().map(|all| all.iter().map(|w| w.exp()).collect())
    }

    /// Fuse the predictions of the same experts at new rows.
    ///
    /// # Errors
    /// If there are more or fewer experts than the rule has learned from.
    pub fn fuse(&self, at: &Predictions) -> Result<Fused> {
        if at.experts() != self.experts {
            return Err(Error::Shape {
                what: "experts' predictions".into(),
                expected: format!("{} experts, as in the stacking set", self.experts),
                found: at.experts().to_string(),
            });
        }
        match (self.rule, &self.log_weights) {
            (Rule::Barycentre, _) => barycentre(at),
            (Rule::GpoeUniform, _) | (_, None) => product::fuse(self.rule, self.prior, at),
            (_, Some(log_weights)) => linear(at, log_weights),
        }
    }
}

/// The linear pool `sum_k w_k N(mu_k, sd_k^2)` (Stone, Annals of Mathematical Statistics 32
/// (1961) 1339-1342). Its variance is the mean of the experts' plus the variance between their
/// means.
fn linear(at: &Predictions, log_weights: &[f64]) -> Result<Fused> {
    // An expert without any weight is no component.
    let kept: Vec<usize> =
        (0..log_weights.len()).filter(|k| log_weights[*k] > f64::NEG_INFINITY).collect();
    let table = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..at.rows()).flat_map(|row| kept.iter().map(move |k| of(*k, row))).collect()
    };
    let weights = table(&|k, _| log_weights[k]);
    Fused::new(kept.len(), weights, table(&|k, i| at.mean()[k][i]), table(&|k, i| at.sd()[k][i]))
}

/// The Wasserstein barycentre with equal weights: of normal densities on the line it is the
/// normal density with the mean of the means and the mean of the standard deviations (Agueh and
/// Carlier, SIAM Journal on Mathematical Analysis 43 (2011) 904-924).
fn barycentre(at: &Predictions) -> Result<Fused> {
    let average = |of: &[Vec<f64>], row: usize| {
        of.iter().map(|values| values[row]).sum::<f64>() / of.len() as f64
    };
    let rows = || 0..at.rows();
    let mean = rows().map(|row| average(at.mean(), row)).collect();
    Fused::normal(mean, rows().map(|row| average(at.sd(), row)).collect())
}
