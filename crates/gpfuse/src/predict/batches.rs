//! How the draws behind a predictive are cut for the Monte Carlo errors of its scores, and how
//! much each counts.

use std::ops::Range;

use crate::infer::Draws;

/// Batches that each chain is cut into.
const BATCHES_PER_CHAIN: usize = 5;

/// Batches of consecutive draws of one chain, chain after chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Batches {
    /// Ranges of draws, counted through all chains.
    ranges: Vec<Range<usize>>,
    chains: usize,
    /// One per chain, all positive, summing to one; none where all chains count alike.
    weights: Option<Vec<f64>>,
    /// Whether a block holds one average per batch instead of every draw.
    averaged: bool,
}

impl Batches {
    /// Of `chains` chains with `per_chain` draws each, at least one of both; five per chain, or
    /// one per draw where there are fewer.
    pub fn new(chains: usize, per_chain: usize) -> Batches {
        let (chains, per_chain) = (chains.max(1), per_chain.max(1));
        let each = BATCHES_PER_CHAIN.min(per_chain);
        let cut = |c: usize, b: usize| c * per_chain + b * per_chain / each;
        let all = (0..chains).flat_map(|c| (0..each).map(move |b| (c, b)));
        let ranges = all.map(|(c, b)| cut(c, b)..cut(c, b + 1)).collect();
        Batches { ranges, chains, weights: None, averaged: false }
    }

    /// Of the chains that have a part in predictions, with their weights.
    pub(super) fn of(draws: &Draws) -> Batches {
        let used = draws.used();
        let weights = draws.weights().map(|all| used.iter().map(|c| all[*c]).collect());
        Batches::new(used.len(), draws.per_chain()).weighted(weights)
    }

    /// The same with weights of the chains, one positive number for each, summing to one.
    pub(super) fn weighted(self, weights: Option<Vec<f64>>) -> Batches {
        Batches { weights, ..self }
    }

    /// The same batches for blocks that hold one average per batch.
    pub(super) fn averaged(self) -> Batches {
        Batches { averaged: true, ..self }
    }

    /// The same batches for blocks that hold every draw.
    pub(super) fn apart(self) -> Batches {
        Batches { averaged: false, ..self }
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

    /// Batches of each chain.
    fn each(&self) -> usize {
        self.len() / self.chains
    }

    /// Whether the chains have weights.
    pub fn are_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The share of batch `b` in the predictive: that of its draws, or of its chain's weight.
    pub fn share(&self, b: usize) -> f64 {
        let draws = self.ranges[b].len() as f64;
        match &self.weights {
            None => draws / self.draws() as f64,
            Some(w) => w[b / self.each()] * draws / (self.draws() / self.chains) as f64,
        }
    }

    /// Batches that stand for each other where batch `b` is left out, and the share of all of
    /// them: weights are taken as given, so that only a chain's own draws stand for its draws.
    pub(crate) fn stratum(&self, b: usize) -> (Range<usize>, f64) {
        match &self.weights {
            None => (0..self.len(), 1.0),
            Some(w) => {
                let (chain, each) = (b / self.each(), self.each());
                (chain * each..(chain + 1) * each, w[chain])
            }
        }
    }

    /// Whether a batch can be left out.
    pub(crate) fn spare(&self) -> bool {
        self.stratum(0).0.len() > 1
    }

    /// The shares of all batches, or of those that remain where one is left out, which itself
    /// has none.
    pub(crate) fn shares(&self, left_out: Option<usize>) -> Vec<f64> {
        let kept = |b: &usize| Some(*b) != left_out;
        let share = |b: usize| {
            let (stratum, weight) = self.stratum(b);
            let total: f64 = stratum.filter(kept).map(|b| self.share(b)).sum();
            self.share(b) / total * weight
        };
        (0..self.len()).map(|b| if kept(&b) { share(b) } else { 0.0 }).collect()
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

    /// The log share of a single draw in the predictive, for each of the things that a block
    /// holds.
    pub(super) fn log_shares(&self) -> Vec<f64> {
        let held = self.sizes().len();
        let alike = -(self.draws() as f64).ln();
        match &self.weights {
            None => vec![alike; held],
            Some(w) => {
                let log_share = |w: &f64| w.ln() + (self.chains as f64).ln() + alike;
                w.iter().flat_map(|w| vec![log_share(w); held / self.chains]).collect()
            }
        }
    }

    /// How much a draw counts in relation to the mean draw, for each draw.
    pub(super) fn factors(&self) -> Vec<f64> {
        let each = self.draws() / self.chains;
        let chain = |c: usize| self.weights.as_ref().map_or(1.0, |w| w[c] * self.chains as f64);
        (0..self.chains).flat_map(|c| vec![chain(c); each]).collect()
    }
}
