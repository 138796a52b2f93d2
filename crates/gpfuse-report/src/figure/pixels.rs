//! A drawing as PNG: areas, lines and letters as the part of each pixel that they cover.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use super::Scene;
use super::colour::Colour;
use super::font;
use super::scene::{Form, Item, Paint, Point, Stroke};

/// Pixels for each unit of the drawing.
const PIXELS: f64 = 2.0;

/// The most pixels of a picture: more are too much for memory and for most viewers.
const MOST_PIXELS: f64 = 1e8;

/// Corners of a circle, more than can be seen.
const CORNERS: usize = 32;

/// A drawing as the bytes of a PNG; nothing if it is too large.
pub(super) fn png(scene: &Scene) -> Option<Vec<u8>> {
    let [width, height] = [scene.width, scene.height].map(|v| (v * PIXELS).ceil().max(1.0));
    let mut canvas =
        (width * height <= MOST_PIXELS).then(|| Canvas::new(width as usize, height as usize))?;
    for item in &scene.items {
        match item {
            Item::Shape(form, paint) => canvas.paint(form, paint),
            Item::Text(text) => canvas.fill(&font::outlines(text), text.colour, 1.0),
            Item::Open(..) | Item::Close => {}
        }
    }
    canvas.encoded().ok()
}

struct Canvas {
    width: usize,
    height: usize,
    /// Three bytes for each pixel.
    rgb: Vec<u8>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Canvas {
        Canvas { width, height, rgb: vec![255; 3 * width * height] }
    }

    fn paint(&mut self, form: &Form, paint: &Paint) {
        match form {
            Form::Line(points) => self.stroke(points, paint),
            Form::Area(outlines) => self.closed(outlines, paint),
            Form::Rect((x0, y0), (x1, y1)) => {
                self.closed(&[vec![(*x0, *y0), (*x1, *y0), (*x1, *y1), (*x0, *y1)]], paint);
            }
            // One after another, so that both are seen where two overlap.
            Form::Circles(centres, radius) => {
                let corner =
                    |i: usize| (i as f64 / CORNERS as f64 * std::f64::consts::TAU).sin_cos();
                let unit: Vec<Point> = (0..CORNERS).map(corner).collect();
                for (x, y) in centres {
                    let ring = unit.iter().map(|(dx, dy)| (x + radius * dx, y + radius * dy));
                    self.closed(&[ring.collect()], paint);
                }
            }
        }
    }

    fn closed(&mut self, rings: &[Vec<Point>], paint: &Paint) {
        if let Some(colour) = paint.fill {
            self.fill(rings, colour, paint.opacity);
        }
        for ring in rings.iter().filter(|_| paint.stroke.is_some()) {
            if let [first, second, ..] = ring[..] {
                // From the middle of a side, where both ends meet without a corner.
                let middle = (0.5 * (first.0 + second.0), 0.5 * (first.1 + second.1));
                let rest = ring[1..].iter().chain([&first, &middle]);
                let around: Vec<Point> = [middle].iter().chain(rest).copied().collect();
                self.stroke(&around, paint);
            }
        }
    }

    fn stroke(&mut self, points: &[Point], paint: &Paint) {
        let Some(Stroke { colour, width, dashes }) = paint.stroke else { return };
        let lines = if dashes.is_empty() { vec![points.to_vec()] } else { pieces(points, dashes) };
        let rings: Vec<Vec<Point>> = lines.iter().flat_map(|line| thick(line, width)).collect();
        self.fill(&rings, colour, paint.opacity);
    }

