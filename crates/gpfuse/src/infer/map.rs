//! The posterior mode, by L-BFGS.

use std::cell::RefCell;
use std::convert::Infallible;

use basin::{CostFunction, Executor, FirstOrderState, Gradient, Lbfgs};

use super::target::Answer;
use super::{Density, DensityError, Monitor};
use crate::{Error, Result};

/// A point and its log density.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The point.
    pub q: Vec<f64>,
    /// Its log density; minus infinity where the density cannot be had.
    pub logp: f64,
}

/// A log density as a cost to be made small.
struct Problem<'a> {
    density: RefCell<Box<dyn Answer + 'a>>,
    monitor: &'a dyn Monitor,
    best: RefCell<Point>,
    fatal: RefCell<Option<String>>,
}

/// What the line search sees where the density is not finite: worse than anything it met.
const FORBIDDEN: f64 = 1e300;

impl Problem<'_> {
    /// The best point, unless the density gave up.
    fn end(self) -> Result<Point> {
        match self.fatal.into_inner() {
            Some(message) => Err(Error::Sampling(message.into())),
            None => Ok(self.best.into_inner()),
        }
    }
}

// Implemented for a reference: the executor takes its problem by value, and the best point is read later.
impl CostFunction for &Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;

    fn cost(&self, q: &Vec<f64>) -> std::result::Result<f64, Infallible> {
        Ok(self.cost_and_gradient(q)?.0)
    }
}

impl Gradient for &Problem<'_> {
    type Gradient = Vec<f64>;

    fn gradient(&self, q: &Vec<f64>) -> std::result::Result<Vec<f64>, Infallible> {
        Ok(self.cost_and_gradient(q)?.1)
    }

    fn cost_and_gradient(&self, q: &Vec<f64>) -> std::result::Result<(f64, Vec<f64>), Infallible> {
        let mut grad = vec![0.0; q.len()];
        if self.monitor.cancelled() || self.fatal.borrow().is_some() {
            return Ok((0.0, grad));
        }
        match self.density.borrow_mut().answer(q, &mut grad) {
            Ok(logp) => {
                let mut best = self.best.borrow_mut();
                if logp > best.logp {
                    *best = Point { q: q.clone(), logp };
                }
                grad.iter_mut().for_each(|g| *g = -*g);
                Ok((-logp, grad))
            }
            Err(e) => {
                if let DensityError::Fatal(message) = e {
                    *self.fatal.borrow_mut() = Some(message);
                }
                grad.fill(0.0);
                Ok((FORBIDDEN, grad))
            }
        }
    }
}

/// Climb from `start` for at most `steps` steps of L-BFGS; the best point met. Fewer steps
/// are taken when the gradient vanishes, the line search finds nothing better, or the monitor
/// cancels.
pub fn climb<D: Density>(
    density: &D,
    start: Vec<f64>,
    steps: usize,
    monitor: &dyn Monitor,
) -> Result<Point> {
    climb_any(Box::new(density.clone()), start, steps, monitor)
}

fn climb_any(
    density: Box<dyn Answer + '_>,
    start: Vec<f64>,
    steps: usize,
    monitor: &dyn Monitor,
) -> Result<Point> {
    let best = RefCell::new(Point { q: start.clone(), logp: f64::NEG_INFINITY });
    let problem =
        Problem { density: RefCell::new(density), monitor, best, fatal: RefCell::new(None) };
    let shared = &problem;
    let Ok((cost, _)) = shared.cost_and_gradient(&start);
    if cost == FORBIDDEN || steps == 0 {
        return problem.end();
    }
    let solver =
        Lbfgs::new().unbounded().with_m_capacity(10).with_absolute_gradient_tolerance(1e-6);
    // An error of the line search is no failure: the best point so far is the result.
    let _ = Executor::new(shared, solver, FirstOrderState::new(start)).max_iter(steps as u64).run();
    problem.end()
}
