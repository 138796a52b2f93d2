//! Several inputs: predictions along each of them.

use anyhow::Result;
use gpfuse_io::model_file::Saved;

use super::curves::{LEVEL, Places, band};
use super::known::Known;
use super::pick::{singles, spread};
use crate::figure::{Band, Effect, Effects, quantile};

/// The most inputs that have a panel.
const PANELS: usize = 9;
/// Places along a slice and along a partial effect.
const SLICE: usize = 60;
const PARTIAL: usize = 20;
/// Data rows that a partial effect is averaged over, and draws that its interval is of.
const ROWS: usize = 40;
const DRAWS: usize = 60;

/// The range of input `i` in equal steps.
fn steps(known: &Known, i: usize, points: usize) -> Vec<f64> {
    let sorted = known.sorted(i);
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    (0..points).map(|p| low + (high - low) * p as f64 / (points - 1) as f64).collect()
}

/// What all panels of a figure share.
fn figure(saved: &Saved, title: &str, note: String, panels: Vec<Effect>) -> Effects {
    let more = match saved.inputs.len() > PANELS {
        true => format!("; the first {PANELS} of {} inputs", saved.inputs.len()),
        false => String::new(),
    };
    Effects { title: title.into(), y: saved.target.clone(), note: note + &more, panels }
}

/// Predictive mean and interval along each input, the others at their medians.
pub(super) fn slices(saved: &Saved, known: &Known, threads: usize) -> Result<Effects> {
    let d = known.inputs;
    let median: Vec<f64> = (0..d).map(|i| quantile(&known.sorted(i), 0.5)).collect();
    let (predictor, mut panels) = (saved.fitted.predictor(), Vec::new());
    for (i, input) in saved.inputs.iter().enumerate().take(PANELS) {
        let x = steps(known, i, SLICE);
        let row = |v: &f64| {
            let mut row = median.clone();
            row[i] = *v;
            row
        };
        let at = Known {
            x: x.iter().flat_map(row).collect(),
            y: vec![0.0; x.len()],
            predictions: None,
            inputs: d,
        };
        let band = band(&Places::new(saved, &at)?, &predictor, "prediction", threads)?;
        panels.push(Effect { input: input.clone(), x, band, rug: known.sorted(i) });
    }
    let note = format!("mean and {} % interval; other inputs at their medians", 100.0 * LEVEL);
    Ok(figure(saved, "Predictions along each input", note, panels))
}

/// The average over data rows of the predictive mean along each input, with its posterior
/// interval: `1/n sum_r m(x_r with input i replaced)` (Friedman 2001), draw by draw.
pub(super) fn partial(saved: &Saved, known: &Known, threads: usize) -> Result<Effects> {
    let (d, rows) = (known.inputs, spread(known.y.len(), ROWS));
    let (predictors, mut panels) = (singles(&saved.fitted, DRAWS)?, Vec::new());
    for (i, input) in saved.inputs.iter().enumerate().take(PANELS) {
        let x = steps(known, i, PARTIAL);
        let mut at = known.pick(&x.iter().flat_map(|_| &rows).copied().collect::<Vec<_>>())?;
        for (r, row) in at.x.chunks_mut(d).enumerate() {
            row[i] = x[r / rows.len()];
        }
        let places = Places::new(saved, &at)?;
        let mut all = vec![Vec::with_capacity(predictors.len()); x.len()];
        for predictor in &predictors {
            let means = places.densities(predictor, threads, |m| m.mean())?;
            for (own, part) in all.iter_mut().zip(means.chunks(rows.len())) {
                own.push(part.iter().sum::<f64>() / part.len() as f64);
            }
        }
        all.iter_mut().for_each(|v| v.sort_by(f64::total_cmp));
        let of = |p: f64| all.iter().map(|v| quantile(v, p)).collect::<Vec<f64>>();
        let centre = all.iter().map(|v| v.iter().sum::<f64>() / v.len().max(1) as f64).collect();
        let (low, high) = (of(0.5 - 0.5 * LEVEL), of(0.5 + 0.5 * LEVEL));
        let band = Band { name: "average prediction".into(), centre, low, high };
        panels.push(Effect { input: input.clone(), x, band, rug: known.sorted(i) });
    }
    let note = format!(
        "average over {} data rows, with the {} % interval of {} draws",
        rows.len(),
        100.0 * LEVEL,
        predictors.len()
    );
    Ok(figure(saved, "Partial effect of each input", note, panels))
}
