//! Data, point predictions and intervals, with the predictive density behind them.

use super::axis::{Axis, quantile, short};
use super::colour::{INK, Look, Shape};
use super::frame::{Frame, Key, entries, legend};
use super::heat::cells;
use super::scene::{EDGE, Mark, WIDTH};
use super::series::ends;
use super::{Band, Heat, Labels, Scene};

/// Predictions against one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predictive {
    /// The labels.
    pub labels: Labels,
    /// Inputs and targets of the data.
    pub data: Vec<(f64, f64)>,
    /// The inputs of the predictions, in order.
    pub x: Vec<f64>,
    /// Each method's point prediction and interval.
    pub methods: Vec<Band>,
    /// What the intervals hold, such as 0.9.
    pub level: f64,
    /// The predictive density behind the data, of one method.
    pub density: Option<Heat>,
}

const LEFT: f64 = 78.0;
const PLOT: f64 = 360.0;

/// Draw them.
pub fn predictive(plot: &Predictive) -> Scene {
    let mut scene = Scene::titled(&plot.labels.title, WIDTH);
    let mut entries = entries(Key::Band, plot.methods.iter().map(|band| &band.name));
    let dot = Look { colour: INK, dashes: &[], shape: Shape::Circle };
    entries.push((dot, Key::Data, "data".into()));
    let top = legend(&mut scene, LEFT, WIDTH - EDGE, &entries) + 12.0;
    let values = ends(plot.methods.iter()).chain(plot.data.iter().map(|d| d.1));
    let frame = Frame {
        x: Axis::along(&plot.x, LEFT, WIDTH - EDGE),
        y: Axis::most(values, top + PLOT, top),
    };
    if let Some(heat) = &plot.density {
        let title = "predictive density: the darker, the larger";
        let most = largest(heat);
        let part = |v: f64| if most > 0.0 { (v / most).clamp(0.0, 1.0).sqrt() } else { 0.0 };
        scene.mark(Mark::Heat, title, |scene| cells(scene, &frame, heat, part));
    }
    frame.rows(&mut scene, &plot.labels.y);
    let inside = format!("{} % interval", short(100.0 * plot.level).trim_end_matches(".00"));
    if plot.density.is_none() {
        frame.bands(&mut scene, &plot.x, &plot.methods, &inside);
    } else {
        // On a density, a filled band would change its colours: its edges are enough.
        for (i, band) in plot.methods.iter().enumerate() {
            let mut curves = |kind: Mark, what: &str, curves: &[&Vec<f64>], width: f64| {
                scene.mark(kind, &format!("{}: {what}", band.name), |scene| {
                    for y in curves {
                        frame.curve(scene, &plot.x, y, &Look::of(i), width);
                    }
                });
            };
            curves(Mark::Band, &inside, &[&band.low, &band.high], 1.0);
            curves(Mark::Line, "mean", &[&band.centre], 2.2);
        }
    }
    // Fainter where there are many.
    let opacity = (30.0 / (plot.data.len() as f64).sqrt()).clamp(0.25, 0.75);
    frame.dots(&mut scene, &plot.data, 1.7, INK, opacity);
    frame.foot(&mut scene, &plot.labels.x);
    frame.strips(&mut scene, &plot.labels.x, &plot.x, &plot.methods);
    let beyond = match plot.data.iter().filter(|d| !frame.holds(d)).count() {
        0 => String::new(),
        1 => "; one data row lies outside".into(),
        n => format!("; {n} data rows lie outside"),
    };
    let behind = if plot.density.is_some() { "; shade: predictive density" } else { "" };
    scene.closed(top + PLOT + 66.0, &format!("lines: mean and {inside}{behind}{beyond}"))
}

/// What the strongest shade stands for: a narrow peak somewhere must not leave the rest white.
fn largest(heat: &Heat) -> f64 {
    let columns = heat.values.chunks(heat.y.len().max(1));
    let top = |column: &[f64]| column.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    let mut tops: Vec<f64> = columns.map(top).collect();
    tops.sort_by(f64::total_cmp);
    quantile(&tops, 0.9)
}
