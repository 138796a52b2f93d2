//! Rows in blocks of near ones, divided by lengthscales, in single precision.
//!
//! All rows are divided at the median of the input in which they spread most, and each part again, until a part
//! is a block (the leaves of a k-d tree; Friedman, Bentley and Finkel, *An algorithm for finding best matches in
//! logarithmic expected time*, 1977). Each block has the box that its rows lie in. Where lengthscales leave few
//! inputs that matter, most boxes are too far from a point to be looked into.

use crate::math::simd::{Level, vectorised};

/// Rows of a block.
pub(super) const BLOCK: usize = 512;
/// Rows of a block whose scores are made, and looked at, together.
pub(super) const TILE: usize = 64;
/// Rows by which it is judged in which input a part spreads most.
const SPREAD_ROWS: usize = 256;
/// Numbers that are compared at once.
const LANES: usize = 16;
/// Scaled inputs beyond this are taken for this in single precision, so that their squares are finite.
const LARGEST: f64 = 1e15;

/// Blocks of rows.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    inputs: usize,
    /// The rows, block after block.
    rows: Vec<u32>,
    /// Of each block, input after input, one number for each of its rows; at last a constant of each row.
    points: Vec<f32>,
    /// Of each input, the least number in each block, then the largest one in each.
    boxes: Vec<f32>,
    /// Of each block the largest `|x|^2`.
    farthest: Vec<f64>,
}

/// A point in units of the lengthscales, in single precision, and its squared length.
pub(super) fn scaled(x: &[f64], centre: &[f64], ell: &[f64], out: &mut [f32]) -> f64 {
    let mut square = 0.0;
    for (i, out) in out[..ell.len()].iter_mut().enumerate() {
        *out = ((x[i] - centre[i]) / ell[i]).clamp(-LARGEST, LARGEST) as f32;
        square += f64::from(*out).powi(2);
    }
    square
}

impl Blocks {
    /// Of the rows `x` (row-major), where the constant of a row is `constant(|x|^2)`.
    pub(super) fn new(
        x: &[f64],
        centre: &[f64],
        ell: &[f64],
        constant: impl Fn(f64) -> f64,
    ) -> Blocks {
        let (d, n) = (ell.len(), x.len() / ell.len());
        let mut points = vec![0.0; n * d];
        let pairs = x.chunks_exact(d).zip(points.chunks_exact_mut(d));
        let squares: Vec<f64> = pairs.map(|(x, point)| scaled(x, centre, ell, point)).collect();
        let mut rows: Vec<u32> = (0..n as u32).collect();
        divide(&mut rows, &mut vec![(0.0, 0); n], &points, d);

        let blocks = n.div_ceil(BLOCK);
        let mut out = Blocks {
            inputs: d,
            points: vec![0.0; blocks * (d + 1) * BLOCK],
            boxes: vec![0.0; 2 * d * blocks],
            farthest: vec![0.0; blocks],
            rows,
        };
        for (b, rows) in out.rows.chunks(BLOCK).enumerate() {
            let block = &mut out.points[b * (d + 1) * BLOCK..(b + 1) * (d + 1) * BLOCK];
            for i in 0..d {
                let values = rows.iter().map(|row| points[*row as usize * d + i]);
                let (low, high) = range(values.clone());
                (out.boxes[2 * i * blocks + b], out.boxes[(2 * i + 1) * blocks + b]) = (low, high);
                block[i * BLOCK..].iter_mut().zip(values).for_each(|(to, value)| *to = value);
            }
            for (to, row) in block[d * BLOCK..].iter_mut().zip(rows) {
                let square = squares[*row as usize];
                *to = constant(square) as f32;
                out.farthest[b] = out.farthest[b].max(square);
            }
        }
        out
    }

    /// The number of blocks.
    pub(super) fn len(&self) -> usize {
        self.farthest.len()
    }

    /// The number of rows of all blocks.
    pub(super) fn total(&self) -> usize {
        self.rows.len()
    }

    /// How many rows block `b` has; they are at `b * BLOCK` and what follows.
    pub(super) fn rows(&self, b: usize) -> usize {
        BLOCK.min(self.rows.len() - b * BLOCK)
    }

    /// The row at a place.
    pub(super) fn row(&self, at: usize) -> u32 {
        self.rows[at]
    }

    /// The constant of the row at a place.
    pub(super) fn constant(&self, at: usize) -> f64 {
        let (d, block) = (self.inputs, at / BLOCK);
        self.points[(block * (d + 1) + d) * BLOCK + at % BLOCK].into()
    }

    /// The largest `|x|^2` of block `b`.
    pub(super) fn farthest(&self, b: usize) -> f64 {
        self.farthest[b]
    }

