//! A plot: two axes with numbers and labels, and curves, bands and legends in their place.

use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::Band;
use super::ink::{
    FAINT, GREY, INK, Look, Mark, TEXT, WHITE, area, curve, cut, line, mark, point, rect, text,
    upright, width,
};
use super::scale::{Scale, short};

/// The room about a figure.
pub(super) const EDGE: f64 = 16.0;

/// Two axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) x: Scale,
    /// From the lower end of the page's stretch to the upper.
    pub(super) y: Scale,
}

impl Frame {
    /// Where a point stands, at the nearest edge if it lies outside.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// A grid, with numbers at the left.
    pub(super) fn rows(&self, scene: &mut Scene, label: &str) {
        let parts = (self.y.length() / 40.0).clamp(3.0, 7.0);
        // One number alone gives no scale.
        let tries = [parts, parts + 2.0].map(|parts| self.y.ticks(parts));
        let ticks = tries.iter().find(|ticks| ticks.len() > 1).unwrap_or(&tries[0]).clone();
        let widest = ticks.iter().map(|t| width(&t.1, 11)).fold(0.0, f64::max);
        for (value, number) in ticks {
            let y = self.y.at(value);
            scene.add(line((self.x.from, y), (self.x.to, y), FAINT, 1.0));
            scene.add(text((self.x.from - 7.0, y + 4.0), &number, 11, TextAnchor::End, INK));
        }
        let middle = 0.5 * (self.y.from + self.y.to);
        let place = (self.x.from - widest - 16.0).max(11.0);
        scene.add(upright((place, middle), &cut(label, TEXT, self.y.length() + 20.0)));
    }

    /// The lower axis with its numbers.
    pub(super) fn foot(&self, scene: &mut Scene, label: &str) {
        self.base(scene);
        let room = self.x.length();
        let fits = |ticks: &Vec<(f64, String)>| {
            ticks.iter().map(|t| width(&t.1, 11) + 12.0).sum::<f64>() <= room
        };
        let tries = [8.0, 5.0, 3.0, 2.0].map(|parts| self.x.ticks(parts));
        for (value, number) in tries.iter().find(|t| fits(t)).unwrap_or(&tries[3]) {
            self.tick(scene, self.x.at(*value), number);
        }
        self.name(scene, label);
    }

    /// The lower line alone.
    pub(super) fn base(&self, scene: &mut Scene) {
        scene.add(line((self.x.from, self.y.from), (self.x.to, self.y.from), INK, 1.0));
    }

    /// One number at the lower axis.
    pub(super) fn tick(&self, scene: &mut Scene, x: f64, number: &str) {
        let y = self.y.from;
        scene.add(line((x, y), (x, y + 4.0), INK, 1.0));
        scene.add(text((x, y + 17.0), number, 11, TextAnchor::Middle, INK));
    }

    /// What the lower axis shows.
    pub(super) fn name(&self, scene: &mut Scene, label: &str) {
        let at = (0.5 * (self.x.from + self.x.to), self.y.from + 34.0);
        let label = cut(label, TEXT, self.x.length() + 20.0);
        scene.add(text(at, &label, TEXT, TextAnchor::Middle, INK));
    }

    /// A curve, in pieces where it leaves the plot.
    pub(super) fn curve(&self, x: &[f64], y: &[f64], look: &Look, width: f64) -> Vec<Primitive> {
        let (mut out, mut own) = (Vec::new(), Vec::new());
        let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
        for (i, (x, y)) in points.iter().enumerate() {
            let shown = y.is_finite() && self.y.holds(*y);
            // The nearest point outside is drawn at the edge, so that no gap is left before it.
            let near = |j: usize| points.get(j).is_some_and(|p| self.y.holds(p.1));
            if shown || (y.is_finite() && (near(i + 1) || (i > 0 && near(i - 1)))) {
                own.push(self.at(*x, *y));
            } else if !own.is_empty() {
                out.push(std::mem::take(&mut own));
            }
        }
        out.push(own);
        out.retain(|piece| piece.len() > 1);
        out.iter().map(|piece| curve(piece, look.colour(), width, look.dashes)).collect()
    }

