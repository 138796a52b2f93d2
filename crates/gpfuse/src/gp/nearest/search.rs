//! The nearest rows of a table under given lengthscales: by brute force, in single precision, and exact.
//!
//! With inputs divided by the lengthscales, `|x - q|^2 = |q|^2 - 2 (q'x - |x|^2 / 2)`, so the nearest rows are
//! those with the largest `q'x - |x|^2 / 2`: one product of matrices for a block of rows and some queries. That
//! is done in single precision, which is off by no more than `e (|x|^2 + |q|^2)` with a known e. The rows have
//! their part of it added to their score, and whatever could be among the nearest is compared again by
//! differences in double precision. So the result does not depend on the machine, nor on how rows are divided
//! into blocks or parts: the nearest rows of parts of a table, merged by distance and row, are those of the
//! table.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::Result;
use crate::parallel::parallel_with;

/// Rows of a block.
const BLOCK: usize = 2048;
/// Queries that are asked together.
const QUERIES: usize = 32;
/// Scores that are looked at together.
const GROUP: usize = 32;
/// Rows of which medians are taken.
const MEDIAN_ROWS: usize = 10_000;
/// Scaled inputs beyond this are taken for this in single precision, so that their squares are finite.
const LARGEST: f64 = 1e15;

/// A row near a query: the squared scaled distance, and the row.
pub(crate) type Near = (f64, u32);

/// Rows, divided by lengthscales, in single precision.
#[derive(Debug, Clone)]
pub(super) struct Index {
    ell: Vec<f64>,
    /// What is subtracted from the inputs: squares of small numbers lose less. It is near the most rows where an
    /// input has one common value and few others.
    centre: Vec<f64>,
    /// Of each row its inputs, and `(e - 1/2) |x|^2`.
    points: Vec<f32>,
}

/// `e` for so many inputs: rounding of the inputs, of their products, and of the sum.
fn rounding(inputs: usize) -> f64 {
    2.0 * (inputs + 8) as f64 * f64::from(f32::EPSILON)
}

/// A point in units of the lengthscales, in single precision, and its squared length.
fn scaled(x: &[f64], centre: &[f64], ell: &[f64], out: &mut [f32]) -> f64 {
    let mut square = 0.0;
    for (i, out) in out[..ell.len()].iter_mut().enumerate() {
        *out = ((x[i] - centre[i]) / ell[i]).clamp(-LARGEST, LARGEST) as f32;
        square += f64::from(*out).powi(2);
    }
    square
}

impl Index {
    /// For the rows `x` (row-major).
    pub(super) fn new(x: &[f64], ell: &[f64]) -> Index {
        let (d, n) = (ell.len(), x.len() / ell.len());
        let median = |i: usize| {
            let mut some: Vec<f64> =
                (0..n).step_by((n / MEDIAN_ROWS).max(1)).map(|row| x[row * d + i]).collect();
            let middle = some.len() / 2;
            *some.select_nth_unstable_by(middle, f64::total_cmp).1
        };
        let centre: Vec<f64> = (0..d).map(median).collect();
        let mut points = vec![0.0; n * (d + 1)];
        for (x, point) in x.chunks_exact(d).zip(points.chunks_exact_mut(d + 1)) {
            let square = scaled(x, &centre, ell, point);
            point[d] = ((rounding(d) - 0.5) * square) as f32;
        }
        Index { ell: ell.to_vec(), centre, points }
    }

    fn rows(&self) -> usize {
        self.points.len() / (self.ell.len() + 1)
    }

    /// For each query the `count(query)` nearest rows of `x`, the rows of the index, in order of distance; equal
    /// ones in order of rows. Queries are row-major, as `x` is.
    pub(super) fn nearest(
        &self,
        x: &[f64],
        queries: &[f64],
        count: impl Fn(usize) -> usize + Sync,
        threads: usize,
    ) -> Result<Vec<Vec<Near>>> {
        let d = self.ell.len();
        let blocks = queries.len() / d;
        let found = parallel_with(
            blocks.div_ceil(QUERIES),
            threads,
            || vec![0.0; BLOCK * QUERIES],
            |scores, block| {
                let first = block * QUERIES;
                let part = &queries[first * d..queries.len().min((first + QUERIES) * d)];
                self.block(x, part, |q| count(first + q), scores)
            },
        )?;
        Ok(found.into_iter().flatten().collect())
    }

