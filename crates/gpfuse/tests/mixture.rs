//! The mixture against quadrature, closed forms and its own invariances.
#![allow(clippy::unwrap_used)]

use gpfuse::predict::Mixture;
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

/// Log weights, means, standard deviations.
type Components = (Vec<f64>, Vec<f64>, Vec<f64>);

fn mixture(c: &Components) -> Mixture<'_> {
    Mixture::new(&c.0, &c.1, &c.2).unwrap()
}

/// Up to ten components of moderate size.
fn moderate() -> impl Strategy<Value = Components> {
    let one = (-5.0..0.0, -10.0..10.0, (-4.0..3.0).prop_map(f64::exp));
    prop::collection::vec(one, 1..10).prop_map(split)
}

/// Components whose scales differ by sixteen orders of magnitude.
fn extreme() -> impl Strategy<Value = Components> {
    let scale = || (-8.0..8.0).prop_map(|e| 10_f64.powf(e));
    let one = (-20.0..0.0, (-1.0..1.0, scale()).prop_map(|(m, s)| m * s), scale());
    prop::collection::vec(one, 1..12).prop_map(split)
}

fn split(v: Vec<(f64, f64, f64)>) -> Components {
    let mut c = (vec![], vec![], vec![]);
    for (w, m, s) in v {
        c.0.push(w);
        c.1.push(m);
        c.2.push(s);
    }
    c
}

/// Probabilities down to 1e-12 from either end.
fn probability() -> impl Strategy<Value = f64> {
    (-12.0..-0.302, any::<bool>())
        .prop_map(|(e, up)| if up { 1.0 - 10_f64.powf(e) } else { 10_f64.powf(e) })
}

