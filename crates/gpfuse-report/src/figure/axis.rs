//! An axis: a range of numbers on a stretch of the page, where each stands, and round numbers in it.

/// A range of values from one place of the page to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    /// The least value shown.
    pub(super) low: f64,
    /// The largest.
    pub(super) high: f64,
    /// Where the least stands.
    pub(super) from: f64,
    /// Where the largest stands.
    pub(super) to: f64,
}

/// A round number and how it is written.
pub(super) type Tick = (f64, String);

/// Values more interquartile ranges than this beyond the quartiles are not drawn in full.
const FENCE: f64 = 3.0;

/// Where the whole range is more times than this that of most values, far values are left out.
const SQUASH: f64 = 4.0;

/// The largest number that can be drawn: beyond it, differences overflow.
const LARGEST_DRAWN: f64 = 1e300;

impl Axis {
    /// All of `values`, with a margin.
    pub(super) fn all(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) = ends(values);
        Axis::padded(low, high, from, to)
    }

    /// Most of `values`: a few that lie far from the others are left out, and cannot squash them.
    pub(super) fn most(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) = most(values);
        Axis::padded(low, high, from, to)
    }

    /// All of `values`, but for those far ones that would squash the others.
    pub(super) fn readable(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
        let (all, most) = (Axis::all(values.clone(), from, to), Axis::most(values, from, to));
        let squashed = all.high - all.low > SQUASH * (most.high - most.low);
        if squashed { most } else { all }
    }

    /// The same axis, longer where `values` need it.
    pub(super) fn holding(self, values: impl Iterator<Item = f64>) -> Axis {
        let all = Axis::all(values, self.from, self.to);
        Axis { low: self.low.min(all.low), high: self.high.max(all.high), ..self }
    }

    /// Exactly from the first to the last of values in order.
    pub(super) fn along(values: &[f64], from: f64, to: f64) -> Axis {
        let [first, last] = [values.first(), values.last()].map(|v| v.copied().unwrap_or(0.0));
        Axis::exact(first, last, from, to)
    }

    /// Exactly from `low` to `high`, if these differ.
    pub(super) fn exact(low: f64, high: f64, from: f64, to: f64) -> Axis {
        let (low, high) = apart(low, high);
        Axis { low, high, from, to }
    }

    /// From `low` to `high` with a margin.
    pub(super) fn padded(low: f64, high: f64, from: f64, to: f64) -> Axis {
        let (low, high) = apart(low, high);
        let margin = 0.04 * (high - low);
        Axis { low: low - margin, high: high + margin, from, to }
    }

    /// Where a value stands on the page, at the nearest end if it lies beyond.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.from + part * (self.to - self.from)
    }

    /// Whether a value is shown.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The length on the page.
    pub(super) fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// The middle on the page.
    pub(super) fn middle(&self) -> f64 {
        0.5 * (self.from + self.to)
    }

    /// Round numbers and how they are written: about as many as the first of `parts` for which
    /// they pass, or else as the last.
    pub(super) fn ticks(&self, parts: &[f64], pass: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
        let mut ticks = Vec::new();
        for parts in parts {
            ticks = round(self.low, self.high, *parts);
            if pass(&ticks) {
                break;
            }
        }
        ticks
    }
}

/// The range of most of `values`, without the few that lie far from the others.
pub(crate) fn most(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = ends(sorted.iter().copied());
    let (first, third) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let reach = FENCE * (third - first);
    // Where half of the values are the same there is no such range to go by.
    match reach > 0.0 {
        true => ends(sorted.into_iter().filter(|v| (first - reach..=third + reach).contains(v))),
        false => (low, high),
    }
}

/// The least and the largest of the finite values.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|v| v.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |a, v| (a.0.min(v), a.1.max(v)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// A range that can be divided, also where both ends are the same but for rounding.
fn apart(low: f64, high: f64) -> (f64, f64) {
    let (low, high) =
        (low.clamp(-LARGEST_DRAWN, LARGEST_DRAWN), high.clamp(-LARGEST_DRAWN, LARGEST_DRAWN));
    let size = low.abs().max(high.abs());
    match high - low > 1e-9 * size {
        true => (low, high),
        false if size > 0.0 => (low - 0.1 * size, high + 0.1 * size),
        false => (-1.0, 1.0),
    }
}

/// The quantile of sorted values between its two neighbours in proportion; 0 of none.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = p * last as f64;
    let below = (place.floor() as usize).min(last);
    let (a, b) = (sorted[below], sorted[(below + 1).min(last)]);
    a + (place - below as f64) * (b - a)
}

