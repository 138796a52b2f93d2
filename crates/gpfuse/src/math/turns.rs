//! Angles in quarter turns: sine and cosine of an angle, and the angle of a point.
//!
//! `sin(pi t / 2)` needs no reduction by a rounded pi: with k the integer nearest to t, the
//! remainder `r = t - k` is exact, and a phase that is a product `x * w` comes in quarter turns
//! at no cost when w is scaled once. The result is within about one unit in the last place of
//! the sine of the angle given, for every angle up to 1e15, where the nearest integer no longer
//! fits beside the constant that finds it. The polynomials are minimax
//! ones, found by Remez' algorithm in 50 digits; the remainders are below 4e-18.

use super::elementary::{ROUND, fma};
use super::simd::vectorised;
use super::wide::{Wide, group, group_mut};
use super::{Lanes, ROWS, WIDTH};

/// `sin(pi r / 2) / r` as a polynomial of `r^2`, for `|r| <= 1/2`.
const SIN: [f64; 7] = [
    std::f64::consts::FRAC_PI_2,
    -6.459_640_975_062_443e-1,
    7.969_262_624_603_957e-2,
    -4.681_754_132_282_42e-3,
    1.604_411_502_916_642_8e-4,
    -3.598_641_754_487_236e-6,
    5.633_721_016_484_235e-8,
];

/// `(cos(pi r / 2) - 1) / r^2` likewise.
const COS: [f64; 7] = [
    -1.233_700_550_136_169_7,
    2.536_695_079_010_471_4e-1,
    -2.086_348_076_331_817e-2,
    9.192_602_742_368_791e-4,
    -2.520_203_696_171_001e-5,
    4.710_612_286_370_458_5e-7,
    -6.321_258_921_032_388e-9,
];

/// `(cos(pi r) - 1) / r^2` for `|r| <= 1/2`.
const COS_WIDE: [f64; 8] = [
    -4.934_802_200_544_678,
    4.058_712_126_416_595,
    -1.335_262_768_845_811_6,
    2.353_306_301_565_888_7e-1,
    -2.580_688_889_607_19e-2,
    1.929_556_737_303_208_7e-3,
    -1.045_670_918_758_956_6e-4,
    4.149_578_027_057_121e-6,
];

/// `(sin, cos)` of angles of at most 1e15 quarter turns.
#[inline(always)]
pub(crate) fn sin_cos<V: Wide>(t: V) -> (V, V) {
    let round = V::splat(ROUND);
    let shifted = t.add(round);
    let r = t.sub(shifted.sub(round));
    let z = r.mul(r);
    let sin = r.mul(polynomial(&SIN, z));
    let cos = z.fma(polynomial(&COS, z), V::splat(1.0));
    shifted.quarters(sin, cos)
}

vectorised! {
    /// The same for a column, whose angles may have any size.
    pub(crate) fn sin_cos_lanes = sin_cos_kernel<wide>(
        t: &Lanes, sin: &mut Lanes, cos: &mut Lanes,
    );
}

#[inline(always)]
fn sin_cos_kernel<V: Wide>(t: &Lanes, sin: &mut Lanes, cos: &mut Lanes) {
    for i in 0..ROWS / WIDTH {
        let (s, c) = sin_cos(V::load(group(t, i)));
        s.store(group_mut(sin, i));
        c.store(group_mut(cos, i));
    }
    for r in 0..ROWS {
        if t[r].abs() > 1e15 {
            (sin[r], cos[r]) = sin_cos_far(t[r]);
        }
    }
}

/// `(sin, cos)` of one angle of any size.
pub(crate) fn sin_cos_far(t: f64) -> (f64, f64) {
    // A whole turn is four; the remainder is exact.
    (t % 4.0 * std::f64::consts::FRAC_PI_2).sin_cos()
}

/// The cosine alone, which is cheaper: of an angle in half turns, at most 5e14 of them, it needs
/// one polynomial. Its error is about one unit in the last place of 1.
#[inline(always)]
pub(crate) fn cos<V: Wide>(t: V) -> V {
    let round = V::splat(ROUND);
    let shifted = t.add(round);
    let r = t.sub(shifted.sub(round));
    let z = r.mul(r);
    shifted.flip(z.fma(polynomial(&COS_WIDE, z), V::splat(1.0)))
}

#[inline(always)]
fn polynomial<V: Wide, const N: usize>(coefficients: &[f64; N], z: V) -> V {
    let mut p = V::splat(coefficients[N - 1]);
    for c in coefficients[..N - 1].iter().rev() {
        p = p.fma(z, V::splat(*c));
    }
    p
}

/// `2 atan(q) / (pi q)` as a polynomial of `q^2`, for `|q| <= tan(pi / 8)`; the remainder is
/// below 2e-18.
const ATAN: [f64; 12] = [
    std::f64::consts::FRAC_2_PI,
    -2.122_065_907_891_925e-1,
    1.273_239_544_731_517e-1,
    -9.094_568_172_670_778e-2,
    7.073_552_798_115_278e-2,
    -5.787_444_790_986_358e-2,
    4.896_910_409_961_456e-2,
    -4.241_791_442_945_156e-2,
    3.722_409_864_982_882e-2,
    -3.206_189_343_189_198e-2,
    2.418_765_108_960_396_4e-2,
    -1.135_454_456_345_000_3e-2,
];

