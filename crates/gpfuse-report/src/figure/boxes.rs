//! Box plots of several series side by side: median, quartiles, and whiskers at both extremes.

use kuva::render::render::{Primitive, TextAnchor};

use super::frame::{EDGE, Entry, Frame, Key, blank, hatch, legend, legend_height};
use super::ink::{INK, Look, Mark, area, curve, cut, heading, line, mark, page, point, rect, text};
use super::scale::{Scale, quantile, short};
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
const FEWEST: usize = 3;
const WIDTH: f64 = 820.0;
const PLOT: f64 = 320.0;
const LEFT: f64 = 78.0;

/// Draw box plots. Fewer than three values are dots. What lies far from most values is cut, and
/// an arrow with its value points to where it would be.
pub fn boxes(plot: &BoxPlot) -> Scene {
    let all = || plot.series.iter().chain(&plot.line);
    let mut places: Vec<f64> = all().flat_map(|s| s.groups.iter().map(|g| g.x)).collect();
    places.retain(|x| x.is_finite());
    places.sort_by(f64::total_cmp);
    places.dedup();
    let entries = entries(plot);
    let room = WIDTH - LEFT - EDGE;
    let top = 44.0 + legend_height(&entries, room) + 12.0;
    let values = all().flat_map(|s| s.groups.iter().flat_map(|g| g.values.iter().copied()));
    let count = places.len().max(1) as f64;
    let frame = Frame {
        x: Scale::exact(-0.5, count - 0.5, LEFT, WIDTH - EDGE),
        y: with_headroom(Scale::readable(values.clone(), top + PLOT, top), values),
    };
    let mut scene = page(WIDTH, top + PLOT + 52.0);
    scene.add(heading((EDGE, 26.0), &cut(&plot.labels.title, 15, WIDTH - 2.0 * EDGE)));
    legend(&mut scene, (LEFT, 44.0), room, &entries);
    let slot = frame.x.length() / count;
    for i in (1..places.len()).step_by(2) {
        let left = LEFT + slot * i as f64;
        let shade = kuva::render::color::Color::Rgb(0xf6, 0xf6, 0xf6);
        scene.add(rect((left, top), (left + slot, top + PLOT), shade, None, None));
    }
    frame.rows(&mut scene, &plot.labels.y);
    frame.base(&mut scene);
    for (i, place) in places.iter().enumerate() {
        frame.tick(&mut scene, frame.x.at(i as f64), &short_place(*place));
    }
    frame.name(&mut scene, &plot.labels.x);
    let name = plot.labels.x.as_str();
    if let Some(series) = &plot.line {
        let look = Look::of(plot.series.len());
        against(&mut scene, &frame, &places, series, &look);
    }
    let wide = (0.86 * slot / plot.series.len().max(1) as f64).min(46.0);
    for (s, series) in plot.series.iter().enumerate() {
        let shift = (s as f64 - 0.5 * (plot.series.len() as f64 - 1.0)) * wide;
        for group in &series.groups {
            let Some(i) = places.iter().position(|x| *x == group.x) else { continue };
            let place = Place {
                frame: &frame,
                x: frame.x.at(i as f64) + shift,
                wide: 0.8 * wide,
                row: s % 2,
            };
            place.draw(&mut scene, series, &Look::of(s), group, name);
        }
    }
    scene
}

/// Room for arrows and their numbers, at the ends where something is cut.
fn with_headroom(scale: Scale, values: impl Iterator<Item = f64> + Clone) -> Scale {
    let room = 0.14 * (scale.high - scale.low);
    let finite = || values.clone().filter(|v| v.is_finite());
    let above = if finite().any(|v| v > scale.high) { room } else { 0.0 };
    let below = if finite().any(|v| v < scale.low) { room } else { 0.0 };
    Scale { low: scale.low - below, high: scale.high + above, ..scale }
}

