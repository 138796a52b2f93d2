//! Mean distances from characteristic functions.
//!
//! A mixture's characteristic function is `c(t) = sum_i w_i exp(i m_i t - s_i^2 t^2 / 2)`.
//! Since `sum_k (1 - cos kx) / k^2 = pi x / 2 - x^2 / 4` for `0 <= x <= 2 pi`, two independent
//! variables with `|X - Y| <= W` have
//!
//! `E|X - Y| = W/6 + E(X - Y)^2 / W - W / pi^2 sum_k Re(c_X(t_k) conj c_Y(t_k)) / k^2`,
//! `t_k = 2 pi k / W`,
//!
//! without any error of quadrature. The sum ends where the terms do, like `exp(-s^2 t^2)`, and
//! on the grid `t_k` a component's terms follow from each other by a few products.

use std::f64::consts::PI;

use super::Mixture;
use super::sums::{self, BLOCK, Parts, add, each_block};
use crate::math::simd::{Level, vectorised};
use crate::math::turns::sin_cos;
use crate::math::wide::Wide;
use crate::math::{Line, Sums, WIDTH, exp, total};

/// Normal variables are taken to stay within this many standard deviations: beyond lies
/// 4e-11 of the weight, and what it would add to a mean distance is 6e-12 of it.
const REACH: f64 = 6.5;

/// The part of a standard deviation that the terms left out may add up to.
const LEFT_OUT: f64 = 1e-11;

/// The finest grid: more points are not cheaper than other ways to a mean distance.
const MOST: usize = 4096;

/// Points `t_k`, `k = 1..=count`, for variables within `width` of each other near `center`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    center: f64,
    width: f64,
    count: usize,
    /// Whether the terms beyond the grid do not matter.
    pub(crate) enough: bool,
}

/// A characteristic function on a grid, `(Re, Im)` about its centre, and the first two moments.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    values: Vec<[f64; 2]>,
    mean: f64,
    variance: f64,
}

impl Mixture<'_> {
    /// The grid for this mixture and any that are parts of it.
    pub(crate) fn grid(&self) -> Grid {
        let [low, high] = sums::range(self.level, self.parts(), -REACH, REACH);
        let width = high - low;
        // Of the terms beyond number k there remain less than `bound(t_k)^2 / k`, where the
        // bound leaves out all phases.
        let most = LEFT_OUT * self.variance.sqrt() * PI * PI / width;
        let left = |k: usize| {
            let bound = bound_sum(self.level, self.parts(), 2.0 * PI * k as f64 / width);
            bound * bound / k as f64
        };
        let (mut low, mut high) = (0, MOST);
        let enough = left(high) <= most;
        // A count within a tenth of the least that is enough.
        while enough && high > low + 8 + low / 10 {
            let middle = if low == 0 { high / 8 } else { low.midpoint(high) };
            if left(middle) <= most { high = middle } else { low = middle }
        }
        Grid { center: self.mean(), width, count: high, enough }
    }

    /// The characteristic function on a grid.
    pub(crate) fn spectrum(&self, grid: &Grid) -> Spectrum {
        let values = transform(self.level, self.parts(), grid);
        Spectrum { values, mean: self.mean(), variance: self.variance }
    }
}

impl Spectrum {
    /// That of a mixture of mixtures, with weights that sum to 1.
    pub(crate) fn mix<'a>(all: impl Iterator<Item = (f64, &'a Spectrum)> + Clone) -> Spectrum {
        let mean = all.clone().map(|(w, s)| w * s.mean).sum::<f64>();
        let second = |s: &Spectrum| s.variance + (s.mean - mean).powi(2);
        let variance = all.clone().map(|(w, s)| w * second(s)).sum();
        let count = all.clone().map(|(_, s)| s.values.len()).min().unwrap_or(0);
        let mut values = vec![[0.0; 2]; count];
        for (w, s) in all {
            for (sum, own) in values.iter_mut().zip(&s.values) {
                *sum = [sum[0] + w * own[0], sum[1] + w * own[1]];
            }
        }
        Spectrum { values, mean, variance }
    }

    /// The mean distance of independent draws.
    pub(crate) fn distance(&self, other: &Spectrum, grid: &Grid) -> f64 {
        let pairs = self.values.iter().zip(&other.values);
        let term = |(k, (a, b)): (usize, (&[f64; 2], &[f64; 2]))| {
            (a[0] * b[0] + a[1] * b[1]) / ((k + 1) as f64).powi(2)
        };
        // From the smallest terms to the largest.
        let series: f64 = pairs.enumerate().rev().map(term).sum();
        let square = self.variance + other.variance + (self.mean - other.mean).powi(2);
        grid.width / 6.0 + square / grid.width - grid.width / (PI * PI) * series
    }
}

