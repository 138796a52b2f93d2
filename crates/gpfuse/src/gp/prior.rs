//! Bounds and weak priors of the log hyperparameters, in units of the data: inputs and target
//! centred and divided by their standard deviations.
//!
//! The bounds are far from anything plausible; they keep the covariance a matrix that has a
//! factor: `var` and `noise` in variances of y, each `ell` in standard deviations of its input.
//!
//! The priors are normal on the logarithms, so the mode is one in the logarithms:
//!
//! | what | median | log-sd |
//! | --- | --- | --- |
//! | each `ell` | `2 sqrt(d)` | 0.7 |
//! | `sqrt(var)` | 1 | 1 |
//! | `sqrt(noise)` | 0.3 | 0.5 |
//! | the mean, where learned | 0 (normal) | 1 (its sd) |
//!
//! With d inputs two rows are about `sqrt(2 d)` apart: at the median of `ell` their correlation
//! does not depend on d. The prior of the noise keeps it from 0, where a GP with many
//! lengthscales and few rows passes through every target; with n rows the likelihood weighs as
//! much as `n / 2` nats per unit of `log noise`, so that a clear signal soon has its way. The
//! numbers were chosen among a few dozen by the density of new rows after 15 to 200 rows of four
//! large data sets (`bench/results/gp-priors-2026-11-15.md`).

use super::evidence::Centre;
use super::settings::Objective;

/// Bounds of `var`, each `ell` and `noise`.
const BOUNDS: [(f64, f64); 3] = [(1e-5, 1e5), (1e-3, 1e5), (1e-6, 1e2)];

/// Log-sds of the priors of `log var`, `log ell` and `log noise`; variances have twice those of
/// standard deviations.
const LOG_SD: [f64; 3] = [2.0, 0.7, 1.0];

/// Medians of the priors of `var`, `ell / sqrt(d)` and `noise`.
const MEDIAN: [f64; 3] = [1.0, 2.0, 0.09];

/// Bounds and priors for some number of inputs.
#[derive(Debug, Clone)]
pub(super) struct Prior {
    objective: Objective,
    /// The prior medians of the log parameters.
    pub(super) median: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
}

impl Prior {
    /// For the objective and the number of inputs.
    pub(super) fn new(objective: Objective, inputs: usize) -> Prior {
        let each = |of: [f64; 3]| {
            let mut all = vec![of[1].ln(); inputs + 2];
            (all[0], all[inputs + 1]) = (of[0].ln(), of[2].ln());
            all
        };
        Prior {
            objective,
            median: each([MEDIAN[0], MEDIAN[1] * (inputs as f64).sqrt(), MEDIAN[2]]),
            lower: each(BOUNDS.map(|b| b.0)),
            upper: each(BOUNDS.map(|b| b.1)),
        }
    }

    /// What is done about a learned mean.
    pub(super) fn centre(&self) -> Centre {
        match self.objective {
            Objective::MarginalLikelihood => Centre::Best(0.0),
            Objective::Map => Centre::Best(1.0),
        }
    }

    /// The log prior at `q` without its constant; its gradient is added to `grad`. Nothing for
    /// the marginal likelihood.
    pub(super) fn log_density(&self, q: &[f64], grad: Option<&mut [f64]>) -> f64 {
        if self.objective == Objective::MarginalLikelihood {
            return 0.0;
        }
        let last = q.len() - 1;
        let precision = |i: usize| match i {
            0 => LOG_SD[0].powi(-2),
            _ if i == last => LOG_SD[2].powi(-2),
            _ => LOG_SD[1].powi(-2),
        };
        let apart = |i: usize| q[i] - self.median[i];
        if let Some(grad) = grad {
            grad.iter_mut().enumerate().for_each(|(i, g)| *g -= precision(i) * apart(i));
        }
        -0.5 * (0..q.len()).map(|i| precision(i) * apart(i).powi(2)).sum::<f64>()
    }
}
