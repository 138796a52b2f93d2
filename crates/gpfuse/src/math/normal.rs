//! The standard normal distribution without branches: density and distribution function.
//!
//! The tail probability is `Q(a) = exp(-a^2/2) R(a)` for `a >= 0`, where the scaled Mills ratio
//! `R(a) = erfcx(a / sqrt 2) / 2` decreases smoothly from 1/2 like `1 / (a sqrt(2 pi))`. One
//! rational function of degree 9 over 10 stands for R on all of `[0, 41]`, with a relative
//! error of 1.4e-16. It interpolates R at the Chebyshev points of `(a - 3.8) / (a + 3.8)`,
//! solved in 70 digits. All its coefficients are positive, so nothing cancels.

use super::{exp, fma};

/// `1 / sqrt(2 pi)`.
pub(crate) const INV_SQRT_TWO_PI: f64 = 0.398_942_280_401_432_7;

/// Beyond this, both the density and the tail probability underflow to 0.
const FAR: f64 = 40.0;

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

/// `exp(-scale a^2)` for `|a| <= 40` and a scale that is a power of two. The rounding error of
/// the square, which exp would magnify up to a thousandfold, is put back to first order.
#[inline(always)]
fn exp_minus_square<const FMA: bool>(a: f64, scale: f64) -> f64 {
    let square = a * a;
    let lost = if FMA {
        a.mul_add(a, -square)
    } else {
        // Dekker's product: the upper 26 bits squared are exact.
        let high = f64::from_bits(a.to_bits() & 0xffff_ffff_f800_0000);
        let low = a - high;
        ((high * high - square) + 2.0 * high * low) + low * low
    };
    let e = exp::<FMA>(-scale * square);
    fma::<FMA>(e, -scale * lost, e)
}

/// `(Q(|z|), exp(-z^2/2))`: the upper tail probability beyond `|z|` and the density's kernel,
/// for one exponential.
#[inline(always)]
pub(crate) fn tail<const FMA: bool>(z: f64) -> (f64, f64) {
    let a = z.abs();
    // Written so that NaN stays NaN.
    let a = if a > FAR { FAR } else { a };
    let e = exp_minus_square::<FMA>(a, 0.5);
    (e * mills::<FMA>(a), e)
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
    let a = z.abs();
    let a = if a > FAR { FAR } else { a };
    INV_SQRT_TWO_PI * exp_minus_square::<FMA>(a, 0.5)
}

/// The z with `Phi(z) = p`, for `0 <= p <= 1/2`. As `ln Phi` is concave and
/// `Phi(-a) <= exp(-a^2/2) / 2`, Newton's iteration on `ln Phi(z) = ln p` from
/// `-sqrt(-2 ln 2p)` rises to the root and never passes it.
pub(crate) fn lower_quantile(p: f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    let mut z = -(-2.0 * (2.0 * p).ln()).max(0.0).sqrt();
    for _ in 0..50 {
        let (q, e) = tail::<false>(z);
        if q == 0.0 {
            break;
        }
        // Near the root the ratio's logarithm would lose what the difference keeps.
        let step = ((p - q) / q).ln_1p() * q / (INV_SQRT_TWO_PI * e);
        z = (z + step).min(0.0);
        // The next step would be of the order of this one's square.
        if step.abs() <= 1e-9 * z.abs() {
            break;
        }
    }
    z
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

    #[test]
    fn lower_quantile_inverts_the_distribution_function() {
        for k in 0..37_500 {
            let z = -(k as f64) * 1e-3;
            let back = lower_quantile(cdf::<false>(z));
            assert!((back - z).abs() < 4e-15 * (1.0 + z.abs()), "{z} {back}");
        }
        assert_eq!(lower_quantile(0.5), 0.0);
        assert_eq!(lower_quantile(0.0), f64::NEG_INFINITY);
        assert!(lower_quantile(5e-324) < -37.0);
    }
}
