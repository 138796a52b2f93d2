//! Where the climbs begin: the prior medians, a shorter and a longer guess, then random points.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::prior::Prior;
use crate::random::{Purpose, stream};

/// Start number `index`, in units of the data.
///
/// The first is the median of the priors, whatever the objective; the second has lengthscales of
/// a third and little noise, the third lengthscales of three times and much noise. Later ones are
/// random: `log ell` with a standard deviation of 1 around the median, a third of the inputs
/// switched off by a lengthscale twenty times as long, noise from 1e-4 to 0.5 of the variance.
pub(super) fn start(prior: &Prior, seed: u64, index: usize) -> Vec<f64> {
    let mut q = prior.median.clone();
    let last = q.len() - 1;
    match index {
        0 => {}
        1 | 2 => {
            let (ell, noise) = if index == 1 { (1.0 / 3.0, 1e-3) } else { (3.0, 0.3) };
            q[1..last].iter_mut().for_each(|l| *l += f64::ln(ell));
            q[last] = f64::ln(noise);
        }
        _ => {
            let mut rng = stream(seed, Purpose::GpStart, index as u64);
            for l in &mut q[1..last] {
                let normal: f64 = StandardNormal.sample(&mut rng);
                let off = rng.random::<f64>() < 1.0 / 3.0;
                *l += normal + if off { f64::ln(20.0) } else { 0.0 };
            }
            let (low, high) = (f64::ln(1e-4), f64::ln(0.5));
            q[last] = low + (high - low) * rng.random::<f64>();
        }
    }
    q.iter_mut().enumerate().for_each(|(i, q)| *q = q.clamp(prior.lower[i], prior.upper[i]));
    q
}
