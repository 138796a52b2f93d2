//! What all figures are drawn with: colours, looks of series, shapes, and groups of them that
//! carry a value.

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

/// Lines and letters.
pub(super) const INK: Color = Color::Rgb(0x22, 0x22, 0x22);
/// What is said by the way.
pub(super) const GREY: Color = Color::Rgb(0x66, 0x66, 0x66);
/// Grids.
pub(super) const FAINT: Color = Color::Rgb(0xe4, 0xe4, 0xe4);
/// Paper.
pub(super) const WHITE: Color = Color::Rgb(0xff, 0xff, 0xff);
/// The size of most text.
pub(super) const TEXT: u32 = 12;
/// The mean width of a letter, in sizes of the text.
const LETTER: f64 = 0.6;

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
}

/// How a series is told from the others: by colour, and without it by dashes and shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub(super) rgb: [u8; 3],
    /// Lengths of dashes and gaps; none for a whole line.
    pub(super) dashes: &'static [f64],
    /// The shape of its points.
    pub(super) shape: Shape,
}

/// The palette of Okabe and Ito (2008), without the yellow that cannot be seen on white.
const LOOKS: [Look; 7] = [
    Look { rgb: [0x00, 0x72, 0xb2], dashes: &[], shape: Shape::Circle },
    Look { rgb: [0xd5, 0x5e, 0x00], dashes: &[8.0, 3.0], shape: Shape::Square },
    Look { rgb: [0x00, 0x9e, 0x73], dashes: &[2.5, 2.5], shape: Shape::Diamond },
    Look { rgb: [0xcc, 0x79, 0xa7], dashes: &[9.0, 3.0, 2.0, 3.0], shape: Shape::Up },
    Look { rgb: [0xe6, 0x9f, 0x00], dashes: &[5.0, 2.0], shape: Shape::Down },
    Look { rgb: [0x56, 0xb4, 0xe9], dashes: &[14.0, 4.0], shape: Shape::Circle },
    Look { rgb: [0x22, 0x22, 0x22], dashes: &[1.5, 4.0], shape: Shape::Square },
];

impl Look {
    /// Of series `i`; after seven they come again.
    pub(super) fn of(i: usize) -> Look {
        LOOKS[i % LOOKS.len()]
    }

    pub(super) fn colour(&self) -> Color {
        let [r, g, b] = self.rgb;
        Color::Rgb(r, g, b)
    }

    /// Nearer to white by `part`.
    pub(super) fn tint(&self, part: f64) -> Color {
        let [r, g, b] = self.rgb.map(|c| (f64::from(c) + part * (255.0 - f64::from(c))) as u8);
        Color::Rgb(r, g, b)
    }
}

/// Text for the page. Dollars would begin a formula, and control characters are none of XML's.
pub(super) fn clean(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.replace('$', "\\$")
}

/// The width that a text takes, about.
pub(super) fn width(text: &str, size: u32) -> f64 {
    LETTER * f64::from(size) * text.chars().count() as f64
}

/// As much of a text as has room.
pub(super) fn cut(text: &str, size: u32, room: f64) -> String {
    if width(text, size) <= room {
        return text.into();
    }
    let letters = (room / (LETTER * f64::from(size))).floor().max(2.0) as usize - 1;
    text.chars().take(letters).chain(['\u{2026}']).collect()
}

/// Text at a point.
pub(super) fn text(
    at: (f64, f64),
    content: &str,
    size: u32,
    anchor: TextAnchor,
    colour: Color,
) -> Primitive {
    let (content, color) = (clean(content), Some(colour));
    Primitive::Text { x: at.0, y: at.1, content, size, anchor, rotate: None, bold: false, color }
}

/// Bold text that begins at a point.
pub(super) fn heading(at: (f64, f64), content: &str) -> Primitive {
    let (content, color, anchor) = (clean(content), Some(INK), TextAnchor::Start);
    Primitive::Text { x: at.0, y: at.1, content, size: 15, anchor, rotate: None, bold: true, color }
}

/// Text that is read upwards, its middle at a point.
pub(super) fn upright(at: (f64, f64), content: &str) -> Primitive {
    let (content, color, anchor) = (clean(content), Some(INK), TextAnchor::Middle);
    let rotate = Some(-90.0);
    Primitive::Text { x: at.0, y: at.1, content, size: TEXT, anchor, rotate, bold: false, color }
}

pub(super) fn line(from: (f64, f64), to: (f64, f64), stroke: Color, width: f64) -> Primitive {
    let ((x1, y1), (x2, y2)) = (from, to);
    Primitive::Line { x1, y1, x2, y2, stroke, stroke_width: width, stroke_dasharray: None }
}

pub(super) fn dashed(from: (f64, f64), to: (f64, f64)) -> Primitive {
    let ((x1, y1), (x2, y2)) = (from, to);
    let stroke_dasharray = Some("4 3".into());
    Primitive::Line { x1, y1, x2, y2, stroke: GREY, stroke_width: 1.0, stroke_dasharray }
}

