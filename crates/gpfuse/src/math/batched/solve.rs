//! Two right-hand sides of each of eight matrices, solved by their Cholesky factors.
//!
//! A factor is read once for both sides: from memory it comes slower than it is used.

use super::{Pair, Quad, TILE, Triangles};
use crate::math::simd::vectorised;
use crate::math::wide::Wide;

vectorised! {
    /// `sides := L^-1 sides`.
    pub fn forward = forward_kernel<wide>(factors: &Triangles, sides: &mut [Pair]);
}

vectorised! {
    /// `sides := L^-T sides`; after [`forward`] they are `K^-1` times what they were.
    pub fn backward = backward_kernel<wide>(factors: &Triangles, sides: &mut [Pair]);
}

#[inline(always)]
fn forward_kernel<V: Wide>(factors: &Triangles, sides: &mut [Pair]) {
    for p in 0..factors.panels() {
        let (before, rest) = sides.split_at_mut(TILE * p);
        let (left, diagonal) = factors.panel(p).split_at(TILE * p);
        if V::MANY_REGISTERS {
            forward_part::<V, 2, 0>(left, diagonal, before, rest);
        } else {
            forward_part::<V, 1, 0>(left, diagonal, before, rest);
            forward_part::<V, 1, 1>(left, diagonal, before, rest);
        }
    }
}

/// One panel for `N` sides from `FIRST` on.
#[inline(always)]
fn forward_part<V: Wide, const N: usize, const FIRST: usize>(
    left: &[Quad],
    diagonal: &[Quad],
    before: &[Pair],
    sides: &mut [Pair],
) {
    let mut sum = [[V::splat(0.0); N]; TILE];
    for (left, before) in left.iter().zip(before) {
        for r in 0..TILE {
            let down = V::load(&left[r]);
            for s in 0..N {
                sum[r][s] = down.fma(V::load(&before[FIRST + s]), sum[r][s]);
            }
        }
    }
    for c in 0..TILE {
        let inverse = V::load(&diagonal[c][c]);
        for s in 0..N {
            let side = &mut sides[c][FIRST + s];
            let solved = V::load(side).sub(sum[c][s]).mul(inverse);
            solved.store(side);
            for r in c + 1..TILE {
                sum[r][s] = V::load(&diagonal[c][r]).fma(solved, sum[r][s]);
            }
        }
    }
}

#[inline(always)]
fn backward_kernel<V: Wide>(factors: &Triangles, sides: &mut [Pair]) {
    for p in (0..factors.panels()).rev() {
        let (before, rest) = sides.split_at_mut(TILE * p);
        let (left, diagonal) = factors.panel(p).split_at(TILE * p);
        if V::MANY_REGISTERS {
            backward_part::<V, 2, 0>(left, diagonal, before, rest);
        } else {
            backward_part::<V, 1, 0>(left, diagonal, before, rest);
            backward_part::<V, 1, 1>(left, diagonal, before, rest);
        }
    }
}

/// One panel for `N` sides from `FIRST` on.
#[inline(always)]
fn backward_part<V: Wide, const N: usize, const FIRST: usize>(
    left: &[Quad],
    diagonal: &[Quad],
    before: &mut [Pair],
    sides: &mut [Pair],
) {
    let mut solved = [[V::splat(0.0); N]; TILE];
    for r in (0..TILE).rev() {
        for s in 0..N {
            let mut side = V::load(&sides[r][FIRST + s]);
            for k in r + 1..TILE {
                side = side.sub(V::load(&diagonal[r][k]).mul(solved[k][s]));
            }
            solved[r][s] = side.mul(V::load(&diagonal[r][r]));
            solved[r][s].store(&mut sides[r][FIRST + s]);
        }
    }
    for (left, before) in left.iter().zip(before) {
        for s in 0..N {
            let mut sum = V::splat(0.0);
            for r in 0..TILE {
                sum = V::load(&left[r]).fma(solved[r][s], sum);
            }
            let side = &mut before[FIRST + s];
            V::load(side).sub(sum).store(side);
        }
    }
}