    /// Of each block, the squared distance of its box from a scaled point.
    pub(super) fn distances(&self, level: Level, point: &[f32], out: &mut [f64]) {
        distances(level, &self.boxes, point, out);
    }

    /// `q'x` and the constant of each row of block `b`, for the scaled point q. What is beyond the rows of the
    /// last block is of no use.
    pub(super) fn scores(&self, level: Level, b: usize, point: &[f32], scores: &mut Scores) {
        let size = (self.inputs + 1) * BLOCK;
        products(level, &self.points[b * size..(b + 1) * size], point, scores);
    }
}

/// Scores of the rows of a block.
pub(super) struct Scores {
    pub(super) each: [f32; BLOCK],
    /// The largest one of each tile.
    pub(super) tops: [f32; BLOCK / TILE],
}

impl Scores {
    pub(super) fn room() -> Scores {
        Scores { each: [0.0; BLOCK], tops: [0.0; BLOCK / TILE] }
    }
}

/// The smallest and the largest of some numbers.
fn range(values: impl Iterator<Item = f32>) -> (f32, f32) {
    let start = (f32::INFINITY, f32::NEG_INFINITY);
    values.fold(start, |(low, high), v| (low.min(v), high.max(v)))
}

/// Order rows so that near ones are in the same block: only the last block is not full. `keys` has room for as
/// many.
fn divide(rows: &mut [u32], keys: &mut [(f32, u32)], points: &[f32], d: usize) {
    if rows.len() <= BLOCK {
        return;
    }
    let at = |row: u32, i: usize| points[row as usize * d + i];
    let some = rows.iter().step_by(rows.len().div_ceil(SPREAD_ROWS));
    let spread = |i: usize| {
        let (low, high) = range(some.clone().map(|row| at(*row, i)));
        high - low
    };
    let widest = (0..d).map(|i| (spread(i), i)).max_by(|a, b| a.0.total_cmp(&b.0));
    let input = widest.map_or(0, |(_, i)| i);
    let middle = (rows.len() / 2).next_multiple_of(BLOCK);
    // Numbers beside their rows are compared without a look elsewhere.
    keys.iter_mut().zip(rows.iter()).for_each(|(key, row)| *key = (at(*row, input), *row));
    keys.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rows.iter_mut().zip(keys.iter()).for_each(|(row, key)| *row = key.1);
    let (low, high) = rows.split_at_mut(middle);
    let (low_keys, high_keys) = keys.split_at_mut(middle);
    divide(low, low_keys, points, d);
    divide(high, high_keys, points, d);
}

vectorised! {
    fn distances = distances_kernel(boxes: &[f32], point: &[f32], out: &mut [f64]);
}

#[inline(always)]
fn distances_kernel<const FMA: bool>(boxes: &[f32], point: &[f32], out: &mut [f64]) {
    let blocks = out.len();
    out.fill(0.0);
    for (at, sides) in point.iter().zip(boxes.chunks_exact(2 * blocks)) {
        let (at, (low, high)) = (f64::from(*at), sides.split_at(blocks));
        for b in 0..blocks {
            let (below, above) = (f64::from(low[b]) - at, at - f64::from(high[b]));
            let outside = if below > above { below } else { above };
            let outside = if outside > 0.0 { outside } else { 0.0 };
            out[b] += outside * outside;
        }
    }
}

vectorised! {
    fn products = products_kernel(points: &[f32], point: &[f32], scores: &mut Scores);
}

#[inline(always)]
fn products_kernel<const FMA: bool>(points: &[f32], point: &[f32], scores: &mut Scores) {
    let constants = point.len() * BLOCK;
    for t in 0..BLOCK / TILE {
        let mut sum = [0.0; TILE];
        sum.copy_from_slice(&points[constants + t * TILE..constants + (t + 1) * TILE]);
        for (i, q) in point.iter().enumerate() {
            let x = &points[i * BLOCK + t * TILE..i * BLOCK + (t + 1) * TILE];
            for r in 0..TILE {
                sum[r] = if FMA { x[r].mul_add(*q, sum[r]) } else { x[r] * q + sum[r] };
            }
        }
        scores.each[t * TILE..(t + 1) * TILE].copy_from_slice(&sum);
        let mut tops = [f32::NEG_INFINITY; LANES];
        for part in sum.as_chunks::<LANES>().0 {
            for l in 0..LANES {
                tops[l] = if part[l] > tops[l] { part[l] } else { tops[l] };
            }
        }
        scores.tops[t] = tops.into_iter().fold(f32::NEG_INFINITY, f32::max);
    }
}
