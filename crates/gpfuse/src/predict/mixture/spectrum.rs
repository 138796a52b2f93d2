//! Mean distances from characteristic functions.
//!
//! A mixture's characteristic function is `c(t) = sum_i w_i exp(i m_i t - s_i^2 t^2 / 2)`.
//! Since `sum_k (1 - cos kx) / k^2 = pi x / 2 - x^2 / 4` for `0 <= x <= 2 pi`, two independent
//! variables with `|X - Y| <= W` have
//!
//! `E|X - Y| = W/6 + E(X - Y)^2 / W - W / pi^2 sum_k Re(c_X(t_k) conj c_Y(t_k)) / k^2`,
//! `t_k = 2 pi k / W`,
//!
//! without any error of quadrature. The sum ends where the terms do, like
//! `exp(-(s^2 + s'^2) t^2 / 2)`, and on the grid `t_k` a component's terms follow from each
//! other by a few products. Here are the grid and what a part of a mixture is on it; which
//! parts, is in [`super::layers`].

use std::f64::consts::PI;

use super::sums::{BLOCK, Parts, add, each_block};
use crate::math::simd::{Level, vectorised};
use crate::math::turns::sin_cos;
use crate::math::wide::Wide;
use crate::math::{Line, Sums, WIDTH, exp, total};

/// Points `t_k`, `k = 1..=count`, for variables within `width` of each other near `center`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub(super) center: f64,
    pub(super) width: f64,
    pub(super) count: usize,
}

/// Some weighted components on a grid: weight, moments about the grid's centre, and the
/// characteristic function as `(Re, Im)`.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    weight: f64,
    first: f64,
    second: f64,
    values: Vec<[f64; 2]>,
}

impl Measure {
    pub(super) fn new(level: Level, parts: Parts<'_>, grid: &Grid) -> Measure {
        let [weight, first, second] = moments(level, parts, grid.center);
        Measure { weight, first, second, values: transform(level, parts, grid) }
    }

    /// Nothing, to be added to.
    pub(super) fn none(grid: &Grid) -> Measure {
        let values = vec![[0.0; 2]; grid.count];
        Measure { weight: 0.0, first: 0.0, second: 0.0, values }
    }

    /// Add `share` of another one on the same grid.
    pub(super) fn add(&mut self, share: f64, other: &Measure) {
        self.weight += share * other.weight;
        self.first += share * other.first;
        self.second += share * other.second;
        for (value, other) in self.values.iter_mut().zip(&other.values) {
            *value = [value[0] + share * other[0], value[1] + share * other[1]];
        }
    }

    /// The distances of all pairs of components by their weights: the mean distance of
    /// independent draws times both weights.
    pub(super) fn distances(&self, other: &Measure, grid: &Grid) -> f64 {
        let (a, b) = (self, other);
        // No components, or all at one point up to rounding.
        if a.weight == 0.0 || b.weight == 0.0 || grid.width == 0.0 {
            return 0.0;
        }
        let pairs = a.values.iter().zip(&b.values).enumerate();
        let term = |(k, (a, b)): (usize, (&[f64; 2], &[f64; 2]))| {
            (a[0] * b[0] + a[1] * b[1]) / ((k + 1) as f64).powi(2)
        };
        // From the smallest terms to the largest.
        let series: f64 = pairs.rev().map(term).sum();
        let squares = a.second * b.weight + a.weight * b.second - 2.0 * a.first * b.first;
        let width = grid.width;
        width / 6.0 * a.weight * b.weight + squares / width - width / (PI * PI) * series
    }
}

vectorised! {
    /// Weight, first and second moment about `center`.
    fn moments = moment_kernel(parts: Parts<'_>, center: f64) -> [f64; 3];
}

#[inline(always)]
fn moment_kernel<const FMA: bool>(parts: Parts<'_>, center: f64) -> [f64; 3] {
    let [mut weights, mut firsts, mut seconds] = [[0.0; WIDTH]; 3];
    let [mut first, mut second] = [[0.0; BLOCK]; 2];
    each_block!(BLOCK, w = parts.weight, m = parts.mean, s = parts.sd; {
        let (first, second) = (&mut first[..w.len()], &mut second[..w.len()]);
        for i in 0..w.len() {
            let d = m[i] - center;
            first[i] = w[i] * d;
            second[i] = w[i] * (d * d + s[i] * s[i]);
        }
        add(&mut weights, w);
        add(&mut firsts, first);
        add(&mut seconds, second);
    });
    [total(&weights), total(&firsts), total(&seconds)]
}

vectorised! {
    /// `sum_i w_i exp(-s_i^2 t^2 / 2)`, a bound on the characteristic function at t.
    pub(super) fn bound = bound_kernel(parts: Parts<'_>, t: f64) -> f64;
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
