//! Fits, scored with the coefficients of the means integrated out and without.

use gpfuse::fit::{DensityChoice, FitSettings, Fitted, fit};
use gpfuse::infer::{Quiet, Settings};
use gpfuse::metrics::{Score, Scores, evaluate};
use gpfuse::model::Method;

use super::common::case::normals;
use super::common::tolerance;

/// Rows with a noise that grows.
fn table(rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut normal = normals(seed);
    let x: Vec<f64> = (0..rows).map(|i| 4.0 * i as f64 / rows as f64).collect();
    let y = x.iter().map(|x| x.sin() + 0.1 * (1.0 + x) * normal()).collect();
    (x, y)
}

fn fitted(method: Method, density: DensityChoice, seed: u64) -> Fitted {
    let (x, y) = table(40, 8600);
    let settings = FitSettings {
        method,
        experts: 2,
        size: Some(8),
        density,
        sampler: Settings { warmup: 200, draws: 200, seed, threads: 2, ..Settings::default() },
        ..FitSettings::default()
    };
    fit(&x, 1, &y, &settings.check().unwrap(), &Quiet).unwrap()
}

/// The scores of the draws, and of the draws without the coefficients.
fn both(fitted: &Fitted) -> [Scores; 2] {
    let (x, y) = table(60, 8601);
    let rows = fitted.rows(&x).unwrap();
    let plain = fitted.evaluate(&x, None, &y).unwrap();
    [plain, evaluate(&fitted.conditional().unwrap().at(&rows), &y, 2).unwrap()]
}

fn scores(s: &Scores) -> [Score; 4] {
    [s.nlpd, s.crps, s.rmse, s.mae]
}

/// The scores agree and their Monte Carlo errors shrink.
#[test]
fn scores_agree_and_their_errors_shrink() {
    let mut logs = Vec::new();
    for seed in 0..12 {
        for density in [DensityChoice::Plain, DensityChoice::Collapsed] {
            for method in [Method::Pogpe, Method::Het] {
                let fitted = fitted(method, density, seed);
                let [plain, conditional] = both(&fitted);
                let mut line = Vec::new();
                for (a, b) in scores(&plain).iter().zip(scores(&conditional)) {
                    let (ea, eb) = (a.mcse.unwrap(), b.mcse.unwrap());
                    let z = (a.value - b.value) / ea.hypot(eb);
                    assert!(z.abs() < tolerance::Z, "{a:?} {b:?}");
                    line.push(format!("{z:.2} {:.2}", eb / ea));
                    logs.push((eb / ea).ln());
                }
                println!("{method} {density:?} {seed}: {}", line.join(", "));
            }
        }
    }
}
