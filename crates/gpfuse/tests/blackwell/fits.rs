//! PoGPE fits, scored with the coefficients of the means integrated out and without.

use gpfuse::fit::{DensityChoice, FitSettings, Fitted, fit};
use gpfuse::infer::Settings;
use gpfuse::metrics::{Score, Scores};
use gpfuse::model::Method;

use super::common::case::{normals, rows_of};
use super::common::tolerance;

/// Rows with a noise that grows.
fn table(rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut normal = normals(seed);
    let x: Vec<f64> = (0..rows).map(|i| 4.0 * i as f64 / rows as f64).collect();
    let y = x.iter().map(|x| x.sin() + 0.1 * (1.0 + x) * normal()).collect();
    (x, y)
}

fn fitted(density: DensityChoice, seed: u64) -> Fitted {
    let (x, y) = table(40, 8600);
    let settings = FitSettings {
        method: Method::Pogpe,
        experts: 2,
        size: Some(8),
        density,
        sampler: Settings {
            warmup: Some(200),
            draws: Some(200),
            seed,
            threads: 2,
            ..Settings::default()
        },
        ..FitSettings::default()
    };
    fit(&rows_of(&x, &y), &settings).unwrap()
}

/// The scores of the draws, and of the draws without the coefficients.
fn both(fitted: &Fitted) -> [Scores; 2] {
    let (x, y) = table(60, 8601);
    let data = rows_of(&x, &y);
    let prediction = fitted.predict(&data).unwrap();
    let plain = prediction.evaluate().unwrap();
    [plain, prediction.rao_blackwell().unwrap().evaluate().unwrap()]
}

fn scores(s: &Scores) -> [Score; 4] {
    [s.nlpd, s.crps, s.rmse, s.mae]
}

/// The scores of the same draws differ by less than 5 combined errors (in 192 comparisons of other
/// seeds and het by less than 2), and the geometric mean of the ratios of the errors is below one.
/// Its log was -0.295 with a standard deviation of 0.143 in one PoGPE fit, so in four it is above
/// zero with a probability of 2e-5.
#[test]
fn scores_agree_and_their_errors_shrink() {
    let mut log_ratio = 0.0;
    for seed in [0, 1] {
        for density in [DensityChoice::Plain, DensityChoice::Collapsed] {
            let [plain, conditional] = both(&fitted(density, seed));
            for (a, b) in scores(&plain).iter().zip(scores(&conditional)) {
                let (error_a, error_b) = (a.mcse.unwrap(), b.mcse.unwrap());
                assert_ne!(a.value, b.value);
                let z = (a.value - b.value) / error_a.hypot(error_b);
                assert!(z.abs() < tolerance::Z, "{density:?}, seed {seed}: {a:?} {b:?}");
                log_ratio += (error_b / error_a).ln();
            }
        }
    }
    assert!(log_ratio < 0.0, "{log_ratio}");
}
