//! The sums over a mixture's components, each written once and compiled per instruction set.
//!
//! Every kernel fills a small block with terms, which the compiler vectorises, and adds the
//! block into a fixed number of interleaved partial sums, so that the order of additions does
//! not depend on the width of the vectors.

use crate::math::normal::{INV_SQRT_TWO_PI, cdf, tail};
use crate::math::simd::vectorised;
use crate::math::{Partial, ROWS, WIDTH, exp, fma, total};

/// The components as the kernels want them: linear weights that sum to 1, and both the
/// standard deviation and its inverse, because a division costs more than a load.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) weight: &'a [f64],
    pub(super) mean: &'a [f64],
    pub(super) sd: &'a [f64],
    pub(super) inv_sd: &'a [f64],
}

/// The slices of `Parts`' fields in blocks: `(weight, mean, sd, inv_sd)`.
type Block<'a> = (&'a [f64], &'a [f64], &'a [f64], &'a [f64]);

impl<'a> Parts<'a> {
    #[inline(always)]
    fn blocks(self) -> impl Iterator<Item = Block<'a>> {
        let n = self.weight.len();
        (0..n).step_by(ROWS).map(move |start| {
            let r = start..(start + ROWS).min(n);
            (&self.weight[r.clone()], &self.mean[r.clone()], &self.sd[r.clone()], &self.inv_sd[r])
        })
    }
}

/// Adds terms to the partial sums, the j-th term of a block to sum `j mod WIDTH`.
#[inline(always)]
fn add(sums: &mut Partial, terms: &[f64]) {
    let (whole, rest) = terms.as_chunks::<WIDTH>();
    for chunk in whole {
        for j in 0..WIDTH {
            sums[j] += chunk[j];
        }
    }
    for (s, t) in sums.iter_mut().zip(rest) {
        *s += t;
    }
}

#[inline(always)]
fn normalise_kernel<const FMA: bool>(weight: &mut [f64]) -> (f64, f64) {
    let mut best = [f64::NEG_INFINITY; WIDTH];
    let (whole, rest) = weight.as_chunks::<WIDTH>();
    for chunk in whole {
        for j in 0..WIDTH {
            best[j] = if chunk[j] > best[j] { chunk[j] } else { best[j] };
        }
    }
    let largest = best.iter().chain(rest).fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    for w in weight.iter_mut() {
        *w = exp::<FMA>(*w - largest);
    }
    let mut sums = [0.0; WIDTH];
    add(&mut sums, weight);
    let (sum, scale) = (total(&sums), 1.0 / total(&sums));
    for w in weight.iter_mut() {
        *w *= scale;
    }
    (largest, sum)
}

vectorised! {
    /// Turns log weights into weights that sum to 1; returns the largest log weight and the sum
    /// of the weights relative to the largest, NaN if one of them is.
    pub(super) fn normalise = normalise_kernel(weight: &mut [f64]) -> (f64, f64);
}

#[inline(always)]
fn cdf_kernel<const FMA: bool>(parts: Parts<'_>, y: f64, sign: f64) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; ROWS]);
    for (weight, mean, _, inv_sd) in parts.blocks() {
        for (t, ((w, m), r)) in terms.iter_mut().zip(weight.iter().zip(mean).zip(inv_sd)) {
            *t = w * cdf::<FMA>(sign * (y - m) * r);
        }
        add(&mut sums, &terms[..weight.len()]);
    }
    total(&sums)
}

