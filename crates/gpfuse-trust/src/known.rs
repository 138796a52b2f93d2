//! Densities about which all is known: exact draws, and exact laws of numbers that a point has.

use gpfuse::infer::{Density, DensityError};
use gpfuse::random::{Purpose, stream};
use rand_distr::{Distribution, StandardNormal};

use crate::law::{Law, phi};

/// A number of a point.
type Look = Box<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// A number that a point has, and its law.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) of: Look,
    pub(crate) law: Law,
}

impl View {
    pub(crate) fn new(
        name: impl Into<String>,
        law: Law,
        of: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> View {
        View { name: name.into(), of: Box::new(of), law }
    }
}

/// A density with known laws, up to a constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Known {
    /// Normal with mean 0 and covariance `L L'`, by the rows of the lower triangle `L`.
    Normal(Vec<Vec<f64>>),
    /// Neal's funnel: `v ~ N(0, s^2)` and two `x ~ N(0, e^v)` (Neal, "Slice sampling", Annals of
    /// Statistics 31 (2003) 705–767).
    Funnel(f64),
    /// Half `N((-a, 0), I)`, half `N((a, 0), I)`.
    Pair(f64),
    /// Standard logistic.
    Logistic,
    /// Student's t with 5 degrees of freedom.
    Student,
}

/// Directions in which a normal density is looked at, besides those of its parameters.
const DIRECTIONS: u64 = 10;

impl Known {
    /// A normal number of mean 0.
    pub(crate) fn normal(sd: f64) -> Known {
        Known::Normal(vec![vec![sd]])
    }

    /// Two standard normal numbers with a correlation.
    pub(crate) fn correlated(rho: f64) -> Known {
        Known::Normal(vec![vec![1.0, 0.0], vec![rho, (1.0 - rho * rho).sqrt()]])
    }

    /// Five normal numbers with standard deviations from 0.4 to 2 and correlations up to 0.9.
    pub(crate) fn five() -> Known {
        Known::Normal(vec![
            vec![1.0, 0.0, 0.0, 0.0, 0.0],
            vec![1.8, 0.87, 0.0, 0.0, 0.0],
            vec![-0.2, 0.1, 0.33, 0.0, 0.0],
            vec![0.5, 0.5, 0.5, 0.9, 0.0],
            vec![0.1, 0.0, -0.2, 0.1, 0.55],
        ])
    }

    /// An exact draw, given a source of standard normal numbers.
    pub(crate) fn draw(&self, normal: &mut dyn FnMut() -> f64) -> Vec<f64> {
        match self {
            Known::Normal(factor) => {
                let z: Vec<f64> = factor.iter().map(|_| normal()).collect();
                factor.iter().map(|row| row.iter().zip(&z).map(|(l, z)| l * z).sum()).collect()
            }
            Known::Funnel(spread) => {
                let v = spread * normal();
                vec![v, (0.5 * v).exp() * normal(), (0.5 * v).exp() * normal()]
            }
            Known::Pair(a) => vec![a.copysign(normal()) + normal(), normal()],
            Known::Logistic => {
                let z = normal();
                vec![(phi(z) / phi(-z)).ln()]
            }
            Known::Student => {
                let squares: f64 = (0..5).map(|_| normal().powi(2)).sum();
                vec![normal() / (squares / 5.0).sqrt()]
            }
        }
    }

    /// Numbers with known laws.
    pub(crate) fn views(&self) -> Vec<View> {
        match self {
            Known::Normal(factor) => normal_views(factor),
            Known::Funnel(spread) => {
                let over = |i: usize| move |q: &[f64]| q[i] * (-0.5 * q[0]).exp();
                vec![
                    View::new("v", Law::Normal(0.0, *spread), |q| q[0]),
                    View::new("x1 / sd", Law::Normal(0.0, 1.0), over(1)),
                    View::new("x2 / sd", Law::Normal(0.0, 1.0), over(2)),
                ]
            }
            Known::Pair(a) => vec![
                View::new("x1", Law::Pair(*a), |q| q[0]),
                View::new("x2", Law::Normal(0.0, 1.0), |q| q[1]),
            ],
            Known::Logistic => vec![View::new("x", Law::Logistic, |q| q[0])],
            Known::Student => vec![View::new("x", Law::Student, |q| q[0])],
        }
    }
}

