//! Posterior draws of the experts' means, each as wide as its weight there.

use kuva::render::render::Primitive;

use super::frame::{EDGE, Entry, Frame, Key, legend, legend_height, note};
use super::ink::{GREY, INK, Look, Mark, area, cut, heading, mark, page, point};
use super::scale::{Scale, short};
use super::{Labels, Scene};

/// One draw of one expert.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Drawn {
    /// Its mean at each input.
    pub mean: Vec<f64>,
    /// Its weight at each input.
    pub weight: Vec<f64>,
}

/// Some draws of all experts against one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draws {
    /// The labels.
    pub labels: Labels,
    /// The inputs, in order.
    pub x: Vec<f64>,
    /// Each expert's name and draws.
    pub experts: Vec<(String, Vec<Drawn>)>,
    /// Data to show behind the draws.
    pub data: Vec<(f64, f64)>,
    /// A line of text at the foot, such as which draws are shown.
    pub note: String,
}

const WIDTH: f64 = 820.0;
const LEFT: f64 = 78.0;
const PLOT: f64 = 320.0;
/// The width of a line whose weight is the largest, and of one without weight.
const WIDE: f64 = 4.5;
const THIN: f64 = 0.25;

/// Draw them.
pub fn draws(plot: &Draws) -> Scene {
    let own = |(i, e): (usize, &(String, Vec<Drawn>))| {
        (Look { dashes: &[], ..Look::of(i) }, Key::Marked, e.0.clone())
    };
    let entries: Vec<Entry> = plot.experts.iter().enumerate().map(own).collect();
    let room = WIDTH - LEFT - EDGE;
    let top = 40.0 + legend_height(&entries, room) + 12.0;
    let mut scene = page(WIDTH, top + PLOT + 66.0);
    scene.add(heading((EDGE, 26.0), &cut(&plot.labels.title, 15, WIDTH - 2.0 * EDGE)));
    legend(&mut scene, (LEFT, 40.0), room, &entries);
    let all = || plot.experts.iter().flat_map(|e| &e.1);
    let values = || all().flat_map(|d| d.mean.iter().zip(&d.weight));
    let most = values().map(|v| *v.1).filter(|w| w.is_finite()).fold(1e-300, f64::max);
    // An expert that has no weight somewhere says nothing there, and may be anywhere.
    let trusted = values().filter(|v| *v.1 > 0.05 * most).map(|v| *v.0);
    let (first, last) = (plot.x.first(), plot.x.last());
    let (low, high) = (first.copied().unwrap_or(0.0), last.copied().unwrap_or(0.0));
    let frame = Frame {
        x: Scale::exact(low, high, LEFT, WIDTH - EDGE),
        y: Scale::most(trusted.chain(plot.data.iter().map(|d| d.1)), top + PLOT, top),
    };
    frame.rows(&mut scene, &plot.labels.y);
    let shown = |d: &&(f64, f64)| frame.x.holds(d.0) && frame.y.holds(d.1);
    let (cx, cy) = plot
        .data
        .iter()
        .filter(shown)
        .map(|d| frame.at(d.0, d.1))
        .unzip::<f64, f64, Vec<_>, Vec<_>>();
    let (r, fill, fill_opacity, stroke, stroke_width) = (1.4, GREY, Some(0.5), None, None);
    let dots = Primitive::CircleBatch { cx, cy, r, fill, fill_opacity, stroke, stroke_width };
    mark(&mut scene, Mark::Dot, &format!("{} rows of data", plot.data.len()), vec![dots]);
    for (i, (name, draws)) in plot.experts.iter().enumerate() {
        for (j, draw) in draws.iter().enumerate() {
            let weight = |p: f64| {
                let at = (p * (draw.weight.len().max(1) - 1) as f64) as usize;
                draw.weight.get(at).copied().map_or_else(String::new, short)
            };
            let [start, middle, end] = [0.0, 0.5, 1.0].map(weight);
            let title = format!(
                "{name}, draw {}: weight {start} at the left, {middle} in the middle, {end} at \
                 the right",
                j + 1
            );
            let shapes = ribbon(&frame, &plot.x, draw, most);
            let shapes = shapes.iter().map(|s| area(s, Look::of(i).colour(), 0.55)).collect();
            mark(&mut scene, Mark::Line, &title, shapes);
        }
    }
    for (i, (_, draws)) in plot.experts.iter().enumerate() {
        points(&mut scene, &frame, &plot.x, draws, &Look::of(i));
    }
    frame.foot(&mut scene, &plot.labels.x);
    note(&mut scene, &plot.note);
    scene
}

/// Some points on an expert's first draw, each in another stretch where its weight is largest, so
/// that experts can be told apart in grey.
fn points(scene: &mut Scene, frame: &Frame, x: &[f64], draws: &[Drawn], look: &Look) {
    const STRETCHES: usize = 5;
    let Some(first) = draws.first() else { return };
    let count = x.len().min(first.mean.len()).min(first.weight.len());
    for s in 0..STRETCHES {
        let own = s * count / STRETCHES..(s + 1) * count / STRETCHES;
        let shown = own.filter(|i| frame.y.holds(first.mean[*i]));
        let best = shown.max_by(|a, b| first.weight[*a].total_cmp(&first.weight[*b]));
        if let Some(i) = best {
            scene.add(point(frame.at(x[i], first.mean[i]), look.shape, 4.0, INK));
        }
    }
}

/// The outlines of a line whose width follows the weights, in pieces where it leaves the plot.
fn ribbon(frame: &Frame, x: &[f64], draw: &Drawn, most: f64) -> Vec<Vec<(f64, f64)>> {
    let (mut out, mut upper, mut lower) = (Vec::new(), Vec::new(), Vec::new());
    let at = |i: usize| frame.at(x[i], draw.mean[i]);
    let count = x.len().min(draw.mean.len()).min(draw.weight.len());
    for i in 0..count {
        if !frame.y.holds(draw.mean[i]) {
            close(&mut out, &mut upper, &mut lower);
            continue;
        }
        // Across the line, so that steep parts are as wide as flat ones.
        let (a, b) = (at(i.saturating_sub(1)), at((i + 1).min(count - 1)));
        let length = (b.0 - a.0).hypot(b.1 - a.1).max(1e-9);
        let half = 0.5 * (THIN + (WIDE - THIN) * (draw.weight[i] / most).clamp(0.0, 1.0));
        let (dx, dy) = (-half * (b.1 - a.1) / length, half * (b.0 - a.0) / length);
        let (px, py) = at(i);
        upper.push((px + dx, py + dy));
        lower.push((px - dx, py - dy));
    }
    close(&mut out, &mut upper, &mut lower);
    out
}

/// Join both sides of a piece.
fn close(out: &mut Vec<Vec<(f64, f64)>>, upper: &mut Vec<(f64, f64)>, lower: &mut Vec<(f64, f64)>) {
    let mut piece = std::mem::take(upper);
    piece.extend(std::mem::take(lower).into_iter().rev());
    if piece.len() > 2 {
        out.push(piece);
    }
}
