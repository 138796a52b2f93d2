//! A mixture in single precision, to start the search of its quantiles near their place.
//!
//! The components are counted in standard deviations from the mixture's mean. Tail
//! probabilities are good to about 1e-5 of their value, at a quarter of the price of exact ones.
//! Nothing but the number of exact evaluations depends on them.

use super::probit::{Node, Target, guess};
use super::sums::Parts;
use crate::math::ndtri;
use crate::math::simd::{Level, vectorised};

/// Sums in single precision run in this many interleaved partial sums.
const LANES: usize = 16;

/// Components that are evaluated before their terms are summed.
const BLOCK: usize = 64;

/// Evaluations of one search; two or three are the rule.
const MOST_EVALUATIONS: usize = 12;

/// Below this, tail probabilities underflow in single precision.
const LEAST_TAIL: f64 = 1e-30;

pub(super) struct Pilot {
    level: Level,
    /// Weights; components without weight fill the last block.
    weight: Vec<f32>,
    mean: Vec<f32>,
    inv_sd: Vec<f32>,
    nodes: Vec<Node>,
}

impl Pilot {
    pub(super) fn new(level: Level, parts: Parts<'_>, mean: f64, sd: f64) -> Pilot {
        let room = || vec![0.0; parts.weight.len().next_multiple_of(BLOCK)];
        let (mut w, mut m, mut r) = (room(), room(), room());
        convert(level, parts, mean, sd, &mut w, &mut m, &mut r);
        Pilot { level, weight: w, mean: m, inv_sd: r, nodes: Vec::new() }
    }

    /// About where the quantile is, in standard deviations from the mean, if it can to within
    /// `reach`; None in the farthest tails.
    pub(super) fn guess(&mut self, target: &Target, reach: f64) -> Option<f64> {
        if target.tail < LEAST_TAIL {
            return None;
        }
        let (mut low, mut high) = target.cantelli();
        for _ in 0..MOST_EVALUATIONS {
            let next = self.nodes.partition_point(|node| node.z < target.z);
            let (below, above) = (self.nodes[..next].last(), self.nodes.get(next));
            low = below.map_or(low, |node| low.max(node.y));
            high = above.map_or(high, |node| high.min(node.y));
            let y = guess(below, above, target.z).unwrap_or(target.z);
            let y = if low <= y && y <= high { y } else { 0.5 * (low + high) };
            let distance = |node: Option<&Node>| node.map(|node| (node.z - target.z).abs());
            // The error of a step is about the square of its length, or less between two nodes.
            let near = match (distance(below), distance(above)) {
                (Some(a), Some(b)) => a.min(b) < (8.0 * reach).sqrt().max(0.002),
                (Some(a), None) | (None, Some(a)) => a < (2.0 * reach).sqrt().max(0.002),
                (None, None) => false,
            };
            if near {
                return Some(y);
            }
            let node = self.evaluate(y, target.upper)?;
            let place = self.nodes.partition_point(|known| known.y < y);
            self.nodes.insert(place, node);
        }
        None
    }

    fn evaluate(&self, y: f64, upper: bool) -> Option<Node> {
        let sign = if upper { -1.0 } else { 1.0 };
        let (w, m, r) = (&self.weight, &self.mean, &self.inv_sd);
        let [tail, density] = tail_sum(self.level, w, m, r, y as f32, sign).map(f64::from);
        if !(tail > 0.0 && density > 0.0) {
            return None;
        }
        let z = f64::from(sign) * ndtri(tail.min(1.0 - f64::EPSILON));
        Some(Node::new(y, z, density))
    }
}

vectorised! {
    fn convert = convert_kernel(
        parts: Parts<'_>, mean: f64, sd: f64, w: &mut [f32], m: &mut [f32], r: &mut [f32],
    );
}

/// Numbers beyond `1e15` either way would leave single precision; a guess can do without.
#[inline(always)]
fn convert_kernel<const FMA: bool>(
    parts: Parts<'_>,
    mean: f64,
    sd: f64,
    w: &mut [f32],
    m: &mut [f32],
    r: &mut [f32],
) {
    const LARGEST_RATIO: f64 = 1e15;
    let n = parts.weight.len();
    let (weights, means, inverses) = (parts.weight, &parts.mean[..n], &parts.inv_sd[..n]);
    let (w, m, r) = (&mut w[..n], &mut m[..n], &mut r[..n]);
    let inverse = 1.0 / sd;
    for i in 0..n {
        w[i] = weights[i] as f32;
        m[i] = ((means[i] - mean) * inverse).clamp(-LARGEST_RATIO, LARGEST_RATIO) as f32;
        r[i] = (inverses[i] * sd).clamp(1.0 / LARGEST_RATIO, LARGEST_RATIO) as f32;
    }
}

