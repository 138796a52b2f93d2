//! Where the climbs begin: three guesses with a common lengthscale, then random points.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::prior::Prior;
use crate::random::{Purpose, stream};

/// Factors on the prior median of every lengthscale, and the noise, of the three guesses. Long
/// and noisy comes first: from there the climb seldom ends where all is taken for noise.
const GUESSES: [(f64, f64); 3] = [(1.0, 0.3), (0.35, 0.03), (0.12, 1e-3)];

/// The guesses, in units of the data.
pub(super) fn guesses(prior: &Prior) -> impl Iterator<Item = Vec<f64>> {
    GUESSES.into_iter().map(|(factor, noise)| {
        let mut q = prior.median.clone();
        let last = q.len() - 1;
        q[1..last].iter_mut().for_each(|l| *l += f64::ln(factor));
        q[last] = f64::ln(noise);
        q
    })
}

/// Random point number `index` around `q`: `log noise` and each `log ell` with a standard deviation
/// of 1, a third of the inputs switched off by a lengthscale twenty times as long.
pub(super) fn around(q: &[f64], prior: &Prior, seed: u64, index: usize) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::GpStart, index as u64 + 1);
    let mut q = q.to_vec();
    let last = q.len() - 1;
    for l in &mut q[1..last] {
        let normal: f64 = StandardNormal.sample(&mut rng);
        let off = rng.random::<f64>() < 1.0 / 3.0;
        *l += normal + if off { f64::ln(20.0) } else { 0.0 };
    }
    let normal: f64 = StandardNormal.sample(&mut rng);
    q[last] += normal;
    q.iter_mut().enumerate().for_each(|(i, q)| *q = q.clamp(prior.lower[i], prior.upper[i]));
    q
}

/// `size` of the numbers from 0 to `rows`, without order.
pub(super) fn some_rows(rows: usize, size: usize, seed: u64) -> Vec<usize> {
    let mut rng = stream(seed, Purpose::GpStart, 0);
    let mut all: Vec<usize> = (0..rows).collect();
    for i in 0..size {
        all.swap(i, rng.random_range(i..rows));
    }
    all.truncate(size);
    all
}
