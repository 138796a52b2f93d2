//! Inputs laid out for the vector kernels: blocks of rows, one column after the other.

use crate::Result;
use crate::data::check_inputs;
use crate::math::{Lanes, ROWS, WIDTH};

/// Input rows in blocks of [`ROWS`]; the last block is padded by repeating its first row.
#[derive(Debug, Clone)]
pub struct Rows {
    n: usize,
    origin: usize,
    inputs: usize,
    columns: Vec<Lanes>,
    /// The largest absolute value of each column.
    reach: Vec<f64>,
}

impl Rows {
    /// From a row-major (n, inputs) array of finite numbers.
    pub fn new(x: &[f64], inputs: usize) -> Result<Rows> {
        check_inputs(x, inputs)?;
        let n = x.len() / inputs;
        let blocks = n.div_ceil(ROWS);
        let mut columns = vec![Lanes::splat(0.0); blocks * inputs];
        for b in 0..blocks {
            for i in 0..inputs {
                for r in 0..ROWS {
                    let row = if b * ROWS + r < n { b * ROWS + r } else { b * ROWS };
                    columns[b * inputs + i][r] = x[row * inputs + i];
                }
            }
        }
        let reach =
            columns.iter().map(|c| c.iter().fold(0.0, |a: f64, v| a.max(v.abs()))).collect();
        Ok(Rows { n, origin: 0, inputs, columns, reach })
    }

    /// The same rows, their first numbered `origin`: a part of a longer table.
    pub fn numbered_from(self, origin: usize) -> Rows {
        Rows { origin, ..self }
    }

    /// Block `b` alone.
    pub(crate) fn alone(&self, b: usize) -> Rows {
        Rows {
            n: self.filled(b),
            origin: self.origin + b * ROWS,
            inputs: self.inputs,
            columns: self.block(b).to_vec(),
            reach: self.reach(b).to_vec(),
        }
    }

    /// The number of the first row.
    pub fn origin(&self) -> usize {
        self.origin
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no rows; never true of a value made by [`Rows::new`].
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The number of inputs of a row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.n.div_ceil(ROWS)
    }

    /// How many rows of block `b` are real.
    pub fn filled(&self, b: usize) -> usize {
        (self.n - b * ROWS).min(ROWS)
    }

    /// How many groups of rows of block `b` hold real rows.
    pub(crate) fn groups(&self, b: usize) -> usize {
        self.filled(b).div_ceil(WIDTH)
    }

    /// The columns of block `b`, one per input.
    pub fn block(&self, b: usize) -> &[Lanes] {
        &self.columns[b * self.inputs..(b + 1) * self.inputs]
    }

    /// The largest absolute value of each input in block `b`.
    pub fn reach(&self, b: usize) -> &[f64] {
        &self.reach[b * self.inputs..(b + 1) * self.inputs]
    }

    /// Row `row` as it was given.
    pub fn row(&self, row: usize) -> impl Iterator<Item = f64> + '_ {
        self.block(row / ROWS).iter().map(move |column| column[row % ROWS])
    }
}

/// A column of `n` numbers in blocks like those of [`Rows`], padded by its last number.
pub(crate) fn blocked(values: &[f64]) -> Vec<Lanes> {
    values
        .chunks(ROWS)
        .map(|chunk| std::array::from_fn(|r| chunk[r.min(chunk.len() - 1)]).into())
        .collect()
}
