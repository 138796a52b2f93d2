//! The nearest rows of a table under given lengthscales: in single precision, and exact.
//!
//! With inputs divided by the lengthscales, `|x - q|^2 = |q|^2 - 2 t` with the score `t = q'x - |x|^2 / 2`, so the
//! nearest rows are those with the largest score. Scores are made in single precision, which is off by no more than
//! `e (|x|^2 + |q|^2)` with a known e. The rows have their part of it added to their score, and whatever could be
//! among the nearest is compared again by differences in double precision. Rows lie in blocks of near ones: a
//! block whose box has a squared distance D from q has no score above `(|q|^2 - D) / 2`, and is not looked into
//! where that is too low. So the result does not depend on the machine, nor on how rows are divided into blocks or
//! parts: the nearest rows of parts of a table, merged by distance and row, are those of the table.

use std::cmp::Ordering;

use super::blocks::{BLOCK, Blocks, Scores, TILE, scaled};
use crate::Result;
use crate::math::simd::Level;
use crate::parallel::parallel_with;

/// Queries that are asked together: a block is then read from memory once for all of them.
const QUERIES: usize = 32;
/// Rows of which medians are taken.
const MEDIAN_ROWS: usize = 10_000;

/// A row near a query: the squared scaled distance, and the row.
pub type Near = (f64, u32);

/// The nearer one first; of equally near ones that of the lower number.
pub(super) fn order(a: &Near, b: &Near) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Rows, divided by lengthscales, in single precision.
#[derive(Debug, Clone)]
pub(super) struct Index {
    ell: Vec<f64>,
    /// What is subtracted from the inputs: squares of small numbers lose less. It is near the most rows where an
    /// input has one common value and few others.
    centre: Vec<f64>,
    /// The constant of a row is `(e - 1/2) |x|^2`.
    blocks: Blocks,
    level: Level,
}

