//! A finished cell of a sweep, as a row of its table.

use serde::{Deserialize, Serialize};

use super::Key;
use crate::model::Method;

/// A finished cell: what it was, its scores at the test rows, how its chains went; or why it
/// failed, and then it has no scores.
///
/// All but the seconds are the same whenever the cell is run by the same version.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Finished {
    /// Which cell.
    #[serde(flatten)]
    pub key: Key,
    /// The method of the arm, as on the command line.
    pub method: String,
    /// Mean negative log predictive density.
    pub nlpd: Option<f64>,
    /// Its standard error over the test rows.
    pub nlpd_se: Option<f64>,
    /// Its Monte Carlo standard error.
    pub nlpd_mcse: Option<f64>,
    /// Mean continuous ranked probability score.
    pub crps: Option<f64>,
    /// Root mean square error of the predictive mean.
    pub rmse: Option<f64>,
    /// Share of the test rows inside the central 50 % interval.
    pub coverage_50: Option<f64>,
    /// Share of the test rows inside the central 80 % interval.
    pub coverage_80: Option<f64>,
    /// Share of the test rows inside the central 95 % interval.
    pub coverage_95: Option<f64>,
    /// Whether the diagnostics pass; none where there are no chains.
    pub passed: Option<bool>,
    /// Median over rows of the R-hat of the log likelihood of a row.
    pub rhat_median: Option<f64>,
    /// Its worst.
    pub rhat_max: Option<f64>,
    /// Median over rows of the bulk ESS of the log likelihood of a row.
    pub ess_median: Option<f64>,
    /// Divergences after the warm-up.
    pub divergences: Option<usize>,
    /// Mean leapfrog steps of a kept draw.
    pub leapfrogs: Option<f64>,
    /// The weights of the chains, separated by spaces; empty where all count alike.
    pub chain_weights: String,
    /// Why it failed; empty where it did not.
    pub error: String,
    /// The version of gpfuse that ran it.
    pub version: String,
    /// Seconds to fit, on as many threads as the cell had.
    pub fit_seconds: f64,
    /// Seconds to predict and to score.
    pub predict_seconds: f64,
}

impl Finished {
    /// A cell of a method without scores, by this version.
    pub fn unscored(key: Key, method: Method) -> Finished {
        let (method, version) = (method.name().into(), env!("CARGO_PKG_VERSION").into());
        Finished { key, method, version, ..Finished::default() }
    }

    /// The score of a cell that did not fail.
    pub fn scored(&self) -> Option<f64> {
        self.nlpd.filter(|_| self.error.is_empty())
    }
}
