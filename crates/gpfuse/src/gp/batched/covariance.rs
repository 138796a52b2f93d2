//! Covariances of the rows of eight GPs, and the gradient in the lengthscales.
//!
//! Squared distances are summed from differences, not from products of the inputs, which loses no
//! digits of near rows.

use crate::gp::covariance::LARGEST_SQUARE;
use crate::kernel::Kernel;
use crate::math::WIDTH;
use crate::math::batched::{Each, Pair, Quad, TILE, Triangles, ZERO};
use crate::math::simd::vectorised;
use crate::math::wide::Wide;

/// Inputs beyond this are taken for this, so that squares of differences are finite.
const LARGEST_INPUT: f64 = 1e150;

/// An input as it is worked with.
pub(super) fn bounded(u: f64) -> f64 {
    u.clamp(-LARGEST_INPUT, LARGEST_INPUT)
}

/// As many rows of each of eight sets of inputs, divided by their lengthscales, in the panels of
/// [`Triangles`]: a quad for each input.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    inputs: usize,
    quads: Vec<Quad>,
}

impl Rows {
    /// Rows that are all zero.
    pub(super) fn new(rows: usize, inputs: usize) -> Rows {
        Rows { inputs, quads: vec![[ZERO; TILE]; rows.div_ceil(TILE) * inputs] }
    }

    /// Row `i` of one set.
    pub(super) fn set(&mut self, i: usize, lane: usize, row: impl IntoIterator<Item = f64>) {
        let panel = i / TILE * self.inputs;
        let quads = &mut self.quads[panel..panel + self.inputs];
        quads.iter_mut().zip(row).for_each(|(quad, u)| quad[i % TILE][lane] = bounded(u));
    }

    /// The inputs of panel `p`.
    fn panel(&self, p: usize) -> &[Quad] {
        &self.quads[p * self.inputs..(p + 1) * self.inputs]
    }
}

vectorised! {
    /// The squared distances of the rows of each set from one another.
    pub(super) fn squares = squares_kernel<wide>(x: &Rows, squares: &mut Triangles);
}

#[inline(always)]
fn squares_kernel<V: Wide>(x: &Rows, squares: &mut Triangles) {
    for p in 0..squares.panels() {
        let (tiles, _) = squares.panel_mut(p).as_chunks_mut::<TILE>();
        for (q, tile) in tiles.iter_mut().enumerate() {
            let mut sum = [[V::splat(0.0); TILE]; TILE];
            for (down, across) in x.panel(p).iter().zip(x.panel(q)) {
                for r in 0..TILE {
                    let u = V::load(&down[r]);
                    for c in 0..TILE {
                        let apart = u.sub(V::load(&across[c]));
                        sum[c][r] = apart.fma(apart, sum[c][r]);
                    }
                }
            }
            for c in 0..TILE {
                for r in 0..TILE {
                    sum[c][r].store(&mut tile[c][r]);
                }
            }
        }
    }
}

vectorised! {
    /// The squared distances of the rows of each set from one more row.
    pub(super) fn squares_to = squares_to_kernel<wide>(x: &Rows, row: &[Each], squares: &mut [Each]);
}

#[inline(always)]
fn squares_to_kernel<V: Wide>(x: &Rows, row: &[Each], squares: &mut [Each]) {
    let (squares, _) = squares.as_chunks_mut::<TILE>();
    for (p, squares) in squares.iter_mut().enumerate() {
        let mut sum = [V::splat(0.0); TILE];
        for (down, u) in x.panel(p).iter().zip(row) {
            for r in 0..TILE {
                let apart = V::load(&down[r]).sub(V::load(u));
                sum[r] = apart.fma(apart, sum[r]);
            }
        }
        for r in 0..TILE {
            sum[r].store(&mut squares[r]);
        }
    }
}

vectorised! {
    /// Squared distances become covariances `var k(r2)`; where room for `slopes` is given, that
    /// receives `var dk/dr2`.
    pub(super) fn covariances = covariances_kernel(
        kernel: Kernel, var: f64, numbers: &mut [Each], slopes: &mut [Each],
    );
}

/// A loop per kernel, so that none of them asks for the kernel.
#[inline(always)]
fn covariances_kernel<const FMA: bool>(
    kernel: Kernel,
    var: f64,
    numbers: &mut [Each],
    slopes: &mut [Each],
) {
    match kernel {
        Kernel::Rbf => each::<FMA>(Kernel::Rbf, var, numbers, slopes),
        Kernel::Matern12 => each::<FMA>(Kernel::Matern12, var, numbers, slopes),
        Kernel::Matern32 => each::<FMA>(Kernel::Matern32, var, numbers, slopes),
        Kernel::Matern52 => each::<FMA>(Kernel::Matern52, var, numbers, slopes),
    }
}