/// A rectangle between two corners.
pub(super) fn rect(
    from: (f64, f64),
    to: (f64, f64),
    fill: Color,
    stroke: Option<Color>,
    opacity: Option<f64>,
) -> Primitive {
    let (x, y) = (from.0.min(to.0), from.1.min(to.1));
    let (width, height) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
    let stroke_width = stroke.is_some().then_some(1.3);
    Primitive::Rect { x, y, width, height, fill, stroke, stroke_width, opacity }
}

/// A filled area with this outline.
pub(super) fn area(points: &[(f64, f64)], fill: Color, opacity: f64) -> Primitive {
    let d = outline(points) + "Z";
    Primitive::Path(Box::new(PathData {
        d,
        fill: Some(fill),
        stroke: Color::None,
        stroke_width: 0.0,
        opacity: Some(opacity),
        stroke_dasharray: None,
    }))
}

/// A line through points. Dashes are cut here: not all writers carry them from one point to the
/// next.
pub(super) fn curve(points: &[(f64, f64)], colour: Color, width: f64, dashes: &[f64]) -> Primitive {
    if dashes.is_empty() {
        let points = points.to_vec();
        return Primitive::PolyLine {
            points,
            stroke: colour,
            stroke_width: width,
            stroke_dasharray: None,
        };
    }
    Primitive::Path(Box::new(PathData {
        d: pieces(points, dashes).iter().map(|p| outline(p)).collect(),
        fill: Some(Color::None),
        stroke: colour,
        stroke_width: width,
        opacity: None,
        stroke_dasharray: None,
    }))
}

/// The dashes of a line.
fn pieces(points: &[(f64, f64)], dashes: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let (mut out, mut own) = (Vec::new(), Vec::from_iter(points.first().copied()));
    let (mut phase, mut left) = (0, dashes[0]);
    for pair in points.windows(2) {
        let (mut a, b) = (pair[0], pair[1]);
        let mut length = (b.0 - a.0).hypot(b.1 - a.1);
        while length > left {
            let part = left / length;
            a = (a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1));
            length -= left;
            if phase % 2 == 0 {
                own.push(a);
                out.push(std::mem::take(&mut own));
            } else {
                own = vec![a];
            }
            phase += 1;
            left = dashes[phase % dashes.len()];
        }
        left -= length;
        if phase % 2 == 0 {
            own.push(b);
        }
    }
    out.push(own);
    out.retain(|piece| piece.len() > 1);
    out
}

fn outline(points: &[(f64, f64)]) -> String {
    let step = |(i, (x, y)): (usize, &(f64, f64))| {
        format!("{}{:.1} {:.1}", if i == 0 { "M" } else { "L" }, x + 0.0, y + 0.0)
    };
    points.iter().enumerate().map(step).collect()
}

/// A point of a series.
pub(super) fn point(at: (f64, f64), shape: Shape, size: f64, fill: Color) -> Primitive {
    let ((x, y), r) = (at, size);
    match shape {
        Shape::Circle => Primitive::Circle {
            cx: x,
            cy: y,
            r,
            fill,
            fill_opacity: None,
            stroke: None,
            stroke_width: None,
        },
        Shape::Square => rect((x - r, y - r), (x + r, y + r), fill, None, None),
        Shape::Diamond => {
            let r = 1.25 * r;
            area(&[(x, y - r), (x + r, y), (x, y + r), (x - r, y)], fill, 1.0)
        }
        Shape::Up => area(&[(x, y - 1.2 * r), (x + r, y + r), (x - r, y + r)], fill, 1.0),
        Shape::Down => area(&[(x, y + 1.2 * r), (x + r, y - r), (x - r, y - r)], fill, 1.0),
    }
}

/// A scene in the font of all figures.
pub(super) fn page(width: f64, height: f64) -> Scene {
    let mut scene = Scene::new(width, height);
    scene.font_family = Some("DejaVu Sans, Verdana, sans-serif".into());
    scene
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
    /// Nothing to see: a stretch of the figure that says the values above it.
    Strip,
}

/// Shapes that carry data: a page shows `title` where the pointer or the keyboard is.
pub(super) fn mark(scene: &mut Scene, kind: Mark, title: &str, shapes: Vec<Primitive>) {
    // Fixed words only: attributes are not escaped.
    let attributes = match kind {
        Mark::Box => "class=\"mark box\" tabindex=\"0\"",
        Mark::Line => "class=\"mark line\" tabindex=\"0\"",
        Mark::Band => "class=\"mark band\"",
        Mark::Bar => "class=\"mark bar\" tabindex=\"0\"",
        Mark::Dot => "class=\"mark dot\"",
        Mark::Heat => "class=\"mark heat\" shape-rendering=\"crispEdges\"",
        Mark::Strip => "class=\"mark strip\" pointer-events=\"all\"",
    };
    let plain = title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let (title, extra_attrs) = (Some(plain), Some(attributes.into()));
    scene.add(Primitive::GroupStart { transform: None, title, extra_attrs });
    shapes.into_iter().for_each(|shape| scene.add(shape));
    scene.add(Primitive::GroupEnd);
}
