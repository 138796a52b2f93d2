//! Quantiles of a mixture: the root of its distribution function.
//!
//! Each evaluation gives the distribution function F, or the survival function for quantiles
//! above the median, the density and its first two derivatives in one pass, and is kept for the
//! probabilities still to come. From an evaluation close enough to the root, Taylor's
//! polynomial leads there; how close is enough follows from a bound on the fourth derivative of F,
//! `|F''''| <= max |phi'''| sum_i w_i / sd_i^4`. Of many components, a mixture in single
//! precision ([`super::pilot`]) says where to evaluate, so that one exact evaluation is the
//! rule. Where it does not do, the search goes on on the probit scale ([`super::probit`]): by
//! Newton's step from one side, the inverse cubic from both, and a bisection of the bracket
//! after any step that did not at least halve the distance on that scale.

use super::Mixture;
use super::pilot::Pilot;
use super::probit::{Node, Target, guess};
use super::sums::{self, Local, Parts};
use crate::math::ndtri;

/// From this many components on, a pilot is worth its price.
const PILOT: usize = 256;

/// `max |phi'''| / 24`: Taylor's remainder of fourth order is at most this times
/// `step^4 sum_i w_i / sd_i^4`.
const REMAINDER: f64 = 0.022_941;

/// The error of an evaluation, relative to the tail: that of z magnified by its square.
fn tolerance(target: &Target) -> f64 {
    1e-15 * (4.0 + target.z * target.z)
}

/// The mixture at one y.
#[derive(Clone, Copy)]
struct Point {
    at: Local,
    node: Node,
}

impl Point {
    /// How far the point's tail is off; positive if y is too large.
    fn excess(&self, target: &Target) -> f64 {
        let excess = self.at.tail - target.tail;
        if target.upper { -excess } else { excess }
    }

    /// The quantile, if this point is it or leads to it, to rounding: an evaluation's error,
    /// relative to the tail, is that of z magnified by its square, and y is no finer than its
    /// last place. The bound on the latter guards against components narrower than that.
    fn leads_to(&self, target: &Target, sd: f64, roughness: f64) -> Option<f64> {
        let (y, Local { density, slope, curve, .. }) = (self.node.y, self.at);
        let evaluation = tolerance(target);
        let place = density * y.abs() * f64::EPSILON / target.tail;
        let excess = self.excess(target);
        if excess.abs() <= target.tail * evaluation.max(place.min(1e-7)) {
            return Some(y);
        }
        let gap = |d: f64| excess + d * (density + d * (0.5 * slope + d * curve / 6.0));
        let mut step = -excess / density;
        for _ in 0..3 {
            step -= gap(step) / (density + step * (slope + 0.5 * step * curve));
        }
        let error = gap(step).abs() + REMAINDER * roughness * (step / sd).powi(4);
        (error <= target.tail * evaluation).then_some(y + step)
    }
}

/// The search of one mixture's quantiles: all points evaluated so far, in order of y, first
/// those of lower tails, then those of upper ones, as each is exact in its own.
struct Search<'m> {
    mixture: &'m Mixture<'m>,
    parts: Parts<'m>,
    mean: f64,
    sd: f64,
    pilot: Option<Pilot>,
    roughness: f64,
    points: [Vec<Point>; 2],
}

impl<'m> Search<'m> {
    fn new(mixture: &'m Mixture<'m>, least: usize) -> Self {
        let (mean, sd, parts) = (mixture.mean(), mixture.variance.sqrt(), mixture.parts());
        let level = mixture.level;
        let roughness = sums::roughness(level, parts, sd);
        let pilot = (mixture.len() >= least).then(|| Pilot::new(level, parts, mean, sd));
        Self { mixture, parts, mean, sd, pilot, roughness, points: [Vec::new(), Vec::new()] }
    }

    /// The neighbours of the quantile among the points.
    fn neighbours(&self, target: &Target) -> (Option<&Point>, Option<&Point>) {
        let points = &self.points[usize::from(target.upper)];
        let next = points.partition_point(|point| point.excess(target) < 0.0);
        (points[..next].last(), points.get(next))
    }

