//! What was observed against what was predicted, and calibration by the level of the prediction.

use super::axis::{Axis, short};
use super::calibration::{TWO_SIDED, covered, stray};
use super::colour::{GREY, INK, Look};
use super::frame::{Frame, Key, drawn, entries, legend};
use super::scene::{EDGE, Mark, WIDTH};
use super::{Band, Scene};
use crate::page::number::count;

/// Targets and what was predicted of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcomes {
    /// What the predictions are called, such as by a model's name.
    pub of: String,
    /// The name of the target.
    pub target: String,
    /// The targets.
    pub observed: Vec<f64>,
    /// The predictive means.
    pub mean: Vec<f64>,
    /// The probability integral transforms, from 0 to 1.
    pub pit: Vec<f64>,
}

/// The levels whose coverage is shown.
const COVERED: [f64; 3] = [0.5, 0.8, 0.95];
/// Rows of a group, at least, and the most groups.
const GROUP: (usize, usize) = (40, 8);
const LEFT: f64 = 78.0;
const PANEL: f64 = 312.0;
const GAP: f64 = 86.0;
const TOP: f64 = 62.0;
const PLOT: f64 = 290.0;

/// Rows of about the same prediction.
struct Group {
    /// Their mean prediction.
    at: f64,
    residuals: Vec<f64>,
    pit: Vec<f64>,
}

impl Outcomes {
    /// The rows in groups of about equally many, from the lowest predictions to the highest.
    fn groups(&self) -> Vec<Group> {
        let all = self.observed.iter().zip(&self.mean).zip(&self.pit);
        let mut rows: Vec<[f64; 3]> = all.map(|((y, mean), pit)| [*mean, y - mean, *pit]).collect();
        rows.retain(|row| row.iter().all(|v| v.is_finite()));
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let count = (rows.len() / GROUP.0).clamp(1, GROUP.1);
        let part = |g: usize| &rows[g * rows.len() / count..(g + 1) * rows.len() / count];
        let group = |rows: &[[f64; 3]]| Group {
            at: rows.iter().map(|row| row[0]).sum::<f64>() / rows.len() as f64,
            residuals: rows.iter().map(|row| row[1]).collect(),
            pit: rows.iter().map(|row| row[2]).collect(),
        };
        (0..count).map(part).filter(|rows| !rows.is_empty()).map(group).collect()
    }

    /// Whether there are enough rows for calibration by level.
    pub fn has_levels(&self) -> bool {
        self.groups().len() > 1
    }

    fn rows(&self) -> String {
        count(self.observed.len(), "row")
    }
}

/// A panel at the left or at the right.
fn panel(right: bool) -> (f64, f64) {
    let left = LEFT + if right { PANEL + GAP } else { 0.0 };
    (left, left + PANEL)
}

/// A curve through the groups with the ends of an interval about it.
fn band(name: &str, of: impl Iterator<Item = (f64, f64)>) -> Band {
    let mut band = Band { name: name.into(), ..Band::default() };
    for (centre, half) in of {
        band.centre.push(centre);
        band.low.push(centre - half);
        band.high.push(centre + half);
    }
    band
}

/// Draw targets against predictions at the left; at the right what is left of them, with the mean of rows of about
/// the same prediction and 1.96 of its standard errors about it.
pub fn observed(plot: &Outcomes) -> Scene {
    let title = format!("{} against what was observed", plot.of);
    let mut scene = Scene::titled(&title, WIDTH);
    // Fainter where there are many.
    let opacity = (30.0 / (plot.observed.len() as f64).sqrt()).clamp(0.25, 0.75);
    let predicted = format!("predicted {}", plot.target);
    let both = plot.observed.iter().chain(&plot.mean).copied();
    let (from, to) = panel(false);
    let frame = Frame { x: Axis::all(both.clone(), from, to), y: Axis::all(both, TOP + PLOT, TOP) };
    frame.rows(&mut scene, &format!("observed {}", plot.target));
    let ends = (frame.x.low, frame.x.high);
    scene.dashed(frame.at(ends.0, ends.0), frame.at(ends.1, ends.1));
    let pairs = |of: &[f64]| -> Vec<(f64, f64)> {
        plot.mean.iter().copied().zip(of.iter().copied()).collect()
    };
    frame.dots(&mut scene, &pairs(&plot.observed), 1.9, INK, opacity);
    frame.foot(&mut scene, &predicted);

    let residuals: Vec<f64> = plot.observed.iter().zip(&plot.mean).map(|(y, m)| y - m).collect();
    let (from, to) = panel(true);
    let y = Axis::all(residuals.iter().copied().chain([0.0]), TOP + PLOT, TOP);
    let frame = Frame { x: Axis { from, to, ..frame.x }, y };
    frame.rows(&mut scene, "observed \u{2212} predicted");
    frame.dots(&mut scene, &pairs(&residuals), 1.9, INK, opacity);
    scene.dashed(frame.at(ends.0, 0.0), frame.at(ends.1, 0.0));
    let groups = plot.groups();
    let mean = band(
        "mean by level",
        groups.iter().map(|group| {
            let n = group.residuals.len() as f64;
            let mean = group.residuals.iter().sum::<f64>() / n;
            let square = group.residuals.iter().map(|r| (r - mean).powi(2)).sum::<f64>();
            (mean, TWO_SIDED * (square / (n - 1.0).max(1.0) / n).sqrt())
        }),
    );
    let x: Vec<f64> = groups.iter().map(|group| group.at).collect();
    let names = [mean.name.clone()];
    legend(&mut scene, from, WIDTH - EDGE, &entries(Key::Band, names.iter()));
    frame.bands(&mut scene, &x, &[mean], "95 % interval");
    frame.foot(&mut scene, &predicted);
    let rows = plot.rows() + &drawn(plot.observed.len());
    scene.closed(TOP + PLOT + 66.0, &format!("{rows}; dashed: predicted as observed"))
}

