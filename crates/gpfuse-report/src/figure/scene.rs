//! What figures are made of: a list of shapes, some in groups that carry a value.

use super::colour::{Colour, GREY, INK, Look, Shape};
use super::font::cut;

/// The width of most figures.
pub(super) const WIDTH: f64 = 820.0;
/// The room about a figure.
pub(super) const EDGE: f64 = 16.0;
/// The size of most text.
pub(super) const TEXT: f64 = 12.0;
/// The size of numbers, legends and notes.
pub(super) const SMALL_TEXT: f64 = 11.0;
const TITLE: f64 = 15.0;

/// A place on the page: to the right and down from its upper left corner.
pub(super) type Point = (f64, f64);

/// A drawing: shapes in the order in which they are painted.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    pub(super) items: Vec<Item>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Shape(Form, Paint),
    Text(Text),
    /// The begin of a group.
    Open(Mark, String),
    /// Its end.
    Close,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// A line through points.
    Line(Vec<Point>),
    /// Areas with these outlines.
    Area(Vec<Vec<Point>>),
    /// A rectangle, from its upper left corner to its lower right one.
    Rect(Point, Point),
    /// Circles of one radius.
    Circles(Vec<Point>, f64),
}

/// How a form is painted; nothing of it is seen without a fill and a stroke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Paint {
    pub(super) fill: Option<Colour>,
    pub(super) stroke: Option<Stroke>,
    /// From 0 for glass to 1.
    pub(super) opacity: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stroke {
    pub(super) colour: Colour,
    pub(super) width: f64,
    /// Lengths of dashes and gaps; none for a whole line.
    pub(super) dashes: &'static [f64],
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub(super) at: Point,
    pub(super) content: String,
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) colour: Colour,
    pub(super) bold: bool,
    /// Whether it is read upwards.
    pub(super) upright: bool,
}

/// Which part of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// What a group of shapes shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Box,
    Line,
    Band,
    Bar,
    Dot,
    Heat,
    /// Invisible: a stretch of the figure that shows the values above it when pointed at.
    Strip,
}

/// XML allows neither control characters nor what Unicode reserves.
fn clean(text: &str) -> String {
    let none = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if none(c) { ' ' } else { c }).collect()
}

fn filled(fill: Colour, opacity: f64) -> Paint {
    Paint { fill: Some(fill), stroke: None, opacity }
}

impl Scene {
    /// A page with a title, whose height is that of its text until `closed` sets it.
    pub(super) fn titled(title: &str, width: f64) -> Scene {
        let mut scene = Scene { width, height: 2.0 * EDGE, items: Vec::new() };
        let content = clean(&cut(title, TITLE, true, width - 2.0 * EDGE));
        scene.items.push(Item::Text(Text {
            at: (EDGE, 26.0),
            content,
            size: TITLE,
            anchor: Anchor::Start,
            colour: INK,
            bold: true,
            upright: false,
        }));
        scene
    }

    /// Complete: with its height, and a line of text at its foot.
    pub(super) fn closed(mut self, height: f64, note: &str) -> Scene {
        self.height = height;
        let content = cut(note, SMALL_TEXT, false, self.width - 2.0 * EDGE);
        self.text((EDGE, height - 10.0), &content, SMALL_TEXT, Anchor::Start, GREY);
        self
    }

    /// Text at a point.
    pub(super) fn text(
        &mut self,
        at: Point,
        content: &str,
        size: f64,
        anchor: Anchor,
        colour: Colour,
    ) {
        if !content.is_empty() {
            let (content, bold, upright) = (clean(content), false, false);
            self.items.push(Item::Text(Text { at, content, size, anchor, colour, bold, upright }));
        }
    }

    /// Text that is read upwards, its middle at a point.
    pub(super) fn upright(&mut self, at: Point, content: &str) {
        self.text(at, content, TEXT, Anchor::Middle, INK);
        if let (false, Some(Item::Text(text))) = (content.is_empty(), self.items.last_mut()) {
            text.upright = true;
        }
    }

    /// A line through points.
    pub(super) fn curve(&mut self, points: Vec<Point>, width: f64, look: &Look) {
        let (colour, dashes) = (look.colour, look.dashes);
        self.stroke(points, Stroke { colour, width, dashes });
    }

    pub(super) fn stroke(&mut self, points: Vec<Point>, stroke: Stroke) {
        if points.len() > 1 {
            let paint = Paint { fill: None, stroke: Some(stroke), opacity: 1.0 };
            self.items.push(Item::Shape(Form::Line(points), paint));
        }
    }

