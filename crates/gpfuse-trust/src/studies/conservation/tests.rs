//! The test itself: it passes what is sound, and catches what is not.

use gpfuse::infer::DensityError;
use gpfuse::infer::transition::Transition;
use rand_distr::{Distribution, StandardNormal};

use super::*;
use crate::tune::Start;

/// A density that is not what it says: its log density and gradient are multiplied.
#[derive(Clone)]
struct Off {
    known: Known,
    logp: f64,
    grad: f64,
}

impl Density for Off {
    fn dim(&self) -> usize {
        self.known.dim()
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        let logp = self.known.logp(q, grad)?;
        grad.iter_mut().for_each(|g| *g *= self.grad);
        Ok(self.logp * logp)
    }
}

/// Starts from the density that it should be.
fn off(known: Known, logp: f64, grad: f64) -> Case<Off> {
    let views = known.views();
    let start: Start<Off> = Box::new(move |rng| {
        let q = known.draw(&mut || StandardNormal.sample(rng));
        Ok((q, Off { known: known.clone(), logp, grad }))
    });
    Case { name: "off".into(), start, views, widest: 1.0, scales: Vec::new() }
}

/// Whether 20,000 starts conserve the laws of a case.
fn conserves(case: &Case<Off>, sampler: Sampler, step: f64) -> bool {
    let kernel = kernel(sampler, step, &case.scales).unwrap();
    let transition = |density: &mut Off, q: &[f64], rng: &mut _| Ok(kernel.step(density, q, rng)?);
    let found =
        conserve(case, transition, 20_000, &reference(case, 100_000, 2, 7).unwrap(), 2, 7).unwrap();
    found.worst.distance <= found.worst.bound
}

/// A density that is 1.3 times as steep as that of the starts is another one. The sound
/// one passes, and fails with a probability of at most 1e-6 for each of four runs.
#[test]
fn a_wrong_density_is_caught() {
    for known in [Known::normal(1.0), Known::five()] {
        let step = if known.dim() == 1 { 0.9 } else { 0.35 };
        for sampler in [Sampler::Nuts, Sampler::Hmc] {
            assert!(conserves(&off(known.clone(), 1.0, 1.0), sampler, step));
            assert!(!conserves(&off(known.clone(), 1.3, 1.3), sampler, step));
        }
    }
}

/// A wrong gradient with the right log density makes a worse sampler, and still a right one: leapfrog
/// steps along any field are reversible and conserve volume, and the choice among the points of a
/// trajectory looks at the density alone. It fails with a probability of at most 2e-6.
#[test]
fn a_wrong_gradient_conserves_the_density() {
    for sampler in [Sampler::Nuts, Sampler::Hmc] {
        assert!(conserves(&off(Known::five(), 1.0, 1.2), sampler, 0.35));
    }
}

/// A leapfrog step without a decision at its end is caught. From standard normal numbers a step
/// of size `e` makes normal ones with the variance `(1 - e^2 / 2)^2 + e^2`: 1.5 for 1.2.
#[test]
fn a_transition_that_never_rejects_is_caught() {
    let case = Case::known("normal", Known::normal(1.0));
    let transition = |density: &mut Known, q: &[f64], rng: &mut _| {
        let mut grad = vec![0.0];
        density.logp(q, &mut grad)?;
        let p: f64 = StandardNormal.sample(rng);
        Ok((vec![q[0] + 1.2 * (p + 0.6 * grad[0])], Default::default()))
    };
    let found =
        conserve(&case, transition, 20_000, &reference(&case, 100_000, 2, 7).unwrap(), 2, 7)
            .unwrap();
    assert!(found.worst.distance > found.worst.bound, "{found:?}");
}

/// Scales that depend on the start, as a chain begins with, are caught: this is what a kernel must
/// not have.
#[test]
fn a_step_that_depends_on_the_start_is_caught() {
    let case = Case::known("normal", Known::normal(1.0));
    let transition = |density: &mut Known, q: &[f64], rng: &mut _| {
        let mut grad = vec![0.0];
        density.logp(q, &mut grad)?;
        let scale = grad[0].abs().recip().sqrt().clamp(1e-3, 1e3);
        let kernel = Transition::nuts(0.9, 4)?.scaled(vec![scale])?;
        Ok(kernel.step(density, q, rng)?)
    };
    let found =
        conserve(&case, transition, 20_000, &reference(&case, 100_000, 2, 7).unwrap(), 2, 7)
            .unwrap();
    assert!(found.worst.distance > found.worst.bound, "{found:?}");
}

/// What is found does not depend on the number of threads.
#[test]
fn threads_change_nothing() {
    let case = Case::known("funnel", Known::Funnel(1.0));
    let kernel = kernel(Sampler::Nuts, 0.5, &[]).unwrap();
    let found = [1, 3].map(|threads| {
        let transition =
            |density: &mut Known, q: &[f64], rng: &mut _| Ok(kernel.step(density, q, rng)?);
        let others = reference(&case, 1500, threads, 1).unwrap();
        conserve(&case, transition, 2500, &others, threads, 1).unwrap()
    });
    assert_eq!(found[0], found[1]);
}
