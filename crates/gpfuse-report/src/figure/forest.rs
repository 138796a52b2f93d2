//! A forest plot: a row for each contestant, with dots and error bars in two panels.
//!
//! Kinds differ in shape and fill as well as in colour, so that they can be told apart in grey.

use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::axis::{Axis, Bar, reach};
use super::frame::EDGE;
use super::ink::{
    FAINT, GREY, INK, Mark, TEXT, WHITE, curve, cut, dashed, heading, line, mark, page, rect, text,
    width,
};
use super::scale::short as digits;

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

impl Kind {
    const ALL: [(Kind, &str); 4] = [
        (Kind::Method, "method of gpfuse"),
        (Kind::Rule, "fusion rule"),
        (Kind::Ours, "ours"),
        (Kind::Single, "single GP"),
    ];

    /// From the palette of Okabe and Ito.
    fn colour(self) -> Color {
        match self {
            Kind::Method => Color::Rgb(0x00, 0x72, 0xb2),
            Kind::Rule | Kind::Ours => Color::Rgb(0xd5, 0x5e, 0x00),
            Kind::Single => INK,
        }
    }

    fn mark(self, x: f64, y: f64) -> Primitive {
        let (stroke, stroke_width) = (Some(self.colour()), Some(1.6));
        let hollow = matches!(self, Kind::Rule | Kind::Ours);
        let fill = if hollow { WHITE } else { self.colour() };
        match self {
            Kind::Single => rect((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), fill, None, None),
            _ => Primitive::Circle {
                cx: x,
                cy: y,
                r: 4.2,
                fill,
                fill_opacity: None,
                stroke,
                stroke_width,
            },
        }
    }
}

/// Draw rows, the first at the top, under a title and the titles of the panels, with a line of
/// text at the foot.
pub fn forest(title: &str, panels: [&str; 2], unit: &str, foot: &str, rows: &[Row]) -> Scene {
    let height = TOP + ROW * rows.len() as f64 + BOTTOM;
    let widest = rows.iter().map(|row| width(&row.label, TEXT)).fold(0.0, f64::max);
    let labels = (widest + 10.0).clamp(LABELS.0, LABELS.1);
    let left = [EDGE + labels, EDGE + labels + PANEL + GAP];
    let mut scene = page(left[1] + PANEL + EDGE, height);
    let bottom = TOP + ROW * rows.len() as f64;
    scene.add(heading((EDGE, 24.0), &cut(title, 15, scene.width - 2.0 * EDGE)));
    for (i, row) in rows.iter().enumerate() {
        let y = middle(i);
        let label = cut(&row.label, TEXT, labels - 10.0);
        scene.add(text((left[0] - 10.0, y + 4.0), &label, TEXT, TextAnchor::End, INK));
        match row.bars {
            Some(_) => scene.add(line((left[0], y), (left[1] + PANEL, y), FAINT, 1.0)),
            None => {
                let start = (left[0] + 8.0, y + 4.0);
                scene.add(text(start, "failed", TEXT, TextAnchor::Start, GREY));
            }
        }
    }
    let scored: Vec<[Bar; 2]> = rows.iter().filter_map(|row| row.bars).collect();
    // The same for both panels, so that a dot is shown in both or in neither.
    let reach = reach(&scored.iter().map(|bars| bars[0]).collect::<Vec<Bar>>());
    for (p, title) in panels.into_iter().enumerate() {
        let (from, to) = (left[p], left[p] + PANEL);
        let (at, shown) = ((0.5 * (from + to), TOP - 14.0), cut(title, TEXT, PANEL));
        scene.add(text(at, &shown, TEXT, TextAnchor::Middle, INK));
        let bars: Vec<Bar> = scored.iter().map(|bars| bars[p]).collect();
        let axis = Axis::new(&bars, reach, from, to);
        frame(&mut scene, &axis, from, to, bottom, unit);
        // What all others are measured against.
        if let Some(best) = bars.first() {
            let x = axis.at(best.centre);
            scene.add(dashed((x, TOP), (x, TOP + ROW * bars.len() as f64)));
        }
        for (i, row) in rows.iter().enumerate() {
            if let Some(bars) = row.bars {
                let said = format!("{}: {title} {}", row.label, told(bars[p]));
                let shapes = shapes(&axis, row.kind, bars[p], middle(i));
                mark(&mut scene, Mark::Dot, &said, shapes);
            }
        }
    }
    legend(&mut scene, height - 14.0, foot, rows);
    scene
}

