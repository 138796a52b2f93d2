//! Box plots of several series side by side: median, quartiles, and whiskers at both extremes.

use super::axis::{Axis, quantile, short};
use super::colour::{INK, Look, SHADE, WHITE};
use super::font::width;
use super::frame::{Entry, Frame, Key, legend};
use super::scene::{Anchor, EDGE, Mark, WIDTH};
use super::{Labels, Scene};

/// Some values at one place of the x axis, such as the scores of five splits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// The place, such as the number of experts.
    pub x: f64,
    /// The values, in any order; those that are not finite are not drawn.
    pub values: Vec<f64>,
}

/// One method: a box at each place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// What it is called in the legend.
    pub name: String,
    /// Whether it is not in the paper but ours, and is hatched.
    pub ours: bool,
    /// Its boxes.
    pub groups: Vec<Group>,
}

/// Box plots, and perhaps a line that they are measured against.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoxPlot {
    /// The labels.
    pub labels: Labels,
    /// The methods; at each place their boxes stand side by side in this order.
    pub series: Vec<Series>,
    /// A line through the medians with a band between the quartiles. With values at one place
    /// only, it is horizontal.
    pub line: Option<Series>,
}

/// With fewer values than this there is no box, only dots.
const FEWEST_VALUES: usize = 3;
const PLOT: f64 = 320.0;
const LEFT: f64 = 78.0;

/// Draw box plots. Fewer than three values are dots. What lies far from most values is cut, and
/// an arrow with its value points to where it would be.
pub fn boxes(plot: &BoxPlot) -> Scene {
    let mut scene = Scene::titled(&plot.labels.title, WIDTH);
    let top = legend(&mut scene, LEFT, WIDTH - EDGE, &entries(plot)) + 16.0;
    let all = || plot.series.iter().chain(&plot.line).flat_map(|s| &s.groups);
    let mut places: Vec<f64> = all().map(|group| group.x).filter(|x| x.is_finite()).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let values = all().flat_map(|group| group.values.iter().copied());
    let count = places.len().max(1) as f64;
    let frame = Frame {
        x: Axis::exact(-0.5, count - 0.5, LEFT, WIDTH - EDGE),
        y: with_headroom(Axis::readable(values.clone(), top + PLOT, top), values),
    };
    let slot = frame.x.length() / count;
    for i in (1..places.len()).step_by(2) {
        let left = LEFT + slot * i as f64;
        scene.rect((left, top), (left + slot, top + PLOT), SHADE, 1.0);
    }
    frame.rows(&mut scene, &plot.labels.y);
    frame.base(&mut scene);
    for (i, place) in places.iter().enumerate() {
        frame.tick(&mut scene, frame.x.at(i as f64), &short_place(*place));
    }
    frame.name(&mut scene, &plot.labels.x);
    if let Some(series) = &plot.line {
        against(&mut scene, &frame, &places, series, &Look::of(plot.series.len()));
    }
    let methods = plot.series.len().max(1) as f64;
    let wide = (0.86 * slot / methods).min(46.0);
    for (s, series) in plot.series.iter().enumerate() {
        let shift = (s as f64 - 0.5 * (methods - 1.0)) * wide;
        for group in &series.groups {
            let Some(i) = places.iter().position(|x| *x == group.x) else { continue };
            let x = frame.x.at(i as f64) + shift;
            let place = Place { y: &frame.y, x, wide: 0.8 * wide, row: s % 2, look: Look::of(s) };
            let name = format!("{}, {} = {}", series.name, plot.labels.x, short_place(group.x));
            place.draw(&mut scene, &name, series.ours, &sorted(group));
        }
    }
    scene.closed(top + PLOT + 52.0, "")
}

/// Room for arrows and their numbers, at the ends where something is cut.
fn with_headroom(axis: Axis, values: impl Iterator<Item = f64> + Clone) -> Axis {
    let room = 0.14 * (axis.high - axis.low);
    let finite = || values.clone().filter(|v| v.is_finite());
    let above = if finite().any(|v| v > axis.high) { room } else { 0.0 };
    let below = if finite().any(|v| v < axis.low) { room } else { 0.0 };
    Axis { low: axis.low - below, high: axis.high + above, ..axis }
}

fn entries(plot: &BoxPlot) -> Vec<Entry> {
    let entry = |(i, s): (usize, &Series)| {
        let name = if s.ours { format!("{} (ours)", s.name) } else { s.name.clone() };
        (Look::of(i), Key::Box { hatched: s.ours }, name)
    };
    let mut out: Vec<Entry> = plot.series.iter().enumerate().map(entry).collect();
    let look = Look::of(plot.series.len());
    out.extend(plot.line.iter().map(|s| (look, Key::Band, s.name.clone())));
    out
}

/// A place of the axis is mostly a whole number.
fn short_place(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e6 { format!("{x}") } else { short(x) }
}

