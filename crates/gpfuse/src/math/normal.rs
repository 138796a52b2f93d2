//! The standard normal distribution without branches: density and distribution function.
//!
//! The tail probability is `Q(a) = exp(-a^2/2) R(a)` for `a >= 0`, where the scaled Mills ratio
//! `R(a) = erfcx(a / sqrt 2) / 2` decreases smoothly from 1/2 like `1 / (a sqrt(2 pi))`. One
//! rational function of degree 9 over 10 stands for R on all of `[0, 41]`, with a relative
//! error of 1.4e-16. It interpolates R at the Chebyshev points of `(a - 3.8) / (a + 3.8)`,
//! solved in 70 digits. All its coefficients are positive, so nothing cancels.

use super::elementary::{LN2_HI, LN2_LO, ROUND, exp_small};
use super::fma;

/// `1 / sqrt(2 pi)`.
pub(crate) const INV_SQRT_TWO_PI: f64 = 0.398_942_280_401_432_7;

/// Beyond this, both the density and the tail probability near the subnormal numbers and are
/// taken for 0.
const LARGEST_Z: f64 = 37.6;

const NUMERATOR: [f64; 10] = [
    1.369_500_976_534_575_5e-6,
    3.693_087_001_856_678e-5,
    4.871_931_043_370_067e-4,
    4.068_924_579_045_736e-3,
    2.353_414_712_840_434e-2,
    9.743_287_417_197_777e-2,
    2.887_851_166_919_004_3e-1,
    5.933_424_204_471_319e-1,
    7.744_353_170_901_586e-1,
    0.5,
];

const DENOMINATOR: [f64; 11] = [
    3.432_829_869_925_009_3e-6,
    9.257_196_299_340_383e-5,
    1.224_644_840_585_06e-3,
    1.029_185_334_987_217_1e-2,
    6.020_570_536_259_911e-2,
    2.542_421_235_214_855_6e-1,
    7.804_604_389_039_048e-1,
    1.712_040_146_877_275,
    2.559_124_578_955_42,
    2.346_755_194_983_178,
    1.0,
];

/// The scaled Mills ratio `R(a)`, `0 <= a <= 41`.
#[inline(always)]
fn mills<const FMA: bool>(a: f64) -> f64 {
    let mut p = NUMERATOR[0];
    for c in &NUMERATOR[1..] {
        p = fma::<FMA>(p, a, *c);
    }
    let mut q = DENOMINATOR[0];
    for c in &DENOMINATOR[1..] {
        q = fma::<FMA>(q, a, *c);
    }
    p / q
}

/// `exp(-a^2/2)` for `a >= 0`; 0 beyond [`LARGEST_Z`]. With `-a^2/2 = k ln 2 + r`, it is `2^k e^r`. The
/// rounding error of the square, which the exponential would magnify up to a thousandfold, is
/// put back into r.
#[inline(always)]
fn exp_minus_half_square<const FMA: bool>(a: f64) -> f64 {
    // Written so that NaN stays NaN.
    let beyond = a > LARGEST_Z;
    let a = if beyond { LARGEST_Z } else { a };
    let square = a * a;
    let lost = if FMA {
        a.mul_add(a, -square)
    } else {
        // Dekker's product: the upper 26 bits squared are exact.
        let high = f64::from_bits(a.to_bits() & 0xffff_ffff_f800_0000);
        let low = a - high;
        ((high * high - square) + 2.0 * high * low) + low * low
    };
    let shifted = fma::<FMA>(square, -0.5 * std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = fma::<FMA>(square, -0.5, -(k * LN2_HI));
    let r = fma::<FMA>(lost, -0.5, fma::<FMA>(k, -LN2_LO, r));
    let e = exp_small::<FMA>(r) * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if beyond { 0.0 } else { e }
}

/// `(Q(|z|), exp(-z^2/2))`: the upper tail probability beyond `|z|` and the density's kernel,
/// for one exponential.
#[inline(always)]
pub(crate) fn tail<const FMA: bool>(z: f64) -> (f64, f64) {
    let a = z.abs();
    let e = exp_minus_half_square::<FMA>(a);
    (e * mills::<FMA>(if a > LARGEST_Z { LARGEST_Z } else { a }), e)
}

/// The distribution function `Phi(z)`, with full relative accuracy down to z = -37.6, below
/// which it is 0.
#[inline(always)]
pub(crate) fn cdf<const FMA: bool>(z: f64) -> f64 {
    let (q, _) = tail::<FMA>(z);
    if z < 0.0 { q } else { 1.0 - q }
}

/// The density `phi(z) = exp(-z^2/2) / sqrt(2 pi)`.
#[inline(always)]
pub(crate) fn pdf<const FMA: bool>(z: f64) -> f64 {
    INV_SQRT_TWO_PI * exp_minus_half_square::<FMA>(z.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(a: f64, b: f64) -> f64 {
        if a == b { 0.0 } else { ((a - b) / b).abs() }
    }

    /// `(z, Phi(z))` computed in 70 digits.
    const CDF: [(f64, f64); 16] = [
        (-37.5, 4.605353009581955e-308),
        (-37.0, 5.725571222524577e-300),
        (-30.0, 4.906713927148187e-198),
        (-20.0, 2.7536241186062337e-89),
        (-10.0, 7.619853024160525e-24),
        (-5.0, 2.866515718791939e-07),
        (-2.5, 0.006209665325776135),
        (-1.0, 0.15865525393145705),
        (-0.5, 0.3085375387259869),
        (-0.1, 0.460172162722971),
        (0.0, 0.5),
        (0.3, 0.6179114221889527),
        (1.0, 0.8413447460685429),
        (3.0, 0.9986501019683699),
        (6.0, 0.9999999990134123),
        (8.2, 0.9999999999999999),
    ];

    #[test]
    fn values_agree_with_high_precision() {
        for (z, p) in CDF {
            assert!(relative(cdf::<false>(z), p) < 2e-15, "{z}");
            assert!(relative(cdf::<true>(z), p) < 2e-15, "{z}");
        }
    }

    #[test]
    fn cdf_and_pdf_agree_with_the_library_everywhere() {
        for k in -60_000..265_000 {
            let x = k as f64 * 1e-4 + 3e-6;
            let z = -std::f64::consts::SQRT_2 * x;
            for v in [cdf::<false>(z), cdf::<true>(z)] {
                // The rounding of z itself moves the tail by about x^2 ulps.
                let bound = 1e-15 * (2.0 + x * x);
                assert!(relative(v, 0.5 * libm::erfc(x)) < bound, "{x}");
            }
            let d = INV_SQRT_TWO_PI * (-0.5 * x * x).exp();
            let bound = 1e-15 * (2.0 + x * x);
            assert!(relative(pdf::<false>(x), d) < bound && relative(pdf::<true>(x), d) < bound);
        }
    }

    #[test]
    fn both_tails_are_symmetric_and_the_ends_are_exact() {
        for k in 0..4000 {
            let z = k as f64 * 0.01;
            let (low, high) = (cdf::<true>(-z), cdf::<true>(z));
            assert!((low + high - 1.0).abs() < 3e-16, "{z}");
        }
        for (z, p) in [(f64::NEG_INFINITY, 0.0), (-1e300, 0.0), (1e300, 1.0), (f64::INFINITY, 1.0)]
        {
            assert_eq!(cdf::<false>(z), p);
            assert_eq!(cdf::<true>(z), p);
            assert_eq!(pdf::<false>(z), 0.0);
        }
        assert!(cdf::<false>(f64::NAN).is_nan() && pdf::<true>(f64::NAN).is_nan());
    }
}
