//! One regression tree on binned inputs, grown best split first.

use std::ops::Range;

use super::bins::Bins;
use super::split::{Grower, Leaf};

/// What limits a tree: the most leaves, the fewest rows in a leaf, and the shrinkage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) leaves: usize,
    pub(crate) leaf_rows: usize,
    pub(crate) shrinkage: f64,
}

/// A node: a leaf when `left` is 0. The right child follows the left one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(crate) value: f64,
    pub(crate) left: u32,
    pub(crate) input: u32,
    pub(crate) bin: u8,
}

/// A tree. Each leaf has some of the rows that the tree was grown on.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    leaves: Vec<Leaf>,
}

impl Tree {
    /// The tree of `target`, a number for each row of the table, on the given rows, which are
    /// brought into the order of its leaves, with splits on some inputs. Its leaves have no values.
    pub(crate) fn grow(
        bins: &Bins,
        target: &[f64],
        rows: &mut [u32],
        inputs: &[usize],
        limits: Limits,
    ) -> Self {
        let grower = Grower { bins, target, inputs, limits };
        let root = grower.root(rows);
        let mut tree = Self { nodes: vec![Node::default()], leaves: vec![root] };
        while tree.leaves.len() < limits.leaves {
            let worth = |i: &usize| tree.leaves[*i].split.map_or(0.0, |split| split.worth);
            let best = (0..tree.leaves.len()).max_by(|a, b| worth(a).total_cmp(&worth(b)));
            let Some((at, split)) = best.and_then(|i| Some((i, tree.leaves[i].split?))) else {
                break;
            };
            let leaf = tree.leaves.swap_remove(at);
            let left = tree.nodes.len();
            let (input, bin) = (split.input as u32, split.bin);
            tree.nodes[leaf.node] = Node { input, bin, left: left as u32, value: 0.0 };
            tree.nodes.extend([Node::default(); 2]);
            tree.leaves.extend(grower.divide(leaf, split, left, rows));
        }
        tree
    }

    /// Gives each leaf the value that is made of its rows.
    pub(crate) fn settle(&mut self, value: impl Fn(Range<usize>) -> f64) {
        for leaf in &self.leaves {
            self.nodes[leaf.node].value = value(leaf.rows.clone());
        }
    }

    /// The rows of each leaf, and its value.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = (Range<usize>, f64)> {
        self.leaves.iter().map(|leaf| (leaf.rows.clone(), self.nodes[leaf.node].value))
    }

    /// The value for a row with these bin numbers.
    pub(crate) fn value(&self, row: &[u8]) -> f64 {
        let mut node = &self.nodes[0];
        while node.left != 0 {
            let right = row[node.input as usize] > node.bin;
            node = &self.nodes[node.left as usize + usize::from(right)];
        }
        node.value
    }
}
