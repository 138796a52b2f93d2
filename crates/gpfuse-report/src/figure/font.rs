//! The letters of the figures: DejaVu Sans, which comes with the program, measured and as outlines.

use std::sync::OnceLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::scene::{Anchor, Point, Text};

/// All letters of the font without its hints, and of the bold one those of Latin, Greek, Cyrillic
/// and mathematics (by fontTools from versions 2.37 and 2.35; `font/LICENSE` is theirs).
const FILES: [&[u8]; 2] =
    [include_bytes!("font/DejaVuSans.ttf"), include_bytes!("font/DejaVuSans-Bold.ttf")];

/// Straight pieces of a curve of a letter.
const PIECES: usize = 4;

/// The plain face and the bold one. Both are part of the program, and a test reads them.
fn faces() -> &'static [Option<Face<'static>>; 2] {
    static FACES: OnceLock<[Option<Face<'static>>; 2]> = OnceLock::new();
    FACES.get_or_init(|| FILES.map(|bytes| Face::parse(bytes, 0).ok()))
}

/// The face that has a letter, and which of its glyphs it is; the first one is a box.
fn glyph(letter: char, bold: bool) -> Option<(&'static Face<'static>, GlyphId)> {
    let [plain, heavy] = faces();
    let found = |face: &'static Option<Face<'static>>| {
        face.as_ref().and_then(|face| Some((face, face.glyph_index(letter)?)))
    };
    let first = if bold { found(heavy) } else { None };
    first.or_else(|| found(plain)).or_else(|| Some((plain.as_ref()?, GlyphId(0))))
}

/// How far the next letter stands from this one, in sizes of the text.
fn advance(letter: char, bold: bool) -> f64 {
    glyph(letter, bold).map_or(0.6, |(face, glyph)| {
        f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) / f64::from(face.units_per_em())
    })
}

/// The width of a text.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    size * text.chars().map(|c| advance(c, bold)).sum::<f64>()
}

/// As much of a text as has room.
pub(super) fn cut(text: &str, size: f64, bold: bool, room: f64) -> String {
    const DOTS: char = '\u{2026}';
    if width(text, size, bold) <= room {
        return text.into();
    }
    let mut left = room / size - advance(DOTS, bold);
    let fits = |c: &char| {
        left -= advance(*c, bold);
        left >= 0.0
    };
    text.chars().take_while(fits).chain([DOTS]).collect()
}

/// The outlines of a text at its place.
pub(super) fn outlines(text: &Text) -> Vec<Vec<Point>> {
    let wide = width(&text.content, text.size, text.bold);
    let mut pen = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5 * wide,
        Anchor::End => -wide,
    };
    let mut out = Vec::new();
    for letter in text.content.chars() {
        if let Some((face, glyph)) = glyph(letter, text.bold) {
            let scale = text.size / f64::from(face.units_per_em());
            let mut letter = Letter { text, pen, scale, rings: &mut out };
            face.outline_glyph(glyph, &mut letter);
        }
        pen += text.size * advance(letter, text.bold);
    }
    out
}

/// Where the outline of one letter goes.
struct Letter<'a> {
    text: &'a Text,
    /// How far along the text it begins.
    pen: f64,
    scale: f64,
    rings: &'a mut Vec<Vec<Point>>,
}

impl Letter<'_> {
    /// A place of the font, whose y goes up, on the page.
    fn at(&self, x: f32, y: f32) -> Point {
        let (along, up) = (self.pen + self.scale * f64::from(x), self.scale * f64::from(y));
        let (x, y) = self.text.at;
        if self.text.upright { (x - up, y - along) } else { (x + along, y - up) }
    }

    fn push(&mut self, point: Point) {
        if let Some(ring) = self.rings.last_mut() {
            ring.push(point);
        }
    }
}

/// Letters of this kind of font have curves of the second degree only.
impl OutlineBuilder for Letter<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let start = self.at(x, y);
        self.rings.push(vec![start]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push(self.at(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let Some(a) = self.rings.last().and_then(|ring| ring.last().copied()) else { return };
        let (b, c) = (self.at(x1, y1), self.at(x, y));
        for t in (1..=PIECES).map(|i| i as f64 / PIECES as f64) {
            let mix = |a: f64, b: f64, c: f64| {
                (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * b + t * t * c
            };
            self.push((mix(a.0, b.0, c.0), mix(a.1, b.1, c.1)));
        }
    }

    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, x: f32, y: f32) {
        self.line_to(x, y);
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_faces_have_the_letters_of_figures() {
        assert!(faces().iter().all(Option::is_some));
        let used = "azAZ09 \u{2212}\u{2026}\u{2717}\u{b1}\u{b7}\u{b5}\u{3b1}\u{416}\u{e9}";
        let has = |face: &Option<Face<'_>>, c| face.as_ref().unwrap().glyph_index(c).is_some();
        assert!(used.chars().all(|c| faces().iter().all(|face| has(face, c))));
        // Letters that the bold face lacks are taken from the plain one.
        assert!(glyph('\u{10d0}', true).unwrap().1.0 > 0);
    }

    #[test]
    fn texts_are_cut_to_their_room() {
        assert_eq!(cut("short", 12.0, false, 200.0), "short");
        let long = cut("a column with a long name", 12.0, false, 60.0);
        assert!(long.ends_with('\u{2026}') && width(&long, 12.0, false) <= 60.0, "{long}");
        assert!(long.chars().count() > 6, "{long}");
        assert!(width("iii", 12.0, false) < width("mmm", 12.0, false));
        assert!(width("bold", 12.0, true) > width("bold", 12.0, false));
    }
}
