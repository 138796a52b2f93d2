//! How a leaf is split, by sums over bins.
//!
//! With `G` the sum of the targets of the `n` rows of a leaf and `l` the shrinkage, a split is worth
//! `G_l^2 / (n_l + l) + G_r^2 / (n_r + l) - G^2 / (n + l)`.

use std::ops::Range;

use super::bins::Bins;
use super::tree::Limits;

/// A leaf of a tree that grows: its node, its rows, its bins, and how it is best split.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) node: usize,
    pub(crate) rows: Range<usize>,
    cells: Vec<Cell>,
    pub(crate) split: Option<Split>,
}

/// Rows with a bin of at most `bin` go left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split {
    pub(crate) worth: f64,
    pub(crate) input: usize,
    pub(crate) bin: u8,
}

/// Sum of targets and number of rows in a bin.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    sum: f64,
    rows: f64,
}

/// What stays the same while a tree grows.
pub(crate) struct Grower<'a> {
    pub(crate) bins: &'a Bins,
    pub(crate) target: &'a [f64],
    pub(crate) inputs: &'a [usize],
    pub(crate) limits: Limits,
}

impl Grower<'_> {
    /// The leaf that a tree begins with.
    pub(crate) fn root(&self, rows: &[u32]) -> Leaf {
        self.leaf(0, 0..rows.len(), self.histogram(rows))
    }

    fn leaf(&self, node: usize, rows: Range<usize>, cells: Vec<Cell>) -> Leaf {
        let split = if self.large(&rows) { self.best(&cells) } else { None };
        Leaf { node, rows, cells, split }
    }

    /// Whether there are rows enough for two leaves.
    fn large(&self, rows: &Range<usize>) -> bool {
        rows.len() >= 2 * self.limits.leaf_rows.max(1)
    }

    /// The two leaves that a leaf becomes. The bins of the smaller one are counted, those of the
    /// other are what remains.
    pub(crate) fn divide(
        &self,
        leaf: Leaf,
        split: Split,
        node: usize,
        rows: &mut [u32],
    ) -> [Leaf; 2] {
        let Leaf { rows: Range { start, end }, mut cells, .. } = leaf;
        let mut middle = start;
        for i in start..end {
            if self.bins.row(rows[i] as usize)[split.input] <= split.bin {
                rows.swap(i, middle);
                middle += 1;
            }
        }
        let (low, high) = (start..middle, middle..end);
        let mut counted = Vec::new();
        if self.large(&low) || self.large(&high) {
            let fewer = if low.len() < high.len() { low.clone() } else { high.clone() };
            counted = self.histogram(&rows[fewer]);
            for (all, part) in cells.iter_mut().zip(&counted) {
                all.sum -= part.sum;
                all.rows -= part.rows;
            }
        }
        if low.len() >= high.len() {
            std::mem::swap(&mut counted, &mut cells);
        }
        [self.leaf(node, low, counted), self.leaf(node + 1, high, cells)]
    }

    /// Sums and numbers of rows in every bin of the inputs.
    fn histogram(&self, rows: &[u32]) -> Vec<Cell> {
        let mut cells = vec![Cell::default(); self.bins.total()];
        let begin = |input: &usize| (*input, self.bins.span(*input).start);
        let inputs: Vec<(usize, usize)> = self.inputs.iter().map(begin).collect();
        for row in rows.iter().map(|row| *row as usize) {
            let (codes, target) = (self.bins.row(row), self.target[row]);
            for (input, begin) in &inputs {
                let cell = &mut cells[begin + usize::from(codes[*input])];
                cell.sum += target;
                cell.rows += 1.0;
            }
        }
        cells
    }

    /// The split that is worth most, if any is worth something.
    fn best(&self, cells: &[Cell]) -> Option<Split> {
        let least = self.limits.leaf_rows as f64;
        let score = |cell: Cell| cell.sum * cell.sum / (cell.rows + self.limits.shrinkage);
        let first = &cells[self.bins.span(*self.inputs.first()?)];
        let all = first.iter().fold(Cell::default(), |sum, cell| add(sum, *cell));
        let mut best: Option<Split> = None;
        let mut most = score(all) + LITTLE;
        for &input in self.inputs {
            let mut low = Cell::default();
            for (bin, cell) in cells[self.bins.span(input)].iter().enumerate() {
                low = add(low, *cell);
                let high = Cell { sum: all.sum - low.sum, rows: all.rows - low.rows };
                if high.rows < least {
                    break;
                }
                if cell.rows == 0.0 || low.rows < least {
                    continue;
                }
                let scores = score(low) + score(high);
                if scores > most {
                    most = scores;
                    best = Some(Split { worth: scores - score(all), input, bin: bin as u8 });
                }
            }
        }
        best
    }
}

/// What is worth no more than this is worth nothing.
const LITTLE: f64 = 1e-12;

fn add(a: Cell, b: Cell) -> Cell {
    Cell { sum: a.sum + b.sum, rows: a.rows + b.rows }
}
