//! A start of one expert, or of a product of experts, whose means are Gaussian given all else.
//!
//! One smooth function is fitted; the logarithm of its residuals is smoothed, which gives the log
//! sds, and so on in turn. For `e ~ N(0, sd^2)`, `log |e|` is `log sd` plus noise of mean -0.635
//! and standard deviation `pi / sqrt(8)` (half those of the log of a chi-squared number). Each
//! expert's log sd is a draw given those, each gate a prior draw, and the coefficients of all means
//! are a draw given both ([`Collapsed`]). A draw and not the mean of its law: there the gradient
//! vanishes, from which a sampler takes its first scales.

use super::{Starter, spread};
use crate::model::{Collapsed, Role};

/// Fits of the mean and the log sd in turn.
const ROUNDS: usize = 3;

/// The standard deviation of `log |e|`.
pub(super) const LOG_NOISE: f64 = 1.1107;

/// Minus its mean, for a standard normal e.
const LOG_SHIFT: f64 = 0.6352;

impl Starter {
    /// Replace the coefficients in `q`, whose hyperparameters are set.
    pub(super) fn product(
        &self,
        mut collapsed: Collapsed,
        q: &mut Vec<f64>,
        normal: &mut dyn FnMut() -> f64,
    ) -> Option<()> {
        let mut mean = self.smoother(Role::Mu, 0, q)?;
        let mut noise = self.smoother(Role::LogSd, 0, q)?;
        let mut log_sd = vec![(0.3 * spread(&self.y)).max(self.floor()).ln(); self.y.len()];
        let mut logs = Vec::new();
        for _ in 0..ROUNDS {
            mean.fit(&self.y, |n| (-log_sd[n]).exp())?;
            logs = self.log_residuals(&mean.values());
            noise.fit(&logs, |_| 1.0 / LOG_NOISE)?;
            log_sd = noise.values();
        }
        for k in 0..self.posterior.model().experts() {
            let mut smoother = self.smoother(Role::LogSd, k, q)?;
            smoother.fit(&logs, |_| 1.0 / LOG_NOISE)?;
            smoother.draw(normal)?;
            self.put(Role::LogSd, k, smoother.theta(), q);
        }
        *q = collapsed.complete(&collapsed.shorten(q), normal)?;
        Some(())
    }

    /// What `log sd` is seen through: the logarithms of the residuals, without the mean of their
    /// noise.
    pub(super) fn log_residuals(&self, mean: &[f64]) -> Vec<f64> {
        let floor = self.floor();
        let log = |(y, m): (&f64, &f64)| (y - m).abs().max(floor).ln() + LOG_SHIFT;
        self.y.iter().zip(mean).map(log).collect()
    }

    /// The smallest residual that is told from none.
    pub(super) fn floor(&self) -> f64 {
        (0.01 * spread(&self.y)).max(1e-6)
    }
}
