//! What is gathered from a model: the figures that its inputs and experts allow, finite numbers,
//! densities and weights that sum to one. The seeds are fixed, and the bounds hold for any draws
//! but for the mass of a density inside its picture, which is far from its bounds here.

#![allow(clippy::unwrap_used)]

use gpfuse::infer::Settings;
use gpfuse::{Data, FitSettings, Method, Predictions, fit};
use gpfuse_report::view::{View, view};

const ROWS: usize = 40;

fn settings(method: Method) -> FitSettings {
    let sampler = Settings { chains: 2, warmup: 30, draws: Some(10), ..Settings::default() };
    FitSettings { method, experts: 2, size: Some(6), sampler, ..FitSettings::default() }
}

/// Rows of some inputs, and a target.
fn rows(inputs: usize) -> Data {
    let x: Vec<f64> = (0..ROWS * inputs).map(|i| 3.0 * (1.3 * i as f64).sin() + 5.0).collect();
    let y = x.chunks(inputs).enumerate().map(|(r, x)| x[0].cos() + 0.1 * (7.0 * r as f64).sin());
    let y = y.collect();
    Data::new(x, inputs).unwrap().with_target(y).unwrap()
}

fn names(view: &View) -> Vec<&'static str> {
    view.figures().iter().map(|f| f.0).collect()
}

#[test]
fn one_input_has_curves() {
    let rows = rows(1);
    for method in [Method::Mogpe, Method::Pogpe, Method::Bhs] {
        let fitted = fit(&rows, &settings(method)).unwrap();
        let found = view(&fitted, Some(&rows), 1).unwrap();
        let all = ["experts", "draws", "predictive", "weights", "calibration", "trace", "rank"];
        assert_eq!(names(&found), all);
        assert!(found.omitted.is_empty(), "{:?}", found.omitted);
        let experts = found.experts.unwrap();
        for i in 0..experts.x.len() {
            let sum: f64 = experts.weights.iter().map(|b| b.centre[i]).sum();
            assert!(method == Method::Pogpe || (sum - 1.0).abs() < 1e-9, "{method}: {sum}");
            assert!(experts.weights.iter().all(|b| b.low[i] <= b.high[i]));
        }
        let predictive = found.predictive.unwrap();
        assert_eq!((predictive.x.len(), predictive.data.len()), (200, ROWS));
        let (band, heat) = (&predictive.methods[0], predictive.density.unwrap());
        assert!((0..200).all(|i| band.low[i] < band.centre[i] && band.centre[i] < band.high[i]));
        let cell = heat.y[1] - heat.y[0];
        for column in heat.density.chunks(heat.y.len()) {
            let mass: f64 = column.iter().sum::<f64>() * cell;
            assert!(mass > 0.3 && mass < 1.1, "{method}: {mass}");
        }
        assert!(found.calibration.unwrap().pit.iter().all(|p| (0.0..=1.0).contains(p)));
        // Without a table: all but calibration.
        let without = view(&fitted, None, 1).unwrap();
        assert_eq!(
            names(&without),
            all.iter().copied().filter(|n| *n != "calibration").collect::<Vec<_>>()
        );
        assert_eq!(without.omitted.len(), 1);
    }
}

#[test]
fn several_inputs_have_slices_and_partial_effects() {
    let fitted = fit(&rows(2), &settings(Method::Het)).unwrap();
    let found = view(&fitted, None, 1).unwrap();
    assert_eq!(names(&found), ["slices", "partial", "trace", "rank"]);
    for effects in [found.slices.unwrap(), found.partial.unwrap()] {
        assert_eq!(effects.panels.len(), 2);
        for panel in effects.panels {
            let band = &panel.band;
            assert!((0..panel.x.len()).all(|i| band.low[i] <= band.high[i]));
            assert!(band.centre.iter().all(|v| v.is_finite()) && panel.rug.len() == ROWS);
        }
    }
}

/// Experts made elsewhere speak only where a table has their columns.
#[test]
fn experts_made_elsewhere_need_the_table() {
    let rows = rows(1);
    let mean: Vec<f64> = rows.y().unwrap().iter().map(|y| y + 0.1).collect();
    let (zero, sd) = (vec![0.0; ROWS], vec![0.5; ROWS]);
    let predictions = Predictions::new(vec![mean, zero], vec![sd.clone(), sd]).unwrap();
    let experts = vec!["a".to_string(), "b".into()];
    let known = rows.clone().with_experts(experts, predictions).unwrap();
    let fitted = fit(&known, &settings(Method::Bhs)).unwrap();
    let without = view(&fitted, None, 1).unwrap();
    assert_eq!(names(&without), ["trace", "rank"]);
    assert!(without.omitted[0].contains("needs the table"), "{:?}", without.omitted);
    let found = view(&fitted, Some(&known), 1).unwrap();
    assert_eq!(found.experts.unwrap().weights[0].name, "a");
    assert!(found.predictive.unwrap().density.is_none());
    let error = view(&fitted, Some(&rows), 1).unwrap_err().to_string();
    assert!(error.contains("give the predictions of a, b"), "{error}");
}
