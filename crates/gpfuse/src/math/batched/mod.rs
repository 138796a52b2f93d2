//! Small symmetric matrices, eight at once: one in each lane of a vector.
//!
//! The same number of all eight lies together ([`Each`]), so that every operation on one matrix is
//! the same operation on eight, without a sum across lanes. The lower triangles are kept in panels
//! of four rows ([`Quad`]), each panel by column. The product of two panels, which is most of a
//! factorisation, then reads both of them from front to back, with the 4 x 4 numbers of a tile in
//! registers.
//!
//! ```text
//! panel 0   quads  0..4     columns 0..4 of rows 0..4
//! panel 1   quads  4..12    columns 0..8 of rows 4..8
//! panel 2   quads 12..24    columns 0..12 of rows 8..12
//! ```
//!
//! Lanes never meet: what one matrix is, and whether its factorisation fails, changes nothing in
//! the others.

mod factor;
mod solve;

pub use factor::factor;
pub use solve::{backward, forward};

use super::{Line, WIDTH};

/// Rows of a panel, and columns of a tile.
pub(crate) const TILE: usize = 4;

/// One number of each of the eight.
pub type Each = Line<WIDTH>;

/// Four rows of one column.
pub type Quad = [Each; TILE];

/// One row of two right-hand sides.
pub type Pair = [Each; 2];

pub(crate) const ZERO: Each = Each::splat(0.0);

/// The lower triangles of eight symmetric matrices.
#[derive(Debug, Clone)]
pub struct Triangles {
    rows: usize,
    quads: Vec<Quad>,
}

impl Triangles {
    /// Matrices of as many rows, all zero.
    pub fn new(rows: usize) -> Triangles {
        Triangles { rows, quads: vec![[ZERO; TILE]; start(rows.div_ceil(TILE))] }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of rows of whole panels, which is the length of a vector. Rows past the last one
    /// are 0 in vectors.
    pub fn padded(&self) -> usize {
        self.rows.next_multiple_of(TILE)
    }

    /// Number of panels.
    pub(crate) fn panels(&self) -> usize {
        self.rows.div_ceil(TILE)
    }

    /// The numbers of panel `p`.
    #[inline(always)]
    pub(crate) fn panel(&self, p: usize) -> &[Quad] {
        &self.quads[start(p)..start(p + 1)]
    }

    /// The same, to write to.
    #[inline(always)]
    pub(crate) fn panel_mut(&mut self, p: usize) -> &mut [Quad] {
        &mut self.quads[start(p)..start(p + 1)]
    }

    /// The numbers at row `i` and column `j`, which is not larger.
    pub fn at(&self, i: usize, j: usize) -> &Each {
        &self.quads[place(i, j)][i % TILE]
    }

    /// The same, to write to.
    pub fn at_mut(&mut self, i: usize, j: usize) -> &mut Each {
        &mut self.quads[place(i, j)][i % TILE]
    }

    /// Put the same number on the whole diagonal of each matrix.
    pub fn set_diagonal(&mut self, each: &Each) {
        (0..self.rows).for_each(|i| *self.at_mut(i, i) = *each);
    }

    /// All numbers, for work on each of them; among them are some above the diagonal and past the
    /// last row, which mean nothing.
    pub fn numbers_mut(&mut self) -> &mut [Each] {
        self.quads.as_flattened_mut()
    }
}

/// The first quad of panel `p`.
fn start(p: usize) -> usize {
    TILE * p * (p + 1) / 2
}

fn place(i: usize, j: usize) -> usize {
    debug_assert!(j <= i);
    start(i / TILE) + j
}

#[cfg(test)]
mod tests;
