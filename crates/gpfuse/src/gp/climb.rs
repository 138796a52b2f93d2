//! The climb to a mode of the objective, by L-BFGS-B within the bounds.

use std::cell::RefCell;
use std::convert::Infallible;

use basin::{
    BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction, Executor,
    FirstOrderState, Gradient, Lbfgsb,
};

use super::evidence::Evidence;
use super::prior::Prior;

/// A point, the mean that goes with it, and its log objective.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Peak {
    pub(super) q: Vec<f64>,
    pub(super) mean: f64,
    pub(super) value: f64,
}

/// What the line search sees where the covariance has no factor: worse than anything it met.
const FORBIDDEN: f64 = 1e300;

/// The objective as a cost to be made small, and the best point met.
struct Problem<'a> {
    evidence: RefCell<&'a mut Evidence>,
    prior: &'a Prior,
    best: RefCell<Option<Peak>>,
}

/// The log objective at `q`; where asked for, its gradient is put into `grad`.
pub(super) fn objective(
    evidence: &mut Evidence,
    prior: &Prior,
    q: &[f64],
    mut grad: Option<&mut [f64]>,
) -> Option<f64> {
    let value = evidence.at(q, grad.as_deref_mut())?;
    Some(value + prior.log_density(q, grad))
}

// For references: the executor takes its problem by value, and the best point is wanted after.
impl Constraints for &Problem<'_> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        let bounds = BoxBounds::new(Some(&self.prior.lower), Some(&self.prior.upper));
        ConstraintSet::new().with_bounds(bounds)
    }
}

impl CostFunction for &Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;

    fn cost(&self, q: &Vec<f64>) -> Result<f64, Infallible> {
        Ok(self.cost_and_gradient(q)?.0)
    }
}

impl Gradient for &Problem<'_> {
    type Gradient = Vec<f64>;

    fn gradient(&self, q: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok(self.cost_and_gradient(q)?.1)
    }

    fn cost_and_gradient(&self, q: &Vec<f64>) -> Result<(f64, Vec<f64>), Infallible> {
        let mut grad = vec![0.0; q.len()];
        let mut evidence = self.evidence.borrow_mut();
        let Some(value) = objective(&mut evidence, self.prior, q, Some(&mut grad)) else {
            grad.fill(0.0);
            return Ok((FORBIDDEN, grad));
        };
        let mut best = self.best.borrow_mut();
        if best.as_ref().is_none_or(|b| value > b.value) {
            *best = Some(Peak { q: q.clone(), mean: evidence.mean(), value });
        }
        grad.iter_mut().for_each(|g| *g = -*g);
        Ok((-value, grad))
    }
}

/// Climb from `start` for at most `steps` steps, or until a step gains less than `tolerance` of
/// the objective; the best point met. `None` where the objective does not exist at the start.
pub(super) fn climb(
    evidence: &mut Evidence,
    prior: &Prior,
    start: Vec<f64>,
    steps: usize,
    tolerance: f64,
) -> Option<Peak> {
    let problem = Problem { evidence: RefCell::new(evidence), prior, best: RefCell::new(None) };
    let solver = Lbfgsb::new()
        .with_m_capacity(10)
        .with_absolute_projected_gradient_tolerance(1e-5)
        .with_relative_cost_reduction_tolerance(tolerance);
    // An error of the line search is no failure: the best point met stands.
    let _ =
        Executor::new(&problem, solver, FirstOrderState::new(start)).max_iter(steps as u64).run();
    problem.best.into_inner()
}
