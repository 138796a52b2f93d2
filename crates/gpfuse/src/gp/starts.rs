//! Where the climbs begin: guesses, random points around a mode, and moves away from it.

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

/// Every lengthscale one standard deviation of its input, and little noise.
pub(super) fn plain(prior: &Prior) -> Vec<f64> {
    let mut q = vec![0.0; prior.median.len()];
    q[prior.median.len() - 1] = f64::ln(0.1);
    q
}

/// `log ell - log sd` from which an input matters little, where sd is that of the function.
const LITTLE_RELEVANT: f64 = 4.0;

/// The `log ell` at `q` from which an input matters little: longer ones are all alike, and too
/// far from others to be moved there.
fn long(q: &[f64]) -> f64 {
    LITTLE_RELEVANT + 0.5 * q[0].max(0.0)
}

/// Random point number `index` around `q`: a quarter of the lengthscales, but about two at most, are
/// twenty times as long, as many a twentieth, and there is more noise, up to e squared times.
pub(super) fn around(q: &[f64], prior: &Prior, seed: u64, index: usize) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::GpStart, index as u64 + 1);
    let mut q = q.to_vec();
    let (last, long) = (q.len() - 1, long(&q));
    let share = f64::min(0.25, 2.0 / (last - 1) as f64);
    for l in &mut q[1..last] {
        let normal: f64 = StandardNormal.sample(&mut rng);
        let by = match rng.random::<f64>() {
            u if u < share => -f64::ln(20.0),
            u if u < 2.0 * share => f64::ln(20.0),
            _ => 0.0,
        };
        *l = l.min(long) + by + 0.3 * normal;
    }
    q[last] += 2.0 * rng.random::<f64>();
    q.iter_mut().enumerate().for_each(|(i, q)| *q = q.clamp(prior.lower[i], prior.upper[i]));
    q
}

/// The points that differ from `q` in one lengthscale, e squared times as long or as short; one
/// that is long already only becomes shorter.
pub(super) fn moves(q: &[f64], prior: &Prior) -> Vec<Vec<f64>> {
    let long = long(q);
    let each = |i: usize| {
        let to = if q[i] > long { [long - 2.0, long - 4.0] } else { [q[i] - 2.0, q[i] + 2.0] };
        to.map(|to| {
            let mut moved = q.to_vec();
            moved[i] = to.clamp(prior.lower[i], prior.upper[i]);
            moved
        })
    };
    (1..q.len() - 1).flat_map(each).collect()
}

/// `q` with all long lengthscales at their bounds.
pub(super) fn stretched(q: &[f64], prior: &Prior) -> Vec<f64> {
    let inner = 1..q.len() - 1;
    let far = long(q) + 2.0;
    let each = |(i, q): (usize, &f64)| match inner.contains(&i) && *q > far {
        true => prior.upper[i],
        false => *q,
    };
    q.iter().enumerate().map(each).collect()
}

/// `size` of the numbers from 0 to `rows`, without order.
pub(crate) fn some_rows(rows: usize, size: usize, seed: u64) -> Vec<usize> {
    let mut rng = stream(seed, Purpose::GpStart, 0);
    let mut all: Vec<usize> = (0..rows).collect();
    for i in 0..size {
        all.swap(i, rng.random_range(i..rows));
    }
    all.truncate(size);
    all
}
