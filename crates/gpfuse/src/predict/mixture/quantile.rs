//! Quantiles of a mixture: the root of its distribution function.
//!
//! Each evaluation gives the distribution function F, the survival function and the density in
//! one pass, and is kept for the probabilities still to come. The search runs on the probit
//! scale, `g(y) = Phi^-1(F(y))`, which is a straight line for one component and close to one
//! for the unimodal mixtures that predictions mostly are: Newton's step from one side, the
//! inverse cubic through values and slopes from both, and a bisection of the bracket after any
//! step that did not at least halve the distance on that scale.

use super::Mixture;
use super::sums::{self, Parts};
use crate::math::normal::{self, lower_quantile};

/// A probability as its smaller tail, which keeps probabilities near 1 exact.
#[derive(Clone, Copy)]
struct Target {
    tail: f64,
    upper: bool,
    /// The standard normal quantile.
    z: f64,
}

impl Target {
    fn new(tail: f64, upper: bool) -> Self {
        let z = lower_quantile(tail);
        Self { tail, upper, z: if upper { -z } else { z } }
    }

    fn of(p: f64) -> Self {
        if p > 0.5 { Self::new(1.0 - p, true) } else { Self::new(p, false) }
    }

    /// How far the point's tail is off, relative to the tail; positive if y is too large.
    fn excess(&self, point: &Point) -> f64 {
        if self.upper {
            (self.tail - point.survival) / self.tail
        } else {
            (point.cdf - self.tail) / self.tail
        }
    }

    /// Whether the point is the quantile to rounding: an evaluation's error, relative to the
    /// tail, is that of z magnified by its square, and y is no finer than its last place. The
    /// bound on the latter guards against components narrower than that.
    fn met_by(&self, point: &Point) -> bool {
        let evaluation = 1e-15 * (4.0 + self.z * self.z);
        let place = point.density * point.y.abs() * f64::EPSILON / self.tail;
        self.excess(point).abs() <= evaluation.max(place.min(1e-7))
    }
}

/// The mixture at one y.
#[derive(Clone, Copy)]
struct Point {
    y: f64,
    cdf: f64,
    survival: f64,
    density: f64,
    /// `Phi^-1(F(y))` and the slope `dy/dz`.
    z: f64,
    slope: f64,
}

impl Point {
    /// Newton's step on the probit scale.
    fn newton(&self, z: f64) -> f64 {
        self.y + (z - self.z) * self.slope
    }

    /// The cubic in z through two points and their slopes, at z.
    fn cubic(&self, other: &Point, z: f64) -> f64 {
        let width = other.z - self.z;
        let t = (z - self.z) / width;
        let rise = other.y - self.y;
        let (a, b) = (self.slope * width - rise, other.slope * width - rise);
        self.y + t * (rise + (1.0 - t) * (a * (1.0 - t) - b * t))
    }
}

/// The search of one mixture's quantiles: all points evaluated so far, in order of y.
struct Search<'m> {
    mixture: &'m Mixture<'m>,
    parts: Parts<'m>,
    mean: f64,
    sd: f64,
    points: Vec<Point>,
}

impl<'m> Search<'m> {
    fn new(mixture: &'m Mixture<'m>) -> Self {
        let (mean, sd) = (mixture.mean(), mixture.variance().sqrt());
        Self { mixture, parts: mixture.parts(), mean, sd, points: Vec::new() }
    }

    fn evaluate(&self, y: f64) -> Point {
        let [cdf, survival, density] = sums::point_sum(self.mixture.level, self.parts, y);
        let z = if cdf < survival {
            lower_quantile(cdf.min(0.5))
        } else {
            -lower_quantile(survival.min(0.5))
        };
        Point { y, cdf, survival, density, z, slope: normal::pdf::<false>(z) / density }
    }

