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
                    let panel = &mut rest[..TILE * (p + 1)];
                    if p == q {
                        tile::<V, true>(panel, &[], q, from, to);
                    } else {
                        tile::<V, false>(panel, &above[start(q)..start(q + 1)], q, from, to);
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

/// Tile `q` of a panel, on the diagonal or below it, in blocks that fit the registers.
#[inline(always)]
fn tile<V: Wide, const DIAGONAL: bool>(
    panel: &mut [Quad],
    other: &[Quad],
    q: usize,
    from: usize,
    to: usize,
) {
    if V::MANY_REGISTERS {
        block::<V, TILE, 0, 0, DIAGONAL>(panel, other, q, from, to);
    } else {
        block::<V, 2, 0, 0, DIAGONAL>(panel, other, q, from, to);
        block::<V, 2, 2, 0, DIAGONAL>(panel, other, q, from, to);
        if !DIAGONAL {
            block::<V, 2, 0, 2, DIAGONAL>(panel, other, q, from, to);
        }
        block::<V, 2, 2, 2, DIAGONAL>(panel, other, q, from, to);
    }
}

/// The `N x N` numbers of tile `q` from `ROW` and `COLUMN` on: subtract the products of `panel`
/// and `other`, which is panel `q`, over the tiles `from..to` of columns; where all columns before the block
/// are among them, finish it too. On the diagonal `panel` is panel `q`, and stands in for `other`.
#[inline(always)]
fn block<V: Wide, const N: usize, const ROW: usize, const COLUMN: usize, const DIAGONAL: bool>(
    panel: &mut [Quad],
    other: &[Quad],
    q: usize,
    from: usize,
    to: usize,
) {
    let pivots = DIAGONAL && ROW == COLUMN;
    let at = TILE * q + COLUMN;
    let (left, block) = panel.split_at_mut(at);
    let columns = TILE * from..if q < to { at } else { TILE * to };
    let right = if DIAGONAL { &*left } else { other };
    let mut sum = [[V::splat(0.0); N]; N];
    for (left, right) in left[columns.clone()].iter().zip(&right[columns]) {
        let mut down = [V::splat(0.0); N];
        for r in 0..N {
            down[r] = V::load(&left[ROW + r]);
        }
        for c in 0..N {
            let across = V::load(&right[COLUMN + c]);
            for r in if pivots { c } else { 0 }..N {
                sum[c][r] = down[r].fma(across, sum[c][r]);
            }
        }
    }
    let Some(block) = block.first_chunk_mut::<N>() else { return };
    if q >= to {
        for c in 0..N {
            for r in if pivots { c } else { 0 }..N {
                let number = &mut block[c][ROW + r];
                V::load(number).sub(sum[c][r]).store(number);
            }
        }
        return;
    }
    let diagonal = if DIAGONAL { &[] } else { &other[at..at + N] };
    for c in 0..N {
        let mut done = [V::splat(0.0); N];
        if pivots {
            let pivot = &mut block[c][ROW + c];
            V::load(pivot).sub(sum[c][c]).store(pivot);
            reciprocals(pivot);
        }
        let inverse =
            V::load(if DIAGONAL { &block[c][COLUMN + c] } else { &diagonal[c][COLUMN + c] });
        for r in if pivots { c + 1 } else { 0 }..N {
            let number = &mut block[c][ROW + r];
            done[r] = V::load(number).sub(sum[c][r]).mul(inverse);
            done[r].store(number);
        }
        for k in c + 1..N {
            let across =
                V::load(if DIAGONAL { &block[c][COLUMN + k] } else { &diagonal[c][COLUMN + k] });
            for r in if pivots { k } else { 0 }..N {
                sum[k][r] = done[r].fma(across, sum[k][r]);
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
