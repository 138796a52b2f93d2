//! Predictions or weights along each of several inputs: a panel for each.

use super::axis::Axis;
use super::colour::GREY;
use super::frame::{Frame, Key, entries, legend};
use super::scene::{EDGE, Mark, WIDTH};
use super::series::ends;
use super::{Band, Scene};

/// Predictions or weights along one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effect {
    /// The input's name.
    pub input: String,
    /// Its values, in order.
    pub x: Vec<f64>,
    /// The prediction there, or the weight of each expert.
    pub bands: Vec<Band>,
    /// Values of this input in the data, as short marks at the foot.
    pub rug: Vec<f64>,
}

/// A panel for each input, on one y axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// Above the figure.
    pub title: String,
    /// What the y axis shows: the target.
    pub y: String,
    /// A line of text at the foot, such as where the other inputs stand.
    pub note: String,
    /// Whether these are shares, from 0 to 1.
    pub shares: bool,
    /// The panels.
    pub panels: Vec<Effect>,
}

const PLOT: f64 = 180.0;
const TOP: f64 = 48.0;
const BELOW: f64 = 56.0;
/// Panels side by side.
const ACROSS: usize = 3;
/// The room for numbers at the left of each panel.
const NUMBERS: f64 = 74.0;
/// The most marks of a rug.
const MOST_MARKS: usize = 150;

/// Draw slices, partial effects or weights: all panels share one y axis, so that effects compare.
pub fn effects(plot: &Effects) -> Scene {
    let mut scene = Scene::titled(&plot.title, WIDTH);
    let across = plot.panels.len().clamp(1, ACROSS);
    let wide = (WIDTH - EDGE) / across as f64;
    let names = plot.panels.first().map_or([].as_slice(), |panel| &panel.bands);
    let first = match names.len() {
        0 | 1 => TOP,
        _ => {
            let entries = entries(Key::Band, names.iter().map(|band| &band.name));
            legend(&mut scene, NUMBERS, WIDTH - EDGE, &entries) + 12.0
        }
    };
    let centres =
        || plot.panels.iter().flat_map(|p| &p.bands).flat_map(|b| b.centre.iter().copied());
    let all = ends(plot.panels.iter().flat_map(|p| &p.bands)).collect::<Vec<f64>>();
    for (i, panel) in plot.panels.iter().enumerate() {
        let (left, top) =
            (wide * (i % across) as f64, first + (i / across) as f64 * (PLOT + BELOW));
        let foot = top + PLOT;
        let frame = Frame {
            x: Axis::along(&panel.x, left + NUMBERS, left + wide - 8.0),
            y: match plot.shares {
                true => Axis::exact(0.0, 1.0, foot, top),
                // Wide intervals may be cut, and no curve.
                false => Axis::readable(all.iter().copied(), foot, top).holding(centres()),
            },
        };
        frame.rows(&mut scene, if i % across == 0 { &plot.y } else { "" });
        frame.bands(&mut scene, &panel.x, &panel.bands, "interval");
        let rug = panel.rug.iter().step_by(panel.rug.len().div_ceil(MOST_MARKS).max(1));
        scene.mark(Mark::Dot, &format!("{} in the data", panel.input), |scene| {
            for x in rug.filter(|v| frame.x.holds(**v)).map(|v| frame.x.at(*v)) {
                scene.line(&[(x, foot), (x, foot - 6.0)], GREY, 0.6);
            }
        });
        frame.foot(&mut scene, &panel.input);
        frame.strips(&mut scene, &panel.input, &panel.x, &panel.bands);
    }
    let down = plot.panels.len().div_ceil(across).max(1);
    scene.closed(first + down as f64 * (PLOT + BELOW) + 20.0, &plot.note)
}
