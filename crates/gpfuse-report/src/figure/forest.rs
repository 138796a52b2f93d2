//! A forest plot: a row for each contestant, with dots and error bars in two panels.
//!
//! Kinds differ in shape and fill as well as in colour, so that they can be told apart in grey.

use super::Scene;
use super::axis::{Axis, short};
use super::colour::{BLUE, Colour, FAINT, GREY, INK, RED, Shape, WHITE};
use super::font::{cut, width};
use super::frame::Frame;
use super::scene::{Anchor, EDGE, Mark, Point, SMALL_TEXT, TEXT};

/// A dot with an error bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Where the dot stands.
    pub centre: f64,
    /// Half the length of the bar.
    pub half: f64,
}

/// What a row is about, which decides its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A method of this project.
    Method,
    /// A classical rule.
    Rule,
    /// One GP alone.
    Single,
    /// A variant that is marked as ours.
    Ours,
}

/// One row.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// What it is about.
    pub kind: Kind,
    /// One for each panel; none where there is nothing to show.
    pub bars: Option<[Bar; 2]>,
}

// Lengths on the page.
const ROW: f64 = 22.0;
/// The least and the most room for labels.
const LABELS: (f64, f64) = (140.0, 290.0);
const PANEL: f64 = 340.0;
const GAP: f64 = 30.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 76.0;

/// Dots farther from the least than this many times the median one are not worth the room.
const FARTHEST_DOT: f64 = 4.0;

impl Kind {
    const ALL: [(Kind, &str); 4] = [
        (Kind::Method, "method of gpfuse"),
        (Kind::Rule, "fusion rule"),
        (Kind::Ours, "ours"),
        (Kind::Single, "single GP"),
    ];

    fn colour(self) -> Colour {
        match self {
            Kind::Method => BLUE,
            Kind::Rule | Kind::Ours => RED,
            Kind::Single => INK,
        }
    }

    fn draw(self, scene: &mut Scene, at: Point) {
        match self {
            Kind::Single => scene.point(at, Shape::Square, 4.0, INK),
            Kind::Method => scene.ring(at, 4.2, self.colour(), self.colour()),
            Kind::Rule | Kind::Ours => scene.ring(at, 4.2, WHITE, self.colour()),
        }
    }
}

/// Draw rows, the first at the top, under a title and the titles of the panels, with a line of
/// text at the foot.
pub fn forest(title: &str, panels: [&str; 2], unit: &str, foot: &str, rows: &[Row]) -> Scene {
    let widest = rows.iter().map(|row| width(&row.label, TEXT, false)).fold(0.0, f64::max);
    let labels = (widest + 10.0).clamp(LABELS.0, LABELS.1);
    let left = [EDGE + labels, EDGE + labels + PANEL + GAP];
    let mut scene = Scene::titled(title, left[1] + PANEL + EDGE);
    let middle = |row: usize| TOP + ROW * (row as f64 + 0.5);
    for (i, row) in rows.iter().enumerate() {
        let y = middle(i);
        let label = cut(&row.label, TEXT, false, labels - 10.0);
        scene.text((left[0] - 10.0, y + 4.0), &label, TEXT, Anchor::End, INK);
        match row.bars {
            Some(_) => scene.line(&[(left[0], y), (left[1] + PANEL, y)], FAINT, 1.0),
            None => scene.text((left[0] + 8.0, y + 4.0), "failed", TEXT, Anchor::Start, GREY),
        }
    }
    let bottom = TOP + ROW * rows.len() as f64;
    let scored: Vec<[Bar; 2]> = rows.iter().filter_map(|row| row.bars).collect();
    // The same for both panels, so that a dot is shown in both or in neither.
    let reach = reach(&scored.iter().map(|bars| bars[0]).collect::<Vec<Bar>>());
    for (p, title) in panels.into_iter().enumerate() {
        let bars: Vec<Bar> = scored.iter().map(|bars| bars[p]).collect();
        let panel = Panel::new(&bars, reach, left[p]);
        let shown = cut(title, TEXT, false, PANEL);
        scene.text((panel.axis.middle(), TOP - 14.0), &shown, TEXT, Anchor::Middle, INK);
        Frame { x: panel.axis, y: Axis::exact(0.0, 1.0, bottom, TOP) }.foot(&mut scene, unit);
        // What all others are measured against.
        if let Some(best) = bars.first() {
            let x = panel.axis.at(best.centre);
            scene.dashed((x, TOP), (x, TOP + ROW * bars.len() as f64));
        }
        for (i, row) in rows.iter().enumerate() {
            if let Some(bars) = row.bars {
                let value = format!("{}: {title} {}", row.label, told(bars[p]));
                let draw = |scene: &mut Scene| panel.draw(scene, row.kind, bars[p], middle(i));
                scene.mark(Mark::Dot, &value, draw);
            }
        }
    }
    legend(&mut scene, bottom + BOTTOM - 14.0, foot, rows);
    scene.closed(bottom + BOTTOM, "")
}

