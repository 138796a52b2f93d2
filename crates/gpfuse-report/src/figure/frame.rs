//! A plot: two axes with numbers and labels, and curves, bands and legends in their place.

use gpfuse::infer::spread;

use super::Band;
use super::axis::{Axis, Tick, short};
use super::colour::{Colour, FAINT, INK, Look};
use super::font::{cut, width};
use super::scene::{Anchor, Mark, Point, SMALL_TEXT, Scene, TEXT};

/// Two axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) x: Axis,
    /// From the lower end of the page's stretch to the upper.
    pub(super) y: Axis,
}

/// The most strips of a plot that say the values above them.
const STRIPS: usize = 40;

/// The most rows of data that are dots: more tell the eye nothing, and make a page heavy.
const MOST_DOTS: usize = 2000;

impl Frame {
    /// Where a point stands, at the nearest edge if it lies outside.
    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        (self.x.at(x), self.y.at(y))
    }

    /// Whether a point is shown.
    pub(super) fn holds(&self, point: &(f64, f64)) -> bool {
        self.x.holds(point.0) && self.y.holds(point.1)
    }

    /// A grid, with numbers at the left.
    pub(super) fn rows(&self, scene: &mut Scene, label: &str) {
        let parts = (self.y.length() / 40.0).clamp(3.0, 7.0);
        // One number alone gives no scale.
        let ticks = self.y.ticks(&[parts, parts + 2.0], |ticks| ticks.len() > 1);
        let widest = ticks.iter().map(|t| width(&t.1, SMALL_TEXT, false)).fold(0.0, f64::max);
        for (value, number) in ticks {
            let y = self.y.at(value);
            scene.line(&[(self.x.from, y), (self.x.to, y)], FAINT, 1.0);
            scene.text((self.x.from - 7.0, y + 4.0), &number, SMALL_TEXT, Anchor::End, INK);
        }
        let place = (self.x.from - widest - 18.0).max(11.0);
        let label = cut(label, TEXT, false, self.y.length() + 20.0);
        scene.upright((place, self.y.middle()), &label);
    }

    /// The lower axis with its numbers.
    pub(super) fn foot(&self, scene: &mut Scene, label: &str) {
        self.base(scene);
        let fits = |ticks: &[Tick]| {
            let wide = ticks.iter().map(|t| width(&t.1, SMALL_TEXT, false) + 14.0).sum::<f64>();
            wide <= self.x.length()
        };
        for (value, number) in self.x.ticks(&[8.0, 5.0, 3.0, 2.0], fits) {
            self.tick(scene, self.x.at(value), &number);
        }
        self.name(scene, label);
    }

    /// The lower line alone.
    pub(super) fn base(&self, scene: &mut Scene) {
        scene.line(&[(self.x.from, self.y.from), (self.x.to, self.y.from)], INK, 1.0);
    }

    /// One number at the lower axis.
    pub(super) fn tick(&self, scene: &mut Scene, x: f64, number: &str) {
        let y = self.y.from;
        scene.line(&[(x, y), (x, y + 4.0)], INK, 1.0);
        scene.text((x, y + 17.0), number, SMALL_TEXT, Anchor::Middle, INK);
    }

    /// What the lower axis shows.
    pub(super) fn name(&self, scene: &mut Scene, label: &str) {
        let label = cut(label, TEXT, false, self.x.length() + 20.0);
        scene.text((self.x.middle(), self.y.from + 34.0), &label, TEXT, Anchor::Middle, INK);
    }

    /// A curve, in pieces where it leaves the plot.
    pub(super) fn curve(&self, scene: &mut Scene, x: &[f64], y: &[f64], look: &Look, width: f64) {
        let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
        let holds = |i: usize| points.get(i).is_some_and(|p| self.y.holds(p.1));
        // The nearest point outside is drawn at the edge, so that no gap is left before it.
        let drawn = |i: usize| {
            points[i].1.is_finite() && (holds(i) || holds(i + 1) || (i > 0 && holds(i - 1)))
        };
        let places: Vec<usize> = (0..points.len()).filter(|i| drawn(*i)).collect();
        for piece in places.chunk_by(|a, b| a + 1 == *b) {
            let piece = piece.iter().map(|i| self.at(points[*i].0, points[*i].1));
            scene.curve(piece.collect(), width, look);
        }
    }

    /// The outline of the area between the ends of a band.
    pub(super) fn between(&self, x: &[f64], low: &[f64], high: &[f64]) -> Vec<Point> {
        let finite = |v: &[f64]| -> Vec<Point> {
            let points = x.iter().zip(v).filter(|p| p.1.is_finite());
            points.map(|(x, y)| self.at(*x, *y)).collect()
        };
        let mut out = finite(high);
        out.extend(finite(low).into_iter().rev());
        out
    }

    /// Bands as marks, and over all of them their curves; `inside` is what the bands hold.
    pub(super) fn bands(&self, scene: &mut Scene, x: &[f64], bands: &[Band], inside: &str) {
        for (i, band) in bands.iter().enumerate() {
            let outline = self.between(x, &band.low, &band.high);
            if outline.len() > 2 {
                let title = format!("{}: {inside}, {}", band.name, span(&band.low, &band.high));
                let draw = |scene: &mut Scene| scene.area(outline, Look::of(i).colour, 0.18);
                scene.mark(Mark::Band, &title, draw);
            }
        }
        for (i, band) in bands.iter().enumerate() {
            let title = format!("{}: {}", band.name, span(&band.centre, &band.centre));
            scene.mark(Mark::Line, &title, |scene| {
                self.curve(scene, x, &band.centre, &Look::of(i), 2.0);
            });
        }
    }

    /// Strips that say the values of all bands above them; the last things to draw.
    pub(super) fn strips(&self, scene: &mut Scene, name: &str, x: &[f64], bands: &[Band]) {
        let step = x.len().div_ceil(STRIPS).max(1);
        let half = 0.5 * self.x.length() / (x.len().max(2) - 1) as f64 * step as f64;
        for i in (0..x.len()).step_by(step) {
            let value = |band: &Band| {
                let [c, l, h] = [&band.centre, &band.low, &band.high].map(|v| v.get(i).copied());
                let (c, l, h) = (c?, l?, h?);
                Some(format!("{} {} ({} to {})", band.name, short(c), short(l), short(h)))
            };
            let values: Vec<String> = bands.iter().filter_map(value).collect();
            let title = format!("{name} = {}: {}", short(x[i]), values.join("; "));
            let middle = self.x.at(x[i]);
            let from = ((middle - half).max(self.x.from), self.y.from);
            let to = ((middle + half).min(self.x.to), self.y.to);
            scene.mark(Mark::Strip, &title, |scene| scene.unseen(from, to));
        }
    }

    /// Rows of data as dots.
    pub(super) fn dots(
        &self,
        scene: &mut Scene,
        data: &[(f64, f64)],
        radius: f64,
        colour: Colour,
        opacity: f64,
    ) {
        let some = spread(data.len(), MOST_DOTS).into_iter().map(|i| data[i]);
        let shown = some.filter(|d| self.holds(d)).map(|d| self.at(d.0, d.1)).collect();
        let title = format!("{} rows of data{}", data.len(), drawn(data.len()));
        scene.mark(Mark::Dot, &title, |scene| scene.dots(shown, radius, colour, opacity));
    }
}