vectorised! {
    /// The distribution function at `y` for sign 1, the survival function for sign -1.
    pub(super) fn cdf_sum = cdf_kernel(parts: Parts<'_>, y: f64, sign: f64) -> f64;
}

#[inline(always)]
fn point_kernel<const FMA: bool>(parts: Parts<'_>, y: f64) -> [f64; 3] {
    let (mut low, mut high, mut density) = ([0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]);
    let (mut t_low, mut t_high, mut t_density) = ([0.0; ROWS], [0.0; ROWS], [0.0; ROWS]);
    for (weight, mean, _, inv_sd) in parts.blocks() {
        let components = weight.iter().zip(mean).zip(inv_sd);
        let terms = t_low.iter_mut().zip(&mut t_high).zip(&mut t_density);
        for (((l, h), d), ((w, m), r)) in terms.zip(components) {
            let z = (y - m) * r;
            let (q, e) = tail::<FMA>(z);
            let (near, far) = (w * (1.0 - q), w * q);
            *l = if z < 0.0 { far } else { near };
            *h = if z < 0.0 { near } else { far };
            *d = w * r * INV_SQRT_TWO_PI * e;
        }
        add(&mut low, &t_low[..weight.len()]);
        add(&mut high, &t_high[..weight.len()]);
        add(&mut density, &t_density[..weight.len()]);
    }
    [total(&low), total(&high), total(&density)]
}

vectorised! {
    /// Distribution function, survival function and density at `y`, for one exponential each.
    pub(super) fn point_sum = point_kernel(parts: Parts<'_>, y: f64) -> [f64; 3];
}

#[inline(always)]
fn exponent_kernel<const FMA: bool>(log_weight: &[f64], parts: Parts<'_>, y: f64) -> f64 {
    let mut best = [f64::NEG_INFINITY; WIDTH];
    let mut terms = [0.0; ROWS];
    for (lw, (_, mean, _, inv_sd)) in log_weight.chunks(ROWS).zip(parts.blocks()) {
        for (t, ((w, m), r)) in terms.iter_mut().zip(lw.iter().zip(mean).zip(inv_sd)) {
            let z = (y - m) * r;
            *t = fma::<FMA>(-0.5 * z, z, *w);
        }
        terms[lw.len()..].fill(f64::NEG_INFINITY);
        for chunk in terms.as_chunks::<WIDTH>().0 {
            for j in 0..WIDTH {
                best[j] = if chunk[j] > best[j] { chunk[j] } else { best[j] };
            }
        }
    }
    best.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b))
}

vectorised! {
    /// The largest of `log_weight - z^2/2` over the components.
    pub(super) fn largest_exponent =
        exponent_kernel(log_weight: &[f64], parts: Parts<'_>, y: f64) -> f64;
}

#[inline(always)]
fn density_kernel<const FMA: bool>(
    log_weight: &[f64],
    parts: Parts<'_>,
    y: f64,
    largest: f64,
) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; ROWS]);
    for (lw, (_, mean, _, inv_sd)) in log_weight.chunks(ROWS).zip(parts.blocks()) {
        for (t, ((w, m), r)) in terms.iter_mut().zip(lw.iter().zip(mean).zip(inv_sd)) {
            let z = (y - m) * r;
            *t = r * exp::<FMA>(fma::<FMA>(-0.5 * z, z, *w) - largest);
        }
        add(&mut sums, &terms[..lw.len()]);
    }
    total(&sums)
}

