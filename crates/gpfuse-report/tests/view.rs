//! What is gathered from a model: the figures that its inputs and experts allow, finite numbers,
//! densities and weights that sum to one. The seeds are fixed, and the bounds hold for any draws
//! but for the mass of a density inside its picture, which is far from its bounds here.

#![allow(clippy::unwrap_used)]

use gpfuse::Fitted;
use gpfuse::baseline::Predictions;
use gpfuse::fit::{FitSettings, Fitted, fit, stack};
use gpfuse::infer::{Quiet, Settings};
use gpfuse::model::Method;
use gpfuse_io::table::Table;
use gpfuse_report::view::{View, view};

const ROWS: usize = 40;

fn settings(method: Method) -> FitSettings {
    let sampler = Settings { chains: 2, warmup: 30, draws: 10, ..Settings::default() };
    FitSettings { method, experts: 2, size: Some(6), sampler, ..FitSettings::default() }
}

/// Rows of some inputs, and a target.
fn rows(inputs: usize) -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..ROWS * inputs).map(|i| 3.0 * (1.3 * i as f64).sin() + 5.0).collect();
    let y = x.chunks(inputs).enumerate().map(|(r, x)| x[0].cos() + 0.1 * (7.0 * r as f64).sin());
    let y = y.collect();
    (x, y)
}

fn fitted(fitted: Fitted, inputs: usize) -> Saved {
    let inputs = (1..=inputs).map(|i| format!("x{i}")).collect();
    Saved { fitted, inputs, target: "y".into() }
}

fn table(x: &[f64], y: &[f64], inputs: usize, more: &[(&str, &[f64])]) -> Table {
    let mut names: Vec<String> = (1..=inputs).map(|i| format!("x{i}")).collect();
    let mut columns: Vec<Vec<f64>> =
        (0..inputs).map(|i| x.iter().skip(i).step_by(inputs).copied().collect()).collect();
    for (name, values) in more.iter().chain(&[("y", y)]) {
        names.push((*name).into());
        columns.push(values.to_vec());
    }
    Table { path: "t.csv".into(), names, columns, rows: y.len() }
}

fn names(view: &View) -> Vec<&'static str> {
    view.figures().iter().map(|f| f.0).collect()
}

#[test]
fn one_input_has_curves() {
    let (x, y) = rows(1);
    for method in [Method::Mogpe, Method::Pogpe, Method::Bhs] {
        let fitted = fit(&x, 1, &y, &settings(method).check().unwrap(), &Quiet).unwrap();
        let fitted = fitted(fitted, 1);
        let found = view(&fitted, Some(&table(&x, &y, 1, &[])), 1).unwrap();
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
    let (x, y) = rows(2);
    let fitted = fit(&x, 2, &y, &settings(Method::Het).check().unwrap(), &Quiet).unwrap();
    let found = view(&fitted(fitted, 2), None, 1).unwrap();
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
    let (x, y) = rows(1);
    let mean: Vec<f64> = y.iter().map(|y| y + 0.1).collect();
    let (zero, sd) = (vec![0.0; ROWS], vec![0.5; ROWS]);
    let said = Predictions::new(vec![mean.clone(), zero.clone()], vec![sd.clone(), sd.clone()]);
    let (said, known) = (said.unwrap(), vec!["a".to_string(), "b".into()]);
    let settings = settings(Method::Bhs).check().unwrap();
    let fitted = stack(&x, 1, &y, known, &said, &settings, &Quiet).unwrap();
    let fitted = fitted(fitted, 1);
    let without = view(&fitted, None, 1).unwrap();
    assert_eq!(names(&without), ["trace", "rank"]);
    assert!(without.omitted[0].contains("needs the table"), "{:?}", without.omitted);
    let more: [(&str, &[f64]); 4] =
        [("mean_a", &mean), ("mean_b", &zero), ("sd_a", &sd), ("sd_b", &sd)];
    let found = view(&fitted, Some(&table(&x, &y, 1, &more)), 1).unwrap();
    assert_eq!(found.experts.unwrap().weights[0].name, "a");
    assert!(found.predictive.unwrap().density.is_none());
    let error = view(&fitted, Some(&table(&x, &y, 1, &[])), 1).unwrap_err().to_string();
    assert!(error.contains("`t.csv`") && error.contains("`mean_a`"), "{error}");
}
