//! A forest plot: a row for each contestant, with dots and error bars in two panels.
//!
//! Kinds differ in shape and fill as well as in colour, so that they can be told apart in grey.

use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::axis::{Axis, Bar, reach};

/// What a row is about, which decides its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A method of this project.
    Method,
    /// A classical rule.
    Rule,
    /// One GP alone.
    Single,
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
const LABELS: f64 = 140.0;
const PANEL: f64 = 340.0;
const GAP: f64 = 30.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 76.0;
const EDGE: f64 = 16.0;

const TEXT: u32 = 12;
const INK: Color = Color::Rgb(0x22, 0x22, 0x22);
const GREY: Color = Color::Rgb(0x66, 0x66, 0x66);
const FAINT: Color = Color::Rgb(0xe4, 0xe4, 0xe4);

impl Kind {
    const ALL: [(Kind, &str); 3] = [
        (Kind::Method, "method of gpfuse"),
        (Kind::Rule, "fusion rule"),
        (Kind::Single, "single GP"),
    ];

    /// From the palette of Okabe and Ito.
    fn colour(self) -> Color {
        match self {
            Kind::Method => Color::Rgb(0x00, 0x72, 0xb2),
            Kind::Rule => Color::Rgb(0xd5, 0x5e, 0x00),
            Kind::Single => INK,
        }
    }

    fn mark(self, x: f64, y: f64) -> Primitive {
        let (stroke, stroke_width) = (Some(self.colour()), Some(1.6));
        let fill = if self == Kind::Rule { Color::Rgb(255, 255, 255) } else { self.colour() };
        match self {
            Kind::Single => Primitive::Rect {
                x: x - 4.0,
                y: y - 4.0,
                width: 8.0,
                height: 8.0,
                fill,
                stroke: None,
                stroke_width: None,
                opacity: None,
            },
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
    let left = [EDGE + LABELS, EDGE + LABELS + PANEL + GAP];
    let mut scene = Scene::new(left[1] + PANEL + EDGE, height);
    scene.font_family = Some("DejaVu Sans, Verdana, sans-serif".into());
    let bottom = TOP + ROW * rows.len() as f64;
    scene.add(text(EDGE, 24.0, title, 15, TextAnchor::Start, INK, true));
    for (i, row) in rows.iter().enumerate() {
        let y = middle(i);
        let end = left[0] - 10.0;
        scene.add(text(end, y + 4.0, &row.label, TEXT, TextAnchor::End, INK, false));
        match row.bars {
            Some(_) => scene.add(line((left[0], y), (left[1] + PANEL, y), FAINT, 1.0)),
            None => {
                let start = left[0] + 8.0;
                scene.add(text(start, y + 4.0, "failed", TEXT, TextAnchor::Start, GREY, false));
            }
        }
    }
    let scored: Vec<[Bar; 2]> = rows.iter().filter_map(|row| row.bars).collect();
    // The same for both panels, so that a dot is shown in both or in neither.
    let reach = reach(&scored.iter().map(|bars| bars[0]).collect::<Vec<Bar>>());
    for (p, title) in panels.into_iter().enumerate() {
        let (from, to) = (left[p], left[p] + PANEL);
        scene.add(text(0.5 * (from + to), TOP - 14.0, title, TEXT, TextAnchor::Middle, INK, false));
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
                draw(&mut scene, &axis, row.kind, bars[p], middle(i));
            }
        }
    }
    legend(&mut scene, height - 14.0, foot);
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
        scene.add(text(x, bottom + 17.0, &number, 11, TextAnchor::Middle, INK, false));
    }
    let centre = 0.5 * (from + to);
    scene.add(text(centre, bottom + 34.0, unit, TEXT, TextAnchor::Middle, INK, false));
}

/// A dot and its error bar, or where it lies beyond the axis an arrow and its value.
fn draw(scene: &mut Scene, axis: &Axis, kind: Kind, bar: Bar, y: f64) {
    if axis.beyond(bar.centre) {
        let (x, value) = (axis.right(), short(bar.centre));
        scene.add(arrow(x, y, 4.5, 7.0, kind));
        scene.add(behind(x - 12.0, y, value.len()));
        return scene.add(text(
            x - 12.0,
            y + 4.0,
            &value,
            11,
            TextAnchor::End,
            kind.colour(),
            false,
        ));
    }
    let (low, high) = (bar.centre - bar.half, bar.centre + bar.half);
    scene.add(line((axis.within(low), y), (axis.within(high), y), kind.colour(), 1.8));
    // An end that is cut off points to where it would be.
    for (end, back) in [(low, -5.0), (high, 5.0)].into_iter().filter(|_| bar.half > 0.0) {
        let (x, shown) = (axis.at(end), axis.within(end));
        scene.add(match (x - shown).abs() < 1e-9 {
            true => line((x, y - 3.0), (x, y + 3.0), kind.colour(), 1.4),
            false => arrow(shown, y, 3.0, back, kind),
        });
    }
    scene.add(kind.mark(axis.at(bar.centre), y));
}

/// White behind a short number that ends at `x`, so that no line strikes it through.
fn behind(x: f64, y: f64, digits: usize) -> Primitive {
    let (width, fill) = (7.0 * digits as f64 + 6.0, Color::Rgb(255, 255, 255));
    let (stroke, stroke_width, opacity) = (None, None, None);
    let (x, y, height) = (x - width + 3.0, y - 7.0, 14.0);
    Primitive::Rect { x, y, width, height, fill, stroke, stroke_width, opacity }
}

/// An open arrowhead at a point, from `back` before it.
fn arrow(x: f64, y: f64, half: f64, back: f64, kind: Kind) -> Primitive {
    let points = vec![(x - back, y - half), (x, y), (x - back, y + half)];
    let (stroke, stroke_width) = (kind.colour(), 1.8);
    Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray: None }
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

fn legend(scene: &mut Scene, y: f64, foot: &str) {
    let mut x = EDGE + 6.0;
    for (kind, name) in Kind::ALL {
        scene.add(kind.mark(x, y - 4.0));
        scene.add(text(x + 10.0, y, name, 11, TextAnchor::Start, INK, false));
        x += 36.0 + 6.4 * name.len() as f64;
    }
    scene.add(text(scene.width - EDGE, y, foot, 11, TextAnchor::End, GREY, false));
}

fn text(
    x: f64,
    y: f64,
    content: &str,
    size: u32,
    anchor: TextAnchor,
    colour: Color,
    bold: bool,
) -> Primitive {
    let (content, color) = (content.to_string(), Some(colour));
    Primitive::Text { x, y, content, size, anchor, rotate: None, bold, color }
}

fn line(from: (f64, f64), to: (f64, f64), stroke: Color, stroke_width: f64) -> Primitive {
    let ((x1, y1), (x2, y2)) = (from, to);
    Primitive::Line { x1, y1, x2, y2, stroke, stroke_width, stroke_dasharray: None }
}

fn dashed(from: (f64, f64), to: (f64, f64)) -> Primitive {
    let ((x1, y1), (x2, y2)) = (from, to);
    let stroke_dasharray = Some("4 3".into());
    Primitive::Line { x1, y1, x2, y2, stroke: GREY, stroke_width: 1.0, stroke_dasharray }
}