    /// The quantile, if the points tell it.
    fn known(&self, target: &Target) -> Option<f64> {
        let (below, above) = self.neighbours(target);
        let found = |point: &Point| point.leads_to(target, self.sd, self.roughness);
        below.and_then(found).or_else(|| above.and_then(found))
    }

    /// Evaluate at y; returns the z of what was found.
    fn visit(&mut self, y: f64, upper: bool) -> f64 {
        let at = sums::point_sum(self.mixture.level, self.parts, y, upper);
        let z = ndtri(at.tail.min(1.0));
        let z = if upper { -z } else { z };
        let points = &mut self.points[usize::from(upper)];
        let place = points.partition_point(|known| known.node.y < y);
        points.insert(place, Point { at, node: Node::new(y, z, at.density) });
        z
    }

    /// An interval that contains the quantile: a mixture's quantile lies between the least and
    /// the largest quantile of its components, and within Cantelli's inequality of the mean.
    fn bracket(&self, target: &Target) -> (f64, f64) {
        // The components' quantiles are rounded; the bracket must not be too tight for that.
        let slack = 1e-13 * (1.0 + target.z.abs());
        let level = self.mixture.level;
        let [low, high] = sums::range(level, self.parts, target.z - slack, target.z + slack);
        let (below, above) = target.cantelli();
        let (low, high) =
            (low.max(self.mean + self.sd * below), high.min(self.mean + self.sd * above));
        (low - 4.0 * f64::EPSILON * low.abs(), high + 4.0 * f64::EPSILON * high.abs())
    }