vectorised! {
    /// `sum_i w_i exp(-s_i^2 t^2 / 2)`, a bound on the characteristic function at t.
    fn bound_sum = bound_kernel(parts: Parts<'_>, t: f64) -> f64;
}

#[inline(always)]
fn bound_kernel<const FMA: bool>(parts: Parts<'_>, t: f64) -> f64 {
    let (mut sums, mut terms) = ([0.0; WIDTH], [0.0; BLOCK]);
    each_block!(BLOCK, w = parts.weight, s = parts.sd; {
        let terms = &mut terms[..w.len()];
        for i in 0..w.len() {
            let a = s[i] * t;
            terms[i] = w[i] * exp::<FMA>(-0.5 * a * a);
        }
        add(&mut sums, terms);
    });
    total(&sums)
}

/// Components in one step of the recurrence: as many as registers hold.
const ABREAST: usize = 2 * WIDTH;

/// What takes a component from one point of the grid to the next: weight, the rotation `m t_1`
/// in quarter turns, and the factor `exp(-s^2 t_1^2 / 2)`.
#[derive(Clone, Copy)]
struct Steps {
    weight: Line<ABREAST>,
    angle: Line<ABREAST>,
    decay: Line<ABREAST>,
}

fn transform(level: Level, parts: Parts<'_>, grid: &Grid) -> Vec<[f64; 2]> {
    let none = Line::splat(0.0);
    let empty = Steps { weight: none, angle: none, decay: none };
    let mut steps = vec![empty; parts.weight.len().div_ceil(ABREAST)];
    prepare(level, parts, grid, &mut steps);
    let mut sums = vec![[Sums::splat(0.0); 2]; grid.count];
    run(level, &steps, &mut sums);
    sums.iter().map(|[re, im]| [total(re), total(im)]).collect()
}

vectorised! {
    fn prepare = prepare_kernel(parts: Parts<'_>, grid: &Grid, steps: &mut [Steps]);
}

#[inline(always)]
fn prepare_kernel<const FMA: bool>(parts: Parts<'_>, grid: &Grid, steps: &mut [Steps]) {
    let (quarters, step) = (4.0 / grid.width, 2.0 * PI / grid.width);
    for (b, out) in steps.iter_mut().enumerate() {
        let range = b * ABREAST..parts.weight.len().min((b + 1) * ABREAST);
        let n = range.len();
        let (mut mean, mut sd) = ([grid.center; ABREAST], [0.0; ABREAST]);
        mean[..n].copy_from_slice(&parts.mean[range.clone()]);
        sd[..n].copy_from_slice(&parts.sd[range.clone()]);
        out.weight[..n].copy_from_slice(&parts.weight[range]);
        for i in 0..ABREAST {
            out.angle[i] = (mean[i] - grid.center) * quarters;
            let a = sd[i] * step;
            out.decay[i] = exp::<FMA>(-0.5 * a * a);
        }
    }
}

vectorised! {
    fn run = run_kernel<wide>(steps: &[Steps], sums: &mut [[Sums; 2]]);
}

/// Vectors that hold the components abreast.
const UNITS: usize = ABREAST / WIDTH;

#[inline(always)]
fn load<V: Wide>(v: &Line<ABREAST>) -> [V; UNITS] {
    let mut out = [V::splat(0.0); UNITS];
    for (out, group) in out.iter_mut().zip(v.as_chunks::<WIDTH>().0) {
        *out = V::load(group);
    }
    out
}

/// With `z = exp(i m t_1)` and `d = exp(-s^2 t_1^2 / 2)`, the term at `t_k` is
/// `w z^k d^(k^2)`; from one k to the next it is rotated by z and shrunk by `d^(2k-1)`.
#[inline(always)]
fn run_kernel<V: Wide>(steps: &[Steps], sums: &mut [[Sums; 2]]) {
    for step in steps {
        let (angle, mut shrink) = (load::<V>(&step.angle), load::<V>(&step.decay));
        let [mut rot_cos, mut rot_sin, mut minus_sin, mut square] = [[V::splat(0.0); UNITS]; 4];
        for u in 0..UNITS {
            (rot_sin[u], rot_cos[u]) = sin_cos(angle[u]);
            minus_sin[u] = rot_sin[u].mul(V::splat(-1.0));
            square[u] = shrink[u].mul(shrink[u]);
        }
        let mut size = load::<V>(&step.weight);
        let (mut cos, mut sin) = ([V::splat(1.0); UNITS], [V::splat(0.0); UNITS]);
        for [re, im] in sums.iter_mut() {
            let (mut a, mut b) = (V::load(re), V::load(im));
            for u in 0..UNITS {
                let c = cos[u].fma(rot_cos[u], sin[u].mul(minus_sin[u]));
                let s = sin[u].fma(rot_cos[u], cos[u].mul(rot_sin[u]));
                (cos[u], sin[u]) = (c, s);
                size[u] = size[u].mul(shrink[u]);
                shrink[u] = shrink[u].mul(square[u]);
                a = size[u].fma(c, a);
                b = size[u].fma(s, b);
            }
            a.store(re);
            b.store(im);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixture(n: u32, k: f64) -> Mixture<'static> {
        let wave = |k: f64| (0..n).map(move |i| (k * f64::from(i) + k).sin());
        let sd: Vec<f64> = wave(1.7 * k).map(f64::exp).collect();
        Mixture::new(wave(k).collect::<Vec<f64>>(), wave(3.1 * k).collect::<Vec<f64>>(), sd)
            .unwrap()
    }

    /// On every instruction set, between the mixtures and between their mixture and one.
    #[test]
    fn distances_are_double_sums() {
        let (a, b) = (mixture(37, 0.9), mixture(50, 0.4));
        let pairs = |a: &Mixture<'_>, b: &Mixture<'_>| -> f64 {
            let one = |i: usize| sums::pair_sum(b.level, b.parts(), a.mean[i], a.sd[i]);
            (0..a.len()).map(|i| a.weight[i] * one(i)).sum()
        };
        let (log_a, log_b) = (0.3_f64.ln(), 0.7_f64.ln());
        let joined = |f: fn(&Mixture<'_>) -> Vec<f64>| [f(&a), f(&b)].concat();
        let weight = |m: &Mixture<'_>, by: f64| -> Vec<f64> {
            m.weight.iter().map(|w| w.ln() + by).collect()
        };
        let weight = [weight(&a, log_a), weight(&b, log_b)].concat();
        let both = Mixture::new(weight, joined(|m| m.mean.to_vec()), joined(|m| m.sd.to_vec()));
        let mut both = both.unwrap();
        let grid = both.grid();
        assert!(grid.enough);
        for level in Level::available() {
            both.level = level;
            let [of_a, of_b] = [&a, &b].map(|m| Mixture { level, ..m.clone() }.spectrum(&grid));
            let of_both = Spectrum::mix([(0.3, &of_a), (0.7, &of_b)].into_iter());
            let alone = both.spectrum(&grid);
            for (found, exact) in [
                (of_a.distance(&of_b, &grid), pairs(&a, &b)),
                (of_a.distance(&of_a, &grid), pairs(&a, &a)),
                (of_both.distance(&of_a, &grid), pairs(&both, &a)),
                (alone.distance(&of_both, &grid), pairs(&both, &both)),
            ] {
                assert!((found / exact - 1.0).abs() < 1e-11, "{}: {found} {exact}", level.name());
            }
        }
    }
}