/// `(Q(|z|), exp(-z^2/2))` to 1e-5 of their values, `|z| <= 13`. `Q(a) = exp(-a^2/2) R(a)`, R
/// a polynomial of degree 6 in `1 / (1 + 0.305 a)` that vanishes with it, `2^f` one of degree 5;
/// both are minimax fits of the relative error.
#[inline(always)]
fn tail<const FMA: bool>(z: f32) -> (f32, f32) {
    let a = z.abs();
    let a = if a > 13.0 { 13.0 } else { a };
    // 1.5 * 2^23 leaves the nearest integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = a * a * (-0.5 * std::f32::consts::LOG2_E);
    let shifted = x + ROUND;
    let f = x - (shifted - ROUND);
    let mut p = 1.327_647_2e-3;
    p = fma32::<FMA>(p, f, 9.675_541e-3);
    p = fma32::<FMA>(p, f, 5.550_713e-2);
    p = fma32::<FMA>(p, f, 2.402_212e-1);
    p = fma32::<FMA>(p, f, 6.931_469_4e-1);
    p = fma32::<FMA>(p, f, 1.000_000_1);
    let e = p * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    let t = 1.0 / fma32::<FMA>(a, 0.305, 1.0);
    let mut q = -7.675_637e-2;
    q = fma32::<FMA>(q, t, 2.012_011e-1);
    q = fma32::<FMA>(q, t, -3.446_165e-3);
    q = fma32::<FMA>(q, t, 1.402_618_9e-1);
    q = fma32::<FMA>(q, t, 1.167_414_3e-1);
    q = fma32::<FMA>(q, t, 1.219_996_6e-1);
    (e * q * t, e)
}

#[inline(always)]
fn fma32<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

vectorised! {
    /// The distribution function at `y` for sign 1, the survival function for -1; the density.
    fn tail_sum = tail_kernel(
        weight: &[f32], mean: &[f32], inv_sd: &[f32], y: f32, sign: f32,
    ) -> [f32; 2];
}

#[inline(always)]
fn tail_kernel<const FMA: bool>(
    weight: &[f32],
    mean: &[f32],
    inv_sd: &[f32],
    y: f32,
    sign: f32,
) -> [f32; 2] {
    const INV_SQRT_TWO_PI: f32 = 0.398_942_3;
    let (mut tails, mut densities) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    let (mut t, mut d) = ([0.0_f32; BLOCK], [0.0_f32; BLOCK]);
    let blocks = weight.as_chunks::<BLOCK>().0.iter().zip(mean.as_chunks::<BLOCK>().0);
    for ((w, m), r) in blocks.zip(inv_sd.as_chunks::<BLOCK>().0) {
        for i in 0..BLOCK {
            let z = sign * (y - m[i]) * r[i];
            let (q, e) = tail::<FMA>(z);
            let q = w[i] * q;
            t[i] = if z < 0.0 { q } else { w[i] - q };
            d[i] = w[i] * r[i] * e;
        }
        for (t, d) in t.as_chunks::<LANES>().0.iter().zip(d.as_chunks::<LANES>().0) {
            for j in 0..LANES {
                tails[j] += t[j];
                densities[j] += d[j];
            }
        }
    }
    [tails.iter().sum(), INV_SQRT_TWO_PI * densities.iter().sum::<f32>()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_in_single_precision_are_near_those_in_double() {
        for k in 0..12_900 {
            let z = k as f32 * 1e-3;
            let exact = crate::math::normal::tail::<false>(f64::from(z));
            for (q, e) in [tail::<false>(z), tail::<true>(-z)] {
                assert!((f64::from(q) / exact.0 - 1.0).abs() < 2e-5, "{z}: {q} {}", exact.0);
                assert!((f64::from(e) / exact.1 - 1.0).abs() < 2e-5, "{z}: {e} {}", exact.1);
            }
        }
        for z in [13.0, 1e4, f32::MAX, f32::INFINITY] {
            let (q, e) = tail::<false>(z);
            assert!(q > 0.0 && q < 1e-37 && e < 1e-35, "{z}");
        }
    }
}
