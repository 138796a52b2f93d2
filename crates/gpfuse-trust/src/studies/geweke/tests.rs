//! The test itself: it catches what does not belong together.

use gpfuse::random::{Purpose, stream};

use super::*;
use crate::joint::small;

const CYCLES: usize = 8000;

/// Compare independent draws of one study with chains of another, which should be the same, and
/// whose data are multiplied by `stretch`.
fn differ(first: &calibrate::Study, second: &calibrate::Study, stretch: f64) -> Compared {
    let kernel = kernel(Sampler::Nuts, 0.25, &[]).unwrap();
    let transition = |mut density, q: &[f64], rng: &mut _| Ok(kernel.step(&mut density, q, rng)?.0);
    let renew = |q: &[f64], rng: &mut _| {
        Ok(second.targets(q, rng)?.into_iter().map(|y| stretch * y).collect())
    };
    let reference = independent(first, CYCLES, 2, 3).unwrap();
    let chains = successive(second, renew, transition, CYCLES / CHAINS, 2, 3).unwrap();
    compare(&simulate::names(first), reference, &chains, 10).unwrap()
}

/// The small model with another prior scale of the experts' mean variance.
fn scaled(method: Method, var: f64) -> calibrate::Study {
    let mut settings = (**small(method, 0).unwrap().settings()).clone();
    settings.fit.priors.mu.var = var;
    calibrate::Study::new(settings.check().unwrap()).unwrap()
}

/// A chain whose transitions believe in a prior of twice the scale is caught, and so are data
/// that are 1.5 times as far from 0 as the density believes; the sound one passes, and fails with
/// a probability of about 1e-6.
#[test]
fn a_wrong_prior_and_wrong_data_are_caught() {
    let right = scaled(Method::Het, 1.0);
    let sound = differ(&right, &right, 1.0);
    assert!(sound.largest.1 < sound.threshold, "{sound:?}");
    for (study, stretch) in [(scaled(Method::Het, 2.0), 1.0), (right.clone(), 1.5)] {
        let wrong = differ(&right, &study, stretch);
        assert!(wrong.largest.1 > wrong.threshold, "{stretch}: {wrong:?}");
    }
}

/// Chains and independent draws do not depend on the number of threads.
#[test]
fn threads_change_nothing() {
    let study = small(Method::Bhs, 0).unwrap();
    let kernel = kernel(Sampler::Hmc, 0.4, &[]).unwrap();
    let both = [1, 3].map(|threads| {
        let transition =
            |mut density, q: &[f64], rng: &mut _| Ok(kernel.step(&mut density, q, rng)?.0);
        let renew = |q: &[f64], rng: &mut _| study.targets(q, rng);
        let chains = successive(&study, renew, transition, 50, threads, 1).unwrap();
        (independent(&study, 600, threads, 1).unwrap(), chains)
    });
    assert_eq!(both[0], both[1]);
    // Data follow parameters: the same ones give others with other randomness.
    let q = vec![0.0; study.model().dim()];
    let y = |i: u64| study.targets(&q, &mut stream(1, Purpose::Chain, i)).unwrap();
    assert!(y(0) == y(0) && y(0) != y(1));
}
