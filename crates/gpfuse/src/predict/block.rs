//! The fused density of a block of rows, gathered draw by draw.

use std::ops::Range;

use super::Mixture;
use crate::math::{Lanes, ROWS};
use crate::pool::{Components, Pool};
use crate::scale::Affine;
use crate::{Error, Result};

/// Draws that are turned from rows abreast to one row after the other at once: a row then gets
/// whole cache lines.
pub(super) const TURNED: usize = 8;

/// The fused density of one block of rows, in the units of the target.
#[derive(Debug)]
pub struct FusedBlock {
    /// The number of the block's first row.
    pub first: usize,
    rows: usize,
    draws: usize,
    /// Components per draw.
    parts: usize,
    /// With one component per draw, of one row for all: every draw weighs the same.
    log_weight: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
    /// The last few draws, rows abreast.
    turning: Vec<Components>,
}

impl FusedBlock {
    /// Room for what `pool` makes of `experts` experts in each of `draws` draws.
    pub(super) fn room(pool: Pool, experts: usize, draws: usize) -> FusedBlock {
        let parts = pool.components(experts);
        let each = draws * parts;
        FusedBlock {
            first: 0,
            rows: 0,
            draws,
            parts,
            log_weight: vec![-(draws as f64).ln(); if parts == 1 { each } else { ROWS * each }],
            mean: vec![0.0; ROWS * each],
            sd: vec![0.0; ROWS * each],
            turning: vec![pool.room(experts); TURNED],
        }
    }

    /// Begin a block of `rows` rows of which the first is number `first`.
    pub(super) fn begin(&mut self, first: usize, rows: usize) {
        (self.first, self.rows) = (first, rows);
    }

    /// Where to put the components of draw `j`, before [`FusedBlock::take`] of it.
    pub(super) fn place(&mut self, j: usize) -> &mut Components {
        &mut self.turning[j % TURNED]
    }

    /// Take in the components of draw `j`; draws come in order.
    pub(super) fn take(&mut self, j: usize, target: Affine) {
        let done = j % TURNED + 1;
        if done < TURNED && j + 1 < self.draws {
            return;
        }
        let (parts, each) = (self.parts, self.draws * self.parts);
        let place = (j + 1 - done) * parts..(j + 1) * parts;
        let draws = &self.turning[..done];
        if parts > 1 {
            let by = Affine { shift: -(self.draws as f64).ln(), scale: 1.0 };
            turn(draws.iter().flat_map(|c| &c.log_weight), by, &mut self.log_weight, each, &place);
        }
        turn(draws.iter().flat_map(|c| &c.mean), target, &mut self.mean, each, &place);
        let by = Affine { shift: 0.0, ..target };
        turn(draws.iter().flat_map(|c| &c.sd), by, &mut self.sd, each, &place);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The predictive density of row `r` of the block: the components of the first draw, then
    /// of the second, and so on.
    pub fn row(&self, r: usize) -> Result<Mixture<'_>> {
        self.row_draws(r, 0..self.draws)
    }

    /// The same from a range of the draws only.
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

/// Turn lanes to where each row has `each` numbers, of which these are the ones at `place`;
/// `by` restores their scale on the way.
pub(super) fn turn<'a>(
    lanes: impl Iterator<Item = &'a Lanes>,
    by: Affine,
    out: &mut [f64],
    each: usize,
    place: &Range<usize>,
) {
    let lanes: Vec<&Lanes> = lanes.collect();
    for (r, row) in out.chunks_exact_mut(each).enumerate().take(ROWS) {
        for (to, from) in row[place.clone()].iter_mut().zip(&lanes) {
            *to = by.restore(from[r]);
        }
    }
}