    fn block(
        &self,
        x: &[f64],
        queries: &[f64],
        count: impl Fn(usize) -> usize,
        scores: &mut [f32],
    ) -> Vec<Vec<Near>> {
        let (d, n) = (self.ell.len(), self.rows());
        let asked = queries.len() / d;
        let mut sides = vec![1.0_f32; asked * (d + 1)];
        let mut all = Vec::with_capacity(asked);
        for (q, (query, side)) in
            queries.chunks_exact(d).zip(sides.chunks_exact_mut(d + 1)).enumerate()
        {
            let square = scaled(query, &self.centre, &self.ell, side);
            all.push(Candidates::new(count(q).min(n), square));
        }
        let side = MatRef::from_column_major_slice(&sides, d + 1, asked);
        for (block, points) in self.points.chunks(BLOCK * (d + 1)).enumerate() {
            let rows = points.len() / (d + 1);
            let points = MatRef::from_column_major_slice(points, d + 1, rows).transpose();
            let out = &mut scores[..rows * asked];
            let to = MatMut::from_column_major_slice_mut(out, rows, asked);
            matmul(to, Accum::Replace, points, side, 1.0_f32, Par::Seq);
            for (scores, candidates) in out.chunks_exact(rows).zip(&mut all) {
                candidates.add(self, (block * BLOCK) as u32, scores);
            }
        }
        let exact = |(query, candidates): (&[f64], Candidates)| {
            let distance = |row: u32| -> f64 {
                let at = &x[row as usize * d..(row as usize + 1) * d];
                let apart = at.iter().zip(query).zip(&self.ell);
                apart.map(|((a, b), ell)| ((a - b) / ell).powi(2)).sum()
            };
            let mut near: Vec<Near> =
                candidates.found.iter().map(|(_, row)| (distance(*row), *row)).collect();
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(candidates.count);
            near
        };
        queries.chunks_exact(d).zip(all).map(exact).collect()
    }
}

/// Rows that may be among the nearest of a query.
struct Candidates {
    count: usize,
    /// `|q|^2`.
    square: f64,
    /// Scores below this are out of the question.
    cut: f32,
    found: Vec<(f32, u32)>,
    /// So many are looked through for those that are out of the question by now.
    full: usize,
}

impl Candidates {
    fn new(count: usize, square: f64) -> Candidates {
        let full = 4 * count + GROUP;
        Candidates { count, square, cut: f32::NEG_INFINITY, found: Vec::new(), full }
    }

    fn add(&mut self, index: &Index, first: u32, scores: &[f32]) {
        for (group, scores) in scores.chunks(GROUP).enumerate() {
            let mut any = false;
            // Without a branch the compiler compares many at once.
            scores.iter().for_each(|score| any |= *score >= self.cut);
            if !any {
                continue;
            }
            let first = first + (group * GROUP) as u32;
            let rows = (first..).zip(scores).filter(|(_, score)| **score >= self.cut);
            self.found.extend(rows.map(|(row, score)| (*score, row)));
            if self.found.len() >= self.full {
                self.thin(index);
            }
        }
        self.thin(index);
    }

    /// With `s` the computed score, that of the row's true score is between `s - 2 e |x|^2 - e |q|^2` and
    /// `s + e |q|^2`. The best ones are at least so near, and what cannot be as near is out of the question.
    fn thin(&mut self, index: &Index) {
        if self.found.len() <= self.count || self.count == 0 {
            return;
        }
        let descending = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0);
        let last = self.found.select_nth_unstable_by(self.count - 1, descending).1.0;
        let (d, e) = (index.ell.len(), rounding(index.ell.len()));
        let square = |row: u32| f64::from(index.points[row as usize * (d + 1) + d]) / (e - 0.5);
        let best = self.found[..self.count].iter().map(|(_, row)| square(*row));
        let slack = 2.0 * e * (best.fold(0.0, f64::max) + self.square);
        self.cut = (f64::from(last) - slack) as f32;
        self.found.retain(|(score, _)| *score >= self.cut);
        self.full = 2 * self.found.len() + 4 * self.count;
    }
}
