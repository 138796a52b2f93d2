//! Bounds and weak priors of the log hyperparameters, in units of the data: inputs and target
//! centred and divided by their standard deviations.
//!
//! The bounds are far from anything plausible; they keep the covariance a matrix that has a
//! factor: `var` and `noise` in variances of y, each `ell` in standard deviations of its input.
//!
//! The priors are on the logarithms, so the mode is one in the logarithms; normal, or Student-t with
//! 3 degrees of freedom:
//!
//! | what | median | log-sd |
//! | --- | --- | --- |
//! | all `ell` together | `2 sqrt(d)` | 1 (Student-t) |
//! | each `ell` about that | 1 | 0.3 (Student-t) |
//! | `sqrt(var)` | 1 | 1 |
//! | `sqrt(noise)` | 0.3 | 0.5 |
//! | the mean, where learned | 0 (normal) | 1 (its sd) |
//!
//! With d inputs two rows are about `sqrt(2 d)` apart: at the median of `ell` their correlation
//! does not depend on d. Few rows say how smooth a function is, and less about which inputs
//! matter: the lengthscales are held together, but one that is much shorter or longer than the
//! others pays only a little more for it, and so does a function that is rough in all inputs. With
//! `a_i` the distance of `log ell_i` from its median and `m` the mean of these, the log density is
//! `-2 log(1 + m^2 / 3) - sum_i 2 log(1 + (a_i - m)^2 / (3 0.3^2))`.
//!
//! The prior of the noise keeps it from 0, where a GP with many lengthscales and few rows passes
//! through every target; with n rows the likelihood weighs as much as `n / 2` nats per unit of
//! `log noise`, so that a clear signal soon has its way. The numbers were chosen among a few dozen
//! by the density of new rows after 15 to 200 rows of large data sets
//! (`bench/results/gp-priors-2026-11-15.md`).

use super::evidence::Centre;
use super::settings::Objective;

/// Bounds of `var`, each `ell` and `noise`.
const BOUNDS: [(f64, f64); 3] = [(1e-5, 1e5), (1e-3, 1e5), (1e-6, 1e2)];

/// Log-sds of the priors of `log var` and `log noise`: variances have twice those of standard
/// deviations.
const LOG_SD: [f64; 2] = [2.0, 1.0];
/// The scale of the lengthscales' common level.
const COMMON_SCALE: f64 = 1.0;
/// The scale of each lengthscale about the common level.
const OWN_SCALE: f64 = 0.3;
/// The degrees of freedom of both.
const DEGREES_OF_FREEDOM: f64 = 3.0;

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

    /// Whether it says anything, and so keeps lengthscales from extremes.
    pub(super) fn informs(&self) -> bool {
        self.objective == Objective::Map
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
        let (inputs, apart) = ((last - 1) as f64, |i: usize| q[i] - self.median[i]);
        let mean = (1..last).map(apart).sum::<f64>() / inputs;
        let deviation = |i: usize| apart(i) - mean;
        let pull = |e: f64, scale: f64| {
            (DEGREES_OF_FREEDOM + 1.0) * e / (DEGREES_OF_FREEDOM * scale * scale + e * e)
        };
        let tail = |e: f64, scale: f64| ((e / scale).powi(2) / DEGREES_OF_FREEDOM).ln_1p();
        let (var, noise) = (apart(0) / LOG_SD[0], apart(last) / LOG_SD[1]);
        if let Some(grad) = grad {
            grad[0] -= var / LOG_SD[0];
            grad[last] -= noise / LOG_SD[1];
            let all = (1..last).map(|i| pull(deviation(i), OWN_SCALE)).sum::<f64>();
            let shared = (pull(mean, COMMON_SCALE) - all) / inputs;
            for i in 1..last {
                grad[i] -= pull(deviation(i), OWN_SCALE) + shared;
            }
        }
        let tails = tail(mean, COMMON_SCALE)
            + (1..last).map(|i| tail(deviation(i), OWN_SCALE)).sum::<f64>();
        -0.5 * (var * var + noise * noise + (DEGREES_OF_FREEDOM + 1.0) * tails)
    }
}
