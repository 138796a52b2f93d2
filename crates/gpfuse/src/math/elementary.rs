//! exp and ln without branches, accurate to about one unit in the last place.
//!
//! Range reduction and minimax coefficients are those of fdlibm (Sun Microsystems, 1993);
//! integers are formed by adding a large constant, so that nothing leaves the vector
//! registers.

/// `1.5 * 2^52`: added to a number of moderate size, it leaves the nearest integer in the low
/// bits.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;

/// `a * b + c`.
#[inline(always)]
pub(crate) fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

pub(super) const LN2_HI: f64 = 6.931_471_803_691_238e-1;
pub(super) const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// `e^r` for `|r| <= ln 2 / 2`: a minimax polynomial of degree 11, found by Remez' algorithm in 50
/// digits, with a relative error of 4e-18.
#[inline(always)]
pub(super) fn exp_small<const FMA: bool>(r: f64) -> f64 {
    let mut p = 2.499_430_434_748_052_6e-8;
    p = fma::<FMA>(p, r, 2.763_229_329_868_497e-7);
    p = fma::<FMA>(p, r, 2.755_762_253_336_655e-6);
    p = fma::<FMA>(p, r, 2.480_148_652_138_210_6e-5);
    p = fma::<FMA>(p, r, 1.984_126_943_267_508e-4);
    p = fma::<FMA>(p, r, 1.388_888_895_122_401_6e-3);
    p = fma::<FMA>(p, r, 8.333_333_333_559_274e-3);
    p = fma::<FMA>(p, r, 4.166_666_666_649_277e-2);
    p = fma::<FMA>(p, r, 1.666_666_666_666_617e-1);
    p = fma::<FMA>(p, r, 0.500_000_000_000_001_8);
    p = fma::<FMA>(p, r, 1.0);
    fma::<FMA>(p, r, 1.0)
}

/// `e^x`: 0 below -707.5 (where the result nears the subnormal numbers), infinite above
/// 709.78. With `x = k ln 2 + r`, `e^x = 2^k e^r`.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f64) -> f64 {
    // Comparisons with NaN are false: it passes through to the end.
    let clamped = if x < -707.5 { -707.5 } else { x };
    let clamped = if clamped > 710.0 { 710.0 } else { clamped };
    let shifted = fma::<FMA>(clamped, std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = fma::<FMA>(k, -LN2_LO, fma::<FMA>(k, -LN2_HI, clamped));
    let p = exp_small::<FMA>(r);
    // 2^(k-1) and a doubling: k may be 1024, for which 2^k is not a finite number.
    let scale = f64::from_bits((shifted.to_bits().wrapping_add(1022)) << 52);
    let y = p * scale * 2.0;
    if x < -707.5 { 0.0 } else { y }
}

/// `ln x` for normal positive x; minus infinity at 0, NaN below it. `x = 2^k m` with m in
/// `[sqrt(1/2), sqrt 2)`, and with `s = f / (2 + f)`, `f = m - 1`,
/// `ln m = f - f^2/2 + s (f^2/2 + R(s^2))`.
#[inline(always)]
pub(crate) fn ln<const FMA: bool>(x: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits().wrapping_sub(SQRT_HALF);
    // The top twelve bits are the exponent as a signed number; offset, they fit a mantissa.
    let biased = (bits >> 52).wrapping_add(1024) & 0xfff;
    let k = f64::from_bits(0x4330_0000_0000_0000 | biased) - 4_503_599_627_370_496.0 - 1024.0;
    let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF));
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut r = 1.479_819_860_511_658_6e-1;
    r = fma::<FMA>(r, z, 1.531_383_769_920_937_3e-1);
    r = fma::<FMA>(r, z, 1.818_357_216_161_805e-1);
    r = fma::<FMA>(r, z, 2.222_219_843_214_978_4e-1);
    r = fma::<FMA>(r, z, 2.857_142_874_366_239e-1);
    r = fma::<FMA>(r, z, 3.999_999_999_940_942e-1);
    r = fma::<FMA>(r, z, 6.666_666_666_666_735e-1);
    let half = 0.5 * f * f;
    let tail = fma::<FMA>(s, fma::<FMA>(r, z, half), k * LN2_LO);
    let y = fma::<FMA>(k, LN2_HI, f - (half - tail));
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    let y = if x == f64::INFINITY { x } else { y };
    if x < 0.0 || x.is_nan() { f64::NAN } else { y }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rand::RngExt;

    pub(crate) fn ulps(a: f64, b: f64) -> f64 {
        if a == b { 0.0 } else { (a - b).abs() / (b.abs() * f64::EPSILON) }
    }

    pub(crate) fn uniform(n: usize, low: f64, high: f64) -> impl Iterator<Item = f64> {
        let mut rng = crate::random::stream(1, crate::random::Purpose::Predict, 0);
        (0..n).map(move |_| low + (high - low) * rng.random::<f64>())
    }

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for x in uniform(200_000, -707.0, 709.7).chain([0.0, -0.0, 1.0, 709.78, -707.4]) {
            assert!(ulps(exp::<false>(x), x.exp()) <= 3.0, "{x}");
            assert!(ulps(exp::<true>(x), x.exp()) <= 3.0, "{x}");
        }
        assert_eq!(exp::<false>(-708.0), 0.0);
        assert_eq!(exp::<false>(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp::<false>(710.0), f64::INFINITY);
        assert_eq!(exp::<false>(f64::INFINITY), f64::INFINITY);
        assert!(exp::<false>(f64::NAN).is_nan());
    }

    #[test]
    fn ln_agrees_with_the_standard_library() {
        let special = [1.0, 2.0, 0.5, 1e-307, 1e308, 1.0 + 1e-15, 1.0 - 1e-15, 7e-100];
        for x in uniform(200_000, -700.0, 700.0).map(f64::exp).chain(special) {
            for y in [ln::<false>(x), ln::<true>(x)] {
                assert!(ulps(y, x.ln()) <= 2.0, "{x}: {y} {}", x.ln());
            }
        }
        for x in uniform(200_000, 0.5, 5.0) {
            assert!(ulps(ln::<true>(x), x.ln()) <= 2.0, "{x}");
        }
        assert_eq!(ln::<false>(0.0), f64::NEG_INFINITY);
        assert_eq!(ln::<false>(f64::INFINITY), f64::INFINITY);
        assert!(ln::<false>(-1.0).is_nan() && ln::<false>(f64::NAN).is_nan());
    }
}