    fn solve(&mut self, target: Target) -> f64 {
        if target.tail == 0.0 {
            return target.z;
        }
        if let Some(y) = self.known(&target) {
            return y;
        }
        // From so far, in standard deviations, Taylor's polynomial leads to the quantile.
        let reach = target.tail * tolerance(&target) / (REMAINDER * self.roughness);
        let reach = reach.sqrt().sqrt();
        if let Some(z) = self.pilot.as_mut().and_then(|pilot| pilot.guess(&target, reach)) {
            self.visit(self.mean + z * self.sd, target.upper);
        }
        let (mut nearest, mut bisect) = (f64::INFINITY, false);
        let mut bracket = None;
        loop {
            if let Some(y) = self.known(&target) {
                return y;
            }
            let (low, high) = *bracket.get_or_insert_with(|| self.bracket(&target));
            let (below, above) = self.neighbours(&target);
            let (below, above) = (below.map(|p| &p.node), above.map(|p| &p.node));
            let low = below.map_or(low, |node| low.max(node.y));
            let high = above.map_or(high, |node| high.min(node.y));
            let middle = 0.5 * low + 0.5 * high;
            // Neighbouring numbers: nothing lies between.
            if !(low < middle && middle < high) {
                return middle.clamp(low.min(high), high.max(low));
            }
            let guess = match guess(below, above, target.z) {
                _ if bisect => middle,
                Some(guess) => guess,
                None => self.mean + target.z * self.sd,
            };
            // NaN, from a density that underflowed, is not inside either. A guess on the very
            // edge moves off it, to close the bracket around a root within the last place.
            let y = if low <= guess && guess <= high {
                guess.clamp(low.next_up(), high.next_down())
            } else {
                middle
            };
            let distance = (self.visit(y, target.upper) - target.z).abs();
            bisect = !(bisect || distance < 0.5 * nearest);
            nearest = nearest.min(distance);
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
    /// one by one, as each search starts from what the others have seen. A larger probability
    /// never has the smaller quantile.
    pub fn quantiles(&self, probabilities: &[f64]) -> Vec<f64> {
        self.quantiles_with(probabilities, PILOT)
    }

    /// The same, with a pilot from `least` components on.
    fn quantiles_with(&self, probabilities: &[f64], least: usize) -> Vec<f64> {
        let mut result = vec![f64::NAN; probabilities.len()];
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        order.retain(|i| (0.0..=1.0).contains(&probabilities[*i]));
        if order.is_empty() {
            return result;
        }
        order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
        let mut search = Search::new(self, least);
        for i in outside_in(&order) {
            result[i] = search.solve(Target::of(probabilities[i]));
        }
        // Quantiles that differ by their rounding only may come out in the wrong order.
        for pair in order.windows(2) {
            result[pair[1]] = result[pair[1]].max(result[pair[0]]);
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
        let mut search = Search::new(self, PILOT);
        let low = search.solve(Target::new(tail, false));
        (low, search.solve(Target::new(tail, true)).max(low))
    }
}

/// The first, the last, then the middle of each gap: interpolation finds most of the later ones.
fn outside_in(sorted: &[usize]) -> Vec<usize> {
    let Some(last) = sorted.len().checked_sub(1) else {
        return Vec::new();
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// Components whose means spread by `apart`, their widths by `exp(spread)`.
    fn random(n: usize, apart: f64, spread: f64, seed: u64) -> Mixture<'static> {
        let mut rng = crate::random::stream(seed, crate::random::Purpose::Predict, 0);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let log_weight: Vec<f64> = (0..n).map(|_| 2.0 * normal()).collect();
        let mean: Vec<f64> = (0..n).map(|_| 50.0 + apart * normal()).collect();
        let sd: Vec<f64> = (0..n).map(|_| (spread * normal()).exp()).collect();
        Mixture::new(log_weight, mean, sd).unwrap()
    }

    const PROBABILITIES: [f64; 13] = [
        1e-40,
        1e-15,
        1e-6,
        0.01,
        0.05,
        0.25,
        0.5,
        0.500_000_1,
        0.9,
        0.95,
        0.999,
        1.0 - 1e-9,
        0.05,
    ];

    /// Whatever the pilot says, the quantiles are those without it.
    #[test]
    fn a_pilot_changes_nothing_but_the_way() {
        let mut seed = 0;
        for n in [1, 2, 30, 400] {
            for apart in [0.0, 1.0, 30.0, 1e6] {
                for spread in [0.0, 0.5, 5.0, 12.0] {
                    seed += 1;
                    let m = random(n, apart, spread, seed);
                    let with = m.quantiles_with(&PROBABILITIES, 1);
                    let without = m.quantiles_with(&PROBABILITIES, usize::MAX);
                    for ((p, a), b) in PROBABILITIES.iter().zip(&with).zip(&without) {
                        let slack = 1e-12 * p.min(1.0 - p);
                        let place = 3.0 * f64::EPSILON * b.abs();
                        let between = m.cdf(b + place) - m.cdf(b - place);
                        let same = if *p > 0.5 {
                            m.survival(*a) - m.survival(*b)
                        } else {
                            m.cdf(*a) - m.cdf(*b)
                        };
                        let case = format!("{n} {apart} {spread} {p}: {a} {b}");
                        assert!(same.abs() <= slack + between, "{case}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_exact_evaluation_is_the_rule() {
        let mut evaluations = 0;
        for seed in 0..40 {
            let m = random(2000, f64::from(seed as u32 % 4), 0.3, seed);
            let mut search = Search::new(&m, PILOT);
            for p in [0.025, 0.5, 0.975] {
                search.solve(Target::of(p));
            }
            evaluations += search.points.iter().map(Vec::len).sum::<usize>();
        }
        assert!(evaluations <= 150, "{evaluations} evaluations for 120 quantiles");
    }

    /// The bound on Taylor's remainder is a bound: a narrow component just beside the point,
    /// where it shows in no derivative, must not be stepped over.
    #[test]
    fn a_component_that_does_not_show_is_not_stepped_over() {
        for gap in [1e-6, 1e-3, 0.1] {
            let log_weight = vec![0.0, (1e-5_f64).ln()];
            let m = Mixture::new(log_weight, vec![0.0, gap], vec![1.0, 1e-9]).unwrap();
            for p in [0.5, m.cdf(gap), m.cdf(0.999 * gap), m.cdf(1.001 * gap)] {
                for least in [1, usize::MAX] {
                    let y = m.quantiles_with(&[0.5, p], least)[1];
                    assert!((m.cdf(y) / p - 1.0).abs() < 1e-13, "{gap} {p} {y}");
                }
            }
        }
    }
}
