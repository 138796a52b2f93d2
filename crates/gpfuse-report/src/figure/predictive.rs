//! Data, point predictions and intervals, with the predictive density behind them.

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive};

use super::frame::{EDGE, Entry, Frame, Key, legend, legend_height, note};
use super::ink::{INK, Look, Mark, Shape, cut, heading, mark, page};
use super::scale::{Scale, quantile, short};
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

const WIDTH: f64 = 820.0;
const LEFT: f64 = 78.0;
const PLOT: f64 = 360.0;
/// Steps of the density's colour.
const LEVELS: usize = 14;
/// The colour of the largest density: light enough for dots and lines on it.
const DARK: [f64; 3] = [126.0, 152.0, 186.0];

/// Draw them.
pub fn predictive(plot: &Predictive) -> Scene {
    let own = |(i, b): (usize, &Band)| (Look::of(i), Key::Band, b.name.clone());
    let mut entries: Vec<Entry> = plot.methods.iter().enumerate().map(own).collect();
    let data = Look { shape: Shape::Circle, ..Look::of(6) };
    entries.push((data, Key::Data, "data".into()));
    let room = WIDTH - LEFT - EDGE;
    let top = 40.0 + legend_height(&entries, room) + 12.0;
    let mut scene = page(WIDTH, top + PLOT + 66.0);
    scene.add(heading((EDGE, 26.0), &cut(&plot.labels.title, 15, WIDTH - 2.0 * EDGE)));
    legend(&mut scene, (LEFT, 40.0), room, &entries);
    let (first, last) = (plot.x.first(), plot.x.last());
    let (low, high) = (first.copied().unwrap_or(0.0), last.copied().unwrap_or(0.0));
    let bands = plot.methods.iter().flat_map(|b| b.low.iter().chain(&b.high)).copied();
    let frame = Frame {
        x: Scale::exact(low, high, LEFT, WIDTH - EDGE),
        y: Scale::most(bands.chain(plot.data.iter().map(|d| d.1)), top + PLOT, top),
    };
    if let Some(heat) = &plot.density {
        let shapes = cells(&frame, heat);
        mark(&mut scene, Mark::Heat, "predictive density: the darker, the larger", shapes);
    }
    frame.rows(&mut scene, &plot.labels.y);
    let inside = format!("{} % interval", short(100.0 * plot.level).trim_end_matches(".00"));
    if plot.density.is_none() {
        frame.bands(&mut scene, &plot.x, &plot.methods, &inside);
    } else {
        // On a density, a filled band would change its colours: its edges are enough.
        for (i, band) in plot.methods.iter().enumerate() {
            let look = Look::of(i);
            let edges = [&band.low, &band.high].map(|v| frame.curve(&plot.x, v, &look, 1.0));
            mark(&mut scene, Mark::Band, &format!("{}: {inside}", band.name), edges.concat());
            let shapes = frame.curve(&plot.x, &band.centre, &look, 2.2);
            mark(&mut scene, Mark::Line, &format!("{}: mean", band.name), shapes);
        }
    }
    dots(&mut scene, &frame, plot);
    frame.foot(&mut scene, &plot.labels.x);
    frame.strips(&mut scene, &plot.labels.x, &plot.x, &plot.methods);
    let hidden = plot.data.iter().filter(|d| !frame.x.holds(d.0) || !frame.y.holds(d.1)).count();
    let beyond = match hidden {
        0 => String::new(),
        1 => "; one data row lies outside".into(),
        n => format!("; {n} data rows lie outside"),
    };
    let behind = if plot.density.is_some() { "; shade: predictive density" } else { "" };
    note(&mut scene, &format!("lines: mean and {inside}{behind}{beyond}"));
    scene
}

/// The data as dots, fainter where there are many.
fn dots(scene: &mut Scene, frame: &Frame, plot: &Predictive) {
    let shown = plot.data.iter().filter(|d| frame.x.holds(d.0) && frame.y.holds(d.1));
    let (cx, cy): (Vec<f64>, Vec<f64>) = shown.map(|d| frame.at(d.0, d.1)).unzip();
    let opacity = (30.0 / (plot.data.len() as f64).sqrt()).clamp(0.25, 0.75);
    let (r, fill, fill_opacity) = (1.7, INK, Some(opacity));
    let dots =
        Primitive::CircleBatch { cx, cy, r, fill, fill_opacity, stroke: None, stroke_width: None };
    mark(scene, Mark::Dot, &format!("{} rows of data", plot.data.len()), vec![dots]);
}

/// The cells of a density: those of one colour are one shape, and those above each other that
/// share it one rectangle. Edges lie on half units of the page, which are whole pixels of a
/// picture, so that no seam is seen.
fn cells(frame: &Frame, heat: &Heat) -> Vec<Primitive> {
    let (nx, ny) = (heat.x.len(), heat.y.len());
    if nx < 2 || ny < 2 || heat.density.len() != nx * ny {
        return Vec::new();
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
        return Vec::new();
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
    let mut shapes = vec![String::new(); LEVELS + 1];
    for (i, column) in heat.density.chunks(ny).enumerate() {
        let (left, wide) = (across[i], across[i + 1] - across[i]);
        let mut from = 0;
        while from < ny {
            let own = level(column[from]);
            let to = (from..ny).find(|j| level(column[*j]) != own).unwrap_or(ny);
            let (low, high) = (along[from], along[to]);
            if wide > 0.0 && low > high {
                shapes[own] += &format!("M{left} {high}h{wide}V{low}h-{wide}Z");
            }
            from = to;
        }
    }
    let filled = |(i, d): (usize, String)| {
        let part = i as f64 / LEVELS as f64;
        let [r, g, b] = DARK.map(|dark| (255.0 + part * (dark - 255.0)).round() as u8);
        let (fill, stroke) = (Some(Color::Rgb(r, g, b)), Color::None);
        let (stroke_width, opacity, stroke_dasharray) = (0.0, None, None);
        let path = PathData { d, fill, stroke, stroke_width, opacity, stroke_dasharray };
        Primitive::Path(Box::new(path))
    };
    // What has no density is paper.
    shapes.into_iter().enumerate().skip(1).filter(|s| !s.1.is_empty()).map(filled).collect()
}
