//! The Cholesky factors of eight matrices at once.

use super::{Each, Quad, TILE, Triangles, ZERO, start};
use crate::math::WIDTH;
use crate::math::simd::{Level, vectorised};
use crate::math::wide::Wide;

/// Panels that are taken together: so many panels, as far as they meet as many columns, and
/// another one fit the first cache (4 x 8 x 4 x 8 numbers are 8 KiB).
const GROUP: usize = 8;

/// Turn each matrix into its lower Cholesky factor L, with `1 / L_ii` on the diagonal, which is
/// what the solves need. For each matrix, the first row whose pivot was not positive (or not a
/// finite number), if there is one; that matrix then has no factor.
pub fn factor(level: Level, matrices: &mut Triangles) -> [Option<usize>; WIDTH] {
    in_place(level, matrices);
    let mut failed = [None; WIDTH];
    for i in (0..matrices.rows()).rev() {
        for (failed, inverse) in failed.iter_mut().zip(matrices.at(i, i).iter()) {
            // As `reciprocals` marks it.
            if *inverse == 0.0 {
                *failed = Some(i);
            }
        }
    }
    failed
}

vectorised! {
    fn in_place = in_place_kernel<wide>(matrices: &mut Triangles);
}

/// Row by row in groups of panels: `L_pq = (K_pq - sum_k L_pk L_qk') L_qq^-T` for each tile left of
/// the diagonal, and the factor of `K_pp - sum_k L_pk L_pk'` on it. The sums run over one group of
/// columns after the other, so that what they read again is still in the first cache.
#[inline(always)]
fn in_place_kernel<V: Wide>(matrices: &mut Triangles) {
    let panels = matrices.panels();
    pad(matrices);
    for group in (0..panels).step_by(GROUP) {
        let end = panels.min(group + GROUP);
        for from in (0..=group).step_by(GROUP) {
            let to = end.min(from + GROUP);
            for q in from..end {
                for p in q.max(group)..end {
                    let (above, rest) = matrices.quads.split_at_mut(start(p));
                    let columns = TILE * from..TILE * q.min(to);
                    let (left, tile) = rest.split_at_mut(TILE * q);
                    let Some((tile, _)) = tile.split_first_chunk_mut() else { return };
                    if p == q {
                        subtract::<V>(tile, &left[columns.clone()], &left[columns]);
                        if q < to {
                            factor_tile::<V>(tile);
                        }
                    } else {
                        let other = &above[start(q)..start(q + 1)];
                        subtract::<V>(tile, &left[columns.clone()], &other[columns]);
                        if q < to {
                            solve_tile::<V>(tile, &other[TILE * q..]);
                        }
                    }
                }
            }
        }
    }
}

/// Rows past the last one are those of the unit matrix.
#[inline(always)]
fn pad(matrices: &mut Triangles) {
    for i in matrices.rows()..matrices.padded() {
        for j in 0..i {
            *matrices.at_mut(i, j) = ZERO;
        }
        *matrices.at_mut(i, i) = Each::splat(1.0);
    }
}

/// `tile -= left right'`.
#[inline(always)]
fn subtract<V: Wide>(tile: &mut [Quad; TILE], left: &[Quad], right: &[Quad]) {
    if V::MANY_REGISTERS {
        subtract_part::<V, TILE, 0, 0>(tile, left, right);
    } else {
        subtract_part::<V, 2, 0, 0>(tile, left, right);
        subtract_part::<V, 2, 2, 0>(tile, left, right);
        subtract_part::<V, 2, 0, 2>(tile, left, right);
        subtract_part::<V, 2, 2, 2>(tile, left, right);
    }
}

/// The `N x N` numbers of a tile from `ROW` and `COLUMN` on.
#[inline(always)]
fn subtract_part<V: Wide, const N: usize, const ROW: usize, const COLUMN: usize>(
    tile: &mut [Quad; TILE],
    left: &[Quad],
    right: &[Quad],
) {
    let mut sum = [[V::splat(0.0); N]; N];
    for (left, right) in left.iter().zip(right) {
        let mut across = [V::splat(0.0); N];
        for c in 0..N {
            across[c] = V::load(&right[COLUMN + c]);
        }
        for r in 0..N {
            let down = V::load(&left[ROW + r]);
            for c in 0..N {
                sum[r][c] = down.fma(across[c], sum[r][c]);
            }
        }
    }
    for c in 0..N {
        for r in 0..N {
            let number = &mut tile[COLUMN + c][ROW + r];
            V::load(number).sub(sum[r][c]).store(number);
        }
    }
}

/// `tile := tile L^-T`, with the factor of a tile on the diagonal.
#[inline(always)]
fn solve_tile<V: Wide>(tile: &mut [Quad; TILE], diagonal: &[Quad]) {
    let mut done = [[V::splat(0.0); TILE]; TILE];
    for c in 0..TILE {
        let inverse = V::load(&diagonal[c][c]);
        for r in 0..TILE {
            let mut left = V::load(&tile[c][r]);
            for k in 0..c {
                left = left.sub(done[k][r].mul(V::load(&diagonal[k][c])));
            }
            done[c][r] = left.mul(inverse);
            done[c][r].store(&mut tile[c][r]);
        }
    }
}

/// The factor of a tile on the diagonal.
#[inline(always)]
fn factor_tile<V: Wide>(tile: &mut [Quad; TILE]) {
    for c in 0..TILE {
        reciprocals(&mut tile[c][c]);
        let inverse = V::load(&tile[c][c]);
        for r in c + 1..TILE {
            V::load(&tile[c][r]).mul(inverse).store(&mut tile[c][r]);
        }
        for k in c + 1..TILE {
            let across = V::load(&tile[c][k]);
            for r in k..TILE {
                let number = V::load(&tile[k][r]).sub(V::load(&tile[c][r]).mul(across));
                number.store(&mut tile[k][r]);
            }
        }
    }
}

/// `1 / sqrt(pivot)`, and 0 where that is not a positive number.
#[inline(always)]
fn reciprocals(pivots: &mut Each) {
    for pivot in pivots.iter_mut() {
        *pivot = if *pivot > 0.0 { 1.0 / pivot.sqrt() } else { 0.0 };
    }
}