fn middle(row: usize) -> f64 {
    TOP + ROW * (row as f64 + 0.5)
}

/// The lower line of a panel with its numbers.
fn frame(scene: &mut Scene, axis: &Axis, from: f64, to: f64, bottom: f64, unit: &str) {
    scene.add(line((from, bottom), (to, bottom), INK, 1.0));
    for (tick, number) in axis.ticks() {
        let x = axis.at(tick);
        scene.add(line((x, bottom), (x, bottom + 4.0), INK, 1.0));
        scene.add(text((x, bottom + 17.0), &number, 11, TextAnchor::Middle, INK));
    }
    let at = (0.5 * (from + to), bottom + 34.0);
    scene.add(text(at, &cut(unit, TEXT, PANEL), TEXT, TextAnchor::Middle, INK));
}

/// A dot and its error bar, or where it lies beyond the axis an arrow and its value.
fn shapes(axis: &Axis, kind: Kind, bar: Bar, y: f64) -> Vec<Primitive> {
    if axis.beyond(bar.centre) {
        let (x, value) = (axis.right(), short(bar.centre));
        return vec![
            arrow(x, y, 4.5, 7.0, kind),
            behind(x - 12.0, y, value.chars().count()),
            text((x - 12.0, y + 4.0), &value, 11, TextAnchor::End, kind.colour()),
        ];
    }
    let (low, high) = (bar.centre - bar.half, bar.centre + bar.half);
    let mut out = vec![line((axis.within(low), y), (axis.within(high), y), kind.colour(), 1.8)];
    // An end that is cut off points to where it would be.
    for (end, back) in [(low, -5.0), (high, 5.0)].into_iter().filter(|_| bar.half > 0.0) {
        let (x, shown) = (axis.at(end), axis.within(end));
        out.push(match (x - shown).abs() < 1e-9 {
            true => line((x, y - 3.0), (x, y + 3.0), kind.colour(), 1.4),
            false => arrow(shown, y, 3.0, back, kind),
        });
    }
    out.push(kind.mark(axis.at(bar.centre), y));
    out
}

/// The value of a dot and the ends of its bar, if it has one.
fn told(bar: Bar) -> String {
    let [low, centre, high] =
        [bar.centre - bar.half, bar.centre, bar.centre + bar.half].map(digits);
    if bar.half > 0.0 { format!("{centre} ({low} to {high})") } else { centre }
}

/// White behind a short number that ends at `x`, so that no line strikes it through.
fn behind(x: f64, y: f64, digits: usize) -> Primitive {
    let wide = 7.0 * digits as f64 + 6.0;
    rect((x - wide + 3.0, y - 7.0), (x + 3.0, y + 7.0), WHITE, None, None)
}

/// An open arrowhead at a point, from `back` before it.
fn arrow(x: f64, y: f64, half: f64, back: f64, kind: Kind) -> Primitive {
    curve(&[(x - back, y - half), (x, y), (x - back, y + half)], kind.colour(), 1.8, &[])
}

/// Three digits are enough for what is far away.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1e5 => format!("{value:.1e}"),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The kinds that there are, and a line of text.
fn legend(scene: &mut Scene, y: f64, foot: &str, rows: &[Row]) {
    let mut x = EDGE + 6.0;
    for (kind, name) in Kind::ALL.into_iter().filter(|k| rows.iter().any(|row| row.kind == k.0)) {
        scene.add(kind.mark(x, y - 4.0));
        scene.add(text((x + 10.0, y), name, 11, TextAnchor::Start, INK));
        x += 36.0 + 6.4 * name.len() as f64;
    }
    let (at, room) = ((scene.width - EDGE, y), scene.width - EDGE - x);
    scene.add(text(at, &cut(foot, 11, room), 11, TextAnchor::End, GREY));
}
