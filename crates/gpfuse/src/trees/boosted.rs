//! A fitted sum of trees, stored flat.
//!
//! `mean = a + sum_t v_t(x)`, `log sd = b + sum_t w_t(x)`, where `v_t` and `w_t` are the leaf
//! values of the trees of round `t`.

use super::bins::Bins;
use super::boost::LEAST_LOG_SD;
use super::tree::Tree;

/// What predicts a Normal distribution for a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Boosted {
    parts: Parts,
}

/// The numbers of a [`Boosted`], as a file may hold them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parts {
    /// Number of inputs.
    pub inputs: usize,
    /// The constants that the trees are added to: of the mean, of the log sd.
    pub start: [f64; 2],
    /// The least log sd.
    pub least_log_sd: f64,
    /// The first node of each tree; even trees are of the mean, odd ones of the log sd.
    pub roots: Vec<u32>,
    /// Input that a node splits on.
    pub input: Vec<u32>,
    /// Rows with `x <= threshold` go left.
    pub threshold: Vec<f64>,
    /// The left child, which the right one follows; 0 in a leaf.
    pub left: Vec<u32>,
    /// What a leaf adds.
    pub value: Vec<f64>,
}

impl Boosted {
    /// A sum without trees.
    pub(crate) fn new(inputs: usize, start: [f64; 2]) -> Self {
        let parts = Parts { inputs, start, least_log_sd: LEAST_LOG_SD, ..Parts::default() };
        Self { parts }
    }

    /// What is stored, if it is a sum of trees; otherwise what is wrong with it. Children stand
    /// after their parents, so that every row arrives at a leaf.
    pub fn from_parts(parts: Parts) -> Result<Self, &'static str> {
        let nodes = parts.value.len();
        let same = [parts.input.len(), parts.threshold.len(), parts.left.len()] == [nodes; 3];
        let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
        let splits = |wrong: &dyn Fn(usize) -> bool| {
            same && (0..nodes).any(|i| parts.left[i] != 0 && wrong(i))
        };
        let other = splits(&|i| parts.input[i] as usize >= parts.inputs);
        let endless = splits(&|i| !(i + 1..nodes - 1).contains(&(parts.left[i] as usize)));
        let wrong = [
            (parts.inputs == 0, "trees have no inputs"),
            (!same, "the lists of nodes differ in length"),
            (!finite(&parts.start), "a constant is not finite"),
            (!finite(&[parts.least_log_sd]), "the least log sd is not finite"),
            (parts.roots.len() % 2 == 1, "a tree of the log sd is missing"),
            (parts.roots.iter().any(|r| *r as usize >= nodes), "a tree has no first node"),
            (!finite(&parts.value), "a value is not finite"),
            (other, "a node splits on an input that there is not"),
            (splits(&|i| !parts.threshold[i].is_finite()), "a threshold is not finite"),
            (endless, "a child does not stand after its parent"),
        ];
        match wrong.into_iter().find(|(wrong, _)| *wrong) {
            Some((_, what)) => Err(what),
            None => Ok(Self { parts }),
        }
    }

    /// The numbers to store.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Number of rounds.
    pub fn rounds(&self) -> usize {
        self.parts.roots.len() / 2
    }

    /// Means and sds of the rows of `x`, which has a number for each input in every row; a row
    /// that is not complete has none.
    pub fn predict(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        x.chunks_exact(self.parts.inputs.max(1)).map(|row| self.predict_row(row)).unzip()
    }

    fn predict_row(&self, row: &[f64]) -> (f64, f64) {
        let Parts { start, roots, least_log_sd, .. } = &self.parts;
        let [mut mean, mut log_sd] = *start;
        for trees in roots.chunks_exact(2) {
            mean += self.leaf(trees[0], row);
            log_sd += self.leaf(trees[1], row);
        }
        (mean, log_sd.max(*least_log_sd).exp())
    }

    /// The value of the leaf at which a row arrives.
    fn leaf(&self, root: u32, row: &[f64]) -> f64 {
        let Parts { input, threshold, left, value, .. } = &self.parts;
        let mut at = root as usize;
        while left[at] != 0 {
            let low = row[input[at] as usize] <= threshold[at];
            at = left[at] as usize + usize::from(!low);
        }
        value[at]
    }

    /// Adds a tree.
    pub(crate) fn push(&mut self, tree: &Tree, bins: &Bins) {
        let parts = &mut self.parts;
        let root = parts.value.len();
        parts.roots.push(root as u32);
        for node in &tree.nodes {
            let leaf = node.left == 0;
            let threshold = if leaf { 0.0 } else { bins.threshold(node.input, node.bin) };
            parts.input.push(node.input);
            parts.threshold.push(threshold);
            parts.left.push(if leaf { 0 } else { root as u32 + node.left });
            parts.value.push(node.value);
        }
    }

    /// Multiplies every sd by `exp(log_scale)`.
    pub(crate) fn scale(&mut self, log_scale: f64) {
        self.parts.start[1] += log_scale;
    }
}
