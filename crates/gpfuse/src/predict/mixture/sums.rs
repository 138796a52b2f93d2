//! The sums over a mixture's components, each written once and compiled per instruction set.
//!
//! Every kernel fills a small block with terms, which the compiler vectorises, and adds the
//! block into a fixed number of interleaved partial sums, so that the order of additions does
//! not depend on the width of the vectors.

use crate::math::normal::{INV_SQRT_TWO_PI, cdf, tail};
use crate::math::simd::vectorised;
use crate::math::{Partial, WIDTH, exp, fma, total};

/// The components as the kernels want them: linear weights that sum to 1, and both the
/// standard deviation and its inverse, because a division costs more than a load.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) weight: &'a [f64],
    pub(super) mean: &'a [f64],
    pub(super) sd: &'a [f64],
    pub(super) inv_sd: &'a [f64],
}

/// Components whose terms are filled in before they are summed: few enough to stay in the
/// nearest cache, too many for the loop to be unrolled whole, which costs registers.
pub(super) const BLOCK: usize = 256;

/// The same where several sums are made at once, whose terms then stay in registers.
const SMALL_BLOCK: usize = 64;

/// `each_block!(N, a = first, b = second; { body })` runs the body for block after block of some
/// slices of one length: with arrays of N numbers, then with slices of what is left. Not a
/// function of a closure, which need not be compiled for the instruction set of the kernel
/// around it.
macro_rules! each_block {
    ($block:expr, $($part:ident = $all:expr),+; $body:block) => {{
        let count = [$($all.len()),+].into_iter().min().unwrap_or(0);
        let whole = count - count % $block;
        for start in (0..whole).step_by($block) {
            $(let Some($part) = $all[start..].first_chunk::<{ $block }>() else { break };)+
            $body
        }
        $(let $part = &$all[whole..count];)+
        $body
    }};
}
pub(super) use each_block;