/// How far above the least dot a dot may stand to be shown: most do, while a few that are far
/// worse do not and cannot squash the others.
fn reach(bars: &[Bar]) -> f64 {
    let mut sorted = bars.to_vec();
    sorted.sort_by(|a, b| a.centre.total_cmp(&b.centre));
    let Some(best) = sorted.first() else { return 0.0 };
    FARTHEST_DOT * (sorted[sorted.len() / 2].centre - best.centre).max(best.half)
}

struct Panel {
    axis: Axis,
    /// The largest value whose dot is shown.
    limit: f64,
}

impl Panel {
    /// For dots up to `reach` above the least one.
    fn new(bars: &[Bar], reach: f64, left: f64) -> Panel {
        let best = bars.iter().map(|b| b.centre).reduce(f64::min).unwrap_or(0.0);
        let limit = best + reach;
        let shown = || bars.iter().filter(|b| b.centre <= limit);
        // A bar that is itself much longer than the reach is cut, not shown in full.
        let low = shown().map(|b| b.centre - b.half).fold(best, f64::min).max(best - 0.5 * reach);
        let high = shown().map(|b| b.centre + b.half).fold(best, f64::max).min(best + 1.2 * reach);
        Panel { axis: Axis::padded(low, high, left, left + PANEL), limit }
    }

    /// A dot and its error bar, or where it lies too far away an arrow and its value.
    fn draw(&self, scene: &mut Scene, kind: Kind, bar: Bar, y: f64) {
        let (axis, colour) = (&self.axis, kind.colour());
        if bar.centre > self.limit {
            let (x, value) = (axis.to, short(bar.centre));
            arrow(scene, (x, y), 4.5, 7.0, colour);
            // No line strikes it through.
            let start = x - 14.0 - width(&value, SMALL_TEXT, false);
            scene.rect((start, y - 7.0), (x - 10.0, y + 7.0), WHITE, 1.0);
            return scene.text((x - 12.0, y + 4.0), &value, SMALL_TEXT, Anchor::End, colour);
        }
        let ends = [bar.centre - bar.half, bar.centre + bar.half];
        scene.line(&ends.map(|end| (axis.at(end), y)), colour, 1.8);
        // An end that is cut off points to where it would be.
        for (end, back) in ends.into_iter().zip([-5.0, 5.0]).filter(|_| bar.half > 0.0) {
            let x = axis.at(end);
            match axis.holds(end) {
                true => scene.line(&[(x, y - 3.0), (x, y + 3.0)], colour, 1.4),
                false => arrow(scene, (x, y), 3.0, back, colour),
            }
        }
        kind.draw(scene, (axis.at(bar.centre), y));
    }
}

/// An open arrowhead at a point, from `back` before it.
fn arrow(scene: &mut Scene, (x, y): Point, half: f64, back: f64, colour: Colour) {
    scene.line(&[(x - back, y - half), (x, y), (x - back, y + half)], colour, 1.8);
}

/// The value of a dot and the ends of its bar, if it has one.
fn told(bar: Bar) -> String {
    let [low, centre, high] = [bar.centre - bar.half, bar.centre, bar.centre + bar.half].map(short);
    if bar.half > 0.0 { format!("{centre} ({low} to {high})") } else { centre }
}

/// The kinds that there are, and a line of text.
fn legend(scene: &mut Scene, y: f64, foot: &str, rows: &[Row]) {
    let mut x = EDGE + 6.0;
    for (kind, name) in Kind::ALL.into_iter().filter(|k| rows.iter().any(|row| row.kind == k.0)) {
        kind.draw(scene, (x, y - 4.0));
        scene.text((x + 10.0, y), name, SMALL_TEXT, Anchor::Start, INK);
        x += 36.0 + width(name, SMALL_TEXT, false);
    }
    let room = scene.width - EDGE - x;
    let foot = cut(foot, SMALL_TEXT, false, room);
    scene.text((scene.width - EDGE, y), &foot, SMALL_TEXT, Anchor::End, GREY);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contestant that is far worse does not squash the others.
    #[test]
    fn outliers_lie_beyond_the_axis() {
        let most = [1.0, 1.1, 1.2, 1.3, 1.5];
        let panel = |centres: &[f64]| {
            let bars: Vec<Bar> = centres.iter().map(|c| Bar { centre: *c, half: 0.1 }).collect();
            Panel::new(&bars, reach(&bars), 0.0)
        };
        let (alone, worse) = (panel(&most), panel(&[&most[..], &[100.0, 1e6]].concat()));
        assert!(100.0 > worse.limit && 1.5 <= worse.limit);
        assert_eq!(worse.axis.at(1e6), PANEL);
        for Panel { axis, .. } in [alone, worse] {
            assert!(axis.holds(0.9) && axis.holds(1.6), "{axis:?}");
            assert!(axis.at(1.5) - axis.at(1.0) > 0.4 * PANEL, "{axis:?}");
        }
    }
}