/// The distance of the point `(x, y)` from the origin, whose square must be a normal number or
/// 0, and its angle in quarter turns, in `[-2, 2]`; the origin has angle 0. With `q` the ratio
/// of the smaller to the larger coordinate, `atan q = pi/4 + atan((q - 1) / (q + 1))` brings
/// the argument within `tan(pi / 8)`.
#[inline(always)]
pub(crate) fn polar<const FMA: bool>(x: f64, y: f64) -> (f64, f64) {
    let (a, b) = (x.abs(), y.abs());
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    let wide = small > 0.414_213_562_373_095_03 * large;
    let top = if wide { small - large } else { small };
    let bottom = if wide { small + large } else { large };
    let q = top / if bottom == 0.0 { 1.0 } else { bottom };
    let z = q * q;
    let mut p = ATAN[11];
    for c in ATAN[..11].iter().rev() {
        p = fma::<FMA>(p, z, *c);
    }
    let angle = fma::<FMA>(p, q, if wide { 0.5 } else { 0.0 });
    let angle = if a < b { 1.0 - angle } else { angle };
    let angle = if x < 0.0 { 2.0 - angle } else { angle };
    (fma::<FMA>(x, x, y * y).sqrt(), angle.copysign(y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::elementary::tests::{ulps, uniform};
    use crate::math::simd::Level;

    vectorised! {
        fn cos_lanes = cos_kernel<wide>(t: &Lanes, out: &mut Lanes);
    }

    #[inline(always)]
    fn cos_kernel<V: Wide>(t: &Lanes, out: &mut Lanes) {
        for i in 0..ROWS / WIDTH {
            let half = V::load(group(t, i)).mul(V::splat(0.5));
            super::cos(half).store(group_mut(out, i));
        }
    }

    /// The reference reduces to an eighth of a turn, exactly, before it uses the standard
    /// library's functions; the product with pi/2 leaves it half a unit away from the truth.
    fn reference(t: f64) -> (f64, f64) {
        let k = t.round();
        let (s, c) = ((t - k) * std::f64::consts::FRAC_PI_2).sin_cos();
        match (k % 4.0 + 4.0) % 4.0 {
            0.0 => (s, c),
            1.0 => (c, -s),
            2.0 => (-s, -c),
            _ => (-c, s),
        }
    }

    #[test]
    fn sin_cos_agrees_with_the_standard_library() {
        let narrow = uniform(200_000, -10.0, 10.0);
        let eighths = (-20_000..20_000).map(|k| f64::from(k) / 2.0);
        let far = uniform(200_000, -1e15, 1e15);
        let wide = uniform(200_000, -1e5, 1e5);
        let all: Vec<f64> = wide.chain(narrow).chain(far).chain(eighths).collect();
        let [mut sin, mut cos, mut alone] = [Lanes::splat(0.0); 3];
        for level in Level::available() {
            for t in all.as_chunks::<ROWS>().0 {
                sin_cos_lanes(level, &Lanes::from(*t), &mut sin, &mut cos);
                cos_lanes(level, &Lanes::from(*t), &mut alone);
                for i in 0..ROWS {
                    let (s, c) = reference(t[i]);
                    assert!((alone[i] - c).abs() <= 5e-16, "{} {}", level.name(), t[i]);
                    assert!(ulps(sin[i], s) <= 2.5, "{} {}: {} {s}", level.name(), t[i], sin[i]);
                    assert!(ulps(cos[i], c) <= 2.5, "{} {}: {} {c}", level.name(), t[i], cos[i]);
                }
            }
            sin_cos_lanes(level, &Lanes::splat(f64::NAN), &mut sin, &mut cos);
            assert!(sin.iter().chain(cos.iter()).all(|v| v.is_nan()), "{}", level.name());
            sin_cos_lanes(level, &Lanes::splat(-3e200), &mut sin, &mut cos);
            assert!((sin[0].hypot(cos[0]) - 1.0).abs() < 1e-15, "{}", level.name());
        }
    }

    #[test]
    fn polar_agrees_with_the_standard_library() {
        let (mut xs, mut ys) = (uniform(200_000, -3.0, 3.0), uniform(200_001, -1.0, 2.0));
        let special = [(0.0, 0.0), (1.0, 0.0), (0.0, -1.0), (-2.0, 0.0), (-1.0, -1.0), (1e-9, 3.0)];
        while let (Some(x), Some(y)) = (xs.next(), ys.next()) {
            for (x, y) in std::iter::once((x, y)).chain(special) {
                let expected = y.atan2(x) * std::f64::consts::FRAC_2_PI;
                for (distance, angle) in [polar::<false>(x, y), polar::<true>(x, y)] {
                    assert!(ulps(distance, x.hypot(y)) <= 2.0, "{x} {y}");
                    assert!((angle - expected).abs() <= 5e-16, "{x} {y}: {angle} {expected}");
                }
            }
        }
    }
}