/// Adds terms to the partial sums, the j-th term of a block to sum `j mod WIDTH`.
#[inline(always)]
pub(super) fn add(sums: &mut Partial, terms: &[f64]) {
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
fn cdf_kernel<const FMA: bool>(parts: Parts<'_>, y: f64, sign: f64) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; BLOCK]);
    each_block!(BLOCK, w = parts.weight, m = parts.mean, r = parts.inv_sd; {
        let terms = &mut terms[..w.len()];
        for i in 0..w.len() {
            terms[i] = w[i] * cdf::<FMA>(sign * (y - m[i]) * r[i]);
        }
        add(&mut sums, terms);
    });
    total(&sums)
}

vectorised! {
    /// The distribution function at `y` for sign 1, the survival function for sign -1.
    pub(super) fn cdf_sum = cdf_kernel(parts: Parts<'_>, y: f64, sign: f64) -> f64;
}

/// The mixture at one y: a tail (the distribution function or, upper, the survival function),
/// the density and its first two derivatives.
#[derive(Clone, Copy)]
pub(super) struct Local {
    pub(super) tail: f64,
    pub(super) density: f64,
    pub(super) slope: f64,
    pub(super) curve: f64,
}

#[inline(always)]
fn point_kernel<const FMA: bool>(parts: Parts<'_>, y: f64, upper: bool) -> Local {
    let (mut sums, mut terms) = ([[0.0; WIDTH]; 4], [[0.0; SMALL_BLOCK]; 4]);
    let sign = if upper { -1.0 } else { 1.0 };
    each_block!(SMALL_BLOCK, w = parts.weight, m = parts.mean, r = parts.inv_sd; {
        let [tails, density, slope, curve] = terms.each_mut().map(|t| &mut t[..w.len()]);
        for i in 0..w.len() {
            let z = sign * (y - m[i]) * r[i];
            let (q, e) = tail::<FMA>(z);
            let far = w[i] * q;
            tails[i] = if z < 0.0 { far } else { w[i] - far };
            let d = w[i] * r[i] * e;
            density[i] = d;
            slope[i] = z * (d * r[i]);
            curve[i] = fma::<FMA>(z, z, -1.0) * (d * r[i] * r[i]);
        }
        for (sum, terms) in sums.iter_mut().zip([tails, density, slope, curve]) {
            add(sum, terms);
        }
    });
    let [tail, density, slope, curve] = sums.map(|sum| total(&sum));
    let per = INV_SQRT_TWO_PI;
    Local { tail, density: per * density, slope: -sign * per * slope, curve: per * curve }
}

vectorised! {
    /// All that quantiles need of the mixture at `y`, for one exponential per component.
    pub(super) fn point_sum = point_kernel(parts: Parts<'_>, y: f64, upper: bool) -> Local;
}

#[inline(always)]
fn roughness_kernel<const FMA: bool>(parts: Parts<'_>, sd: f64) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; BLOCK]);
    each_block!(BLOCK, w = parts.weight, r = parts.inv_sd; {
        let terms = &mut terms[..w.len()];
        for i in 0..w.len() {
            let square = (r[i] * sd) * (r[i] * sd);
            terms[i] = w[i] * (square * square);
        }
        add(&mut sums, terms);
    });
    total(&sums)
}

vectorised! {
    /// The sum of `w_i (sd / sd_i)^4`, which bounds the fourth derivative of the distribution
    /// function in units of `sd`.
    pub(super) fn roughness = roughness_kernel(parts: Parts<'_>, sd: f64) -> f64;
}

#[inline(always)]
fn exponent_kernel<const FMA: bool>(log_weight: &[f64], parts: Parts<'_>, y: f64) -> f64 {
    let (mut best, mut terms) = ([f64::NEG_INFINITY; WIDTH], [0.0; BLOCK]);
    each_block!(BLOCK, w = log_weight, m = parts.mean, r = parts.inv_sd; {
        for (t, ((w, m), r)) in terms.iter_mut().zip(w.iter().zip(m).zip(r)) {
            let z = (y - m) * r;
            *t = fma::<FMA>(-0.5 * z, z, *w);
        }
        terms[w.len()..].fill(f64::NEG_INFINITY);
        for chunk in terms.as_chunks::<WIDTH>().0 {
            for j in 0..WIDTH {
                best[j] = if chunk[j] > best[j] { chunk[j] } else { best[j] };
            }
        }
    });
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
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; BLOCK]);
    each_block!(BLOCK, w = log_weight, m = parts.mean, r = parts.inv_sd; {
        let terms = &mut terms[..w.len()];
        for i in 0..w.len() {
            let z = (y - m[i]) * r[i];
            terms[i] = r[i] * exp::<FMA>(fma::<FMA>(-0.5 * z, z, w[i]) - largest);
        }
        add(&mut sums, terms);
    });
    total(&sums)
}

vectorised! {
    /// The sum of `exp(log_weight - z^2/2 - largest) / sd` over the components.
    pub(super) fn density_sum =
        density_kernel(log_weight: &[f64], parts: Parts<'_>, y: f64, largest: f64) -> f64;
}

/// `A(m, s^2) = E|N(m, s^2)| = m (2 Phi(m/s) - 1) + 2 s phi(m/s)`.
#[inline(always)]
fn mean_distance<const FMA: bool>(m: f64, s: f64, inv_s: f64) -> f64 {
    let (q, e) = tail::<FMA>(m * inv_s);
    fma::<FMA>(m.abs(), 1.0 - 2.0 * q, 2.0 * s * INV_SQRT_TWO_PI * e)
}

#[inline(always)]
fn distance_kernel<const FMA: bool>(parts: Parts<'_>, y: f64) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; BLOCK]);
    each_block!(BLOCK, w = parts.weight, m = parts.mean, s = parts.sd, r = parts.inv_sd; {
        let terms = &mut terms[..w.len()];
        for i in 0..w.len() {
            terms[i] = w[i] * mean_distance::<FMA>(y - m[i], s[i], r[i]);
        }
        add(&mut sums, terms);
    });
    total(&sums)
}

vectorised! {
    /// The mean distance `E|X - y|`.
    pub(super) fn distance_sum = distance_kernel(parts: Parts<'_>, y: f64) -> f64;
}

#[inline(always)]
fn pair_kernel<const FMA: bool>(parts: Parts<'_>, mean: f64, sd: f64) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; BLOCK]);
    each_block!(BLOCK, w = parts.weight, m = parts.mean, s = parts.sd; {
        let terms = &mut terms[..w.len()];
        for i in 0..w.len() {
            let both = fma::<FMA>(sd, sd, s[i] * s[i]).sqrt();
            terms[i] = w[i] * mean_distance::<FMA>(mean - m[i], both, 1.0 / both);
        }
        add(&mut sums, terms);
    });
    total(&sums)
}

vectorised! {
    /// The mean distance `E|X - Y|` from an independent normal variable Y.
    pub(super) fn pair_sum = pair_kernel(parts: Parts<'_>, mean: f64, sd: f64) -> f64;
}

#[inline(always)]
fn range_kernel<const FMA: bool>(parts: Parts<'_>, low: f64, high: f64) -> [f64; 2] {
    let (mut least, mut most) = ([f64::INFINITY; WIDTH], [f64::NEG_INFINITY; WIDTH]);
    let (mut lows, mut highs) = ([0.0; BLOCK], [0.0; BLOCK]);
    each_block!(BLOCK, w = parts.weight, m = parts.mean, s = parts.sd; {
        let components = w.iter().zip(m).zip(s);
        for ((a, b), ((w, m), s)) in lows.iter_mut().zip(&mut highs).zip(components) {
            // A component without weight does not count.
            *a = if *w > 0.0 { fma::<FMA>(low, *s, *m) } else { f64::INFINITY };
            *b = if *w > 0.0 { fma::<FMA>(high, *s, *m) } else { f64::NEG_INFINITY };
        }
        lows[w.len()..].fill(f64::INFINITY);
        highs[w.len()..].fill(f64::NEG_INFINITY);
        for (a, b) in lows.as_chunks::<WIDTH>().0.iter().zip(highs.as_chunks::<WIDTH>().0) {
            for j in 0..WIDTH {
                least[j] = if a[j] < least[j] { a[j] } else { least[j] };
                most[j] = if b[j] > most[j] { b[j] } else { most[j] };
            }
        }
    });
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
    use super::super::prepare::prepare;
    use super::*;
    use crate::math::simd::Level;

    #[test]
    fn every_instruction_set_gives_the_same_sums() {
        for n in [1, 7, 8, 63, 255, 256, 257, 1000] {
            let wave = |k: f64| -> Vec<f64> { (0..n).map(|i| (k * f64::from(i)).sin()).collect() };
            let (log_weight, mean) = (wave(0.3), wave(1.1));
            let sd: Vec<f64> = wave(0.7).iter().map(|v| v.exp()).collect();
            let inv_sd: Vec<f64> = sd.iter().map(|s| 1.0 / s).collect();
            let all = |level| {
                let (mut weight, mut inverse) = (log_weight.clone(), sd.clone());
                let all = prepare(level, &log_weight, &mean, &sd, &mut weight, &mut inverse);
                let (largest, sum) = (all.largest, all.total);
                assert!(all.means_fit && all.sds_fit && inverse == inv_sd);
                let parts = Parts { weight: &weight, mean: &mean, sd: &sd, inv_sd: &inv_sd };
                let Local { tail: cdf, density, slope, curve } =
                    point_sum(level, parts, 0.4, false);
                let Local { tail: survival, .. } = point_sum(level, parts, 0.4, true);
                let [low, high] = range(level, parts, -2.0, 3.0);
                let near = [0.4 - 1e-4, 0.4 + 1e-4].map(|y| point_sum(level, parts, y, false));
                let change = |of: fn(&Local) -> f64| (of(&near[1]) - of(&near[0])) / 2e-4;
                assert!((change(|at| at.tail) - density).abs() < 1e-6);
                assert!((change(|at| at.density) - slope).abs() < 1e-6);
                assert!((change(|at| at.slope) - curve).abs() < 1e-6);
                let exponent = largest_exponent(level, &log_weight, parts, 0.4);
                assert!((weight.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                assert!((cdf + survival - 1.0).abs() < 1e-14);
                let scaled = density_sum(level, &log_weight, parts, 0.4, exponent);
                let log_density = scaled.ln() + exponent - largest - sum.ln();
                assert!((log_density.exp() * INV_SQRT_TWO_PI / density - 1.0).abs() < 1e-13);
                let tails = [cdf_sum(level, parts, 0.4, 1.0), cdf_sum(level, parts, 0.4, -1.0)];
                assert!((tails[0] - cdf).abs() < 1e-15 && (tails[1] - survival).abs() < 1e-15);
                let distances = [distance_sum(level, parts, 2.0), pair_sum(level, parts, 2.0, 0.5)];
                [
                    vec![cdf, density, slope, curve, low, high, all.mean, all.variance],
                    tails.to_vec(),
                    distances.to_vec(),
                ]
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
