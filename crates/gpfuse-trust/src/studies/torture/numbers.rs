//! Columns of numbers that are hard on arithmetic: any scale, any offset, and odd shapes.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A power of ten between two, evenly on the scale of logarithms.
pub(super) fn power(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    10_f64.powf(low + (high - low) * rng.random::<f64>())
}

/// A standard normal number.
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Whether something happens that has this probability.
pub(super) fn chance(rng: &mut ChaCha8Rng, probability: f64) -> bool {
    rng.random::<f64>() < probability
}

/// One of some values.
pub(super) fn one<T: Copy>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())]
}

/// `n` numbers around zero, of about unit spread.
fn shape(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    let kind = rng.random_range(0..10);
    let value = |rng: &mut ChaCha8Rng| match kind {
        0 => f64::from(rng.random_range(0..3)),
        1 => f64::from(u8::from(chance(rng, 0.1))),
        2 | 3 => 2.0 * rng.random::<f64>() - 1.0,
        4 => normal(rng).powi(5),
        _ => normal(rng),
    };
    (0..n).map(|_| value(rng)).collect()
}

/// A column in units of its own: `n` numbers of scale 1e-12 to 1e12 about an offset that is 0 or
/// up to 1e15 times as large; some are constant, have an outlier of 1e9 spreads, or no size at all.
pub(super) fn column(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    let shape = shape(rng, n);
    in_units(rng, shape)
}

/// Numbers of about unit spread brought to such units.
pub(super) fn in_units(rng: &mut ChaCha8Rng, mut shape: Vec<f64>) -> Vec<f64> {
    let scale = power(rng, -12.0, 12.0);
    let offset = match rng.random_range(0..4) {
        0 => power(rng, 0.0, 15.0) * one(rng, &[-1.0, 1.0]),
        1 => normal(rng),
        _ => 0.0,
    };
    let at = rng.random_range(0..shape.len());
    match rng.random_range(0..40) {
        0 | 1 => shape.fill(1.0),
        2 | 3 => shape[at] = one(rng, &[1e9, -1e9]),
        // One unit in the last place apart, beside the offset.
        4 => {
            shape.fill(1.0);
            shape[at] = 1.0 + f64::EPSILON;
        }
        _ => {}
    }
    let scale = match rng.random_range(0..60) {
        0 => 5e-324 * power(rng, 0.0, 14.0),
        1 => power(rng, -300.0, -100.0),
        2 => power(rng, 100.0, 300.0),
        _ => scale,
    };
    shape.iter().map(|v| scale * (v + offset)).collect()
}