    /// Fill areas: a pixel gets as much of a colour as the part of it inside. Each edge adds the
    /// signed area to its right, so that running sums along a row are the parts covered; areas
    /// that turn the same way cover what they share once.
    fn fill(&mut self, rings: &[Vec<Point>], colour: Colour, opacity: f64) {
        let all = || rings.iter().flatten();
        let range = |of: fn(&Point) -> f64, size: usize| {
            let low = all().map(of).fold(f64::INFINITY, f64::min) * PIXELS;
            let high = all().map(of).fold(f64::NEG_INFINITY, f64::max) * PIXELS;
            // The conversion turns negative numbers into 0.
            (low.floor() as usize, (high.ceil() as usize).min(size))
        };
        let (left, right) = range(|p| p.0, self.width);
        let (top, bottom) = range(|p| p.1, self.height);
        if left >= right || top >= bottom {
            return;
        }
        let mut cover = Cover::new(left, right - left, top, bottom - top);
        for ring in rings {
            for (a, b) in ring.iter().zip(ring.iter().cycle().skip(1)) {
                cover.edge((PIXELS * a.0, PIXELS * a.1), (PIXELS * b.0, PIXELS * b.1));
            }
        }
        let colour = colour.rgb().map(f32::from);
        for (i, row) in cover.sums.chunks(cover.wide + 2).enumerate() {
            let start = 3 * ((top + i) * self.width + left);
            let pixels = self.rgb[start..start + 3 * cover.wide].chunks_exact_mut(3);
            let mut sum = 0.0_f32;
            for (pixel, change) in pixels.zip(row) {
                sum += change;
                let part = sum.abs().min(1.0) * opacity as f32;
                // What rounding leaves in the sums is not painted.
                if part > 1e-3 {
                    for (old, new) in pixel.iter_mut().zip(colour) {
                        *old = (f32::from(*old) + part * (new - f32::from(*old))).round() as u8;
                    }
                }
            }
        }
    }

    /// As PNG: each row as its difference to the row above, compressed.
    fn encoded(&self) -> std::io::Result<Vec<u8>> {
        const DIFFERENCE_TO_ABOVE: u8 = 2;
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        let mut above = vec![0; 3 * self.width];
        for row in self.rgb.chunks(3 * self.width) {
            let change = row.iter().zip(&above).map(|(new, old)| new.wrapping_sub(*old));
            let line: Vec<u8> = [DIFFERENCE_TO_ABOVE].into_iter().chain(change).collect();
            packed.write_all(&line)?;
            above.copy_from_slice(row);
        }
        let mut head = Vec::new();
        for size in [self.width, self.height] {
            head.extend((size as u32).to_be_bytes());
        }
        // Eight bits, red, green and blue; the only compression and filters; no interlacing.
        head.extend([8, 2, 0, 0, 0]);
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, body) in [(b"IHDR", head), (b"IDAT", packed.finish()?), (b"IEND", Vec::new())] {
            let mut sum = Crc::new();
            sum.update(kind);
            sum.update(&body);
            out.extend((body.len() as u32).to_be_bytes());
            out.extend(kind);
            out.extend(&body);
            out.extend(sum.sum().to_be_bytes());
        }
        Ok(out)
    }
}

/// How much of each pixel of a rectangle is covered, as changes along its rows.
struct Cover {
    left: f64,
    wide: usize,
    top: usize,
    high: usize,
    /// Two more in each row, where changes beyond the right edge go.
    sums: Vec<f32>,
}

impl Cover {
    fn new(left: usize, wide: usize, top: usize, high: usize) -> Cover {
        Cover { left: left as f64, wide, top, high, sums: vec![0.0; (wide + 2) * high] }
    }

    fn edge(&mut self, a: Point, b: Point) {
        let (upper, lower, sign) = if a.1 < b.1 { (a, b, 1.0) } else { (b, a, -1.0) };
        let slope = (lower.0 - upper.0) / (lower.1 - upper.1);
        let first = (upper.1.floor() as usize).max(self.top);
        let last = (lower.1.ceil() as usize).min(self.top + self.high);
        for row in first..last {
            let from = upper.1.max(row as f64);
            let to = lower.1.min(row as f64 + 1.0);
            let at =
                |y: f64| (upper.0 + (y - upper.1) * slope - self.left).clamp(0.0, self.wide as f64);
            let (x0, x1) = (at(from).min(at(to)), at(from).max(at(to)));
            let start = (row - self.top) * (self.wide + 2);
            // The columns that the edge crosses share its height in this row.
            let (column, end) = (x0.floor() as usize, (x1.ceil() as usize).max(x0 as usize + 1));
            for c in column..end {
                let (p, q) = (x0.max(c as f64), x1.min(c as f64 + 1.0));
                let part = if x1 > x0 { (q - p) / (x1 - x0) } else { 1.0 };
                let (height, inside) = (sign * (to - from) * part, 0.5 * (p + q) - c as f64);
                self.sums[start + c] += (height * (1.0 - inside)) as f32;
                self.sums[start + c + 1] += (height * inside) as f32;
            }
        }
    }
}

