//! Numbers on a grid as shades.

use super::Scene;
use super::colour::{Colour, HEAT};
use super::frame::Frame;
use super::scene::Point;

/// Numbers on a grid of cells, such as a density.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heat {
    /// The cells' centres along the lower axis, evenly spaced.
    pub x: Vec<f64>,
    /// Those along the other.
    pub y: Vec<f64>,
    /// The numbers: all of the first column, then of the second, and so on.
    pub values: Vec<f64>,
}

/// Steps of the shade.
pub(super) const LEVELS: usize = 14;

/// The shade of step `i`.
pub(super) fn shade(i: usize) -> Colour {
    HEAT.tint(i as f64 / LEVELS as f64)
}

/// The cells, each as strong as its part of the strongest shade: those of one colour are one shape, and
/// those above each other that share it one rectangle. Edges lie on half units of the page, which are
/// whole pixels of a picture, so that no seam is seen.
pub(super) fn cells(scene: &mut Scene, frame: &Frame, heat: &Heat, part: impl Fn(f64) -> f64) {
    let (nx, ny) = (heat.x.len(), heat.y.len());
    if nx < 2 || ny < 2 || heat.values.len() != nx * ny {
        return;
    }
    let level = |v: f64| {
        let part = part(v).clamp(0.0, 1.0);
        if v.is_finite() && part.is_finite() { (part * LEVELS as f64).round() as usize } else { 0 }
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
    for (i, column) in heat.values.chunks(ny).enumerate() {
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
    // What has no part is paper.
    for (i, outlines) in shapes.into_iter().enumerate().skip(1) {
        scene.areas(outlines, shade(i), 1.0);
    }
}
