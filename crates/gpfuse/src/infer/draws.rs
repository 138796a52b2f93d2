//! The draws that a run kept, with what the sampler said about each.

mod mapped;
mod pick;

pub use pick::spread;

use super::map::Point;
use crate::halt::stopped;
use crate::{Error, Result};

/// A sum of weights this close to one is one.
const ROUNDING: f64 = 1e-12;

/// What the sampler said about one draw.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stat {
    /// Log density.
    pub lp: f64,
    /// Energy: the kinetic one minus the log density.
    pub energy: f64,
    /// Mean acceptance of the trajectory.
    pub accept: f64,
    /// Step size.
    pub step_size: f64,
    /// Depth of the trajectory's tree.
    pub depth: usize,
    /// Leapfrog steps.
    pub steps: usize,
    /// Whether the trajectory diverged.
    pub diverging: bool,
    /// Whether it was stopped by the depth limit.
    pub saturated: bool,
}

/// The draws of one chain.
#[derive(Debug, Clone, Default)]
pub struct ChainDraws {
    /// Row-major (draws, dim), in the sampling space.
    pub values: Vec<f64>,
    /// One per draw.
    pub stats: Vec<Stat>,
}

/// The draws of all chains: a full (chains, draws, dim) array.
#[derive(Debug, Clone)]
pub struct Draws {
    dim: usize,
    draws: usize,
    chains: Vec<ChainDraws>,
    /// One per chain, summing to one; none where all chains count alike.
    weights: Option<Vec<f64>>,
    interrupted: bool,
    /// The mean acceptance that the step size was adapted to, where that is known.
    aim: Option<f64>,
}

impl ChainDraws {
    /// Whether there are at least so many draws, of so many parameters.
    pub(super) fn has(&self, draws: usize, dim: usize) -> bool {
        let count = self.stats.len();
        count >= draws && count.checked_mul(dim) == Some(self.values.len())
    }

    /// Keep the first draws only.
    pub(super) fn cut(&mut self, draws: usize, dim: usize) {
        self.stats.truncate(draws);
        self.values.truncate(draws * dim);
    }
}

impl Draws {
    /// From chains that may have ended early. The largest full array is kept: the chains that
    /// got farthest, cut to the shortest among them.
    pub fn new(dim: usize, wanted: usize, mut chains: Vec<ChainDraws>) -> Result<Draws> {
        let asked = chains.len();
        let mut lengths: Vec<usize> = chains.iter().map(|c| c.stats.len()).collect();
        lengths.sort_by(|a, b| b.cmp(a));
        let best = lengths.iter().enumerate().map(|(i, l)| (l * (i + 1), *l)).max();
        let draws = best.map_or(0, |b| b.1);
        if draws == 0 {
            return Err(stopped());
        }
        chains.retain(|c| c.stats.len() >= draws);
        for chain in &mut chains {
            chain.cut(draws, dim);
        }
        let interrupted = draws < wanted || chains.len() < asked;
        Ok(Draws { dim, draws, chains, weights: None, interrupted, aim: None })
    }

    /// The same, made with a step size that was adapted to this mean acceptance.
    pub(crate) fn aiming_at(self, acceptance: f64) -> Draws {
        Draws { aim: Some(acceptance), ..self }
    }

    /// The mean acceptance that the step size was adapted to, where that is known.
    pub(crate) fn aim(&self) -> Option<f64> {
        self.aim
    }

    /// One point, as a chain of one draw.
    pub fn single(point: Point) -> Draws {
        let stat = Stat { lp: point.logp, energy: -point.logp, ..Stat::default() };
        let dim = point.q.len();
        let chain = ChainDraws { values: point.q, stats: vec![stat] };
        Draws { dim, draws: 1, chains: vec![chain], weights: None, interrupted: false, aim: None }
    }

    /// The same draws with a weight for each chain. The weights are normalised to sum to one; a
    /// chain of weight 0 has no part in predictions.
    ///
    /// # Errors
    /// If there are more or fewer weights than chains, or one is negative or not finite, or all
    /// are 0.
    pub fn weighted(self, weights: &[f64]) -> Result<Draws> {
        if weights.len() != self.chains.len() {
            return Err(Error::Shape {
                what: "chain weights".into(),
                expected: format!("{}, one per chain", self.chains.len()),
                found: weights.len().to_string(),
            });
        }
        if let Some(c) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            let problem = format!("weight of chain {} is {}: use 0 or more", c + 1, weights[c]);
            return Err(Error::Data(problem));
        }
        let total: f64 = weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            let problem = format!("the weights of the chains sum to {total}: give one to a chain");
            return Err(Error::Data(problem));
        }
        // Weights that sum to one up to rounding, as those of a file do, stay the same to the bit.
        let total = if (total - 1.0).abs() < ROUNDING { 1.0 } else { total };
        let alike = weights.iter().all(|w| *w == weights[0]);
        let weights = (!alike).then(|| weights.iter().map(|w| w / total).collect());
        Ok(Draws { weights, ..self })
    }

    /// The weights of the chains, which sum to one; none where all count alike.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Which chains have a part in predictions.
    pub fn used(&self) -> Vec<usize> {
        let weight = |c: usize| self.weights.as_ref().map_or(1.0, |w| w[c]);
        (0..self.chains.len()).filter(|c| weight(*c) > 0.0).collect()
    }

    /// The number of parameters.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Draws per chain.
    pub fn per_chain(&self) -> usize {
        self.draws
    }

    /// Draws in all.
    pub fn len(&self) -> usize {
        self.draws * self.chains.len()
    }

    /// Whether there are none; never true of a value made here.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// The chains.
    pub fn chains(&self) -> &[ChainDraws] {
        &self.chains
    }

    /// The chains themselves.
    pub(super) fn into_chains(self) -> Vec<ChainDraws> {
        self.chains
    }

    /// Whether the run was stopped before it was done.
    pub fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// All draws, chain after chain.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.chains.len()).flat_map(|c| self.chain(c))
    }

    /// The draws of chain `c`.
    pub fn chain(&self, c: usize) -> impl Iterator<Item = &[f64]> {
        // Not chunks: the draws of a model without parameters have no numbers.
        (0..self.draws).map(move |i| &self.chains[c].values[i * self.dim..][..self.dim])
    }

    /// One quantity per draw as one slice per chain, from values in the order of `iter`.
    pub fn by_chain<'a>(&self, values: &'a [f64]) -> Vec<&'a [f64]> {
        values.chunks_exact(self.draws).collect()
    }
}
