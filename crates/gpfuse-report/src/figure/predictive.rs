//! Data, point predictions and intervals, with the predictive density behind them.

use super::axis::{Axis, quantile, short};
use super::colour::{HEAT, INK, Look, Shape};
use super::frame::{Frame, Key, entries, legend};
use super::scene::{EDGE, Mark, Point, WIDTH};
use super::series::ends;
use super::{Band, Labels, Scene};

/// A density on a grid of cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heat {
    /// The inputs at the cells' centres, evenly spaced.
    pub x: Vec<f64>,
    /// The targets at the cells' centres, evenly spaced.
    pub y: Vec<f64>,
    /// The density: all targets of the first input, then of the second, and so on.
    pub density: Vec<f64>,
}

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
/// Steps of the density's colour.
const LEVELS: usize = 14;

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
        scene.mark(Mark::Heat, title, |scene| cells(scene, &frame, heat));
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

/// The cells of a density: those of one colour are one shape, and those above each other that
/// share it one rectangle. Edges lie on half units of the page, which are whole pixels of a
/// picture, so that no seam is seen.
fn cells(scene: &mut Scene, frame: &Frame, heat: &Heat) {
    let (nx, ny) = (heat.x.len(), heat.y.len());
    if nx < 2 || ny < 2 || heat.density.len() != nx * ny {
        return;
    }
    let mut tops: Vec<f64> = heat
        .density
        .chunks(ny)
        .map(|column| column.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max))
        .collect();
    tops.sort_by(f64::total_cmp);
    // A narrow peak somewhere must not leave the rest white.
    let most = quantile(&tops, 0.9);
    if !(most > 0.0 && most.is_finite()) {
        return;
    }
    let level = |v: f64| {
        let part = (v / most).clamp(0.0, 1.0).sqrt();
        if v.is_finite() { (part * LEVELS as f64).round() as usize } else { 0 }
    };
    let half = |v: f64| (2.0 * v).round() / 2.0;
    let edge = |v: &[f64], i: usize| match i {
        0 => v[0] - 0.5 * (v[1] - v[0]),
        i if i == v.len() => v[i - 1] + 0.5 * (v[i - 1] - v[i - 2]),
        i => 0.5 * (v[i - 1] + v[i]),
    };
    let across: Vec<f64> = (0..=nx).map(|i| half(frame.x.at(edge(&heat.x, i)))).collect();
    let along: Vec<f64> = (0..=ny).map(|j| half(frame.y.at(edge(&heat.y, j)))).collect();
    let mut shapes: Vec<Vec<Vec<Point>>> = vec![Vec::new(); LEVELS + 1];
    for (i, column) in heat.density.chunks(ny).enumerate() {
        let (left, right) = (across[i], across[i + 1]);
        let mut from = 0;
        for run in column.chunk_by(|a, b| level(*a) == level(*b)) {
            let (low, high) = (along[from], along[from + run.len()]);
            if right > left && low > high {
                let cell = vec![(left, high), (right, high), (right, low), (left, low)];
                shapes[level(run[0])].push(cell);
            }
            from += run.len();
        }
    }
    // What has no density is paper.
    for (i, outlines) in shapes.into_iter().enumerate().skip(1) {
        scene.areas(outlines, HEAT.tint(i as f64 / LEVELS as f64), 1.0);
    }
}
