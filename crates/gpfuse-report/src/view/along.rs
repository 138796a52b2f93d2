//! Several inputs: predictions and weights along each of them.

use anyhow::Result;
use gpfuse::fit;
use gpfuse::infer::spread;
use gpfuse::predict::Summary;
use gpfuse::{Data, Fitted};

use super::curves::{LEVEL, Places, band, names};
use super::training::sorted;
use crate::figure::{Band, Effect, Effects, Heat, Labels, Pairs, brief, quantile};

/// The most inputs that have a panel.
const PANELS: usize = 9;
/// Places along a slice.
const SLICE: usize = 60;
/// What the axis of the shares is called.
const SHARE: &str = "share of the weight";
/// The most data rows on a panel of shades.
const DOTS: usize = 400;

/// The range of input `i` in equal steps.
fn steps(data: &Data, i: usize, points: usize) -> Vec<f64> {
    let sorted = sorted(data, i);
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    (0..points).map(|p| low + (high - low) * p as f64 / (points - 1) as f64).collect()
}

/// What all panels of a figure share.
fn figure(fitted: &Fitted, title: &str, note: String, panels: Vec<Effect>) -> Effects {
    let more = match fitted.inputs().len() > PANELS {
        true => format!("; {PANELS} of {} inputs", fitted.inputs().len()),
        false => String::new(),
    };
    let (title, y) = (title.into(), fitted.target().into());
    Effects { title, y, note: note + &more, shares: false, panels }
}

/// The inputs, first those that matter most.
pub(super) fn order(found: &fit::Effects) -> Vec<usize> {
    found.inputs.iter().map(|effect| effect.input).take(PANELS).collect()
}

/// Predictive mean and interval along some inputs, the others at their medians.
pub(super) fn slices(
    fitted: &Fitted,
    data: &Data,
    inputs: &[usize],
    threads: usize,
) -> Result<Effects> {
    let d = data.inputs().len();
    let median: Vec<f64> = (0..d).map(|i| quantile(&sorted(data, i), 0.5)).collect();
    let (predictor, mut panels) = (fitted.predictor(), Vec::new());
    for i in inputs.iter().copied() {
        let x = steps(data, i, SLICE);
        let row = |v: &f64| {
            let mut row = median.clone();
            row[i] = *v;
            row
        };
        let at = Data::new(x.iter().flat_map(row).collect(), d)?;
        let band = band(&Places::new(fitted, &at)?, &predictor, "prediction", threads)?;
        let input = fitted.inputs()[i].clone();
        panels.push(Effect { input, x, bands: vec![band], rug: sorted(data, i) });
    }
    let note = format!("mean and {} % interval; other inputs at their medians", 100.0 * LEVEL);
    Ok(figure(fitted, "Predictions along each input", note, panels))
}

/// The partial dependence on each input of what was found, in panels from the input that matters most.
fn panels(fitted: &Fitted, data: &Data, found: &fit::Effects, names: &[String]) -> Vec<Effect> {
    let band = |(name, curve): (&String, &Vec<Summary>)| {
        let of = |f: fn(&Summary) -> f64| curve.iter().map(f).collect();
        Band {
            name: name.clone(),
            centre: of(|s| s.mean),
            low: of(|s| s.low),
            high: of(|s| s.high),
        }
    };
    let panel = |effect: &fit::Effect| Effect {
        input: format!("{} ({})", fitted.inputs()[effect.input], brief(effect.moves)),
        x: effect.x.clone(),
        bands: names.iter().zip(&effect.curves).map(band).collect(),
        rug: sorted(data, effect.input),
    };
    found.inputs.iter().take(PANELS).map(panel).collect()
}

/// How the average prediction depends on each input.
pub(super) fn partial(fitted: &Fitted, data: &Data, found: &fit::Effects) -> Effects {
    let panels = panels(fitted, data, found, &["average prediction".into()]);
    let note = format!(
        "averages over {} rows, {} % intervals of {} draws; in brackets: how far an input moves the prediction",
        found.rows,
        100.0 * LEVEL,
        found.draws
    );
    figure(fitted, "Partial effect of each input", note, panels)
}

/// How the average weights depend on each input.
pub(super) fn weights(fitted: &Fitted, data: &Data, found: &fit::Effects) -> Effects {
    let chain = found.chain.map_or(String::new(), |chain| format!(" of chain {}", chain + 1));
    let note = format!(
        "averages over {} rows, {} % intervals of {} draws{chain}; in brackets: how far an input moves a share",
        found.rows,
        100.0 * LEVEL,
        found.draws
    );
    let panels = panels(fitted, data, found, &names(fitted));
    let plot = figure(fitted, "How much each expert is trusted", note, panels);
    Effects { y: SHARE.into(), shares: true, ..plot }
}

/// The average weights along the two inputs that move them most; none where there is one input.
pub(super) fn pair(
    fitted: &Fitted,
    data: &Data,
    found: &fit::Effects,
    threads: usize,
) -> Result<Option<Pairs>> {
    let [first, second, ..] = found.inputs.as_slice() else { return Ok(None) };
    let inputs = [first.input, second.input];
    let Some(pair) = fitted.weight_pair(data, inputs, threads)? else { return Ok(None) };
    let [x, y] = pair.places;
    let heat = |values| Heat { x: x.clone(), y: y.clone(), values };
    let [a, b] = inputs.map(|i| fitted.inputs()[i].as_str());
    let labels = Labels::new(&format!("Weights along {a} and {b}"), a, b);
    let dots = spread(data.len(), DOTS);
    Ok(Some(Pairs {
        labels,
        shade: SHARE.into(),
        panels: names(fitted).into_iter().zip(pair.mean.into_iter().map(heat)).collect(),
        data: dots.iter().map(|r| (data.row(*r)[inputs[0]], data.row(*r)[inputs[1]])).collect(),
        note: "posterior means, averaged over the other inputs; dots: rows of data".into(),
    }))
}
