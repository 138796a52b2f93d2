//! Rows of inputs by column, each column divided by its lengthscale, for loops over rows.

use crate::math::WIDTH;
use crate::{Error, Result};

/// Inputs by column. A column has room for whole groups of [`WIDTH`] rows; those past the last
/// row are 0 and their results are not used.
#[derive(Debug, Clone)]
pub(super) struct Inputs {
    rows: usize,
    /// Numbers from one column to the next, also in matrices of that many rows.
    stride: usize,
    columns: Vec<f64>,
}

impl Inputs {
    /// From row-major rows, divided by one scale per input.
    pub(super) fn new(x: &[f64], scales: &[f64]) -> Result<Inputs> {
        let d = scales.len();
        let rows = x.len() / d.max(1);
        let mut inputs = Inputs::room(rows, d);
        for (at, v) in x.iter().enumerate() {
            let (row, i) = (at / d, at % d);
            let scaled = v / scales[i];
            // Half of the range, so that differences are finite too.
            if scaled.is_nan() || scaled.abs() > 0.5 * f64::MAX {
                let problem = format!(
                    "row {}, input {}: {v} over the lengthscale {} is too large: rescale the input",
                    row + 1,
                    i + 1,
                    scales[i]
                );
                return Err(Error::Data(problem));
            }
            inputs.columns[i * inputs.stride + row] = scaled;
        }
        Ok(inputs)
    }

    fn room(rows: usize, d: usize) -> Inputs {
        let whole = rows.next_multiple_of(WIDTH);
        // Columns a multiple of 512 bytes apart would compete for the same cache lines.
        let stride = if whole.is_multiple_of(64) { whole + WIDTH } else { whole };
        Inputs { rows, stride, columns: vec![0.0; stride * d] }
    }

    /// As many inputs, all 0.
    pub(super) fn zeros_like(&self) -> Inputs {
        Inputs { columns: vec![0.0; self.columns.len()], ..*self }
    }

    /// Make these the rows of `raw` divided by `exp(log_ell)`.
    pub(super) fn rescale(&mut self, raw: &Inputs, log_ell: &[f64]) {
        let columns = self.columns.chunks_exact_mut(self.stride);
        for ((to, from), l) in columns.zip(raw.columns.chunks_exact(raw.stride)).zip(log_ell) {
            let factor = (-l).exp();
            to.iter_mut().zip(from).for_each(|(t, f)| *t = factor * f);
        }
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Numbers from one column to the next; a multiple of [`WIDTH`], at least [`Inputs::rows`].
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// The columns, in order.
    #[inline(always)]
    pub(super) fn columns(&self) -> std::slice::ChunksExact<'_, f64> {
        self.columns.chunks_exact(self.stride)
    }

    /// Whether some input has fewer values than half the rows.
    pub(super) fn has_levels(&self) -> bool {
        self.columns().any(|column| {
            let mut values = column[..self.rows].to_vec();
            values.sort_by(f64::total_cmp);
            values.dedup();
            2 * values.len() < self.rows
        })
    }

    /// The number of inputs.
    pub(super) fn count(&self) -> usize {
        self.columns.len() / self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_fewer_values_than_half_the_rows() {
        let inputs = |values: &[f64]| {
            let x: Vec<f64> = values.iter().enumerate().flat_map(|(i, v)| [i as f64, *v]).collect();
            Inputs::new(&x, &[1.0, 1.0]).unwrap()
        };
        assert!(inputs(&[1.0, 2.0, 1.0, 2.0, 1.0]).has_levels());
        assert!(!inputs(&[1.0, 2.0, 1.0, 2.0]).has_levels());
        assert!(!inputs(&[1.0, 2.0, 3.0, 4.0, 5.0]).has_levels());
    }
}
