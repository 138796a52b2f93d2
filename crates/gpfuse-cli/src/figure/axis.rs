//! An axis: the range worth showing, and round numbers in it.

/// A dot with an error bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bar {
    pub(crate) centre: f64,
    pub(crate) half: f64,
}

/// A range of values on a stretch of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    left: f64,
    right: f64,
}

/// Dots farther from the least than this many times the median one are not worth the room.
const REACH: f64 = 4.0;

impl Axis {
    /// From the page's `left` to its `right`, for bars of which the least is the best: wide enough
    /// for most, while a few that are far worse lie beyond it.
    pub(super) fn new(bars: &[Bar], left: f64, right: f64) -> Axis {
        let mut centres: Vec<f64> = bars.iter().map(|b| b.centre).collect();
        centres.sort_by(f64::total_cmp);
        let best = centres.first().copied().unwrap_or(0.0);
        let half = bars.iter().find(|b| b.centre == best).map_or(0.0, |b| b.half);
        let median = centres.get(centres.len() / 2).map_or(0.0, |m| m - best);
        let reach = REACH * median.max(half);
        let shown = || bars.iter().filter(|b| b.centre <= best + reach);
        // A bar that is itself much longer than the reach is cut, not shown in full.
        let low = shown().map(|b| b.centre - b.half).fold(best, f64::min).max(best - reach);
        let high = shown().map(|b| b.centre + b.half).fold(best, f64::max).min(best + 1.5 * reach);
        let (low, high) = if high > low { (low, high) } else { (low - 1.0, low + 1.0) };
        let margin = 0.04 * (high - low);
        Axis { low: low - margin, high: high + margin, left, right }
    }

    /// Where a value stands on the page, which may be beyond its ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)
    }

    /// Whether a value is too large to be shown.
    pub(super) fn beyond(&self, value: f64) -> bool {
        value > self.high
    }

    /// Where a value stands, at the nearest end if it lies beyond.
    pub(super) fn within(&self, value: f64) -> f64 {
        self.at(value.clamp(self.low, self.high))
    }

    /// Round numbers, four to eight of them, and the decimals they need.
    pub(super) fn ticks(&self) -> (Vec<f64>, usize) {
        let rough = (self.high - self.low) / 5.0;
        let power = 10.0_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.low / step).ceil();
        let count = (self.high / step).floor() - first;
        let ticks = (0..=count.clamp(0.0, 20.0) as usize).map(|i| (first + i as f64) * step);
        (ticks.collect(), (-step.log10().floor()).clamp(0.0, 12.0) as usize)
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
        let alone = Axis::new(&bars(&most), 0.0, 100.0);
        let worse = Axis::new(&bars(&[&most[..], &[100.0, 1e6]].concat()), 0.0, 100.0);
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
            let axis = Axis::new(&bars(centres), 0.0, 100.0);
            let (ticks, decimals) = axis.ticks();
            assert!((2..=11).contains(&ticks.len()), "{centres:?}: {ticks:?}");
            assert!(ticks.iter().all(|t| (-1e-9..100.0 + 1e-9).contains(&axis.at(*t))));
            let shown: Vec<String> = ticks.iter().map(|t| format!("{t:.decimals$}")).collect();
            assert!(shown.windows(2).all(|w| w[0] != w[1]), "{shown:?}");
        }
    }
}
