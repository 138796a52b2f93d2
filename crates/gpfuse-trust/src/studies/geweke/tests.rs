//! The test itself: it catches what does not belong together.

use gpfuse::calibrate;
use gpfuse::random::{Purpose, stream};

use super::*;

const CYCLES: usize = 8000;

/// Compare the simulations of two studies, which should be the same, with a step size that is
/// good for both.
fn differ(first: &calibrate::Study, second: &calibrate::Study) -> Compared {
    let kernel = kernel(Sampler::Nuts, 0.4).unwrap();
    let transition = |density: &mut _, q: &[f64], rng: &mut _| Ok(kernel.step(density, q, rng)?.0);
    let reference = independent(first, CYCLES, 2, 3).unwrap();
    let chains = successive(second, transition, CYCLES / CHAINS, 2, 3).unwrap();
    compare(&simulate::names(first), reference, &chains, 10).unwrap()
}

/// The small model with another prior scale of the experts' mean variance.
fn scaled(method: Method, var: f64) -> calibrate::Study {
    let mut settings = (**small(method, 0).unwrap().settings()).clone();
    settings.fit.priors.mu.var = var;
    calibrate::Study::new(settings.check().unwrap()).unwrap()
}

/// A chain whose transitions believe in a prior with 1.5 times the scale is caught; the sound one
/// passes, and fails with a probability of about 1e-6.
#[test]
fn a_wrong_prior_is_caught() {
    let sound = differ(&scaled(Method::Het, 1.0), &scaled(Method::Het, 1.0));
    assert!(sound.largest.1 < sound.threshold, "{sound:?}");
    let wrong = differ(&scaled(Method::Het, 1.0), &scaled(Method::Het, 1.5));
    assert!(wrong.largest.1 > wrong.threshold, "{wrong:?}");
}

/// Data that are 1.3 times as far from 0 as the density believes are caught.
#[test]
fn data_of_a_wrong_scale_are_caught() {
    let study = small(Method::Het, 0).unwrap();
    let kernel = kernel(Sampler::Nuts, 0.4).unwrap();
    let own = study.clone();
    let transition = move |density: &mut gpfuse::model::Posterior, q: &[f64], rng: &mut _| {
        let _ = &density;
        let y: Vec<f64> = own.targets(q, rng)?.iter().map(|y| 1.3 * y).collect();
        Ok(kernel.step(&mut own.posterior(&y)?, q, rng)?.0)
    };
    let reference = independent(&study, CYCLES, 2, 3).unwrap();
    let chains = successive(&study, transition, CYCLES / CHAINS, 2, 3).unwrap();
    let found = compare(&simulate::names(&study), reference, &chains, 10).unwrap();
    assert!(found.largest.1 > found.threshold, "{found:?}");
}

/// Chains and independent draws do not depend on the number of threads.
#[test]
fn threads_change_nothing() {
    let study = small(Method::Bhs, 0).unwrap();
    let kernel = kernel(Sampler::Hmc, 0.4).unwrap();
    let both = [1, 3].map(|threads| {
        let transition =
            |density: &mut _, q: &[f64], rng: &mut _| Ok(kernel.step(density, q, rng)?.0);
        let chains = successive(&study, transition, 50, threads, 1).unwrap();
        (independent(&study, 600, threads, 1).unwrap(), chains)
    });
    assert_eq!(both[0], both[1]);
    // Data follow parameters: the same ones give others with other randomness.
    let q = vec![0.0; study.model().dim()];
    let y = |i: u64| study.targets(&q, &mut stream(1, Purpose::Chain, i)).unwrap();
    assert!(y(0) == y(0) && y(0) != y(1));
}
