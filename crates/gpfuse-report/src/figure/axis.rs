//! An axis: the range worth showing, and round numbers in it.

use super::scale::round;

/// A dot with an error bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Where the dot stands.
    pub centre: f64,
    /// Half the length of the bar.
    pub half: f64,
}

/// A range of values on a stretch of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    left: f64,
    right: f64,
    /// The largest value that is shown.
    limit: f64,
}

/// Dots farther from the least than this many times the median one are not worth the room.
const REACH: f64 = 4.0;

/// The width of a digit on the page, with some room about a number.
const DIGIT: f64 = 8.0;

/// How far above the least dot a dot may stand to be shown: most do, while a few that are far
/// worse do not and cannot squash the others.
pub(super) fn reach(bars: &[Bar]) -> f64 {
    let mut sorted = bars.to_vec();
    sorted.sort_by(|a, b| a.centre.total_cmp(&b.centre));
    let Some(best) = sorted.first() else { return 0.0 };
    REACH * (sorted[sorted.len() / 2].centre - best.centre).max(best.half)
}

impl Axis {
    /// From the page's `left` to its `right`, for dots up to `reach` above the least one.
    pub(super) fn new(bars: &[Bar], reach: f64, left: f64, right: f64) -> Axis {
        let best = bars.iter().map(|b| b.centre).reduce(f64::min).unwrap_or(0.0);
        let limit = best + reach;
        let shown = || bars.iter().filter(|b| b.centre <= limit);
        // A bar that is itself much longer than the reach is cut, not shown in full.
        let low = shown().map(|b| b.centre - b.half).fold(best, f64::min).max(best - 0.5 * reach);
        let high = shown().map(|b| b.centre + b.half).fold(best, f64::max).min(best + 1.2 * reach);
        let (low, high) = if high > low { (low, high) } else { (low - 1.0, low + 1.0) };
        let margin = 0.04 * (high - low);
        Axis { low: low - margin, high: high + margin, left, right, limit }
    }

    /// Where a value stands on the page, which may be beyond its ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)
    }

    /// Whether a dot is too far away to be shown.
    pub(super) fn beyond(&self, value: f64) -> bool {
        value > self.limit
    }

    /// Where a value stands, at the nearest end if it lies beyond.
    pub(super) fn within(&self, value: f64) -> f64 {
        self.at(value.clamp(self.low, self.high))
    }

    /// The right end on the page.
    pub(super) fn right(&self) -> f64 {
        self.right
    }

    /// Round numbers and how they are written, as many as have room.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let room = self.right - self.left;
        let fits = |ticks: &Vec<(f64, String)>| {
            let widest = ticks.iter().map(|(_, s)| s.chars().count()).max().unwrap_or(0);
            (widest as f64 + 1.0) * DIGIT * ticks.len() as f64 <= room
        };
        let tries = [7.0, 5.0, 3.0].map(|parts| round(self.low, self.high, parts));
        tries.iter().find(|ticks| fits(ticks)).unwrap_or(&tries[2]).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(centres: &[f64]) -> Vec<Bar> {
        centres.iter().map(|c| Bar { centre: *c, half: 0.1 }).collect()
    }

    /// A contestant that is far worse does not squash the others.
    #[test]
    fn outliers_lie_beyond_the_axis() {
        let most = [1.0, 1.1, 1.2, 1.3, 1.5];
        let axis = |bars: &[Bar]| Axis::new(bars, reach(bars), 0.0, 100.0);
        let alone = axis(&bars(&most));
        let worse = axis(&bars(&[&most[..], &[100.0, 1e6]].concat()));
        assert!(worse.beyond(100.0) && worse.beyond(1e6) && !worse.beyond(1.5));
        assert_eq!(worse.within(1e6), 100.0);
        for axis in [alone, worse] {
            assert!(axis.at(0.9) >= 0.0 && axis.at(1.6) <= 100.0, "{axis:?}");
            assert!(axis.at(1.5) - axis.at(1.0) > 40.0, "{axis:?}");
        }
    }

    #[test]
    fn ticks_are_few_and_inside() {
        for centres in
            [&[1.0, 1.1][..], &[-3e-7, 5e-7, 1e-6], &[1e6, 2e6, 9e6], &[2.0], &[0.0, 0.0], &[]]
        {
            let bars = bars(centres);
            let axis = Axis::new(&bars, reach(&bars), 0.0, 340.0);
            let ticks = axis.ticks();
            assert!((2..=11).contains(&ticks.len()), "{centres:?}: {ticks:?}");
            assert!(ticks.iter().all(|t| (-1e-6..340.0 + 1e-6).contains(&axis.at(t.0))));
            assert!(ticks.windows(2).all(|w| w[0].1 != w[1].1), "{ticks:?}");
        }
    }
}
