//! The rounds of boosting: in each, a tree for the mean and a tree for the log sd.
//!
//! Both follow natural gradients of `log N(y; mean, sd^2)`, which are `y - mean` for the mean and
//! `(z^2 - 1) / 2` with `z = (y - mean) / sd` for the log sd (Duan et al. 2020, NGBoost). Three
//! things differ from there:
//!
//! * A row counts for the mean by `w = s / sd`, where `s` is a typical sd: half way between natural
//!   and plain gradients. A leaf has the value `sum_i w_i r_i / (sum_i w_i + shrinkage)`.
//! * The mean of a row that a leaf was fitted on is too near to its `y`, so that sds would become
//!   too small. For `z`, every row has a second mean, in which each leaf does without the row:
//!   `(sum_j w_j r_j - w_i r_i) / (sum_j w_j - w_i + shrinkage)`.
//! * `z^2` has a bound, so that no row moves a leaf far.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Settings;
use super::bins::Bins;
use super::boosted::Boosted;
use super::tree::{Limits, Tree};

/// Most that a row counts for the mean, and one over the least.
const MOST_WEIGHT: f64 = 10.0;

/// Bound of `z^2`.
const MOST_SQUARE: f64 = 20.0;

/// The log of the least sd; the target has an sd of one.
pub(crate) const LEAST_LOG_SD: f64 = -7.0;

/// A fit under way: what it says of every row of the table, trained on or not.
pub(crate) struct Boost<'a> {
    bins: &'a Bins,
    y: &'a [f64],
    settings: &'a Settings,
    train: Vec<u32>,
    others: Vec<u32>,
    rng: ChaCha8Rng,
    target: Vec<f64>,
    weight: Vec<f64>,
    /// Means in which the leaves do without the row.
    without: Vec<f64>,
    pub(crate) mean: Vec<f64>,
    pub(crate) log_sd: Vec<f64>,
    pub(crate) trees: Boosted,
}

impl<'a> Boost<'a> {
    /// A fit on the rows for which `trained` holds, before its first round. An sd of one counts as
    /// much as one row, for tables with next to none.
    pub(crate) fn new(
        bins: &'a Bins,
        y: &'a [f64],
        settings: &'a Settings,
        trained: impl Fn(usize) -> bool,
        rng: ChaCha8Rng,
    ) -> Self {
        let rows = y.len();
        let (train, others): (Vec<u32>, _) =
            (0..rows as u32).partition(|row| trained(*row as usize));
        let sum = |f: &dyn Fn(f64) -> f64| train.iter().map(|r| f(y[*r as usize])).sum::<f64>();
        let n = train.len() as f64;
        let mean = sum(&|y| y) / n.max(1.0);
        let log_sd = 0.5 * ((1.0 + sum(&|y| (y - mean).powi(2))) / (1.0 + n)).ln();
        Self {
            bins,
            y,
            settings,
            train,
            others,
            rng,
            target: vec![0.0; rows],
            weight: vec![1.0; rows],
            without: vec![mean; rows],
            mean: vec![mean; rows],
            log_sd: vec![log_sd; rows],
            trees: Boosted::new(bins.inputs(), [mean, log_sd]),
        }
    }

    /// One more tree for each.
    pub(crate) fn round(&mut self) {
        let mut others = self.others.clone();
        let mut rows = Vec::with_capacity(self.train.len());
        for row in &self.train {
            let taken = self.rng.random::<f64>() < self.settings.row_share;
            if taken { rows.push(*row) } else { others.push(*row) }
        }
        self.round_of_mean(&mut rows, &others);
        self.round_of_log_sd(&mut rows, &others);
    }

    fn round_of_mean(&mut self, rows: &mut [u32], others: &[u32]) {
        let Settings { leaves, leaf_rows, shrinkage, learning_rate: rate, .. } = *self.settings;
        let typical =
            rows.iter().map(|r| self.log_sd[*r as usize]).sum::<f64>() / rows.len().max(1) as f64;
        for r in rows.iter().map(|r| *r as usize) {
            let weight = (typical - self.log_sd[r]).exp();
            self.weight[r] = weight.clamp(1.0 / MOST_WEIGHT, MOST_WEIGHT);
            self.target[r] = self.weight[r] * (self.y[r] - self.mean[r]);
        }
        let tree = self.tree(rows, Limits { leaves, leaf_rows, shrinkage }, rate);
        for (leaf, value) in tree.leaves() {
            let rows = &rows[leaf];
            let (sum, weight) = self.sums(rows);
            for r in rows.iter().map(|r| *r as usize) {
                let rest = weight - self.weight[r] + shrinkage;
                let without = if rest > 0.0 { (sum - self.target[r]) / rest } else { 0.0 };
                self.mean[r] += value;
                self.without[r] += rate * without;
            }
        }
        for r in others.iter().map(|r| *r as usize) {
            let value = tree.value(self.bins.row(r));
            self.mean[r] += value;
            self.without[r] += value;
        }
        self.trees.push(&tree, self.bins);
    }

    fn round_of_log_sd(&mut self, rows: &mut [u32], others: &[u32]) {
        let Settings { sd_leaves: leaves, sd_leaf_rows: leaf_rows, .. } = *self.settings;
        for r in rows.iter().map(|r| *r as usize) {
            let z = (self.y[r] - self.without[r]) * (-self.log_sd[r]).exp();
            let gradient = 0.5 * ((z * z).min(MOST_SQUARE) - 1.0);
            let least = if self.log_sd[r] > LEAST_LOG_SD { gradient } else { 0.0 };
            self.target[r] = gradient.max(least);
            self.weight[r] = 1.0;
        }
        let limits = Limits { leaves, leaf_rows, shrinkage: 0.0 };
        let tree = self.tree(rows, limits, self.settings.sd_learning_rate);
        for (leaf, value) in tree.leaves() {
            rows[leaf].iter().for_each(|r| self.log_sd[*r as usize] += value);
        }
        for r in others.iter().map(|r| *r as usize) {
            self.log_sd[r] += tree.value(self.bins.row(r));
        }
        self.trees.push(&tree, self.bins);
    }

    /// A tree of the targets of some rows, on some of the inputs.
    fn tree(&mut self, rows: &mut [u32], limits: Limits, rate: f64) -> Tree {
        let all = self.bins.inputs();
        let some = (self.settings.input_share * all as f64).ceil() as usize;
        let mut inputs: Vec<usize> = (0..all).collect();
        for i in 0..some.min(all) {
            inputs.swap(i, self.rng.random_range(i..all));
        }
        inputs.truncate(some.max(1));
        let mut tree = Tree::grow(self.bins, &self.target, rows, &inputs, limits);
        tree.settle(|leaf| {
            let (sum, weight) = self.sums(&rows[leaf]);
            let weight = weight + limits.shrinkage;
            if weight > 0.0 { rate * sum / weight } else { 0.0 }
        });
        tree
    }

    /// Sums of the targets and the weights of some rows.
    fn sums(&self, rows: &[u32]) -> (f64, f64) {
        let each = rows.iter().map(|r| (self.target[*r as usize], self.weight[*r as usize]));
        each.fold((0.0, 0.0), |(sum, weight), (t, w)| (sum + t, weight + w))
    }
}