/// The areas that a line of some width covers, all turning the same way: a rectangle for each
/// stretch, and for each bend the wedge that two of them leave open.
fn thick(line: &[Point], width: f64) -> Vec<Vec<Point>> {
    const FAN: usize = 4;
    let half = 0.5 * width;
    let mut out: Vec<Vec<Point>> = Vec::new();
    let mut last: Option<Point> = None;
    for (a, b) in line.iter().zip(line.iter().skip(1)) {
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        // Too short to have a direction.
        if length < 1e-9 {
            continue;
        }
        // Across the line.
        let n = (-half * (b.1 - a.1) / length, half * (b.0 - a.0) / length);
        if let Some(m) = last {
            let turn = m.0 * n.1 - m.1 * n.0;
            // The side where the bend opens.
            let side = -half * turn.signum();
            let spoke = |i: usize| {
                let t = i as f64 / FAN as f64;
                let (x, y) = (m.0 + t * (n.0 - m.0), m.1 + t * (n.1 - m.1));
                let size = x.hypot(y).max(1e-9);
                (a.0 + side * x / size, a.1 + side * y / size)
            };
            let mut wedge: Vec<Point> = (0..=FAN).map(spoke).chain([*a]).collect();
            if turn > 0.0 {
                wedge.reverse();
            }
            out.push(wedge);
        }
        out.push(vec![
            (a.0 + n.0, a.1 + n.1),
            (b.0 + n.0, b.1 + n.1),
            (b.0 - n.0, b.1 - n.1),
            (a.0 - n.0, a.1 - n.1),
        ]);
        last = Some(n);
    }
    out
}

