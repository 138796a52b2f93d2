//! The inverse of the standard normal distribution function.

/// Beyond this distance from one half the rational approximations switch to the tail variable.
const CENTRE: f64 = 0.425;

/// The standard normal quantile: the `z` with `Φ(z) = p`.
///
/// Algorithm AS 241 (PPND16) of Wichura, "The percentage points of the normal distribution",
/// Applied Statistics 37 (1988) 477–484; relative error about 1e-15 for every `p` in (0, 1),
/// subnormal ones included. `p` = 0 and 1 give ∓∞; anything outside [0, 1] gives NaN.
pub fn ndtri(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let q = p - 0.5;
    if q.abs() <= CENTRE {
        let r = CENTRE * CENTRE - q * q;
        return q * ratio(&CENTRAL, r);
    }
    // The smaller tail: 1 - p is exact here, so neither side loses digits.
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail == 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let r = (-libm::log(tail)).sqrt();
    let z = if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&OUTER, r - 5.0) };
    z.copysign(q)
}

/// Numerator and denominator coefficients, constant term first.
type Rational = [[f64; 8]; 2];

/// The value at `x` of a ratio of two polynomials.
fn ratio(coefficients: &Rational, x: f64) -> f64 {
    let [top, bottom] = coefficients;
    let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, &c| sum * x + c);
    horner(top) / horner(bottom)
}

const CENTRAL: Rational = [
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
];

const MIDDLE: Rational = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];

const OUTER: Rational = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Roots of `erfc(-z / √2) / 2 = p` found with 400 digits, `p` being the nearest double.
    const REFERENCE: [(f64, f64); 13] = [
        (1e-300, -37.047_096_299_361_2),
        (1e-20, -9.262_340_089_798_408),
        (1e-5, -4.264_890_793_922_825),
        (0.01, -2.326_347_874_040_841),
        (0.07, -1.475_791_028_179_170_7),
        (0.0750001, -1.439_530_764_501_729_7),
        (0.3, -0.524_400_512_708_040_8),
        (0.4999, -2.506_628_300_880_075e-4),
        (0.6, 0.253_347_103_135_799_7),
        (0.925, 1.439_531_470_938_456_2),
        (0.9251, 1.440_238_267_527_964),
        (0.999, 3.090_232_306_167_813),
        (0.9999999999, 6.361_340_889_697_422),
    ];

    #[test]
    fn agrees_with_high_precision_roots() {
        for (p, z) in REFERENCE {
            let error = (ndtri(p) / z - 1.0).abs();
            assert!(error < 1.5e-15, "p = {p}: {} instead of {z}, error {error:e}", ndtri(p));
        }
    }

    #[test]
    fn is_odd_about_one_half() {
        assert_eq!(ndtri(0.5), 0.0);
        for k in 1..64 {
            let p = f64::from(k) / 128.0;
            assert_eq!(ndtri(p), -ndtri(1.0 - p));
        }
    }

    #[test]
    fn inverts_the_distribution_function_and_increases() {
        let mut last = f64::NEG_INFINITY;
        for k in 1..2000 {
            let p = f64::from(k) / 2000.0;
            let z = ndtri(p);
            let back = 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
            assert!((back / p - 1.0).abs() < 1e-14, "p = {p}, back = {back}");
            assert!(z > last);
            last = z;
        }
    }

    #[test]
    fn ends_and_outside() {
        assert_eq!(ndtri(0.0), f64::NEG_INFINITY);
        assert_eq!(ndtri(1.0), f64::INFINITY);
        assert!(ndtri(f64::from_bits(1)).is_finite());
        for p in [-1e-300, 1.0 + f64::EPSILON, f64::INFINITY, f64::NAN] {
            assert!(ndtri(p).is_nan());
        }
    }
}