#[inline(always)]
fn each<const FMA: bool>(kernel: Kernel, var: f64, numbers: &mut [Each], slopes: &mut [Each]) {
    let mut slopes = slopes.iter_mut();
    for numbers in numbers {
        let (mut value, mut steep) = (ZERO, ZERO);
        for lane in 0..WIDTH {
            let r2 = numbers[lane];
            let bounded = if r2 < LARGEST_SQUARE { r2 } else { LARGEST_SQUARE };
            let (v, s) = kernel.covariance_by::<FMA>(bounded);
            value[lane] = var * v;
            steep[lane] = var * s;
        }
        *numbers = value;
        if let Some(slope) = slopes.next() {
            *slope = steep;
        }
    }
}

/// What the gradient in the lengthscales needs, of eight sets of rows and one more row of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slopes<'a> {
    /// `a` and `c` of [`adjoint`](super::adjoint).
    pub(super) sides: &'a [Pair],
    /// `var dk/dr2` of the rows with one another.
    pub(super) among: &'a Triangles,
    /// `df/dk` of the rows with the one row.
    pub(super) cross: &'a [Each],
    /// `var dk/dr2` of the rows with the one row.
    pub(super) to: &'a [Each],
}

vectorised! {
    /// `df/d log ell_d` for each input d: with the slopes `s` of the covariance in `r2` and the scaled
    /// inputs `u`, `-2 sum_(i > j) (a_i c_j + c_i a_j) s_ij (u_id - u_jd)^2 - 2 sum_i f_i s_i (u_id -
    /// u_d)^2`, where `f = df/dk`.
    pub(super) fn contract = contract_kernel<wide>(
        x: &Rows, row: &[Each], slopes: Slopes<'_>, d_log_ell: &mut [Each],
    );
}

#[inline(always)]
fn contract_kernel<V: Wide>(x: &Rows, row: &[Each], slopes: Slopes<'_>, d_log_ell: &mut [Each]) {
    d_log_ell.fill(ZERO);
    let (sides, _) = slopes.sides.as_chunks::<TILE>();
    let (cross, _) = slopes.cross.as_chunks::<TILE>();
    let (to, _) = slopes.to.as_chunks::<TILE>();
    for p in 0..slopes.among.panels() {
        let (tiles, _) = slopes.among.panel(p).as_chunks::<TILE>();
        for (q, tile) in tiles.iter().enumerate() {
            let mut weights = [[V::splat(0.0); TILE]; TILE];
            for r in 0..TILE {
                let (a, c) = (V::load(&sides[p][r][0]), V::load(&sides[p][r][1]));
                for k in 0..if p == q { r } else { TILE } {
                    let (a_k, c_k) = (V::load(&sides[q][k][0]), V::load(&sides[q][k][1]));
                    weights[k][r] = a.fma(c_k, c.mul(a_k)).mul(V::load(&tile[k][r]));
                }
            }
            add::<V, TILE>(x.panel(p), x.panel(q), &weights, d_log_ell);
        }
        let mut weights = [V::splat(0.0); TILE];
        for r in 0..TILE {
            weights[r] = V::load(&cross[p][r]).mul(V::load(&to[p][r]));
        }
        add::<V, 1>(x.panel(p), row.as_chunks().0, &[weights], d_log_ell);
    }
    let factor = V::splat(-2.0);
    for d in d_log_ell {
        V::load(d).mul(factor).store(d);
    }
}

/// Add the weighted squares of differences of a panel's rows with N others, input by input.
#[inline(always)]
fn add<V: Wide, const N: usize>(
    down: &[Quad],
    across: &[[Each; N]],
    weights: &[[V; TILE]; N],
    sums: &mut [Each],
) {
    for ((down, across), sum) in down.iter().zip(across).zip(sums) {
        let mut part = [V::splat(0.0); TILE];
        for c in 0..N {
            let u = V::load(&across[c]);
            for r in 0..TILE {
                let apart = V::load(&down[r]).sub(u);
                part[r] = apart.mul(apart).fma(weights[c][r], part[r]);
            }
        }
        let pair = part[0].add(part[1]).add(part[2].add(part[3]));
        V::load(sum).add(pair).store(sum);
    }
}
