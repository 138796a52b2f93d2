//! Inputs as bin numbers: what a tree may split on is known before any tree grows.
//!
//! An input with at most 255 distinct values has a bin for each of them, so that splits are exact.
//! Any other has bins of about equally many rows. Only ranks choose the bins: a monotone
//! transformation of an input changes no bin number.

/// Most bins of an input; their numbers fit into a byte.
const MOST: usize = 255;

/// Rows in a bin of an input with more distinct values, as far as that needs between `FEWEST` and
/// `MOST` bins: more bins in a small table cost time and gain nothing.
const ROWS: usize = 16;
const FEWEST: usize = 64;

/// Bin numbers of all rows, and the cuts between the bins of each input.
#[derive(Debug, Clone)]
pub(crate) struct Bins {
    /// Bin numbers, row by row.
    codes: Vec<u8>,
    /// Cut `b` of an input separates its bins `..=b` from those after it.
    cuts: Vec<Vec<f64>>,
    /// Where the bins of each input begin in a histogram of all inputs; last, how long that is.
    begin: Vec<usize>,
}

impl Bins {
    /// Bins of the rows of `x`, which has `inputs` numbers for each.
    pub(crate) fn new(x: &[f64], inputs: usize) -> Self {
        let column = |i| x.iter().skip(i).step_by(inputs).copied().collect();
        let cuts: Vec<Vec<f64>> = (0..inputs).map(|i| cuts(column(i))).collect();
        let mut begin = vec![0];
        for cuts in &cuts {
            begin.push(begin[begin.len() - 1] + cuts.len() + 1);
        }
        let codes = x.iter().zip(cuts.iter().cycle()).map(|(x, cuts)| code(*x, cuts)).collect();
        Self { codes, cuts, begin }
    }

    /// Number of inputs.
    pub(crate) fn inputs(&self) -> usize {
        self.cuts.len()
    }

    /// Bin numbers of a row.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.codes[row * self.inputs()..][..self.inputs()]
    }

    /// The bins of an input in a histogram of all inputs.
    pub(crate) fn span(&self, input: usize) -> std::ops::Range<usize> {
        self.begin[input]..self.begin[input + 1]
    }

    /// Number of bins of all inputs.
    pub(crate) fn total(&self) -> usize {
        self.begin[self.inputs()]
    }

    /// The threshold behind a bin: `x <= threshold` in the bins up to it.
    pub(crate) fn threshold(&self, input: u32, bin: u8) -> f64 {
        self.cuts[input as usize][usize::from(bin)]
    }
}

/// The number of cuts below `x`; what is no number is above all.
fn code(x: f64, cuts: &[f64]) -> u8 {
    cuts.partition_point(|cut| x > *cut || x.is_nan()) as u8
}

/// Cuts half way between neighbouring values: between all, or where about equally many rows are
/// between two cuts.
fn cuts(mut column: Vec<f64>) -> Vec<f64> {
    column.retain(|x| x.is_finite());
    column.sort_by(f64::total_cmp);
    let mut distinct = column.clone();
    distinct.dedup();
    let between = |i: usize| {
        let (a, b) = (distinct[i - 1], distinct[i]);
        let half = 0.5 * a + 0.5 * b;
        if a <= half && half < b { half } else { a }
    };
    if distinct.len() <= MOST {
        return (1..distinct.len()).map(between).collect();
    }
    let bins = (column.len() / ROWS).clamp(FEWEST, MOST);
    let behind = |k: usize| distinct.partition_point(|x| *x <= column[k * column.len() / bins]);
    let mut at: Vec<usize> = (1..bins).map(behind).filter(|i| *i < distinct.len()).collect();
    at.dedup();
    at.into_iter().map(between).collect()
}
