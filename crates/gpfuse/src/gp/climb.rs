//! The climb to a mode of the objective, by L-BFGS-B within the bounds.

use std::cell::RefCell;
use std::convert::Infallible;

use basin::{
    BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction, Executor,
    FirstOrderState, Gradient, Lbfgsb,
};

use super::evidence::Evidence;
use super::prior::Prior;
use crate::infer::Monitor;

/// A point, the mean that goes with it, and its log objective.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Peak {
    pub(super) q: Vec<f64>,
    pub(super) mean: f64,
    pub(super) value: f64,
}

/// Which parameters move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Free {
    /// All of them.
    All,
    /// All lengthscales by a common factor: three parameters, whatever the number of inputs.
    Common,
}

/// How a climb goes and when it ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Steps, at most.
    pub(super) steps: usize,
    /// The share of the objective that a step must gain.
    pub(super) gain: f64,
    /// The length of the first step; later ones go by the curvature met so far.
    pub(super) first: f64,
}

/// A climb that comes this near to a known mode, in the objective and in each parameter that
/// matters, is going there.
const SAME_MODE: (f64, f64) = (0.1, 0.05);

impl Peak {
    /// Whether a climb that is at `q` with this `value` is going to this mode.
    fn attracts(&self, q: &[f64], value: f64) -> bool {
        let last = q.len() - 1;
        // Very long lengthscales are all alike.
        let off = IRRELEVANT + 0.5 * self.q[0].max(0.0);
        let effect = |i: usize, l: f64| if i == 0 || i == last { l } else { l.min(off) };
        let apart = |i: usize| (effect(i, q[i]) - effect(i, self.q[i])).abs();
        value > self.value - SAME_MODE.0 && (0..q.len()).all(|i| apart(i) < SAME_MODE.1)
    }
}

/// `log ell - log sd` from which an input hardly matters, where sd is that of the function.
const IRRELEVANT: f64 = 5.0;

/// The marginal likelihood of some rows with the prior: what is made large.
pub(super) struct Objective<'a> {
    pub(super) evidence: Evidence,
    pub(super) prior: &'a Prior,
    /// Once it cancels, nowhere is there an objective, and every climb ends.
    pub(super) monitor: &'a dyn Monitor,
}

impl Objective<'_> {
    /// The log objective at `q`; where asked for, its gradient is put into `grad`.
    pub(super) fn at(&mut self, q: &[f64], mut grad: Option<&mut [f64]>) -> Option<f64> {
        if self.monitor.cancelled() {
            return None;
        }
        let value = self.evidence.at(q, grad.as_deref_mut())?;
        Some(value + self.prior.log_density(q, grad))
    }

    /// Climb from `start`; the best point met, or a mode of `known` that the climb is going to.
    /// `None` where the objective does not exist at the start.
    pub(super) fn climb(
        &mut self,
        start: &[f64],
        free: Free,
        limits: Limits,
        known: &[Peak],
    ) -> Option<Peak> {
        let last = start.len() - 1;
        let ends = |all: &[f64]| match free {
            Free::All => all.to_vec(),
            Free::Common => vec![all[0], all[1], all[last]],
        };
        let (mut lower, mut upper) = (ends(&self.prior.lower), ends(&self.prior.upper));
        let mut begin = ends(start);
        if free == Free::Common {
            // The common factor is counted from the start, and no lengthscale leaves its bounds.
            let log_ell = &start[1..last];
            let room = |(bound, log_ell): (&f64, &f64)| bound - log_ell;
            let (low, high) = (&self.prior.lower[1..last], &self.prior.upper[1..last]);
            lower[1] = low.iter().zip(log_ell).map(room).fold(f64::NEG_INFINITY, f64::max);
            upper[1] = high.iter().zip(log_ell).map(room).fold(f64::INFINITY, f64::min);
            begin[1] = 0.0;
        }
        // In units of the first step: that of L-BFGS-B has length 1.
        for v in [&mut lower, &mut upper, &mut begin] {
            v.iter_mut().for_each(|v| *v /= limits.first);
        }
        let problem = Problem {
            objective: RefCell::new(self),
            start,
            free,
            unit: limits.first,
            lower,
            upper,
            known,
            best: RefCell::new(None),
        };
        let solver = Lbfgsb::new()
            .with_m_capacity(10)
            .with_absolute_projected_gradient_tolerance(1e-5)
            .with_relative_cost_reduction_tolerance(limits.gain);
        let state = FirstOrderState::new(begin);
        // An error of the line search is no failure: the best point so far is the result.
        let _ = Executor::new(&problem, solver, state).max_iter(limits.steps as u64).run();
        problem.best.into_inner()
    }
}

/// The cost where the covariance has no factor: higher than any other.
const FORBIDDEN: f64 = 1e300;

/// The objective as a cost to be made small, and the best point met.
struct Problem<'a, 'p> {
    objective: RefCell<&'a mut Objective<'p>>,
    start: &'a [f64],
    free: Free,
    unit: f64,
    lower: Vec<f64>,
    upper: Vec<f64>,
    known: &'a [Peak],
    best: RefCell<Option<Peak>>,
}

impl Problem<'_, '_> {
    /// All parameters, from those that move.
    fn expand(&self, p: &[f64]) -> Vec<f64> {
        if self.free == Free::All {
            return p.iter().map(|p| self.unit * p).collect();
        }
        let mut q: Vec<f64> = self.start.iter().map(|s| s + self.unit * p[1]).collect();
        let last = q.len() - 1;
        (q[0], q[last]) = (self.unit * p[0], self.unit * p[2]);
        q
    }
}

// Implemented for references: the executor takes its problem by value, and the best point is read later.
impl Constraints for &Problem<'_, '_> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        let bounds = BoxBounds::new(Some(&self.lower), Some(&self.upper));
        ConstraintSet::new().with_bounds(bounds)
    }
}

impl CostFunction for &Problem<'_, '_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;

    fn cost(&self, p: &Vec<f64>) -> Result<f64, Infallible> {
        Ok(self.cost_and_gradient(p)?.0)
    }
}

impl Gradient for &Problem<'_, '_> {
    type Gradient = Vec<f64>;

    fn gradient(&self, p: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok(self.cost_and_gradient(p)?.1)
    }

    fn cost_and_gradient(&self, p: &Vec<f64>) -> Result<(f64, Vec<f64>), Infallible> {
        let q = self.expand(p);
        let last = q.len() - 1;
        let mut grad = vec![0.0; q.len()];
        let mut objective = self.objective.borrow_mut();
        let Some(value) = objective.at(&q, Some(&mut grad)) else {
            return Ok((FORBIDDEN, vec![0.0; p.len()]));
        };
        if let Some(known) = self.known.iter().find(|k| k.attracts(&q, value)) {
            *self.best.borrow_mut() = Some(known.clone());
            // A flat place ends the climb.
            return Ok((-value, vec![0.0; p.len()]));
        }
        grad.iter_mut().for_each(|g| *g *= -self.unit);
        if self.free == Free::Common {
            grad = vec![grad[0], grad[1..last].iter().sum(), grad[last]];
        }
        let mut best = self.best.borrow_mut();
        if best.as_ref().is_none_or(|b: &Peak| value > b.value) {
            *best = Some(Peak { q, mean: objective.evidence.mean(), value });
        }
        Ok((-value, grad))
    }
}