    /// A whole line through points.
    pub(super) fn line(&mut self, points: &[Point], colour: Colour, width: f64) {
        self.stroke(points.to_vec(), Stroke { colour, width, dashes: &[] });
    }

    /// A line that others are measured against.
    pub(super) fn dashed(&mut self, from: Point, to: Point) {
        self.stroke(vec![from, to], Stroke { colour: GREY, width: 1.0, dashes: &[4.0, 3.0] });
    }

    /// A rectangle between two corners.
    pub(super) fn rect(&mut self, from: Point, to: Point, fill: Colour, opacity: f64) {
        self.corners(from, to, filled(fill, opacity));
    }

    /// A rectangle with an edge in its colour, and with slanting lines if it is hatched.
    pub(super) fn framed(&mut self, from: Point, to: Point, colour: Colour, hatched: bool) {
        let stroke = Some(Stroke { colour, width: 1.3, dashes: &[] });
        let paint = Paint { fill: Some(colour.tint(0.4)), stroke, opacity: 1.0 };
        self.corners(from, to, paint);
        if hatched {
            self.hatch(from, to, colour);
        }
    }

    /// A rectangle that is not seen.
    pub(super) fn unseen(&mut self, from: Point, to: Point) {
        self.corners(from, to, Paint { fill: None, stroke: None, opacity: 1.0 });
    }

    fn corners(&mut self, a: Point, b: Point, paint: Paint) {
        let form = Form::Rect((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1)));
        self.items.push(Item::Shape(form, paint));
    }

    /// Slanting lines within a rectangle.
    fn hatch(&mut self, from: Point, to: Point, colour: Colour) {
        const STEP: f64 = 5.0;
        let (wide, high) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        let (left, top) = (from.0.min(to.0), from.1.min(to.1));
        let count = ((wide + high) / STEP).floor().clamp(0.0, 400.0) as usize;
        for i in 0..count {
            // The line x + y = c, measured from the upper left corner.
            let c = STEP * (i as f64 + 0.5);
            let upper = (left + c.min(wide), top + (c - wide).max(0.0));
            let lower = (left + (c - high).max(0.0), top + c.min(high));
            self.line(&[upper, lower], colour, 0.8);
        }
    }

    /// A filled area with this outline.
    pub(super) fn area(&mut self, outline: Vec<Point>, fill: Colour, opacity: f64) {
        self.areas(vec![outline], fill, opacity);
    }

    /// Filled areas with these outlines.
    pub(super) fn areas(&mut self, mut outlines: Vec<Vec<Point>>, fill: Colour, opacity: f64) {
        outlines.retain(|outline| outline.len() > 2);
        if !outlines.is_empty() {
            self.items.push(Item::Shape(Form::Area(outlines), filled(fill, opacity)));
        }
    }

    /// Dots of one size.
    pub(super) fn dots(&mut self, at: Vec<Point>, radius: f64, fill: Colour, opacity: f64) {
        self.items.push(Item::Shape(Form::Circles(at, radius), filled(fill, opacity)));
    }

    /// A circle with an edge.
    pub(super) fn ring(&mut self, at: Point, radius: f64, fill: Colour, edge: Colour) {
        let stroke = Some(Stroke { colour: edge, width: 1.6, dashes: &[] });
        let paint = Paint { fill: Some(fill), stroke, opacity: 1.0 };
        self.items.push(Item::Shape(Form::Circles(vec![at], radius), paint));
    }

    /// A point of a series.
    pub(super) fn point(&mut self, (x, y): Point, shape: Shape, r: f64, fill: Colour) {
        match shape {
            Shape::Circle => self.dots(vec![(x, y)], r, fill, 1.0),
            Shape::Square => self.rect((x - r, y - r), (x + r, y + r), fill, 1.0),
            Shape::Diamond => {
                let r = 1.25 * r;
                self.area(vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)], fill, 1.0);
            }
            Shape::Up => {
                self.area(vec![(x, y - 1.2 * r), (x + r, y + r), (x - r, y + r)], fill, 1.0);
            }
            Shape::Down => {
                self.area(vec![(x, y + 1.2 * r), (x + r, y - r), (x - r, y - r)], fill, 1.0);
            }
        }
    }

    /// Shapes that carry data: a page shows `title` where the pointer or the keyboard is.
    pub(super) fn mark(&mut self, kind: Mark, title: &str, draw: impl FnOnce(&mut Scene)) {
        self.items.push(Item::Open(kind, clean(title)));
        draw(self);
        self.items.push(Item::Close);
    }
}