vectorised! {
    /// The sum of `exp(log_weight - z^2/2 - largest) / sd` over the components.
    pub(super) fn density_sum =
        density_kernel(log_weight: &[f64], parts: Parts<'_>, y: f64, largest: f64) -> f64;
}

#[inline(always)]
fn moment_kernel<const FMA: bool>(parts: Parts<'_>, center: f64) -> [f64; 2] {
    let (mut first, mut second) = ([0.0; WIDTH], [0.0; WIDTH]);
    let (mut t_first, mut t_second) = ([0.0; ROWS], [0.0; ROWS]);
    for (weight, mean, sd, _) in parts.blocks() {
        let components = weight.iter().zip(mean).zip(sd);
        for ((a, b), ((w, m), s)) in t_first.iter_mut().zip(&mut t_second).zip(components) {
            let d = m - center;
            *a = w * d;
            *b = w * fma::<FMA>(d, d, s * s);
        }
        add(&mut first, &t_first[..weight.len()]);
        add(&mut second, &t_second[..weight.len()]);
    }
    [total(&first), total(&second)]
}

vectorised! {
    /// The first two moments about `center`.
    pub(super) fn moment_sum = moment_kernel(parts: Parts<'_>, center: f64) -> [f64; 2];
}

/// `A(m, s^2) = E|N(m, s^2)| = m (2 Phi(m/s) - 1) + 2 s phi(m/s)`.
#[inline(always)]
fn mean_distance<const FMA: bool>(m: f64, s: f64, inv_s: f64) -> f64 {
    let (q, e) = tail::<FMA>(m * inv_s);
    fma::<FMA>(m.abs(), 1.0 - 2.0 * q, 2.0 * s * INV_SQRT_TWO_PI * e)
}

#[inline(always)]
fn distance_kernel<const FMA: bool>(parts: Parts<'_>, y: f64) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; ROWS]);
    for (weight, mean, sd, inv_sd) in parts.blocks() {
        let components = weight.iter().zip(mean).zip(sd).zip(inv_sd);
        for (t, (((w, m), s), r)) in terms.iter_mut().zip(components) {
            *t = w * mean_distance::<FMA>(y - m, *s, *r);
        }
        add(&mut sums, &terms[..weight.len()]);
    }
    total(&sums)
}

vectorised! {
    /// The mean distance `E|X - y|`.
    pub(super) fn distance_sum = distance_kernel(parts: Parts<'_>, y: f64) -> f64;
}

#[inline(always)]
fn pair_kernel<const FMA: bool>(parts: Parts<'_>, mean: f64, sd: f64) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; ROWS]);
    for (weight, means, sds, _) in parts.blocks() {
        for (t, ((w, m), s)) in terms.iter_mut().zip(weight.iter().zip(means).zip(sds)) {
            let both = fma::<FMA>(sd, sd, s * s).sqrt();
            *t = w * mean_distance::<FMA>(mean - m, both, 1.0 / both);
        }
        add(&mut sums, &terms[..weight.len()]);
    }
    total(&sums)
}

vectorised! {
    /// The mean distance `E|X - Y|` from an independent normal variable Y.
    pub(super) fn pair_sum = pair_kernel(parts: Parts<'_>, mean: f64, sd: f64) -> f64;
}

#[inline(always)]
fn range_kernel<const FMA: bool>(parts: Parts<'_>, low: f64, high: f64) -> [f64; 2] {
    let (mut least, mut most) = ([f64::INFINITY; WIDTH], [f64::NEG_INFINITY; WIDTH]);
    let (mut a, mut b) = ([0.0; ROWS], [0.0; ROWS]);
    for (weight, mean, sd, _) in parts.blocks() {
        let components = weight.iter().zip(mean).zip(sd);
        for ((a, b), ((w, m), s)) in a.iter_mut().zip(&mut b).zip(components) {
            // A component without weight has no say.
            *a = if *w > 0.0 { fma::<FMA>(low, *s, *m) } else { f64::INFINITY };
            *b = if *w > 0.0 { fma::<FMA>(high, *s, *m) } else { f64::NEG_INFINITY };
        }
        a[weight.len()..].fill(f64::INFINITY);
        b[weight.len()..].fill(f64::NEG_INFINITY);
        for (a, b) in a.as_chunks::<WIDTH>().0.iter().zip(b.as_chunks::<WIDTH>().0) {
            for j in 0..WIDTH {
                least[j] = if a[j] < least[j] { a[j] } else { least[j] };
                most[j] = if b[j] > most[j] { b[j] } else { most[j] };
            }
        }
    }
    let low = least.iter().fold(f64::INFINITY, |a, b| a.min(*b));
    let high = most.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    [low.max(f64::MIN), high.min(f64::MAX)]
}

vectorised! {
    /// The least `mean + low sd` and the largest `mean + high sd` of the components that have
    /// weight.
    pub(super) fn range = range_kernel(parts: Parts<'_>, low: f64, high: f64) -> [f64; 2];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::simd::Level;

    #[test]
    fn every_instruction_set_gives_the_same_sums() {
        for n in [1, 7, 8, 63, 64, 65, 1000] {
            let wave = |k: f64| -> Vec<f64> { (0..n).map(|i| (k * f64::from(i)).sin()).collect() };
            let (log_weight, mean) = (wave(0.3), wave(1.1));
            let sd: Vec<f64> = wave(0.7).iter().map(|v| v.exp()).collect();
            let inv_sd: Vec<f64> = sd.iter().map(|s| 1.0 / s).collect();
            let all = |level| {
                let mut weight = log_weight.clone();
                let (largest, sum) = normalise(level, &mut weight);
                let parts = Parts { weight: &weight, mean: &mean, sd: &sd, inv_sd: &inv_sd };
                let [cdf, survival, density] = point_sum(level, parts, 0.4);
                let [low, high] = range(level, parts, -2.0, 3.0);
                let [first, second] = moment_sum(level, parts, 0.1);
                let exponent = largest_exponent(level, &log_weight, parts, 0.4);
                assert!((weight.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                assert!((cdf + survival - 1.0).abs() < 1e-14);
                let scaled = density_sum(level, &log_weight, parts, 0.4, exponent);
                let log_density = scaled.ln() + exponent - largest - sum.ln();
                assert!((log_density.exp() * INV_SQRT_TWO_PI / density - 1.0).abs() < 1e-13);
                let tails = [cdf_sum(level, parts, 0.4, 1.0), cdf_sum(level, parts, 0.4, -1.0)];
                assert!((tails[0] - cdf).abs() < 1e-15 && (tails[1] - survival).abs() < 1e-15);
                let distances = [distance_sum(level, parts, 2.0), pair_sum(level, parts, 2.0, 0.5)];
                [vec![cdf, density, low, high, first, second], tails.to_vec(), distances.to_vec()]
                    .concat()
            };
            let levels = Level::available();
            let scalar = all(levels[0]);
            for level in &levels[1..] {
                for (a, b) in all(*level).iter().zip(&scalar) {
                    assert!((a - b).abs() <= 1e-14 * b.abs().max(1.0), "{} {n}", level.name());
                }
            }
        }
    }
}
