//! Several inputs: predictions along each of them.

use anyhow::Result;
use gpfuse::{Data, Fitted};

use super::curves::{LEVEL, Places, band};
use super::pick::{singles, spread};
use super::training::sorted;
use crate::figure::{Band, Effect, Effects, quantile};

/// The most inputs that have a panel.
const PANELS: usize = 9;
/// Places along a slice.
const SLICE: usize = 60;
/// Places along a partial effect.
const PARTIAL: usize = 20;
/// Data rows that a partial effect is averaged over.
const ROWS: usize = 40;
/// Draws that the interval of a partial effect is made from.
const DRAWS: usize = 60;

/// The range of input `i` in equal steps.
fn steps(data: &Data, i: usize, points: usize) -> Vec<f64> {
    let sorted = sorted(data, i);
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    (0..points).map(|p| low + (high - low) * p as f64 / (points - 1) as f64).collect()
}

/// What all panels of a figure share.
fn figure(fitted: &Fitted, title: &str, note: String, panels: Vec<Effect>) -> Effects {
    let more = match fitted.inputs().len() > PANELS {
        true => format!("; the first {PANELS} of {} inputs", fitted.inputs().len()),
        false => String::new(),
    };
    Effects { title: title.into(), y: fitted.target().into(), note: note + &more, panels }
}

/// Predictive mean and interval along each input, the others at their medians.
pub(super) fn slices(fitted: &Fitted, data: &Data, threads: usize) -> Result<Effects> {
    let d = data.inputs().len();
    let median: Vec<f64> = (0..d).map(|i| quantile(&sorted(data, i), 0.5)).collect();
    let (predictor, mut panels) = (fitted.predictor(), Vec::new());
    for (i, input) in fitted.inputs().iter().enumerate().take(PANELS) {
        let x = steps(data, i, SLICE);
        let row = |v: &f64| {
            let mut row = median.clone();
            row[i] = *v;
            row
        };
        let at = Data::new(x.iter().flat_map(row).collect(), d)?;
        let band = band(&Places::new(fitted, &at)?, &predictor, "prediction", threads)?;
        panels.push(Effect { input: input.clone(), x, band, rug: sorted(data, i) });
    }
    let note = format!("mean and {} % interval; other inputs at their medians", 100.0 * LEVEL);
    Ok(figure(fitted, "Predictions along each input", note, panels))
}

/// The average over data rows of the predictive mean along each input, with its posterior
/// interval: `1/n sum_r m(x_r with input i replaced)` (Friedman 2001), draw by draw.
pub(super) fn partial(fitted: &Fitted, data: &Data, threads: usize) -> Result<Effects> {
    let (d, rows) = (data.inputs().len(), spread(data.len(), ROWS));
    let (predictors, mut panels) = (singles(fitted, DRAWS)?, Vec::new());
    for (i, input) in fitted.inputs().iter().enumerate().take(PANELS) {
        let x = steps(data, i, PARTIAL);
        let each = |v: &f64| {
            let replaced = |(at, old): (usize, &f64)| if at == i { *v } else { *old };
            let row = |r: &usize| data.row(*r).iter().enumerate().map(replaced).collect::<Vec<_>>();
            rows.iter().flat_map(row).collect::<Vec<f64>>()
        };
        let places = Places::new(fitted, &Data::new(x.iter().flat_map(each).collect(), d)?)?;
        let mut all = vec![Vec::with_capacity(predictors.len()); x.len()];
        for predictor in &predictors {
            let means = places.densities(predictor, threads, |m| m.mean())?;
            for (averages, part) in all.iter_mut().zip(means.chunks(rows.len())) {
                averages.push(part.iter().sum::<f64>() / part.len() as f64);
            }
        }
        all.iter_mut().for_each(|v| v.sort_by(f64::total_cmp));
        let of = |p: f64| all.iter().map(|v| quantile(v, p)).collect::<Vec<f64>>();
        let centre = all.iter().map(|v| v.iter().sum::<f64>() / v.len().max(1) as f64).collect();
        let (low, high) = (of(0.5 - 0.5 * LEVEL), of(0.5 + 0.5 * LEVEL));
        let band = Band { name: "average prediction".into(), centre, low, high };
        panels.push(Effect { input: input.clone(), x, band, rug: sorted(data, i) });
    }
    let note = format!(
        "average over {} data rows, with the {} % interval of {} draws",
        rows.len(),
        100.0 * LEVEL,
        predictors.len()
    );
    Ok(figure(fitted, "Partial effect of each input", note, panels))
}