/// The dashes of a line.
fn pieces(points: &[Point], dashes: &[f64]) -> Vec<Vec<Point>> {
    let (mut out, mut piece) = (Vec::new(), Vec::from_iter(points.first().copied()));
    let (mut phase, mut left) = (0, dashes[0]);
    for (a, b) in points.iter().zip(points.iter().skip(1)) {
        let mut a = *a;
        let mut length = (b.0 - a.0).hypot(b.1 - a.1);
        while length > left {
            let part = left / length;
            a = (a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1));
            length -= left;
            match phase % 2 {
                0 => {
                    piece.push(a);
                    out.push(std::mem::take(&mut piece));
                }
                _ => piece = vec![a],
            }
            phase += 1;
            left = dashes[phase % dashes.len()];
        }
        left -= length;
        if phase % 2 == 0 {
            piece.push(*b);
        }
    }
    out.push(piece);
    out.retain(|piece| piece.len() > 1);
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::super::colour::{INK, Look};
    use super::*;

    /// How much of the ink each pixel of a row has, in hundredths.
    fn row(canvas: &Canvas, row: usize) -> Vec<i32> {
        let pixels = canvas.rgb[3 * row * canvas.width..].chunks(3).take(canvas.width);
        let full = 255.0 - f64::from(INK.rgb()[0]);
        pixels.map(|p| ((255.0 - f64::from(p[0])) / full * 100.0).round() as i32).collect()
    }

    /// The part of a pixel inside an area is the part of it that is inked.
    #[test]
    fn pixels_are_covered_in_part() {
        let mut canvas = Canvas::new(4, 4);
        let square = vec![(0.25, 0.25), (1.5, 0.25), (1.5, 1.0), (0.25, 1.0)];
        canvas.fill(&[square], INK, 1.0);
        assert_eq!(
            [0, 1, 2].map(|r| row(&canvas, r)),
            [[25, 50, 50, 0], [50, 100, 100, 0], [0; 4]]
        );
        // A triangle over half of the picture, and beyond its edges.
        let mut canvas = Canvas::new(2, 2);
        canvas.fill(&[vec![(0.0, 0.0), (2.0, 2.0), (0.0, 2.0)]], INK, 1.0);
        assert_eq!([row(&canvas, 0), row(&canvas, 1)], [[50, 0], [100, 50]]);
        // A line there and back has no area.
        let mut canvas = Canvas::new(2, 2);
        canvas.fill(&[vec![(-1.0, -1.0), (3.0, 3.0)], vec![(0.5, 0.0)]], INK, 1.0);
        assert_eq!([row(&canvas, 0), row(&canvas, 1)], [[0, 0], [0, 0]]);
    }

    /// A line that bends covers each of its pixels once, also where its pieces share them.
    #[test]
    fn a_line_covers_its_width_once() {
        let mut canvas = Canvas::new(20, 20);
        let stroke = Some(Stroke { colour: INK, width: 1.0, dashes: &[] });
        let paint = Paint { fill: None, stroke, opacity: 0.5 };
        canvas.stroke(&[(1.0, 2.0), (6.0, 2.0), (6.0, 7.0)], &paint);
        let all: Vec<i32> = (0..20).flat_map(|r| row(&canvas, r)).collect();
        assert!(all.iter().all(|v| *v <= 51), "{all:?}");
        // Ten pixels long and two wide, twice; the outer corner is round.
        let ink = all.iter().sum::<i32>();
        assert!((1960..=2000).contains(&ink), "{ink}");
    }

    #[test]
    fn dashes_go_on_around_bends() {
        let line = [(0.0, 0.0), (5.0, 0.0), (5.0, 6.0)];
        let found = pieces(&line, Look::of(2).dashes);
        let wanted = [
            vec![(0.0, 0.0), (2.5, 0.0)],
            vec![(5.0, 0.0), (5.0, 2.5)],
            vec![(5.0, 5.0), (5.0, 6.0)],
        ];
        assert_eq!(found, wanted);
        assert_eq!(pieces(&line, &[20.0, 1.0]), [line.to_vec()]);
    }

    /// The file by the rules of PNG: its parts with their lengths, and rows that add up.
    #[test]
    fn what_is_written_is_what_was_drawn() {
        let mut scene = Scene::titled("A title", 60.0);
        scene.height = 20.0;
        scene.dots(vec![(30.0, 10.0)], 8.0, INK, 0.5);
        let bytes = png(&scene).unwrap();
        let (head, rest) = bytes.split_at(8 + 4 + 4 + 13 + 4);
        assert_eq!(&head[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(&head[8..29], b"\0\0\0\x0dIHDR\0\0\0\x78\0\0\0\x28\x08\x02\0\0\0");
        let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        assert_eq!(&rest[4..8], b"IDAT");
        assert_eq!(&rest[8 + length + 4..], b"\0\0\0\0IEND\xae\x42\x60\x82");
        let mut lines = Vec::new();
        ZlibDecoder::new(&rest[8..8 + length]).read_to_end(&mut lines).unwrap();
        assert_eq!(lines.len(), 40 * (1 + 3 * 120));
        let mut above = vec![0_u8; 3 * 120];
        let mut middle = Vec::new();
        for (i, line) in lines.chunks(1 + 3 * 120).enumerate() {
            assert_eq!(line[0], 2);
            above.iter_mut().zip(&line[1..]).for_each(|(a, v)| *a = a.wrapping_add(*v));
            if i == 20 {
                middle = above.clone();
            }
        }
        // White, and half of the ink in the middle of the dot.
        assert_eq!((middle[0], middle[3 * 60]), (255, 145));
        scene.height = 1e9;
        assert!(png(&scene).is_none());
    }
}
