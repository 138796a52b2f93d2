//! Are ranks uniform? The distribution function of each quantity's ranks less that of uniform ones.

use gpfuse::calibrate::{LEVEL, Verdict};

use super::Scene;
use super::axis::{Axis, short};
use super::colour::{GREY, INK, Look};
use super::font::cut;
use super::frame::Frame;
use super::scene::{Anchor, EDGE, Mark, TEXT, WIDTH};

/// The ranks of one quantity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankPanel {
    /// The quantity.
    pub name: String,
    /// The share of ranks at or below each point.
    pub shares: Vec<f64>,
    /// Whether they are taken for uniform.
    pub inside: bool,
}

/// The ranks of all quantities of a calibration study.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranks {
    /// Above the figure.
    pub title: String,
    /// Places from 0 to 1: the share of uniform ranks at or below each of the points.
    pub points: Vec<f64>,
    /// Bands that uniform ranks stay in, lower and upper ends, the widest first.
    pub bands: Vec<(Vec<f64>, Vec<f64>)>,
    /// A panel for each quantity.
    pub panels: Vec<RankPanel>,
    /// A line of text at the foot, such as what the bands are.
    pub note: String,
}

impl Ranks {
    /// The ranks of a study as it was judged.
    pub fn of(title: String, verdict: &Verdict) -> Ranks {
        let panels = verdict.quantities.iter().map(|q| RankPanel {
            name: q.name.clone(),
            shares: q.shares.clone(),
            inside: q.calibrated,
        });
        let bands = [&verdict.band, &verdict.inner].map(|b| (b.low.clone(), b.high.clone()));
        Ranks {
            title,
            points: verdict.band.points.clone(),
            bands: bands.to_vec(),
            panels: panels.collect(),
            note: format!(
                "shade: where uniform ranks stay, dark in 95 % of panels, light in {} % of studies; \
                 \u{2717}: not uniform",
                100.0 * (1.0 - LEVEL)
            ),
        }
    }
}

const PLOT: f64 = 110.0;
const TOP: f64 = 48.0;
const ABOVE: f64 = 20.0;
const BELOW: f64 = 28.0;
/// Panels side by side.
const ACROSS: usize = 4;
/// The room for numbers at the left of the panels.
const NUMBERS: f64 = 62.0;
/// The room between two panels.
const GAP: f64 = 14.0;

/// `values` less the points, with both ends, where the difference is 0.
fn less(values: &[f64], points: &[f64]) -> Vec<f64> {
    let inner = values.iter().zip(points).map(|(v, p)| v - p);
    [0.0].into_iter().chain(inner).chain([0.0]).collect()
}

/// Draw them: all panels share their axes, so that quantities compare.
pub fn ranks(plot: &Ranks) -> Scene {
    let mut scene = Scene::titled(&plot.title, WIDTH);
    let ends = plot.bands.iter().flat_map(|(low, high)| [low, high]);
    let curves = ends.chain(plot.panels.iter().map(|panel| &panel.shares));
    let values = curves.flat_map(|curve| less(curve, &plot.points)).filter(|v| v.is_finite());
    let most = 1.05 * values.fold(0.0, |a: f64, v| a.max(v.abs()));
    let x: Vec<f64> = [0.0].into_iter().chain(plot.points.iter().copied()).chain([1.0]).collect();
    let wide = (WIDTH - NUMBERS - EDGE - GAP * (ACROSS - 1) as f64) / ACROSS as f64;
    for (i, panel) in plot.panels.iter().enumerate() {
        let (column, row) = (i % ACROSS, i / ACROSS);
        let left = NUMBERS + column as f64 * (wide + GAP);
        let top = TOP + ABOVE + row as f64 * (ABOVE + PLOT + BELOW);
        let frame = Frame {
            x: Axis::exact(0.0, 1.0, left, left + wide),
            y: Axis::exact(-most, most, top + PLOT, top),
        };
        if column == 0 {
            frame.rows(&mut scene, "ECDF less uniform");
        }
        draw(&mut scene, &frame, plot, panel, &x);
        if i + ACROSS >= plot.panels.len() {
            frame.name(&mut scene, "rank among the draws");
        }
    }
    let down = plot.panels.len().div_ceil(ACROSS).max(1);
    scene.closed(TOP + down as f64 * (ABOVE + PLOT + BELOW) + 44.0, &plot.note)
}

fn draw(scene: &mut Scene, frame: &Frame, plot: &Ranks, panel: &RankPanel, x: &[f64]) {
    let (cross, colour) = if panel.inside { ("", GREY) } else { ("\u{2717} ", INK) };
    let name = cut(&format!("{cross}{}", panel.name), TEXT, false, frame.x.length());
    scene.text((frame.x.from, frame.y.to - 6.0), &name, TEXT, Anchor::Start, colour);
    for (low, high) in &plot.bands {
        let (low, high) = (less(low, &plot.points), less(high, &plot.points));
        let reach = low.iter().chain(&high).map(|v| v.abs()).fold(0.0, f64::max);
        let title = format!("uniform ranks: within {} of 0", short(reach));
        let outline = frame.between(x, &low, &high);
        scene.mark(Mark::Band, &title, |scene| scene.area(outline, GREY, 0.16));
    }
    scene.dashed(frame.at(0.0, 0.0), frame.at(1.0, 0.0));
    let found = less(&panel.shares, &plot.points);
    let (low, high) = found.iter().fold((0.0_f64, 0.0_f64), |a, v| (a.0.min(*v), a.1.max(*v)));
    let title = format!("{}: {} to {}", panel.name, short(low), short(high));
    let look = Look { dashes: &[], ..Look::of(usize::from(!panel.inside)) };
    scene.mark(Mark::Line, &title, |scene| frame.curve(scene, x, &found, &look, 1.8));
    frame.base(scene);
    for (value, number) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        frame.tick(scene, frame.x.at(value), number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_begins_and_ends_at_zero() {
        assert_eq!(less(&[0.5, 0.5], &[0.25, 0.75]), [0.0, 0.25, -0.25, 0.0]);
    }
}
