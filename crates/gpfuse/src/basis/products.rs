//! The two matrix products of fixed functions: function values from coefficients, and back.

use crate::math::simd::vectorised;
use crate::math::wide::{Wide, group, group_mut};
use crate::math::{Lanes, ROWS, Sums, WIDTH};

vectorised! {
    pub(super) fn forward = forward_kernel<wide>(
        features: &[Lanes], coef: &[f64], groups: usize, f: &mut [Lanes],
    );
}

/// Function values of the first `groups` groups of rows, a matrix product in tiles that stay in
/// registers: a feature is read once for several GPs.
#[inline(always)]
fn forward_kernel<V: Wide>(features: &[Lanes], coef: &[f64], groups: usize, mut f: &mut [Lanes]) {
    let mut first = 0;
    while !f.is_empty() {
        let count = share::<V>(f.len());
        let (tile, rest) = f.split_at_mut(count);
        let coef = &coef[first * features.len()..(first + count) * features.len()];
        match count {
            4 => forward_tile::<V, 4>(features, coef, groups, tile),
            3 => forward_tile::<V, 3>(features, coef, groups, tile),
            2 => forward_tile::<V, 2>(features, coef, groups, tile),
            _ => forward_tile::<V, 1>(features, coef, groups, tile),
        }
        (f, first) = (rest, first + count);
    }
}

/// How many of `left` GPs to take at once: few enough for the registers, and so that all shares
/// are about equal.
#[inline(always)]
fn share<V: Wide>(left: usize) -> usize {
    left.div_ceil(left.div_ceil(if V::MANY_REGISTERS { 4 } else { 3 }))
}

/// Groups of rows that a tile of the product holds in registers at once.
const TILE: usize = 4;

#[inline(always)]
fn forward_tile<V: Wide, const G: usize>(
    features: &[Lanes],
    coef: &[f64],
    groups: usize,
    f: &mut [Lanes],
) {
    let functions = features.len();
    for start in (0..groups.min(ROWS / WIDTH)).step_by(TILE) {
        let mut sum = [[V::splat(0.0); TILE]; G];
        for (j, phi) in features.iter().enumerate() {
            let mut phis = [V::splat(0.0); TILE];
            for t in 0..TILE {
                phis[t] = V::load(group(phi, start + t));
            }
            for g in 0..G {
                let c = V::splat(coef[g * functions + j]);
                for t in 0..TILE {
                    sum[g][t] = c.fma(phis[t], sum[g][t]);
                }
            }
        }
        for g in 0..G {
            for t in 0..TILE {
                sum[g][t].store(group_mut(&mut f[g], start + t));
            }
        }
    }
}

vectorised! {
    pub(super) fn adjoint = adjoint_kernel<wide>(
        features: &[Lanes], functions: usize, d_f: &[Lanes], groups: usize, out: &mut [Sums],
    );
}

/// The reverse product over the first `groups` groups of several blocks, in tiles of a few GPs
/// by a few functions.
#[inline(always)]
fn adjoint_kernel<V: Wide>(
    features: &[Lanes],
    functions: usize,
    d_f: &[Lanes],
    groups: usize,
    out: &mut [Sums],
) {
    let gps = out.len() / functions;
    let mut first = 0;
    while first < gps {
        let count = share::<V>(gps - first);
        let out = &mut out[first * functions..(first + count) * functions];
        let all = Product { features, functions, d_f, gps, first, groups };
        match (count, V::MANY_REGISTERS) {
            (4, _) => adjoint_tiles::<V, 4, 4>(all, out),
            (3, true) => adjoint_tiles::<V, 3, 4>(all, out),
            (3, false) => adjoint_tiles::<V, 3, 2>(all, out),
            (2, true) => adjoint_tiles::<V, 2, 4>(all, out),
            (2, false) => adjoint_tiles::<V, 2, 2>(all, out),
            _ => adjoint_tiles::<V, 1, 4>(all, out),
        }
        first += count;
    }
}

/// The factors of the reverse product: features (blocks, functions) and adjoints (blocks, GPs),
/// of which a tile takes those from `first` on.
#[derive(Clone, Copy)]
struct Product<'a> {
    features: &'a [Lanes],
    functions: usize,
    d_f: &'a [Lanes],
    gps: usize,
    first: usize,
    groups: usize,
}

#[inline(always)]
fn adjoint_tiles<V: Wide, const G: usize, const J: usize>(all: Product<'_>, out: &mut [Sums]) {
    let whole = all.functions - all.functions % J;
    for j in (0..whole).step_by(J) {
        adjoint_tile::<V, G, J>(all, j, out);
    }
    for j in whole..all.functions {
        adjoint_tile::<V, G, 1>(all, j, out);
    }
}

#[inline(always)]
fn adjoint_tile<V: Wide, const G: usize, const J: usize>(
    all: Product<'_>,
    first: usize,
    out: &mut [Sums],
) {
    let mut sum = [[V::splat(0.0); J]; G];
    let blocks = all.features.chunks(all.functions).zip(all.d_f.chunks(all.gps));
    let mut left = all.groups;
    for (features, d_f) in blocks {
        let phi = features[first..].first_chunk::<J>();
        let (Some(phi), Some(d_f)) = (phi, d_f[all.first..].first_chunk::<G>()) else { return };
        let groups = left.min(ROWS / WIDTH);
        left -= groups;
        for i in 0..groups {
            let mut phis = [V::splat(0.0); J];
            for j in 0..J {
                phis[j] = V::load(group(&phi[j], i));
            }
            for g in 0..G {
                let d = V::load(group(&d_f[g], i));
                for j in 0..J {
                    sum[g][j] = d.fma(phis[j], sum[g][j]);
                }
            }
        }
    }
    for (sum, out) in sum.iter().zip(out.chunks_mut(all.functions)) {
        for (sum, out) in sum.iter().zip(&mut out[first..]) {
            sum.add(V::load(out)).store(out);
        }
    }
}
