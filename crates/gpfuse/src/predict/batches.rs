//! How the draws behind a predictive are cut for the Monte Carlo errors of its scores.

use std::ops::Range;

/// Batches that each chain is cut into.
const EACH: usize = 5;

/// Batches of consecutive draws of one chain, chain after chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Batches {
    /// Ranges of draws, counted through all chains.
    ranges: Vec<Range<usize>>,
    chains: usize,
    /// Whether a block holds one average per batch instead of every draw.
    averaged: bool,
}

impl Batches {
    /// Of `chains` chains with `per_chain` draws each, at least one of both; five per chain, or
    /// one per draw where there are fewer.
    pub fn new(chains: usize, per_chain: usize) -> Batches {
        let (chains, per_chain) = (chains.max(1), per_chain.max(1));
        let each = EACH.min(per_chain);
        let cut = |c: usize, b: usize| c * per_chain + b * per_chain / each;
        let all = (0..chains).flat_map(|c| (0..each).map(move |b| (c, b)));
        let ranges = all.map(|(c, b)| cut(c, b)..cut(c, b + 1)).collect();
        Batches { ranges, chains, averaged: false }
    }

    /// The same batches for blocks that hold one average per batch.
    pub(super) fn averaged(self) -> Batches {
        Batches { averaged: true, ..self }
    }

    /// Whether blocks hold one average per batch.
    pub(super) fn are_averaged(&self) -> bool {
        self.averaged
    }

    /// How many batches there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none: never.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many chains there are; each has as many batches as the others.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Draws in all.
    pub fn draws(&self) -> usize {
        self.ranges.last().map_or(0, |last| last.end)
    }

    /// The first draw after batch `b`.
    pub(super) fn end(&self, b: usize) -> usize {
        self.ranges[b].end
    }

    /// The share of the draws in batch `b`.
    pub fn share(&self, b: usize) -> f64 {
        self.ranges[b].len() as f64 / self.draws() as f64
    }

    /// Where batch `b` is among what a block holds.
    pub fn held(&self, b: usize) -> Range<usize> {
        if self.averaged { b..b + 1 } else { self.ranges[b].clone() }
    }

    /// How many draws each of the things that a block holds stands for.
    pub(super) fn sizes(&self) -> Vec<usize> {
        match self.averaged {
            true => self.ranges.iter().map(Range::len).collect(),
            false => vec![1; self.draws()],
        }
    }
}
