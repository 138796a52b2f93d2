//! Posterior draws of the experts' means, each as wide as its weight there.

use super::axis::{Axis, short};
use super::colour::{GREY, INK, Look};
use super::frame::{Frame, Key, entries, legend};
use super::scene::{EDGE, Mark, Point, WIDTH};
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

const LEFT: f64 = 78.0;
const PLOT: f64 = 320.0;
/// The width of a line whose weight is the largest.
const WIDEST_LINE: f64 = 4.5;
/// The width of a line without weight.
const THINNEST_LINE: f64 = 0.25;

/// Draw them.
pub fn draws(plot: &Draws) -> Scene {
    let mut scene = Scene::titled(&plot.labels.title, WIDTH);
    let mut entries = entries(Key::Marked, plot.experts.iter().map(|expert| &expert.0));
    // The width of these lines has a meaning, which dashes would hide.
    entries.iter_mut().for_each(|entry| entry.0.dashes = &[]);
    let top = legend(&mut scene, LEFT, WIDTH - EDGE, &entries) + 12.0;
    let all = || plot.experts.iter().flat_map(|e| &e.1);
    let values = || all().flat_map(|d| d.mean.iter().zip(&d.weight));
    let most = values().map(|v| *v.1).filter(|w| w.is_finite()).fold(1e-300, f64::max);
    // An expert that has no weight somewhere says nothing there, and may be anywhere.
    let trusted = values().filter(|v| *v.1 > 0.05 * most).map(|v| *v.0);
    let frame = Frame {
        x: Axis::along(&plot.x, LEFT, WIDTH - EDGE),
        y: Axis::most(trusted.chain(plot.data.iter().map(|d| d.1)), top + PLOT, top),
    };
    frame.rows(&mut scene, &plot.labels.y);
    frame.dots(&mut scene, &plot.data, 1.4, GREY, 0.5);
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
            scene.mark(Mark::Line, &title, |scene| {
                scene.areas(shapes, Look::of(i).colour, 0.55);
            });
        }
    }
    for (i, (_, draws)) in plot.experts.iter().enumerate() {
        points(&mut scene, &frame, &plot.x, draws, &Look::of(i));
    }
    frame.foot(&mut scene, &plot.labels.x);
    scene.closed(top + PLOT + 66.0, &plot.note)
}

/// Some points on an expert's first draw, each in another stretch where its weight is largest, so
/// that experts can be told apart in grey.
fn points(scene: &mut Scene, frame: &Frame, x: &[f64], draws: &[Drawn], look: &Look) {
    const STRETCHES: usize = 5;
    let Some(first) = draws.first() else { return };
    let count = x.len().min(first.mean.len()).min(first.weight.len());
    for s in 0..STRETCHES {
        let stretch = s * count / STRETCHES..(s + 1) * count / STRETCHES;
        let shown = stretch.filter(|i| frame.y.holds(first.mean[*i]));
        let best = shown.max_by(|a, b| first.weight[*a].total_cmp(&first.weight[*b]));
        if let Some(i) = best {
            scene.point(frame.at(x[i], first.mean[i]), look.shape, 4.0, INK);
        }
    }
}

/// The outlines of a line whose width follows the weights, in pieces where it leaves the plot.
fn ribbon(frame: &Frame, x: &[f64], draw: &Drawn, most: f64) -> Vec<Vec<Point>> {
    let count = x.len().min(draw.mean.len()).min(draw.weight.len());
    let at = |i: usize| frame.at(x[i], draw.mean[i]);
    let shift = |i: usize, side: f64| {
        // Across the line, so that steep parts are as wide as flat ones.
        let (a, b) = (at(i.saturating_sub(1)), at((i + 1).min(count - 1)));
        let length = (b.0 - a.0).hypot(b.1 - a.1).max(1e-9);
        let half = 0.5
            * (THINNEST_LINE
                + (WIDEST_LINE - THINNEST_LINE) * (draw.weight[i] / most).clamp(0.0, 1.0));
        let (x, y) = at(i);
        (x - side * half * (b.1 - a.1) / length, y + side * half * (b.0 - a.0) / length)
    };
    let shown: Vec<usize> = (0..count).filter(|i| frame.y.holds(draw.mean[*i])).collect();
    let outline = |piece: &[usize]| {
        let there = piece.iter().map(|i| shift(*i, 1.0));
        there.chain(piece.iter().rev().map(|i| shift(*i, -1.0))).collect()
    };
    shown.chunk_by(|a, b| a + 1 == *b).map(outline).collect()
}
