//! Fits by way of the collapsed density.

use std::sync::Arc;

use gpfuse::fit::{BasisChoice, DensityChoice, FitSettings, Fitted, fit};
use gpfuse::infer::{Density, Sampler, Settings};
use gpfuse::model::{Collapsed, Method, Observed, Posterior};

use super::common::case::{normals, rows_of};
use super::common::{close, tolerance};
use super::hole;

/// A table of forty rows with a noise that grows.
fn table() -> (Vec<f64>, Vec<f64>) {
    let mut normal = normals(71);
    let x: Vec<f64> = (0..40).map(|i| 0.1 * f64::from(i)).collect();
    let y = x.iter().map(|x| x.sin() + 0.1 * x * normal()).collect();
    (x, y)
}

fn collapsed_settings(method: Method) -> FitSettings {
    FitSettings {
        method,
        experts: 2,
        size: Some(8),
        density: DensityChoice::Collapsed,
        sampler: Settings {
            chains: 3,
            warmup: Some(60),
            draws: Some(20),
            candidates: 2,
            start_steps: 20,
            ..Settings::default()
        },
        ..FitSettings::default()
    }
}

fn fitted(settings: FitSettings) -> Fitted {
    let (x, y) = table();
    fit(&rows_of(&x, &y), &settings).unwrap()
}

/// A fit keeps full draws, the same bits on any number of threads and others with another seed.
#[test]
fn a_fit_completes_its_draws_whatever_the_threads() {
    for method in [Method::Het, Method::Pogpe] {
        let bits = |threads: usize, seed: u64| {
            let mut settings = collapsed_settings(method);
            (settings.sampler.threads, settings.sampler.seed) = (threads, seed);
            let fitted = fitted(settings);
            assert_eq!(fitted.draws.dim(), fitted.model.dim());
            assert_eq!(fitted.draws.len(), 60);
            fitted.draws.iter().flatten().map(|v| v.to_bits()).collect::<Vec<u64>>()
        };
        let one = bits(1, 0);
        assert_eq!(bits(2, 0), one);
        assert_eq!(bits(7, 0), one);
        assert_ne!(bits(1, 1), one);
    }
}

/// The mode of the collapsed density comes with the mean of the coefficients.
#[test]
fn the_mode_is_completed_with_the_mean() {
    let mut settings = collapsed_settings(Method::Pogpe);
    settings.sampler.sampler = Sampler::Map;
    let fitted = fitted(settings);
    let (x, y) = table();
    let data = Observed::new(&fitted.scaler.scale_inputs(&x), 1, &{
        y.iter().map(|v| fitted.scaler.target.apply(*v)).collect::<Vec<f64>>()
    });
    let posterior = Posterior::new(fitted.model.clone(), Arc::new(data.unwrap())).unwrap();
    let q: Vec<f64> = fitted.draws.iter().flatten().copied().collect();
    let mut grad = vec![f64::NAN; q.len()];
    posterior.clone().logp(&q, &mut grad).unwrap();
    for slope in &grad[hole(&fitted.model)] {
        close("slope along the coefficients", *slope, 0.0, 1e-9);
    }
    let mut density = Collapsed::new(posterior).unwrap();
    let mut grad = vec![f64::NAN; density.dim()];
    let lp = density.logp(&density.shorten(&q), &mut grad).unwrap();
    close("log density", fitted.draws.chains()[0].stats[0].lp, lp, tolerance::LAW);
    assert!(grad.iter().all(|g| g.abs() < 1e-2), "{grad:?}");
}

/// The setting by its names, and a file from before there was one.
#[test]
fn the_setting_is_written_as_its_name_and_may_be_missing() {
    for (name, choice) in [
        ("auto", DensityChoice::Auto),
        ("plain", DensityChoice::Plain),
        ("collapsed", DensityChoice::Collapsed),
    ] {
        let settings: FitSettings =
            serde_json::from_str(&format!("{{\"density\": \"{name}\"}}")).unwrap();
        assert_eq!(settings.density, choice);
        assert_eq!(serde_json::to_value(&settings).unwrap()["density"], name);
    }
    let old: FitSettings = serde_json::from_str("{}").unwrap();
    assert_eq!(old.density, DensityChoice::Auto);
}

/// Methods and bases without a collapsed density are refused before any work.
#[test]
fn settings_that_cannot_collapse_are_refused() {
    for method in [Method::Bhs, Method::Pbhs, Method::Mogpe] {
        let message = collapsed_settings(method).check().unwrap_err().to_string();
        assert!(message.contains("setting `density`: collapsed is for"), "{message}");
    }
    let eigen = FitSettings { basis: BasisChoice::Eigen, ..collapsed_settings(Method::Pogpe) };
    let message = eigen.check().unwrap_err().to_string();
    assert_eq!(message, "setting `density`: collapsed needs the rff or hilbert basis");
}
