//! The experts of a model above, and how much each is trusted below.

use super::frame::{EDGE, Entry, Frame, Key, legend, legend_height, note};
use super::ink::{Look, cut, heading, page};
use super::scale::Scale;
use super::{Band, Labels, Scene};

/// Experts against one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Experts {
    /// The labels; the y axis is the target's.
    pub labels: Labels,
    /// The inputs, in order.
    pub x: Vec<f64>,
    /// Each expert's mean and one standard deviation about it.
    pub means: Vec<Band>,
    /// Each expert's weight with its interval.
    pub weights: Vec<Band>,
    /// What the weights' axis is called.
    pub weight_label: String,
    /// What is said at the foot, such as which draws are shown.
    pub note: String,
}

const WIDTH: f64 = 820.0;
const LEFT: f64 = 78.0;
const MEANS: f64 = 260.0;
const WEIGHTS: f64 = 170.0;

/// Draw means above weights.
pub fn experts(plot: &Experts) -> Scene {
    drawn(plot, &plot.labels.title, MEANS)
}

/// Draw the weights alone, under a title of their own.
pub fn weights(plot: &Experts, title: &str) -> Scene {
    drawn(plot, title, 0.0)
}

fn drawn(plot: &Experts, title: &str, means: f64) -> Scene {
    let own = |(i, b): (usize, &Band)| (Look::of(i), Key::Band, b.name.clone());
    let entries: Vec<Entry> = plot.weights.iter().enumerate().map(own).collect();
    let room = WIDTH - LEFT - EDGE;
    let top = 40.0 + legend_height(&entries, room) + 12.0;
    let gap = if means > 0.0 { 22.0 } else { 0.0 };
    let height = if means > 0.0 { WEIGHTS } else { 1.5 * WEIGHTS };
    let bottom = top + means + gap + height;
    let mut scene = page(WIDTH, bottom + 66.0);
    scene.add(heading((EDGE, 26.0), &cut(title, 15, WIDTH - 2.0 * EDGE)));
    legend(&mut scene, (LEFT, 40.0), room, &entries);
    let (first, last) = (plot.x.first(), plot.x.last());
    let x = Scale::exact(
        first.copied().unwrap_or(0.0),
        last.copied().unwrap_or(0.0),
        LEFT,
        WIDTH - EDGE,
    );
    if means > 0.0 {
        let all = plot.means.iter().flat_map(|b| b.low.iter().chain(&b.high)).copied();
        let frame = Frame { x, y: Scale::most(all, top + means, top) };
        frame.rows(&mut scene, &plot.labels.y);
        frame.base(&mut scene);
        frame.bands(&mut scene, &plot.x, &plot.means, "one standard deviation");
        frame.strips(&mut scene, &plot.labels.x, &plot.x, &plot.means);
    }
    // Weights of a linear pool are parts of one; others can be anything above 0.
    let ends = plot.weights.iter().flat_map(|b| b.high.iter().chain(&b.centre)).copied();
    let largest = ends.filter(|v| v.is_finite()).fold(1.0, f64::max);
    let y = Scale::exact(0.0, 1.02 * largest, bottom, bottom - height);
    let frame = Frame { x, y };
    frame.rows(&mut scene, &plot.weight_label);
    frame.bands(&mut scene, &plot.x, &plot.weights, "interval");
    frame.foot(&mut scene, &plot.labels.x);
    frame.strips(&mut scene, &plot.labels.x, &plot.x, &plot.weights);
    let bands = match means > 0.0 {
        true => "bands: one sd about means, 90 % of draws of weights",
        false => "bands: 90 % of draws",
    };
    let more = if plot.note.is_empty() { "" } else { "; " };
    note(&mut scene, &format!("{bands}{more}{}", plot.note));
    scene
}