/// `e` for so many inputs: rounding of the inputs, of their products, and of the sum.
fn rounding(inputs: usize) -> f64 {
    2.0 * (inputs + 8) as f64 * f64::from(f32::EPSILON)
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
        let blocks = Blocks::new(x, &centre, ell, |square| (rounding(d) - 0.5) * square);
        Index { ell: ell.to_vec(), centre, blocks, level: Level::detect() }
    }

    /// The lengthscales.
    pub(super) fn ell(&self) -> &[f64] {
        &self.ell
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
        let asked = queries.len() / d;
        let room = || (vec![0.0; self.blocks.len() * QUERIES], Scores::room());
        let found =
            parallel_with(asked.div_ceil(QUERIES), threads, room, |(most, scores), part| {
                let first = part * QUERIES;
                let queries = &queries[first * d..asked.min(first + QUERIES) * d];
                self.together(x, queries, |q| count(first + q), most, scores)
            })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The same for a few queries; `most` has room for the highest possible score of each block for each query.
    fn together(
        &self,
        x: &[f64],
        queries: &[f64],
        count: impl Fn(usize) -> usize,
        most: &mut [f64],
        scores: &mut Scores,
    ) -> Vec<Vec<Near>> {
        let (d, blocks) = (self.ell.len(), self.blocks.len());
        let mut asked: Vec<(Vec<f32>, Candidates)> = Vec::with_capacity(QUERIES);
        for (q, (query, most)) in queries.chunks_exact(d).zip(most.chunks_mut(blocks)).enumerate() {
            let mut point = vec![0.0; d];
            let square = scaled(query, &self.centre, &self.ell, &mut point);
            let mut candidates = Candidates::new(count(q).min(self.blocks.total()), square);
            self.blocks.distances(self.level, &point, most);
            for (b, most) in most.iter_mut().enumerate() {
                *most = 0.5 * (square - *most) + self.slack(self.blocks.farthest(b), square);
            }
            // The block of the query, and more until there are enough rows, tell what is out of the question.
            while candidates.found.len() < candidates.count {
                let highest = (0..blocks).max_by(|a, b| most[*a].total_cmp(&most[*b])).unwrap_or(0);
                self.look(highest, &point, &mut candidates, scores);
                most[highest] = f64::NEG_INFINITY;
            }
            asked.push((point, candidates));
        }
        for b in 0..blocks {
            for ((point, candidates), most) in asked.iter_mut().zip(most.chunks(blocks)) {
                if most[b] > f64::NEG_INFINITY && most[b] >= candidates.cut.into() {
                    self.look(b, point, candidates, scores);
                }
            }
        }
        let exact = |(query, (_, mut candidates)): (&[f64], (Vec<f32>, Candidates))| {
            self.thin(&mut candidates);
            let distance = |row: u32| -> f64 {
                let at = &x[row as usize * d..(row as usize + 1) * d];
                let apart = at.iter().zip(query).zip(&self.ell);
                apart.map(|((a, b), ell)| ((a - b) / ell).powi(2)).sum()
            };
            let rows = candidates.found.iter().map(|(_, at)| self.blocks.row(*at as usize));
            let mut near: Vec<Near> = rows.map(|row| (distance(row), row)).collect();
            near.sort_unstable_by(order);
            near.truncate(candidates.count);
            near
        };
        queries.chunks_exact(d).zip(asked).map(exact).collect()
    }

    /// How far the computed score of a row, at most `|x|^2` from the centre, may be above the true one.
    fn slack(&self, row: f64, query: f64) -> f64 {
        rounding(self.ell.len()) * (2.0 * row + query)
    }

    /// Take in what may be near in block `b`.
    fn look(&self, b: usize, point: &[f32], candidates: &mut Candidates, scores: &mut Scores) {
        self.blocks.scores(self.level, b, point, scores);
        let first = b * BLOCK;
        let each = &scores.each[..self.blocks.rows(b)];
        for (tile, (scores, top)) in each.chunks(TILE).zip(&scores.tops).enumerate() {
            if *top >= candidates.cut {
                candidates.add(first + tile * TILE, scores);
            }
        }
        if candidates.found.len() >= candidates.full {
            self.thin(candidates);
        }
    }

    /// With `s` the computed score, that of the row's true score is between `s - 2 e |x|^2 - e |q|^2` and
    /// `s + e |q|^2`. The best ones are at least so near, and what cannot be as near is out of the question.
    fn thin(&self, candidates: &mut Candidates) {
        let Candidates { count, square, cut, found, full } = candidates;
        if found.len() <= *count || *count == 0 {
            return;
        }
        let last = found.select_nth_unstable_by(*count - 1, |a, b| b.0.total_cmp(&a.0)).1.0;
        let e = rounding(self.ell.len());
        let row = |at: u32| self.blocks.constant(at as usize) / (e - 0.5);
        let farthest = found[..*count].iter().map(|(_, at)| row(*at)).fold(0.0, f64::max);
        *cut = (f64::from(last) - 2.0 * e * (farthest + *square)) as f32;
        found.retain(|(score, _)| score >= cut);
        *full = 2 * found.len() + *count;
    }
}

/// Rows that may be among the nearest of a query.
struct Candidates {
    count: usize,
    /// `|q|^2`.
    square: f64,
    /// Scores below this are out of the question.
    cut: f32,
    /// The score and the place among the blocks.
    found: Vec<(f32, u32)>,
    /// So many are looked through for those that are out of the question by now.
    full: usize,
}

impl Candidates {
    fn new(count: usize, square: f64) -> Candidates {
        let cut = if count == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
        Candidates { count, square, cut, found: Vec::new(), full: count + 1 }
    }

    fn add(&mut self, first: usize, scores: &[f32]) {
        let near = scores.iter().enumerate().filter(|(_, score)| **score >= self.cut);
        self.found.extend(near.map(|(r, score)| (*score, (first + r) as u32)));
    }
}
