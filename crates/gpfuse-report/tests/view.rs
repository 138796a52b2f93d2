//! What is gathered from a model: the figures that its inputs and experts allow, finite numbers,
//! densities and weights that sum to one. The seeds are fixed, and the bounds hold for any draws
//! but for the mass of a density inside its picture, which is far from its bounds here.

#![allow(clippy::unwrap_used)]

use gpfuse::infer::Settings;
use gpfuse::{Data, FitSettings, Method, Predictions, fit};
use gpfuse_report::view::{View, view};

const ROWS: usize = 40;

fn settings(method: Method) -> FitSettings {
    let sampler = Settings { chains: 2, warmup: Some(30), draws: Some(10), ..Settings::default() };
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
        let all = [
            "observed",
            "calibration",
            "experts",
            "draws",
            "predictive",
            "weights",
            "trace",
            "rank",
        ];
        assert_eq!(names(&found), all);
        assert!(found.omitted.len() == 1 && found.omitted[0].contains("by level"));
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
        for column in heat.values.chunks(heat.y.len()) {
            let mass: f64 = column.iter().sum::<f64>() * cell;
            assert!(mass > 0.3 && mass < 1.1, "{method}: {mass}");
        }
        assert!(found.calibration.unwrap().pit.iter().all(|p| (0.0..=1.0).contains(p)));
        // Without a table: the rows of the fit, each left out.
        let without = view(&fitted, None, 1).unwrap();
        assert_eq!((names(&without), without.omitted.len()), (all.to_vec(), 1));
        assert!(without.judged.contains("without itself"), "{}", without.judged);
        let error = |view: View| {
            let found = view.outcomes.unwrap();
            let rows = found.observed.iter().zip(&found.mean);
            rows.map(|(y, mean)| (y - mean).powi(2)).sum::<f64>()
        };
        assert!(error(without) > error(view(&fitted, Some(&rows), 1).unwrap()), "{method}");
    }
}

#[test]
fn several_inputs_have_slices_and_partial_effects() {
    let fitted = fit(&rows(2), &settings(Method::Het)).unwrap();
    let found = view(&fitted, None, 1).unwrap();
    let rows = ["observed", "calibration"];
    assert_eq!(names(&found), [&rows[..], &["slices", "partial", "trace", "rank"]].concat());
    assert!(found.moves.weights.is_none());
    // The target depends on the first input alone, which the panels show.
    let moved = &found.moves.mean.as_ref().unwrap().inputs;
    assert!(moved[0].input == 0 && moved[0].moves > moved[1].moves, "{moved:?}");
    for effects in [found.slices.unwrap(), found.partial.unwrap()] {
        assert_eq!(effects.panels.len(), 2);
        for panel in effects.panels {
            let band = &panel.bands[0];
            assert!((0..panel.x.len()).all(|i| band.low[i] <= band.high[i]));
            assert!(band.centre.iter().all(|v| v.is_finite()) && panel.rug.len() == ROWS);
        }
    }
}

/// The shares of two experts along each of two inputs sum to one.
#[test]
fn several_experts_have_weights_along_each_input() {
    let learned = Settings { chains: 2, warmup: Some(60), draws: Some(30), ..Settings::default() };
    for method in [Method::Mogpe, Method::Pogpe] {
        let settings = FitSettings { sampler: learned.clone(), ..settings(method) };
        let found = view(&fit(&rows(2), &settings).unwrap(), None, 1).unwrap();
        let weights = found.weights.unwrap();
        assert_eq!(weights.panels.len(), 2);
        let of = found.moves.weights.unwrap();
        assert!(of.chain.is_some() && (0.0..=1.0).contains(&of.agreed) && of.spread < 0.5);
        for panel in &weights.panels {
            let [a, b] = [0, 1].map(|k| &panel.bands[k]);
            assert!(a.centre.iter().zip(&b.centre).all(|(a, b)| (a + b - 1.0).abs() < 1e-9));
            assert!(a.low.iter().zip(&a.high).all(|(low, high)| low <= high));
        }
    }
}

/// Of two experts, the second is right where the sum of two inputs is large: both inputs move the weights, and the
/// shares of a pair sum to one in every cell.
#[test]
fn weights_along_two_inputs() {
    let rows = rows(2);
    let large = |r: usize| rows.x()[2 * r] + rows.x()[2 * r + 1] > 10.0;
    let off = |wrong: bool| {
        let said = |(r, y): (usize, &f64)| y + if large(r) == wrong { 2.0 } else { 0.05 };
        rows.y().unwrap().iter().enumerate().map(said).collect::<Vec<f64>>()
    };
    let says = Predictions::new(vec![off(true), off(false)], vec![vec![0.3; ROWS]; 2]).unwrap();
    let rows = rows.clone().with_experts(vec!["a".into(), "b".into()], says).unwrap();
    let sampler = Settings { chains: 2, warmup: Some(100), draws: Some(50), ..Settings::default() };
    let fitted = fit(&rows, &FitSettings { sampler, ..settings(Method::Bhs) }).unwrap();
    let pair = view(&fitted, Some(&rows), 1).unwrap().pair.unwrap().panels;
    let [a, b] = [&pair[0].1.values, &pair[1].1.values];
    assert!(a.len() == 324 && a.iter().zip(b).all(|(a, b)| (a + b - 1.0).abs() < 1e-9));
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
    // Weights need no more than the inputs of the rows, and what the experts said of these is known.
    let known_of = ["observed", "calibration"];
    assert_eq!(names(&without), [&known_of[..], &["weights", "trace", "rank"]].concat());
    assert!(without.omitted[0].contains("needs the table"), "{:?}", without.omitted);
    let found = view(&fitted, Some(&known), 1).unwrap();
    assert_eq!(found.experts.unwrap().weights[0].name, "a");
    assert!(found.predictive.unwrap().density.is_none());
    let error = view(&fitted, Some(&rows), 1).unwrap_err().to_string();
    assert!(error.contains("give what a, b say about these rows"), "{error}");
}
