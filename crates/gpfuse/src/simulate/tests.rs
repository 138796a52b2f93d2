//! The generator keeps its laws: shapes, truth, seeds, and settings that it must refuse.

use super::*;

fn small() -> Simulate {
    Simulate { n: 200, seed: 7, ..Simulate::default() }
}

#[test]
fn shapes_domain_and_weights() {
    for inputs in [1, 2] {
        let settings = Simulate { inputs, mean_lengthscale: 0.7, ..small() };
        let data = settings.run().unwrap();
        let (n, k) = (settings.n, settings.experts);
        assert_eq!(data.x.len(), n * inputs);
        assert_eq!([data.y.len(), data.component.len(), data.true_log_density.len()], [n; 3]);
        assert_eq!([data.mean.len(), data.log_sd.len(), data.weight.len()], [n * k; 3]);
        assert!(data.x.iter().all(|x| (-5.0..=5.0).contains(x)));
        assert_eq!(data.x.is_sorted(), inputs == 1);
        assert!(data.component.iter().all(|c| *c < k));
        for w in data.weight.chunks(k) {
            assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-14 && w.iter().all(|w| *w > 0.0));
        }
    }
    let unsorted = Simulate { sorted: false, ..small() }.run().unwrap();
    assert!(!unsorted.x.is_sorted());
    let one = Simulate { experts: 1, ..small() }.run().unwrap();
    assert!(one.weight.iter().all(|w| *w == 1.0));
}

#[test]
fn true_log_density_is_the_sum_of_weighted_gaussians() {
    let data = small().run().unwrap();
    for row in 0..200 {
        let density: f64 = (row * 3..row * 3 + 3)
            .map(|at| {
                let variance = (2.0 * data.log_sd[at]).exp();
                let square = (data.y[row] - data.mean[at]).powi(2);
                data.weight[at] * (-square / (2.0 * variance)).exp()
                    / (2.0 * std::f64::consts::PI * variance).sqrt()
            })
            .sum();
        assert!((data.true_log_density[row] - density.ln()).abs() < 1e-10, "row {row}");
    }
    let mass: f64 =
        (-20_000..20_000).map(|i| 5e-4 * data.log_density(3, 5e-4 * f64::from(i)).exp()).sum();
    assert!((mass - 1.0).abs() < 1e-9, "{mass}");
    assert!(data.log_density(0, 1e9).is_finite());
}

#[test]
fn a_seed_repeats_and_another_differs() {
    let first = small().run().unwrap();
    assert_eq!(first, small().run().unwrap());
    let other = Simulate { seed: 8, ..small() }.run().unwrap();
    assert_ne!(first.x, other.x);
    assert_ne!(first.y, other.y);
    let more = Simulate { experts: 4, ..small() }.run().unwrap();
    assert_eq!(first.x, more.x);
    for row in 0..200 {
        assert_eq!(first.mean[row * 3..row * 3 + 3], more.mean[row * 4..row * 4 + 3]);
        assert_eq!(first.log_sd[row * 3..row * 3 + 3], more.log_sd[row * 4..row * 4 + 3]);
    }
}

/// Standardised residuals of 2000 rows (mean, mean square), and the count of each expert against
/// the sum of its weights: 5 numbers held to 5 standard deviations, false-failure rate 3e-6.
#[test]
fn rows_come_from_the_expert_they_name() {
    let settings = Simulate { n: 2000, ..small() };
    let data = settings.run().unwrap();
    let n = settings.n as f64;
    let (mut sum, mut square) = (0.0, 0.0);
    let (mut excess, mut variance) = ([0.0; 3], [0.0; 3]);
    for row in 0..settings.n {
        let at = row * 3 + data.component[row];
        let z = (data.y[row] - data.mean[at]) / data.log_sd[at].exp();
        sum += z;
        square += z * z;
        excess[data.component[row]] += 1.0;
        for k in 0..3 {
            let w = data.weight[row * 3 + k];
            excess[k] -= w;
            variance[k] += w * (1.0 - w);
        }
    }
    assert!((sum / n).abs() < 5.0 / n.sqrt(), "{sum}");
    assert!((square / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{square}");
    for k in 0..3 {
        assert!(excess[k].abs() < 5.0 * variance[k].sqrt(), "expert {k}: {}", excess[k]);
    }
}

/// The mean square of a unit RBF GP over a domain of length `T` has variance
/// `2 sqrt(pi) ell / T`: 0.071 for a mean and 0.18 for a log sd, over 40 experts (exact) and 10
/// (spectral). Four numbers held to 5 standard deviations: false-failure rate about 3e-6.
#[test]
fn functions_have_the_variance_they_should() {
    for (n, experts) in [(300, 40), (prior::EXACT_ROWS + 1, 10)] {
        let data = Simulate { n, experts, ..small() }.run().unwrap();
        let of = |f: &[f64]| f.iter().map(|v| v * v).sum::<f64>() / f.len() as f64;
        let log_sd: Vec<f64> = data.log_sd.iter().map(|v| (v + 2.0) / 0.5).collect();
        for (found, variance) in [(of(&data.mean), 0.071_f64), (of(&log_sd), 0.178)] {
            let sd = (variance / experts as f64).sqrt();
            assert!((found - 1.0).abs() < 5.0 * sd, "n = {n}: {found} ({sd})");
        }
    }
}

#[test]
fn bad_settings_are_refused_by_name() {
    let bad = [
        ("n", Simulate { n: 0, ..small() }),
        ("experts", Simulate { experts: 0, ..small() }),
        ("inputs", Simulate { inputs: 0, ..small() }),
        ("low", Simulate { low: f64::NAN, ..small() }),
        ("high", Simulate { high: -5.0, ..small() }),
        ("high", Simulate { high: f64::INFINITY, ..small() }),
        ("mean_lengthscale", Simulate { mean_lengthscale: 0.0, ..small() }),
        ("gate_lengthscale", Simulate { gate_lengthscale: -1.0, ..small() }),
        ("log_sd_lengthscale", Simulate { log_sd_lengthscale: f64::NAN, ..small() }),
        ("log_sd_mean", Simulate { log_sd_mean: f64::INFINITY, ..small() }),
        ("log_sd_scale", Simulate { log_sd_scale: -0.1, ..small() }),
    ];
    for (expected, settings) in bad {
        match settings.run() {
            Err(Error::Setting { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[test]
fn settings_round_trip_and_unknown_keys_are_refused() {
    let json = serde_json::to_string(&small()).unwrap();
    assert_eq!(serde_json::from_str::<Simulate>(&json).unwrap(), small());
    let partial: Simulate = serde_json::from_str(r#"{"mean-lengthscale": 0.3}"#).unwrap();
    assert_eq!(partial, Simulate { mean_lengthscale: 0.3, ..Simulate::default() });
    assert!(serde_json::from_str::<Simulate>(r#"{"lengthscale": 0.3}"#).is_err());
}
