//! The experts of a model above, and how much each is trusted below.

use super::axis::Axis;
use super::frame::{Frame, Key, entries, legend};
use super::scene::{EDGE, WIDTH};
use super::series::ends;
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
    /// A line of text at the foot, such as which draws are shown.
    pub note: String,
}

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
    let mut scene = Scene::titled(title, WIDTH);
    let entries = entries(Key::Band, plot.weights.iter().map(|band| &band.name));
    let top = legend(&mut scene, LEFT, WIDTH - EDGE, &entries) + 12.0;
    let x = Axis::along(&plot.x, LEFT, WIDTH - EDGE);
    let (gap, height) = if means > 0.0 { (22.0, WEIGHTS) } else { (0.0, 1.5 * WEIGHTS) };
    if means > 0.0 {
        let frame = Frame { x, y: Axis::most(ends(plot.means.iter()), top + means, top) };
        frame.rows(&mut scene, &plot.labels.y);
        frame.base(&mut scene);
        frame.bands(&mut scene, &plot.x, &plot.means, "one standard deviation");
        frame.strips(&mut scene, &plot.labels.x, &plot.x, &plot.means);
    }
    // Weights of a linear pool are parts of one; others can be anything above 0.
    let values = plot.weights.iter().flat_map(|b| b.high.iter().chain(&b.centre)).copied();
    let largest = values.filter(|v| v.is_finite()).fold(1.0, f64::max);
    let bottom = top + means + gap + height;
    let frame = Frame { x, y: Axis::exact(0.0, 1.02 * largest, bottom, bottom - height) };
    frame.rows(&mut scene, &plot.weight_label);
    frame.bands(&mut scene, &plot.x, &plot.weights, "interval");
    frame.foot(&mut scene, &plot.labels.x);
    frame.strips(&mut scene, &plot.labels.x, &plot.x, &plot.weights);
    let bands = match means > 0.0 {
        true => "bands: one sd about means, 90 % of draws of weights",
        false => "bands: 90 % of draws",
    };
    let more = if plot.note.is_empty() { "" } else { "; " };
    scene.closed(bottom + 66.0, &format!("{bands}{more}{}", plot.note))
}