/// The integral of f by ten-point Gauss-Legendre between all `mean + k sd`, so that no panel
/// is wide for any component that lives there.
fn integrate(c: &Components, extra: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    const GAUSS: [(f64, f64); 5] = [
        (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
        (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
        (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
        (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
        (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
    ];
    let mut cuts = extra.to_vec();
    for (m, s) in c.1.iter().zip(&c.2) {
        cuts.extend((-18..=18).map(|k| m + 0.5 * f64::from(k) * s));
    }
    cuts.sort_by(f64::total_cmp);
    let panel = |w: &[f64]| {
        let (center, half) = (0.5 * (w[0] + w[1]), 0.5 * (w[1] - w[0]));
        let term = |(x, g): &(f64, f64)| g * (f(center - half * x) + f(center + half * x));
        half * GAUSS.iter().map(term).sum::<f64>()
    };
    cuts.windows(2).map(panel).sum()
}

/// How far cdf(y) is from p, relative to the smaller tail.
fn tail_error(m: &Mixture, y: f64, p: f64) -> f64 {
    if p > 0.5 { m.survival(y) / (1.0 - p) - 1.0 } else { m.cdf(y) / p - 1.0 }.abs()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// The same cases on every run; a failure is kept beside this file.
fn config() -> ProptestConfig {
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mixture.proptest-regressions");
    ProptestConfig {
        rng_seed: RngSeed::Fixed(20_240),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(failures))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn cdf_inverts_quantile(c in moderate(), p in probability()) {
        let m = mixture(&c);
        prop_assert!(tail_error(&m, m.quantile(p), p) < 1e-10);
    }

    #[test]
    fn quantile_inverts_cdf(c in moderate(), i in 0..10_usize, z in -3.0..3.0) {
        let m = mixture(&c);
        let i = i % m.len();
        let y = c.1[i] + z * c.2[i];
        let p = m.cdf(y);
        // Near 1 the probability itself is too coarse a number.
        prop_assume!(p < 0.99);
        let back = m.quantile(p);
        // A rounding error of p is a shift of p / density.
        let slack = 1e-14 * p / m.log_density(y).exp();
        prop_assert!(close(back, y, 1e-10 * c.2[i] + slack), "{y} {back}");
    }

    #[test]
    fn several_quantiles_are_those_found_alone_and_in_order(
        c in moderate(),
        ps in prop::collection::vec(probability(), 1..10),
    ) {
        let m = mixture(&c);
        let together = m.quantiles(&ps);
        for (p, q) in ps.iter().zip(&together) {
            prop_assert!(tail_error(&m, *q, *p) < 1e-10);
            for (r, s) in ps.iter().zip(&together) {
                prop_assert!(p >= r || q <= s);
            }
        }
    }

    #[test]
    fn quantile_is_exact_to_the_last_place_at_any_scale(c in extreme(), p in probability()) {
        let m = mixture(&c);
        let y = m.quantile(p);
        prop_assert!(y.is_finite());
        // Where the density is high, neighbouring numbers have quite different probabilities.
        let (below, above) = (y.next_down().next_down(), y.next_up().next_up());
        let (wanted, tail): (f64, Box<dyn Fn(f64) -> f64>) = if p > 0.5 {
            (-(1.0 - p), Box::new(|y| -m.survival(y)))
        } else {
            (p, Box::new(|y| m.cdf(y)))
        };
        let slack = 1e-10 * wanted.abs();
        prop_assert!(tail(below) <= wanted + slack && wanted - slack <= tail(above));
    }

    #[test]
    fn density_integrates_to_one_with_the_right_moments(c in moderate()) {
        let m = mixture(&c);
        let density = |y: f64| m.log_density(y).exp();
        let (mean, variance) = (m.mean(), m.variance());
        prop_assert!(variance > 0.0);
        prop_assert!(close(integrate(&c, &[], density), 1.0, 1e-8));
        let first = integrate(&c, &[], |y| (y - mean) * density(y));
        prop_assert!(close(first, 0.0, 1e-8 * variance.sqrt()));
        let second = integrate(&c, &[], |y| (y - mean).powi(2) * density(y));
        prop_assert!(close(second, variance, 1e-8 * variance));
    }

    #[test]
    fn cdf_is_the_integral_of_the_density(c in moderate(), i in 0..10_usize, z in -3.0..3.0) {
        let m = mixture(&c);
        let y = c.1[i % m.len()] + z * c.2[i % m.len()];
        let below = integrate(&c, &[y], |x| if x < y { m.log_density(x).exp() } else { 0.0 });
        prop_assert!(close(m.cdf(y), below, 1e-8));
        prop_assert!(close(m.cdf(y) + m.survival(y), 1.0, 1e-14));
        prop_assert_eq!(m.pit(y), m.cdf(y));
    }

    #[test]
    fn crps_is_the_integral_of_its_definition(c in moderate(), y in -15.0..15.0) {
        let m = mixture(&c);
        let squared = |x: f64| if x < y { m.cdf(x).powi(2) } else { m.survival(x).powi(2) };
        let direct = integrate(&c, &[y], squared);
        prop_assert!(close(m.crps(y), direct, 1e-8 * (m.variance().sqrt() + direct)));
        prop_assert!(m.crps(y) >= 0.0);
    }

    #[test]
    fn cdf_is_monotone(c in extreme(), a in -1e9..1e9, b in -1e9..1e9) {
        let m = mixture(&c);
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        prop_assert!(m.cdf(a) <= m.cdf(b) + 1e-15);
        prop_assert!(m.survival(a) + 1e-15 >= m.survival(b));
        prop_assert!((0.0..=1.0).contains(&m.cdf(a)));
    }

    #[test]
    fn order_and_repetition_do_not_matter(c in moderate(), y in -15.0..15.0, p in probability()) {
        let twice: Components = split(
            c.0.iter().zip(&c.1).zip(&c.2).flat_map(|((w, m), s)| [(*w, *m, *s); 2]).rev().collect(),
        );
        let (a, b) = (mixture(&c), mixture(&twice));
        let sd = a.variance().sqrt();
        prop_assert!(close(a.mean(), b.mean(), 1e-13 * (sd + 10.0)));
        prop_assert!(close(a.variance(), b.variance(), 1e-13 * sd * sd));
        prop_assert!(close(a.cdf(y), b.cdf(y), 1e-14));
        prop_assert!(close(a.log_density(y), b.log_density(y), 1e-11 * (1.0 + a.log_density(y).abs())));
        prop_assert!(close(a.crps(y), b.crps(y), 1e-12 * (sd + 20.0)));
        prop_assert!(tail_error(&a, b.quantile(p), p) < 1e-10);
    }

    #[test]
    fn nothing_is_nan_at_any_scale(c in extreme(), y in prop::num::f64::ANY, p in 0.0..=1.0) {
        prop_assume!(!y.is_nan());
        let m = mixture(&c);
        let (low, high) = m.interval(p);
        prop_assert!(low <= high || close(low, high, 1e-9 * (low.abs() + m.variance().sqrt())));
        prop_assert!(m.mean().is_finite() && m.variance() > 0.0);
        prop_assert!(!m.log_density(y).is_nan() && !m.crps(y).is_nan());
        prop_assert!(!m.cdf(y).is_nan() && !m.survival(y).is_nan());
    }
}

#[test]
fn one_component_has_the_closed_normal_formulas() {
    let (mean, sd) = (3.0, 0.7);
    let m = Mixture::new(vec![-2.5], vec![mean], vec![sd]).unwrap();
    assert!(close(m.mean(), mean, 1e-15) && close(m.variance(), sd * sd, 1e-15));
    for z in [-30.0, -6.0, -1.0, 0.0, 0.4, 2.0, 7.0] {
        let y = mean + z * sd;
        let z = (y - mean) / sd;
        let log_density = -0.5 * z * z - sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
        assert!(close(m.log_density(y), log_density, 1e-13 * (1.0 + z * z)), "{z}");
        let cdf = 0.5 * reference_erfc(-z / std::f64::consts::SQRT_2);
        assert!((m.cdf(y) / cdf - 1.0).abs() < 1e-15 * (10.0 + 2.0 * z * z), "{z}");
        let pdf = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let crps = sd * (z * (2.0 * cdf - 1.0) + 2.0 * pdf - 1.0 / std::f64::consts::PI.sqrt());
        assert!(close(m.crps(y), crps, 1e-14 * (1.0 + z.abs())), "{z}");
    }
    // Standard normal quantiles to sixteen digits.
    for (p, z) in [(0.025, -1.959963984540054), (0.5, 0.0), (1e-10, -6.361340902404056)] {
        assert!(close(m.quantile(p), mean + z * sd, 1e-14), "{p}");
    }
    let (low, high) = m.interval(0.95);
    assert!(
        close(low + high, 2.0 * mean, 1e-14) && close(high - low, 3.919927969080108 * sd, 1e-14)
    );
}

/// erfc by its continued fraction far out and its series near zero: independent of the library.
fn reference_erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - reference_erfc(-x);
    }
    let root = std::f64::consts::PI.sqrt();
    if x < 2.0 {
        let mut term = x;
        let mut sum = x;
        for n in 1..100 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return 1.0 - 2.0 / root * sum;
    }
    let mut fraction = x;
    for k in (1..400).rev() {
        fraction = x + 0.5 * f64::from(k) / fraction;
    }
    (-x * x).exp() / (root * fraction)
}

#[test]
fn separated_modes_and_the_ends_are_handled() {
    let half = 0.5_f64.ln();
    let m = Mixture::new(vec![half, half], vec![-1e6, 1e6], vec![1e-3, 2.0]).unwrap();
    for p in [1e-9, 0.1, 0.4999999, 0.5, 0.5000001, 0.9, 1.0 - 1e-9] {
        // One unit in the last place of a million moves the narrow mode's probability.
        assert!(tail_error(&m, m.quantile(p), p) < 1e-6, "{p}");
    }
    assert!(close(m.quantile(0.25), -1e6, 1e-9) && close(m.quantile(0.75), 1e6, 1e-9));
    assert_eq!(m.quantiles(&[0.0, 1.0]), [f64::NEG_INFINITY, f64::INFINITY]);
    assert_eq!(m.interval(1.0), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(m.quantile(-0.1).is_nan() && m.quantile(1.1).is_nan() && m.quantile(f64::NAN).is_nan());
    assert!(m.interval(2.0).0.is_nan());
    assert!(m.quantile(1e-320).is_finite() && m.quantile(1.0 - f64::EPSILON / 2.0).is_finite());
    assert!(m.quantiles(&[]).is_empty());
}

#[test]
fn far_tails_keep_a_finite_log_density() {
    let m = Mixture::new(vec![0.0, -900.0, f64::NEG_INFINITY], vec![0.0, 5.0, 1e8], vec![1e-3; 3])
        .unwrap();
    for y in [1e8, -1e8, 40.0, 3.0] {
        let z = (y - if y > 2.5 { 5.0 } else { 0.0_f64 }) / 1e-3;
        assert!((m.log_density(y) / (-0.5 * z * z) - 1.0).abs() < 1e-3, "{y}");
    }
    // A component of weight exp(-900) rules where the other has vanished.
    assert!(close(m.log_density(5.0), -900.0 + 1e3_f64.ln() - 0.918_938_533_204_672_7, 1e-10));
    assert_eq!(m.log_density(f64::INFINITY), f64::NEG_INFINITY);
    assert_eq!((m.cdf(f64::NEG_INFINITY), m.cdf(f64::INFINITY)), (0.0, 1.0));
    assert_eq!(m.crps(f64::INFINITY), f64::INFINITY);
    assert!(m.cdf(f64::NAN).is_nan() && m.log_density(f64::NAN).is_nan());
    assert!(m.crps(f64::NAN).is_nan());
}

#[test]
fn many_components_agree_with_their_definitions() {
    let n = 5003;
    let wave = |k: f64| (0..n).map(move |i| (f64::from(i) * k).sin());
    let c: Components = (
        wave(0.7).collect(),
        wave(1.3).map(|v| 4.0 * v).collect(),
        wave(2.1).map(f64::exp).collect(),
    );
    let m = mixture(&c);
    let total: f64 = c.0.iter().map(|w| w.exp()).sum();
    let weighted = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        c.0.iter().zip(&c.1).zip(&c.2).map(|((w, m), s)| w.exp() / total * f(*m, *s)).sum()
    };
    let mean = weighted(&|m, _| m);
    assert!(close(m.mean(), mean, 1e-13));
    assert!(close(m.variance(), weighted(&|m, s| s * s + (m - mean).powi(2)), 1e-12));
    for y in [-6.0, -0.3, 2.0] {
        let cdf = weighted(&|m, s| 0.5 * reference_erfc((m - y) / s / std::f64::consts::SQRT_2));
        assert!((m.cdf(y) / cdf - 1.0).abs() < 1e-12, "{y}");
        let step = 1.0 / 64.0;
        let squared = |x: f64| if x < y { m.cdf(x).powi(2) } else { m.survival(x).powi(2) };
        // Both sides of y meet in a jump, of which the trapezoidal rule takes the middle.
        let jump = 0.5 * (m.cdf(y).powi(2) + m.survival(y).powi(2)) - squared(y);
        let grid: f64 = (-2000..=2000).map(|k| squared(y + step * f64::from(k))).sum();
        // Euler and Maclaurin: the slopes' jump at y, 2 f (F + S) = 2 f.
        let slopes = step * step / 12.0 * -2.0 * m.log_density(y).exp();
        let crps = step * (grid + jump) + slopes;
        assert!(close(m.crps(y), crps, 1e-7), "{y}: {} {crps}", m.crps(y));
    }
    let ps = [0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995];
    for (p, q) in ps.iter().zip(m.quantiles(&ps)) {
        assert!(tail_error(&m, q, *p) < 1e-12);
    }
}

#[test]
fn draws_have_the_mixture_for_their_law() {
    let c = (vec![0.0, 1.0, f64::NEG_INFINITY], vec![-2.0, 3.0, 1e6], vec![0.5, 1.5, 1.0]);
    let m = mixture(&c);
    let mut rng = gpfuse::random::stream(5, gpfuse::random::Purpose::Predict, 0);
    let one_by_one: Vec<f64> = (0..20_000).map(|_| m.sample(&mut rng)).collect();
    for mut draws in [one_by_one, m.sample_many(20_000, &mut rng)] {
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let distance =
            draws.iter().enumerate().map(|(i, y)| (m.cdf(*y) - (i as f64 + 0.5) / n).abs());
        // Kolmogorov's statistic exceeds this once in 1e5 draws of the seed.
        assert!(distance.fold(0.0, f64::max) * n.sqrt() < 2.5);
    }
}

#[test]
fn components_that_are_no_mixture_are_refused() {
    let bad = |w: &[f64], m: &[f64], s: &[f64]| Mixture::new(w, m, s).is_err();
    assert!(bad(&[], &[], &[]));
    assert!(bad(&[0.0], &[0.0, 1.0], &[1.0]));
    assert!(bad(&[0.0], &[0.0], &[]));
    assert!(bad(&[f64::NEG_INFINITY], &[0.0], &[1.0]));
    assert!(bad(&[f64::NAN, 0.0], &[0.0, 0.0], &[1.0, 1.0]));
    assert!(bad(&[f64::INFINITY, 0.0], &[0.0, 0.0], &[1.0, 1.0]));
    assert!(bad(&[0.0], &[f64::NAN], &[1.0]));
    assert!(bad(&[0.0], &[0.0], &[0.0]));
    assert!(bad(&[0.0], &[0.0], &[f64::NAN]));
}