/// Each number, and where there are several, their sums in random directions.
fn normal_views(factor: &[Vec<f64>]) -> Vec<View> {
    let dim = factor.len();
    let along = |name: String, weights: Vec<f64>| {
        let column = |j: usize| -> f64 { (0..dim).map(|i| weights[i] * factor[i][j]).sum() };
        let sd = (0..dim).map(|j| column(j).powi(2)).sum::<f64>().sqrt();
        let of = move |q: &[f64]| q.iter().zip(&weights).map(|(q, w)| q * w).sum();
        View::new(name, Law::Normal(0.0, sd), of)
    };
    let coordinates = (0..dim).map(|i| {
        let weights = (0..dim).map(|j| f64::from(u8::from(i == j))).collect();
        along(format!("x{}", i + 1), weights)
    });
    let others = (0..if dim > 1 { DIRECTIONS } else { 0 }).map(|d| {
        let mut rng = stream(0, Purpose::Simulate, d);
        let weights = (0..dim).map(|_| StandardNormal.sample(&mut rng)).collect();
        along(format!("direction {}", d + 1), weights)
    });
    coordinates.chain(others).collect()
}

impl Density for Known {
    fn dim(&self) -> usize {
        match self {
            Known::Normal(factor) => factor.len(),
            Known::Funnel(_) => 3,
            Known::Pair(_) => 2,
            Known::Logistic | Known::Student => 1,
        }
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        let logp = match self {
            Known::Normal(factor) => {
                // With L z = q the log density is -z'z / 2 and its gradient -L'^-1 z.
                for i in 0..q.len() {
                    let known: f64 = (0..i).map(|j| factor[i][j] * grad[j]).sum();
                    grad[i] = (q[i] - known) / factor[i][i];
                }
                let logp = -0.5 * grad.iter().map(|z| z * z).sum::<f64>();
                for i in (0..q.len()).rev() {
                    let known: f64 = (i + 1..q.len()).map(|j| factor[j][i] * grad[j]).sum();
                    grad[i] = (-grad[i] - known) / factor[i][i];
                }
                logp
            }
            Known::Funnel(spread) => {
                let (v, precision) = (q[0], (-q[0]).exp());
                let squares = precision * (q[1] * q[1] + q[2] * q[2]);
                grad[0] = -v / (*spread * *spread) + 0.5 * squares - 1.0;
                (grad[1], grad[2]) = (-precision * q[1], -precision * q[2]);
                -0.5 * (v / *spread).powi(2) - 0.5 * squares - v
            }
            Known::Pair(a) => {
                // log(e^(ax) + e^(-ax)) without overflow.
                let far = (*a * q[0]).abs();
                (grad[0], grad[1]) = (-q[0] + *a * (*a * q[0]).tanh(), -q[1]);
                far + (-2.0 * far).exp().ln_1p() - 0.5 * (q[0] * q[0] + q[1] * q[1])
            }
            Known::Logistic => {
                grad[0] = -(0.5 * q[0]).tanh();
                -q[0].abs() - 2.0 * (-q[0].abs()).exp().ln_1p()
            }
            Known::Student => {
                grad[0] = -6.0 * q[0] / (5.0 + q[0] * q[0]);
                -3.0 * (q[0] * q[0] / 5.0).ln_1p()
            }
        };
        if logp.is_finite() && grad.iter().all(|g| g.is_finite()) {
            Ok(logp)
        } else {
            Err(DensityError::NotFinite { logp })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dkwm::{distance, reach};

    fn all() -> [Known; 8] {
        [
            Known::normal(1.0),
            Known::normal(3.0),
            Known::correlated(0.95),
            Known::five(),
            Known::Funnel(1.5),
            Known::Pair(1.5),
            Known::Logistic,
            Known::Student,
        ]
    }

    fn draws(known: &Known, count: u64) -> Vec<Vec<f64>> {
        let draw = |i: u64| {
            let mut rng = stream(5, Purpose::Simulate, i);
            known.draw(&mut || StandardNormal.sample(&mut rng))
        };
        (0..count).map(draw).collect()
    }

    /// Gradients are the slopes of the log density.
    #[test]
    fn gradients_are_slopes() {
        for mut known in all() {
            for q in draws(&known, 20) {
                let (mut grad, mut unused) = (vec![0.0; q.len()], vec![0.0; q.len()]);
                known.logp(&q, &mut grad).unwrap();
                for i in 0..q.len() {
                    let mut at = |by: f64| {
                        let mut moved = q.clone();
                        moved[i] += by;
                        known.logp(&moved, &mut unused).unwrap()
                    };
                    let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                    let near = 1e-6 * (1.0 + grad[i].abs() + grad[i].powi(2));
                    assert!((slope - grad[i]).abs() < near, "{slope}, not {}", grad[i]);
                }
            }
        }
    }

    /// Draws have the laws that the views state: at most 1e-6 for each of the 36 views.
    #[test]
    fn draws_have_their_laws() {
        for known in all() {
            let draws = draws(&known, 20_000);
            for view in known.views() {
                let mut values: Vec<f64> = draws.iter().map(|q| (view.of)(q)).collect();
                let apart = distance(&mut values, |x| view.law.cdf(x));
                assert!(apart < reach(20_000, 1e-6), "{known:?}, {}: {apart}", view.name);
            }
        }
    }
}