/// The finite values in order.
fn sorted(group: &Group) -> Vec<f64> {
    let mut values: Vec<f64> = group.values.iter().copied().filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn quartiles(sorted: &[f64]) -> [f64; 3] {
    [0.25, 0.5, 0.75].map(|p| quantile(sorted, p))
}

/// A line through the medians with a band between the quartiles.
fn against(scene: &mut Scene, frame: &Frame, places: &[f64], series: &Series, look: &Look) {
    let mut ends: Vec<(f64, [f64; 3])> = Vec::new();
    for group in &series.groups {
        let (values, place) = (sorted(group), places.iter().position(|x| *x == group.x));
        if let (Some(i), false) = (place, values.is_empty()) {
            ends.push((i as f64, quartiles(&values)));
        }
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(first), Some(last)) = (ends.first().copied(), ends.last().copied()) else { return };
    let summary = |e: &(f64, [f64; 3])| {
        let [low, middle, high] = e.1.map(short);
        format!("{middle} ({low} to {high})")
    };
    let values: Vec<String> = ends.iter().map(summary).collect();
    let title = format!("{}: median and quartiles {}", series.name, values.join(", "));
    // To both edges, so that a single value is a horizontal line.
    ends.insert(0, (frame.x.low, first.1));
    ends.push((frame.x.high, last.1));
    let x: Vec<f64> = ends.iter().map(|e| e.0).collect();
    let [low, middle, high] = [0, 1, 2].map(|i| ends.iter().map(|e| e.1[i]).collect::<Vec<f64>>());
    let outline = frame.between(&x, &low, &high);
    scene.mark(Mark::Band, &title, |scene| scene.area(outline, look.colour, 0.16));
    let points = x.iter().zip(&middle).map(|(x, y)| frame.at(*x, *y)).collect();
    scene.mark(Mark::Line, &title, |scene| scene.curve(points, 2.0, look));
}

/// Where one box stands, and how it looks.
struct Place<'a> {
    y: &'a Axis,
    x: f64,
    wide: f64,
    /// In which line numbers beside arrows stand: neighbours take turns.
    row: usize,
    look: Look,
}

impl Place<'_> {
    fn draw(&self, scene: &mut Scene, name: &str, ours: bool, values: &[f64]) {
        if values.len() < FEWEST_VALUES {
            for v in values {
                let at = (self.x, self.y.at(*v));
                scene.mark(Mark::Dot, &format!("{name}: {}", short(*v)), |scene| {
                    match self.y.holds(*v) {
                        true => scene.point(at, self.look.shape, 4.0, self.look.colour),
                        false => self.arrow(scene, *v),
                    }
                });
            }
            return;
        }
        let [first, middle, third] = quartiles(values).map(short);
        let all: Vec<String> = values.iter().map(|v| short(*v)).collect();
        let title = format!(
            "{name}: median {middle}, quartiles {first} to {third}, values {}",
            all.join(", ")
        );
        scene.mark(Mark::Box, &title, |scene| self.shapes(scene, ours, values));
    }

    fn shapes(&self, scene: &mut Scene, ours: bool, values: &[f64]) {
        let (y, half, colour) = (self.y, 0.5 * self.wide, self.look.colour);
        let across = |v: f64, half: f64| [(self.x - half, y.at(v)), (self.x + half, y.at(v))];
        let quartiles = quartiles(values);
        let [first, middle, third] = quartiles;
        if !quartiles.iter().any(|v| y.holds(*v)) {
            return self.arrow(scene, middle);
        }
        let ends = [values[0], values[values.len() - 1]];
        scene.line(&ends.map(|v| (self.x, y.at(v))), colour, 1.4);
        for end in ends {
            match y.holds(end) {
                true => scene.line(&across(end, 0.5 * half), colour, 1.4),
                false => self.arrow(scene, end),
            }
        }
        scene.framed(across(third, half)[0], across(first, half)[1], colour, ours);
        scene.line(&across(middle, half), INK, 2.0);
        scene.point((self.x, y.at(middle)), self.look.shape, 3.2, INK);
    }

    /// An arrow to a value that is not shown, with the value on a ground that keeps it readable.
    fn arrow(&self, scene: &mut Scene, value: f64) {
        let (tip, back) = (self.y.at(value), if value > self.y.high { 7.0 } else { -7.0 });
        let head = [(self.x - 4.5, tip + back), (self.x, tip), (self.x + 4.5, tip + back)];
        scene.line(&head, self.look.colour, 1.8);
        let (number, size) = (short(value), 10.0);
        let (x, y) = (self.x, tip + 2.0 * back + 4.0 + back.signum() * 12.0 * self.row as f64);
        let half = 0.5 * width(&number, size, false);
        scene.rect((x - half, y - 9.0), (x + half, y + 2.0), WHITE, 0.85);
        scene.text((x, y), &number, size, Anchor::Middle, INK);
    }
}