/// Draw, by the level of the prediction, the coverage of central intervals at the left and the mean PIT at the
/// right; none with too few rows for two groups. In shades: where 95 of 100 calibrated predictions lie, with the
/// variance `p (1 - p) / n` of a share and `1 / (12 n)` of the mean of n uniform numbers.
pub fn levels(plot: &Outcomes) -> Option<Scene> {
    if !plot.has_levels() {
        return None;
    }
    let groups = plot.groups();
    let mut scene = Scene::titled(&format!("{}: calibration by level", plot.of), WIDTH);
    let predicted = format!("predicted {}", plot.target);
    let x: Vec<f64> = groups.iter().map(|group| group.at).collect();
    let calibrated = |level: f64, stray: &dyn Fn(usize) -> f64| {
        let of = groups.iter().map(|group| (level, stray(group.pit.len())));
        let mut band = band("calibrated", of);
        for end in [&mut band.low, &mut band.high] {
            end.iter_mut().for_each(|v| *v = v.clamp(0.0, 1.0));
        }
        band
    };
    let frame = |right: bool, low: f64, high: f64| {
        let (from, to) = panel(right);
        let ends = (x[0], x[x.len() - 1]);
        Frame {
            x: Axis::padded(ends.0, ends.1, from, to),
            y: Axis::exact(low, high, TOP + PLOT, TOP),
        }
    };
    let expected = |scene: &mut Scene, frame: &Frame, band: &Band, level: f64| {
        let outline = frame.between(&x, &band.low, &band.high);
        let title = format!("calibrated: {}", short(level));
        scene.mark(Mark::Band, &title, |scene| scene.area(outline, GREY, 0.2));
        scene.dashed(frame.at(frame.x.low, level), frame.at(frame.x.high, level));
    };
    let marked = |scene: &mut Scene, frame: &Frame, i: usize, band: &Band| {
        let look = Look::of(i);
        let each: Vec<String> = band.centre.iter().map(|v| short(*v)).collect();
        let title = format!("{}, from low to high predictions: {}", band.name, each.join(", "));
        scene.mark(Mark::Line, &title, |scene| {
            frame.curve(scene, &x, &band.centre, &look, 2.0);
            for (x, y) in x.iter().zip(&band.centre) {
                scene.point(frame.at(*x, *y), look.shape, 3.4, look.colour);
            }
        });
    };
    let found = COVERED.map(|level| {
        let of = groups.iter().map(|group| (covered(&group.pit, level), 0.0));
        band(&format!("{:.0} % interval", 100.0 * level), of)
    });
    let least = found[0].centre.iter().fold(0.35, |a: f64, v| a.min(v - 0.05));
    let left = frame(false, least.max(0.0), 1.0);
    left.rows(&mut scene, "share of rows inside");
    for level in COVERED {
        expected(&mut scene, &left, &calibrated(level, &|n| stray(level, n)), level);
    }
    for (i, band) in found.iter().enumerate() {
        marked(&mut scene, &left, i, band);
    }
    legend(&mut scene, LEFT, WIDTH - EDGE, &entries(Key::Marked, found.iter().map(|b| &b.name)));
    left.foot(&mut scene, &predicted);

    let of_mean = |n: usize| TWO_SIDED / (12.0 * n as f64).sqrt();
    let even = calibrated(0.5, &of_mean);
    let mean = |group: &Group| group.pit.iter().sum::<f64>() / group.pit.len() as f64;
    let mean = band("mean PIT", groups.iter().map(|group| (mean(group), 0.0)));
    let farthest =
        mean.centre.iter().chain(&even.high).fold(0.2, |a: f64, v| a.max((v - 0.5).abs() + 0.03));
    let right = frame(true, (0.5 - farthest).max(0.0), (0.5 + farthest).min(1.0));
    right.rows(&mut scene, "mean PIT");
    expected(&mut scene, &right, &even, 0.5);
    marked(&mut scene, &right, COVERED.len(), &mean);
    right.foot(&mut scene, &predicted);
    let note = format!(
        "{} in {} groups; shade: where 95 of 100 calibrated predictions lie; PIT above 0.5: predicted too low",
        plot.rows(),
        groups.len()
    );
    Some(scene.closed(TOP + PLOT + 66.0, &note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::svg;

    fn rows(n: u32) -> Outcomes {
        Outcomes {
            observed: (0..n).map(|i| 2.0 * f64::from(i)).collect(),
            mean: (0..n).map(|i| f64::from(i * 7 % n)).collect(),
            pit: vec![0.5; n as usize],
            ..Outcomes::default()
        }
    }

    #[test]
    fn groups_hold_all_rows_in_the_order_of_the_predictions() {
        for (n, count) in [(0, 0), (1, 1), (79, 1), (80, 2), (163, 4), (900, 8)] {
            let groups = rows(n).groups();
            assert_eq!(groups.len(), count, "{n}");
            assert_eq!(groups.iter().map(|g| g.pit.len()).sum::<usize>(), n as usize);
            assert!(groups.windows(2).all(|w| w[0].at < w[1].at));
            assert_eq!(levels(&rows(n)).is_some(), count > 1);
        }
    }

    /// A page is hardly heavier with more rows than are drawn.
    #[test]
    fn not_all_of_many_rows_are_drawn() {
        let [few, many] = [2000, 20_000].map(|n| svg(&observed(&rows(n))));
        assert!(many.len() < few.len() + few.len() / 5, "{} and {}", few.len(), many.len());
        assert!(many.contains("20000 rows, of which 2000 are drawn") && !few.contains("drawn"));
    }
}