fn entries(plot: &BoxPlot) -> Vec<Entry> {
    let own = |(i, s): (usize, &Series)| {
        let name = if s.ours { format!("{} (ours)", s.name) } else { s.name.clone() };
        (Look::of(i), Key::Box { hatched: s.ours }, name)
    };
    let mut out: Vec<Entry> = plot.series.iter().enumerate().map(own).collect();
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

/// A line through the medians with a band between the quartiles.
fn against(scene: &mut Scene, frame: &Frame, places: &[f64], series: &Series, look: &Look) {
    let mut ends: Vec<(f64, [f64; 3])> = Vec::new();
    for group in &series.groups {
        let (values, place) = (sorted(group), places.iter().position(|x| *x == group.x));
        if let (Some(i), false) = (place, values.is_empty()) {
            ends.push((i as f64, [0.25, 0.5, 0.75].map(|p| quantile(&values, p))));
        }
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(first), Some(last)) = (ends.first().copied(), ends.last().copied()) else { return };
    // To both edges, so that a single value is a horizontal line.
    ends.insert(0, (frame.x.low, first.1));
    ends.push((frame.x.high, last.1));
    let x: Vec<f64> = ends.iter().map(|e| e.0).collect();
    let [low, middle, high] = [0, 1, 2].map(|i| ends.iter().map(|e| e.1[i]).collect::<Vec<f64>>());
    let outline = frame.between(&x, &low, &high);
    let said = |e: &(f64, [f64; 3])| {
        let [low, middle, high] = e.1.map(short);
        format!("{middle} ({low} to {high})")
    };
    let values: Vec<String> = ends[1..ends.len() - 1].iter().map(said).collect();
    let title = format!("{}: median and quartiles {}", series.name, values.join(", "));
    mark(scene, Mark::Band, &title, vec![area(&outline, look.colour(), 0.16)]);
    let points: Vec<(f64, f64)> = x.iter().zip(&middle).map(|(x, y)| frame.at(*x, *y)).collect();
    mark(scene, Mark::Line, &title, vec![curve(&points, look.colour(), 2.0, look.dashes)]);
}

/// Where one box stands.
struct Place<'a> {
    frame: &'a Frame,
    x: f64,
    wide: f64,
    /// In which line numbers beside arrows stand: neighbours take turns.
    row: usize,
}

impl Place<'_> {
    fn draw(&self, scene: &mut Scene, series: &Series, look: &Look, group: &Group, name: &str) {
        let values = sorted(group);
        let Some(middle) = (!values.is_empty()).then(|| quantile(&values, 0.5)) else { return };
        let all: Vec<String> = values.iter().map(|v| short(*v)).collect();
        let at = format!("{}, {name} = {}", series.name, short_place(group.x));
        if values.len() < FEWEST {
            for v in &values {
                let mut shapes = self.beyond(*v, look);
                if shapes.is_empty() {
                    shapes.push(point(
                        (self.x, self.frame.y.at(*v)),
                        look.shape,
                        4.0,
                        look.colour(),
                    ));
                }
                mark(scene, Mark::Dot, &format!("{at}: {}", short(*v)), shapes);
            }
            return;
        }
        let (first, third) = (quantile(&values, 0.25), quantile(&values, 0.75));
        let title = format!(
            "{at}: median {}, quartiles {} to {}, values {}",
            short(middle),
            short(first),
            short(third),
            all.join(", ")
        );
        mark(scene, Mark::Box, &title, self.shapes(&values, [first, middle, third], series, look));
    }

    fn shapes(
        &self,
        values: &[f64],
        [first, middle, third]: [f64; 3],
        series: &Series,
        look: &Look,
    ) -> Vec<Primitive> {
        let (y, half) = (&self.frame.y, 0.5 * self.wide);
        if !y.holds(first) && !y.holds(third) && !y.holds(middle) {
            return self.beyond(middle, look);
        }
        let (low, high) = (values[0], values[values.len() - 1]);
        let mut out = vec![line((self.x, y.at(low)), (self.x, y.at(high)), look.colour(), 1.4)];
        for end in [low, high] {
            let cut = self.beyond(end, look);
            if cut.is_empty() {
                let (left, right) = (self.x - 0.5 * half, self.x + 0.5 * half);
                out.push(line((left, y.at(end)), (right, y.at(end)), look.colour(), 1.4));
            }
            out.extend(cut);
        }
        let (from, to) = ((self.x - half, y.at(third)), (self.x + half, y.at(first)));
        out.push(rect(from, to, look.tint(0.6), Some(look.colour()), None));
        if series.ours {
            out.extend(hatch(from, to, look));
        }
        let at = y.at(middle);
        out.push(line((self.x - half, at), (self.x + half, at), INK, 2.0));
        out.push(point((self.x, at), look.shape, 3.2, INK));
        out
    }

    /// An arrow to a value that is not shown, with the value; nothing where it is.
    fn beyond(&self, value: f64, look: &Look) -> Vec<Primitive> {
        let y = &self.frame.y;
        if y.holds(value) {
            return Vec::new();
        }
        let (tip, back) = (y.at(value), if value > y.high { 7.0 } else { -7.0 });
        let head = [(self.x - 4.5, tip + back), (self.x, tip), (self.x + 4.5, tip + back)];
        let number = short(value);
        let down = back.signum() * 12.0 * self.row as f64;
        let at = (self.x, tip + 2.0 * back + 4.0 + down);
        let half = 0.5 * super::ink::width(&number, 10);
        vec![
            curve(&head, look.colour(), 1.8, &[]),
            blank((at.0 - half, at.1 - 9.0), (at.0 + half, at.1 + 2.0)),
            text(at, &number, 10, TextAnchor::Middle, INK),
        ]
    }
}
