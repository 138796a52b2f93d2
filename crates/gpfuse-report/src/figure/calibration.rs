//! Calibration: the histogram of the PIT values, and coverage against its nominal level.

use super::Scene;
use super::axis::{Axis, short};
use super::colour::{BLUE, GREY, Look};
use super::frame::Frame;
use super::scene::{Mark, WIDTH};

/// What calibration is judged by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibration {
    /// Above the figure.
    pub title: String,
    /// The probability integral transform of each row's target, from 0 to 1.
    pub pit: Vec<f64>,
}

const LEFT: f64 = 70.0;
const PANEL: f64 = 315.0;
const TOP: f64 = 50.0;
const PLOT: f64 = 260.0;
/// Nominal levels at which coverage is drawn.
const STEPS: usize = 50;
/// A normal variable is within this many standard deviations in 95 of 100 cases.
pub(super) const TWO_SIDED: f64 = 1.96;

/// Draw both panels, with the bands in which a calibrated prediction stays at each place in 95
/// of 100 cases: `p +- 1.96 sqrt(p (1 - p) / n)`, the binomial law of n rows by its normal limit.
pub fn calibration(plot: &Calibration) -> Scene {
    let pit: Vec<f64> = plot.pit.iter().copied().filter(|p| (0.0..=1.0).contains(p)).collect();
    let mut scene = Scene::titled(&plot.title, WIDTH);
    histogram(&mut scene, &pit);
    coverage(&mut scene, &pit);
    let rows = pit.len();
    let note = format!("{rows} rows; shade: where 95 of 100 calibrated predictions lie");
    scene.closed(TOP + PLOT + 66.0, &note)
}

/// How far a share of `n` rows strays from its probability.
pub(super) fn stray(p: f64, n: usize) -> f64 {
    TWO_SIDED * (p * (1.0 - p) / n.max(1) as f64).sqrt()
}

/// The share of rows in each of some equal parts of the unit interval.
fn shares(pit: &[f64], bins: usize) -> Vec<f64> {
    let mut counts = vec![0.0; bins];
    for p in pit {
        counts[((p * bins as f64) as usize).min(bins - 1)] += 1.0 / pit.len() as f64;
    }
    counts
}

fn histogram(scene: &mut Scene, pit: &[f64]) {
    // Ten rows or more in each part.
    let bins = (pit.len() / 10).clamp(4, 20);
    let (shares, flat) = (shares(pit, bins), 1.0 / bins as f64);
    let band = stray(flat, pit.len());
    let top = shares.iter().copied().fold(flat + band, f64::max);
    // As densities: 1 everywhere is calibrated.
    let scaled = bins as f64;
    let frame = Frame {
        x: Axis::exact(0.0, 1.0, LEFT, LEFT + PANEL),
        y: Axis::exact(0.0, 1.06 * top * scaled, TOP + PLOT, TOP),
    };
    frame.rows(scene, "density of rows");
    for (i, share) in shares.iter().enumerate() {
        let (from, to) = (i as f64 / scaled, (i + 1) as f64 / scaled);
        let (a, b) = (frame.at(from, share * scaled), frame.at(to, 0.0));
        let count = (share * pit.len() as f64).round();
        let density = short(share * scaled);
        let title =
            format!("PIT {} to {}: {count} rows, density {density}", short(from), short(to));
        scene.mark(Mark::Bar, &title, |scene| {
            scene.rect((a.0 + 1.0, a.1), (b.0 - 1.0, b.1), BLUE.tint(0.55), 1.0);
        });
    }
    let (low, high) = (((flat - band).max(0.0)) * scaled, (flat + band) * scaled);
    let title = format!("calibrated: 1, within {} to {}", short(low), short(high));
    scene.mark(Mark::Band, &title, |scene| {
        scene.rect(frame.at(0.0, high), frame.at(1.0, low), GREY, 0.22);
    });
    scene.dashed(frame.at(0.0, 1.0), frame.at(1.0, 1.0));
    frame.foot(scene, "probability integral transform (PIT)");
}

/// The central interval of level l holds a target whose PIT p satisfies `|2 p - 1| <= l`.
pub(super) fn covered(pit: &[f64], level: f64) -> f64 {
    let inside = pit.iter().filter(|p| (2.0 * **p - 1.0).abs() <= level).count();
    inside as f64 / pit.len().max(1) as f64
}

fn coverage(scene: &mut Scene, pit: &[f64]) {
    let left = LEFT + PANEL + 95.0;
    let frame = Frame {
        x: Axis::exact(0.0, 1.0, left, left + PANEL),
        y: Axis::exact(0.0, 1.0, TOP + PLOT, TOP),
    };
    frame.rows(scene, "share of rows inside");
    let levels: Vec<f64> = (0..=STEPS).map(|i| i as f64 / STEPS as f64).collect();
    let ends = |sign: f64| -> Vec<f64> {
        levels.iter().map(|l| (l + sign * stray(*l, pit.len())).clamp(0.0, 1.0)).collect()
    };
    let outline = frame.between(&levels, &ends(-1.0), &ends(1.0));
    let title = "where a calibrated prediction stays";
    scene.mark(Mark::Band, title, |scene| scene.area(outline, GREY, 0.22));
    scene.dashed(frame.at(0.0, 0.0), frame.at(1.0, 1.0));
    let found: Vec<f64> = levels.iter().map(|l| covered(pit, *l)).collect();
    let holds =
        |l: f64| format!("{} % interval holds {} %", 100.0 * l, short(100.0 * covered(pit, l)));
    let title = [0.5, 0.8, 0.9, 0.95].map(holds).join(", ");
    if !pit.is_empty() {
        scene.mark(Mark::Line, &title, |scene| {
            frame.curve(scene, &levels, &found, &Look::of(0), 2.0);
        });
    }
    frame.foot(scene, "level of the central interval");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_coverage_are_those_of_the_rows() {
        let pit: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
        assert!(shares(&pit, 10).iter().all(|s| (s - 0.1).abs() < 1e-12));
        for level in [0.5, 0.8, 0.95] {
            assert!((covered(&pit, level) - level).abs() < 1e-9);
        }
        assert_eq!(shares(&[0.0, 1.0, 1.0], 4), [1.0 / 3.0, 0.0, 0.0, 2.0 / 3.0]);
        // Too narrow a prediction: all targets lie far out.
        assert_eq!(covered(&[0.01, 0.99], 0.9), 0.0);
    }
}
