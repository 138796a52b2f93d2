//! The weights of the experts along two inputs: a panel of shades for each expert.

use super::axis::{Axis, brief, short};
use super::colour::INK;
use super::font::cut;
use super::frame::Frame;
use super::heat::{LEVELS, cells, shade};
use super::scene::{Anchor, EDGE, Mark, SMALL_TEXT, TEXT, WIDTH};
use super::{Heat, Labels, Scene};

/// What the shades show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairs {
    /// The labels of all panels.
    pub labels: Labels,
    /// What the shades show.
    pub shade: String,
    /// Each expert's name and weights.
    pub panels: Vec<(String, Heat)>,
    /// Both inputs of the data.
    pub data: Vec<(f64, f64)>,
    /// A line of text at the foot.
    pub note: String,
}

const PLOT: f64 = 190.0;
const TOP: f64 = 78.0;
const BELOW: f64 = 84.0;
/// Panels side by side.
const ACROSS: usize = 3;
/// The room for numbers at the left of each panel.
const NUMBERS: f64 = 74.0;
/// The width of a step of the scale.
const STEP: f64 = 12.0;

/// Draw them, all on one scale of shades.
pub fn pairs(plot: &Pairs) -> Scene {
    let mut scene = Scene::titled(&plot.labels.title, WIDTH);
    let values = || plot.panels.iter().flat_map(|p| &p.1.values).copied().filter(|v| v.is_finite());
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
    scale(&mut scene, (low, high), &plot.shade);
    let across = plot.panels.len().clamp(1, ACROSS);
    let wide = (WIDTH - EDGE) / across as f64;
    for (i, (name, heat)) in plot.panels.iter().enumerate() {
        let (left, top) = (wide * (i % across) as f64, TOP + (i / across) as f64 * (PLOT + BELOW));
        let frame = Frame {
            x: Axis::along(&heat.x, left + NUMBERS, left + wide - 8.0),
            y: Axis::along(&heat.y, top + PLOT, top),
        };
        let ends = || heat.values.iter().copied().filter(|v| v.is_finite());
        let (least, most) = (ends().fold(f64::MAX, f64::min), ends().fold(f64::MIN, f64::max));
        let title = match least <= most {
            true => format!("{name}: weights from {} to {}", short(least), short(most)),
            false => format!("{name}: no weights"),
        };
        let part = |v: f64| (v - low) / (high - low);
        scene.mark(Mark::Heat, &title, |scene| cells(scene, &frame, heat, part));
        let name = cut(name, TEXT, false, frame.x.length());
        scene.text((frame.x.from, top - 7.0), &name, TEXT, Anchor::Start, INK);
        frame.rows(&mut scene, if i % across == 0 { &plot.labels.y } else { "" });
        let opacity = (15.0 / (plot.data.len() as f64).sqrt()).clamp(0.15, 0.5);
        frame.dots(&mut scene, &plot.data, 1.2, INK, opacity);
        frame.foot(&mut scene, &plot.labels.x);
    }
    let down = plot.panels.len().div_ceil(across).max(1);
    scene.closed(TOP + down as f64 * (PLOT + BELOW), &plot.note)
}

/// The steps of the shade from the least number to the largest.
fn scale(scene: &mut Scene, (low, high): (f64, f64), name: &str) {
    let (left, y) = (NUMBERS, 36.0);
    let right = left + STEP * (LEVELS + 1) as f64;
    for i in 0..=LEVELS {
        let from = left + STEP * i as f64;
        scene.rect((from, y), (from + STEP, y + 12.0), shade(i), 1.0);
    }
    let corners = [(left, y), (right, y), (right, y + 12.0), (left, y + 12.0), (left, y)];
    scene.line(&corners, INK, 0.6);
    scene.text((left - 6.0, y + 10.0), &brief(low), SMALL_TEXT, Anchor::End, INK);
    let most = format!("{}   {name}", brief(high));
    let most = cut(&most, SMALL_TEXT, false, WIDTH - EDGE - right - 6.0);
    scene.text((right + 6.0, y + 10.0), &most, SMALL_TEXT, Anchor::Start, INK);
}