    /// The area between the ends of a band.
    pub(super) fn between(&self, x: &[f64], low: &[f64], high: &[f64]) -> Vec<(f64, f64)> {
        let finite = |v: &[f64]| -> Vec<(f64, f64)> {
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
                let shape = area(&outline, Look::of(i).colour(), 0.18);
                let title = format!("{}: {inside}, {}", band.name, span(&band.low, &band.high));
                mark(scene, Mark::Band, &title, vec![shape]);
            }
        }
        for (i, band) in bands.iter().enumerate() {
            let title = format!("{}: {}", band.name, span(&band.centre, &band.centre));
            mark(scene, Mark::Line, &title, self.curve(x, &band.centre, &Look::of(i), 2.0));
        }
    }

    /// Strips that say the values of all bands above them; the last things to draw.
    pub(super) fn strips(&self, scene: &mut Scene, name: &str, x: &[f64], bands: &[Band]) {
        const MOST: usize = 40;
        let step = x.len().div_ceil(MOST).max(1);
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
            let (left, right) = (middle - half, middle + half);
            let from = (left.max(self.x.from), self.y.from);
            let none = kuva::render::color::Color::None;
            let shape = rect(from, (right.min(self.x.to), self.y.to), none, None, None);
            mark(scene, Mark::Strip, &title, vec![shape]);
        }
    }
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
    /// A box; the second kind is hatched.
    Box { hatched: bool },
    /// A dot of the data.
    Data,
}

/// Entries of a legend: a look, how it is shown, a name.
pub(super) type Entry = (Look, Key, String);

/// The height of a line of a legend.
const LEGEND: f64 = 18.0;

/// Rows of a legend that is `room` wide: entries with the places where they begin.
fn arranged(entries: &[Entry], room: f64) -> Vec<Vec<(f64, Entry)>> {
    let mut rows: Vec<Vec<(f64, Entry)>> = Vec::new();
    let mut x = f64::INFINITY;
    for (look, key, name) in entries {
        let name = cut(name, 11, 0.45 * room);
        let wide = 44.0 + width(&name, 11);
        if x + wide > room {
            rows.push(Vec::new());
            x = 0.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, (*look, *key, name)));
        }
        x += wide;
    }
    rows
}

/// The height that a legend takes.
pub(super) fn legend_height(entries: &[Entry], room: f64) -> f64 {
    LEGEND * arranged(entries, room).len() as f64
}

/// Draw a legend, its upper left corner at a point.
pub(super) fn legend(scene: &mut Scene, at: (f64, f64), room: f64, entries: &[Entry]) {
    for (r, row) in arranged(entries, room).into_iter().enumerate() {
        let y = at.1 + LEGEND * (r as f64 + 0.5);
        for (x, (look, key, name)) in row {
            let x = at.0 + x;
            let (from, to) = ((x, y - 5.0), (x + 26.0, y + 5.0));
            match key {
                Key::Line | Key::Marked => {}
                Key::Band => scene.add(rect(from, to, look.colour(), None, Some(0.18))),
                Key::Box { hatched } => {
                    scene.add(rect(from, to, look.tint(0.6), Some(look.colour()), None));
                    if hatched {
                        hatch(from, to, &look).into_iter().for_each(|l| scene.add(l));
                    }
                    scene.add(point((x + 13.0, y), look.shape, 3.2, INK));
                }
                Key::Data => scene.add(point((x + 13.0, y), look.shape, 2.4, INK)),
            }
            if matches!(key, Key::Line | Key::Marked | Key::Band) {
                let ends = [(x, y), (x + 26.0, y)];
                scene.add(curve(&ends, look.colour(), 2.0, look.dashes));
            }
            if key == Key::Marked {
                scene.add(point((x + 13.0, y), look.shape, 4.0, INK));
            }
            scene.add(text((x + 32.0, y + 4.0), &name, 11, TextAnchor::Start, INK));
        }
    }
}

/// Slanting lines within a rectangle.
pub(super) fn hatch(from: (f64, f64), to: (f64, f64), look: &Look) -> Vec<Primitive> {
    const STEP: f64 = 5.0;
    let (wide, high) = (to.0 - from.0, (to.1 - from.1).abs());
    let top = from.1.min(to.1);
    let count = ((wide + high) / STEP).floor().clamp(0.0, 400.0) as usize;
    let one = |i: usize| {
        // The line x + y = c, measured from the upper left corner.
        let c = STEP * (i as f64 + 0.5);
        let ((x0, y0), (x1, y1)) =
            ((c.min(wide), (c - wide).max(0.0)), ((c - high).max(0.0), c.min(high)));
        line((from.0 + x0, top + y0), (from.0 + x1, top + y1), look.colour(), 0.8)
    };
    (0..count).map(one).collect()
}

/// A line of text at the foot of a figure.
pub(super) fn note(scene: &mut Scene, content: &str) {
    let (at, room) = ((EDGE, scene.height - 10.0), scene.width - 2.0 * EDGE);
    scene.add(text(at, &cut(content, 11, room * 1.08), 11, TextAnchor::Start, GREY));
}

/// White behind what must be read.
pub(super) fn blank(from: (f64, f64), to: (f64, f64)) -> Primitive {
    rect(from, to, WHITE, None, Some(0.85))
}