/// How many of some rows are dots, where not all are.
pub(super) fn drawn(rows: usize) -> String {
    if rows > MOST_DOTS { format!(", of which {MOST_DOTS} are drawn") } else { String::new() }
}

/// The least and the largest of two lists, in words.
fn span(low: &[f64], high: &[f64]) -> String {
    let low = low.iter().copied().fold(f64::INFINITY, f64::min);
    let high = high.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { format!("{} to {}", short(low), short(high)) } else { "no values".into() }
}

/// How an entry of a legend is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A piece of its line.
    Line,
    /// The same with a point on it.
    Marked,
    /// Its line on its band.
    Band,
    /// A box, which may be hatched.
    Box { hatched: bool },
    /// A dot of the data.
    Data,
}

/// An entry of a legend: a look, how it is shown, a name.
pub(super) type Entry = (Look, Key, String);

/// An entry of the same kind for each name.
pub(super) fn entries<'a>(key: Key, names: impl Iterator<Item = &'a String>) -> Vec<Entry> {
    names.enumerate().map(|(i, name)| (Look::of(i), key, name.clone())).collect()
}

/// Draw a legend below the title, `left` of which its entries begin; where it ends.
pub(super) fn legend(scene: &mut Scene, left: f64, right: f64, entries: &[Entry]) -> f64 {
    const LINE: f64 = 18.0;
    let room = right - left;
    let (mut x, mut y) = (f64::INFINITY, 31.0);
    for (look, key, name) in entries {
        let name = cut(name, SMALL_TEXT, false, 0.45 * room);
        let wide = 52.0 + width(&name, SMALL_TEXT, false);
        if x + wide > right {
            (x, y) = (left, y + LINE);
        }
        key.draw(scene, (x, y), look);
        scene.text((x + 32.0, y + 4.0), &name, SMALL_TEXT, Anchor::Start, INK);
        x += wide;
    }
    y + 0.5 * LINE
}

impl Key {
    fn draw(self, scene: &mut Scene, (x, y): Point, look: &Look) {
        let (from, to, middle) = ((x, y - 5.0), (x + 26.0, y + 5.0), (x + 13.0, y));
        match self {
            Key::Line | Key::Marked => {}
            Key::Band => scene.rect(from, to, look.colour, 0.18),
            Key::Box { hatched } => {
                scene.framed(from, to, look.colour, hatched);
                scene.point(middle, look.shape, 3.2, INK);
            }
            Key::Data => scene.point(middle, look.shape, 2.4, INK),
        }
        if matches!(self, Key::Line | Key::Marked | Key::Band) {
            scene.curve(vec![(x, y), (x + 26.0, y)], 2.0, look);
        }
        if self == Key::Marked {
            scene.point(middle, look.shape, 4.0, INK);
        }
    }
}
