//! The fused density of a block of rows, gathered draw by draw or batch by batch.

use std::ops::Range;

use super::{Batches, Mixture};
use crate::math::simd::{Level, vectorised};
use crate::math::wide::group;
use crate::math::{Lanes, ROWS, WIDTH};
use crate::pool::{Components, Pool};
use crate::scale::Affine;
use crate::{Error, Result};

/// Draws that are turned from rows abreast to one row after the other at once: a row then gets
/// whole cache lines.
pub(super) const DRAWS_TURNED: usize = 24;

/// The fused density of one block of rows, in the units of the target.
#[derive(Debug)]
pub struct FusedBlock {
    /// The number of the block's first row.
    pub first: usize,
    rows: usize,
    /// Draws, or averages of a batch of them.
    draws: usize,
    /// Components per draw.
    parts: usize,
    /// Of each draw, or of a draw of each batch, in the predictive.
    log_share: Vec<f64>,
    /// With one component per draw, of one row for all: a draw weighs the same in every row.
    log_weight: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
    /// The last few draws, rows abreast.
    turning: Vec<Components>,
}

impl FusedBlock {
    /// Room for what `pool` makes of `experts` experts in each draw, or batch of draws.
    pub(super) fn room(pool: Pool, experts: usize, batches: &Batches) -> FusedBlock {
        let (parts, sizes) = (pool.components(experts), batches.sizes());
        let (draws, each) = (sizes.len(), sizes.len() * parts);
        let log_share = batches.log_shares();
        let log_weight = match parts {
            1 => sizes.iter().zip(&log_share).map(|(n, share)| (*n as f64).ln() + share).collect(),
            _ => vec![0.0; ROWS * each],
        };
        FusedBlock {
            first: 0,
            rows: 0,
            draws,
            parts,
            log_share,
            log_weight,
            mean: vec![0.0; ROWS * each],
            sd: vec![0.0; ROWS * each],
            turning: vec![pool.room(experts); DRAWS_TURNED],
        }
    }

    /// Rows of a table with `parts` components each, the first of them number `first`.
    pub(super) fn table(
        first: usize,
        parts: usize,
        log_weight: Vec<f64>,
        mean: Vec<f64>,
        sd: Vec<f64>,
    ) -> FusedBlock {
        let (rows, log_share, turning) = (mean.len() / parts, Vec::new(), Vec::new());
        FusedBlock { first, rows, draws: 1, parts, log_share, log_weight, mean, sd, turning }
    }

    /// Begin a block of `rows` rows of which the first is number `first`.
    pub(super) fn begin(&mut self, first: usize, rows: usize) {
        (self.first, self.rows) = (first, rows);
    }

    /// Where to put the components of draw or batch `j`, before [`FusedBlock::take`] of it; the
    /// log weights of a batch are those of the sum over its draws.
    pub(super) fn place(&mut self, j: usize) -> &mut Components {
        &mut self.turning[j % DRAWS_TURNED]
    }

    /// Take in the components of draw or batch `j`; they come in order.
    pub(super) fn take(&mut self, level: Level, j: usize, target: Affine) {
        let done = j % DRAWS_TURNED + 1;
        if done < DRAWS_TURNED && j + 1 < self.draws {
            return;
        }
        let (parts, each) = (self.parts, self.draws * self.parts);
        let (first, draws) = (j + 1 - done, &self.turning[..done]);
        let start = first * parts;
        if parts > 1 {
            let mut from = 0;
            for alike in self.log_share[first..=j].chunk_by(|a, b| a == b) {
                let (by, to) = (Affine { shift: alike[0], scale: 1.0 }, from + alike.len());
                let lanes = draws[from..to].iter().flat_map(|c| &c.log_weight);
                turn(level, lanes, by, &mut self.log_weight, each, (first + from) * parts);
                from = to;
            }
        }
        let means = draws.iter().flat_map(|c| &c.mean);
        turn(level, means, target, &mut self.mean, each, start);
        let (sds, by) = (draws.iter().flat_map(|c| &c.sd), Affine { shift: 0.0, ..target });
        turn(level, sds, by, &mut self.sd, each, start);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The predictive density of row `r` of the block: the components of the first draw (or
    /// batch of draws), then of the second, and so on.
    pub fn row(&self, r: usize) -> Result<Mixture<'_>> {
        self.row_draws(r, 0..self.draws)
    }

    /// The same from a range of the draws only; [`Batches::held`] says where a batch is.
    pub fn row_draws(&self, r: usize, draws: Range<usize>) -> Result<Mixture<'_>> {
        let of = |row: usize| {
            let start = row * self.draws * self.parts;
            start + draws.start * self.parts..start + draws.end * self.parts
        };
        let log_weight = &self.log_weight[of(if self.parts == 1 { 0 } else { r })];
        Mixture::new(log_weight, &self.mean[of(r)], &self.sd[of(r)]).map_err(|e| {
            let row = self.first + r + 1;
            Error::Data(format!("prediction of row {row}: {e}: look at its inputs"))
        })
    }
}

/// Turn lanes to where each row has `each` numbers, of which these are those from `start` on;
/// `by` restores their scale on the way.
pub(super) fn turn<'a>(
    level: Level,
    lanes: impl Iterator<Item = &'a Lanes>,
    by: Affine,
    out: &mut [f64],
    each: usize,
    start: usize,
) {
    let lanes: Vec<&Lanes> = lanes.collect();
    turn_all(level, &lanes, by, out, each, start);
}

vectorised! {
    fn turn_all = turn_kernel(
        lanes: &[&Lanes], by: Affine, out: &mut [f64], each: usize, start: usize,
    );
}

/// In squares of [`WIDTH`] rows and lanes, which the compiler turns in registers.
#[inline(always)]
fn turn_kernel<const FMA: bool>(
    lanes: &[&Lanes],
    by: Affine,
    out: &mut [f64],
    each: usize,
    start: usize,
) {
    let (whole, rest) = lanes.as_chunks::<WIDTH>();
    for g in 0..ROWS / WIDTH {
        for (c, eight) in whole.iter().enumerate() {
            let mut tile = [[0.0; WIDTH]; WIDTH];
            for s in 0..WIDTH {
                let from = group(eight[s], g);
                for i in 0..WIDTH {
                    tile[i][s] = by.restore(from[i]);
                }
            }
            for i in 0..WIDTH {
                let at = (g * WIDTH + i) * each + start + c * WIDTH;
                out[at..at + WIDTH].copy_from_slice(&tile[i]);
            }
        }
        for (s, from) in rest.iter().enumerate() {
            for i in 0..WIDTH {
                let r = g * WIDTH + i;
                out[r * each + start + whole.len() * WIDTH + s] = by.restore(from[r]);
            }
        }
    }
}
