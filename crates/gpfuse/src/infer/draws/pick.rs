//! Some of the draws, where all would take too long or cannot be told apart.

use super::{ChainDraws, Draws};

/// Numbers below `n`, at most `most` of them, evenly spread.
pub fn spread(n: usize, most: usize) -> Vec<usize> {
    let count = n.min(most);
    (0..count).map(|i| (2 * i + 1) * n / (2 * count)).collect()
}

impl Draws {
    /// Chain `c` alone.
    pub fn alone(&self, c: usize) -> Draws {
        Draws { chains: vec![self.chains[c].clone()], weights: None, ..*self }
    }

    /// About `most` draws, at least one, evenly spread over each chain, as one chain that counts alike: a chain
    /// has as many as its weight says.
    pub fn thinned(&self, most: usize) -> Draws {
        let alike = 1.0 / self.chains.len() as f64;
        let weight = |c: usize| self.weights.as_ref().map_or(alike, |w| w[c]);
        let share = |c: usize| (weight(c) * most as f64).round() as usize;
        let mut some = ChainDraws::default();
        for (c, chain) in self.chains.iter().enumerate() {
            for i in spread(self.draws, share(c).max(usize::from(c == self.best()))) {
                some.values.extend_from_slice(&chain.values[i * self.dim..(i + 1) * self.dim]);
                some.stats.push(chain.stats[i]);
            }
        }
        Draws { draws: some.stats.len(), chains: vec![some], weights: None, ..*self }
    }

    /// Each draw alone.
    pub fn singles(&self) -> impl Iterator<Item = Draws> {
        let one = |q: &[f64], stat| ChainDraws { values: q.to_vec(), stats: vec![stat] };
        let stats = self.chains.iter().flat_map(|chain| chain.stats.iter().copied());
        self.iter().zip(stats).map(move |(q, stat)| Draws {
            draws: 1,
            chains: vec![one(q, stat)],
            weights: None,
            ..*self
        })
    }

    /// The chain that counts most: that of the largest weight, and among equals that of the largest
    /// mean log joint density.
    pub fn best(&self) -> usize {
        let value = |c: usize| {
            let stats = &self.chains[c].stats;
            let mean = stats.iter().map(|s| s.lp).sum::<f64>() / stats.len().max(1) as f64;
            (self.weights.as_ref().map_or(0.0, |w| w[c]), mean)
        };
        let order = |a: &usize, b: &usize| {
            let (a, b) = (value(*a), value(*b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        };
        (0..self.chains.len()).max_by(order).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::infer::Stat;

    #[test]
    fn a_spread_is_even_and_inside() {
        assert_eq!(spread(10, 5), [1, 3, 5, 7, 9]);
        assert_eq!(spread(3, 9), [0, 1, 2]);
        assert!(spread(0, 4).is_empty() && spread(4, 0).is_empty());
    }

    /// Chain `c` has the values 100 c, 100 c + 1, ...
    #[test]
    fn chains_are_thinned_by_their_weights() {
        let chain = |c: u32| ChainDraws {
            values: (0..20).map(|i| f64::from(100 * c + i)).collect(),
            stats: vec![Stat { lp: f64::from(c), ..Stat::default() }; 20],
        };
        let draws = Draws::new(1, 20, (0..3).map(chain).collect()).unwrap();
        let values = |draws: &Draws| draws.iter().map(|q| q[0]).collect::<Vec<f64>>();
        assert_eq!((draws.best(), values(&draws.alone(1))[0]), (2, 100.0));
        assert_eq!(values(&draws.thinned(6)), [5.0, 15.0, 105.0, 115.0, 205.0, 215.0]);
        assert_eq!(values(&draws.thinned(1)).len(), 1);
        let weighted = draws.weighted(&[0.75, 0.25, 0.0]).unwrap();
        assert_eq!(weighted.best(), 0);
        let few = weighted.thinned(4);
        assert_eq!((values(&few), few.per_chain()), (vec![3.0, 10.0, 16.0, 110.0], 4));
        assert_eq!(few.singles().map(|one| values(&one)[0]).collect::<Vec<_>>(), values(&few));
    }
}