/// Multiples of a round step between two numbers, about `parts` of them.
fn round(low: f64, high: f64, parts: f64) -> Vec<Tick> {
    let rough = (high - low) / parts;
    let power = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0].map(|s| s * power).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step).ceil();
    let count = ((high / step).floor() - first).clamp(0.0, 20.0) as usize;
    let largest = low.abs().max(high.abs());
    let tick = |i: usize| {
        // Not minus zero.
        let value = (first + i as f64) * step + 0.0;
        (value, written(value, step, largest))
    };
    (0..=count).map(tick).collect()
}

/// A multiple of `step` among numbers up to `largest`, in powers of ten where these are far from 1.
fn written(value: f64, step: f64, largest: f64) -> String {
    // A little more, so that rounding in the power of ten does not cost a decimal.
    let digit = (step * 1.005).log10().floor();
    let text = match (1e-4..1e6).contains(&largest) {
        _ if value == 0.0 => "0".into(),
        true => format!("{value:.*}", (-digit).clamp(0.0, 12.0) as usize),
        false => {
            let lead = value.abs().log10().floor();
            format!("{value:.*e}", (lead - digit).clamp(0.0, 12.0) as usize)
        }
    };
    text.replace('-', "\u{2212}")
}

/// A number for reading, with four digits.
pub(crate) fn short(value: f64) -> String {
    let text = match value.abs() {
        0.0 => "0".into(),
        v if !(1e-3..1e5).contains(&v) => format!("{value:.3e}"),
        v => format!("{value:.*}", (3.0 - v.log10().floor()).clamp(0.0, 6.0) as usize),
    };
    text.replace('-', "\u{2212}")
}

/// A number with two digits.
pub(crate) fn brief(value: f64) -> String {
    match value.abs() {
        v if (1e-6..1e6).contains(&v) => {
            format!("{value:.*}", (1.0 - v.log10().floor()).clamp(0.0, 7.0) as usize)
        }
        _ => short(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method that is much better than the others is what a figure is for; one value that leaves
    /// no room for the others is not.
    #[test]
    fn far_values_are_left_out_only_if_they_squash_the_others() {
        let others = (0..80).map(|i| 0.92 + 0.3 * f64::from(i) / 80.0);
        let better = (0..15).map(|i| 0.28 + 0.002 * f64::from(i));
        let both = others.clone().chain(better);
        assert!(!Axis::most(both.clone(), 0.0, 1.0).holds(0.3));
        assert!(Axis::readable(both, 0.0, 1.0).holds(0.28));
        let worse = others.chain([50.0]);
        assert!(!Axis::readable(worse, 0.0, 1.0).holds(50.0));
    }

    const EXTREMES: [&[f64]; 9] = [
        &[1.0, 1.1],
        &[3.0],
        &[0.0, 0.0],
        &[],
        &[1e-12, 3e-12],
        &[1e12, 1e12 + 1.0],
        &[-1e12, 1e12],
        &[-1e308, 1e308],
        &[f64::NAN, 2.0, f64::INFINITY],
    ];

    #[test]
    fn every_value_stands_on_the_page() {
        for values in EXTREMES {
            let of = values.iter().copied();
            for axis in [Axis::all(of.clone(), 10.0, 90.0), Axis::most(of, 90.0, 10.0)] {
                for v in values.iter().filter(|v| v.is_finite()) {
                    assert!((10.0..=90.0).contains(&axis.at(*v)), "{values:?}: {axis:?}");
                }
            }
        }
    }

    #[test]
    fn ticks_are_few_inside_and_differ() {
        for values in EXTREMES {
            let axis = Axis::all(values.iter().copied(), 0.0, 100.0);
            for parts in [3.0, 5.0, 7.0] {
                let ticks = axis.ticks(&[parts], |_| true);
                assert!((1..=11).contains(&ticks.len()), "{values:?}: {ticks:?}");
                assert!(ticks.iter().all(|t| axis.holds(t.0)), "{values:?}: {ticks:?}");
                assert!(ticks.windows(2).all(|w| w[0].1 != w[1].1), "{ticks:?}");
                assert!(ticks.iter().all(|t| t.1.chars().count() < 20), "{ticks:?}");
            }
        }
    }

    #[test]
    fn a_bad_value_does_not_squash_the_others() {
        let most: Vec<f64> = (0..20).map(|i| 1.0 + 0.05 * f64::from(i)).collect();
        let axis = Axis::most(most.iter().copied().chain([1e6]), 0.0, 100.0);
        assert!(!axis.holds(1e6) && most.iter().all(|v| axis.holds(*v)));
        assert!(axis.at(1.95) - axis.at(1.0) > 20.0, "{axis:?}");
        let alone = Axis::most(most.iter().copied(), 0.0, 100.0);
        assert!(alone.at(1.95) - alone.at(1.0) > 90.0, "{alone:?}");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [(0.0, "0"), (0.91234, "0.9123"), (-12.345, "\u{2212}12.35"), (1e7, "1.000e7")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