    /// An interval that contains the quantile: a mixture's quantile lies between the least and
    /// the largest quantile of its components, and within Cantelli's inequality of the mean.
    fn bracket(&self, target: &Target) -> (f64, f64) {
        // The components' quantiles are rounded; the bracket must not be too tight for that.
        let slack = 1e-13 * (1.0 + target.z.abs());
        let level = self.mixture.level;
        let [low, high] = sums::range(level, self.parts, target.z - slack, target.z + slack);
        let wide = ((1.0 - target.tail) / target.tail).sqrt() * (1.0 + 1e-9);
        let (below, above) = if target.upper { (1.0 / wide, wide) } else { (wide, 1.0 / wide) };
        let low = low.max(self.mean - self.sd * (below + 1e-9));
        let high = high.min(self.mean + self.sd * (above + 1e-9));
        (low - 4.0 * f64::EPSILON * low.abs(), high + 4.0 * f64::EPSILON * high.abs())
    }

    fn solve(&mut self, target: Target) -> f64 {
        if target.tail == 0.0 {
            return target.z;
        }
        let (mut low, mut high) = self.bracket(&target);
        let (mut nearest, mut bisect) = (f64::INFINITY, false);
        loop {
            let next = self.points.partition_point(|point| target.excess(point) < 0.0);
            let (above, below) = (self.points.get(next), self.points[..next].last());
            low = below.map_or(low, |point| low.max(point.y));
            high = above.map_or(high, |point| high.min(point.y));
            let middle = 0.5 * low + 0.5 * high;
            let met = |point: &&Point| target.met_by(point);
            if let Some(point) = below.filter(met).or(above.filter(met)) {
                return point.y;
            }
            // Neighbouring numbers: nothing lies between.
            if !(low < middle && middle < high) {
                return middle.clamp(low.min(high), high.max(low));
            }
            let guess = match (below, above) {
                _ if bisect => middle,
                (Some(a), Some(b)) => a.cubic(b, target.z),
                (Some(a), None) | (None, Some(a)) => a.newton(target.z),
                (None, None) => self.mean + target.z * self.sd,
            };
            // NaN, from a density that underflowed, is not inside either. A guess on the very
            // edge moves off it, to close the bracket around a root within the last place.
            let y = if low <= guess && guess <= high {
                guess.clamp(low.next_up(), high.next_down())
            } else {
                middle
            };
            let point = self.evaluate(y);
            let distance = (point.z - target.z).abs();
            bisect = !(bisect || distance < 0.5 * nearest);
            nearest = nearest.min(distance);
            let place = self.points.partition_point(|known| known.y < y);
            self.points.insert(place, point);
        }
    }
}

impl Mixture<'_> {
    /// The quantile of probability `p`: minus infinity at 0, infinity at 1, and NaN outside
    /// `[0, 1]`. Where the distribution function is flat to rounding, any y of the flat part.
    pub fn quantile(&self, p: f64) -> f64 {
        self.quantiles(&[p])[0]
    }

    /// The quantiles of several probabilities, in the order of the probabilities; cheaper than
    /// one by one, as each search starts from what the others have seen.
    pub fn quantiles(&self, probabilities: &[f64]) -> Vec<f64> {
        let mut search = Search::new(self);
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
        let mut result = vec![f64::NAN; probabilities.len()];
        for i in outside_in(order) {
            let p = probabilities[i];
            if (0.0..=1.0).contains(&p) {
                result[i] = search.solve(Target::of(p));
            }
        }
        result
    }

    /// The central interval that contains the outcome with probability `level`: the quantiles
    /// of `(1 - level) / 2` and `(1 + level) / 2`; NaN if the level is outside `[0, 1]`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        if !(0.0..=1.0).contains(&level) {
            return (f64::NAN, f64::NAN);
        }
        let tail = 0.5 * (1.0 - level);
        let mut search = Search::new(self);
        (search.solve(Target::new(tail, false)), search.solve(Target::new(tail, true)))
    }
}

/// The first, the last, then the middle of each gap: interpolation finds most of the later ones.
fn outside_in(sorted: Vec<usize>) -> Vec<usize> {
    let Some(last) = sorted.len().checked_sub(1) else {
        return sorted;
    };
    let mut order = vec![sorted[0]];
    if last > 0 {
        order.push(sorted[last]);
    }
    let mut gaps = std::collections::VecDeque::from([(0, last)]);
    while let Some((a, b)) = gaps.pop_front() {
        if b > a + 1 {
            let middle = a.midpoint(b);
            order.push(sorted[middle]);
            gaps.extend([(a, middle), (middle, b)]);
        }
    }
    order
}
