//! Draws of one density made into draws of another, chain by chain.

use super::{ChainDraws, Draws};
use crate::Result;
use crate::parallel::parallel;

impl Draws {
    /// The same run with every draw replaced by a vector of length `dim`; what the sampler said
    /// about it stays. `each(c)` makes what replaces the draws of chain c, one after the other, so
    /// the result does not depend on the number of threads. It is given a draw's number in its
    /// chain and the draw.
    pub(crate) fn mapped<F>(
        &self,
        dim: usize,
        threads: usize,
        each: impl Fn(usize) -> F + Sync,
    ) -> Result<Draws>
    where
        F: FnMut(usize, &[f64]) -> Result<Vec<f64>>,
    {
        let chains = parallel(self.chains.len(), threads, |c| {
            let (chain, mut replace) = (&self.chains[c], each(c));
            let mut values = Vec::with_capacity(self.draws * dim);
            for i in 0..self.draws {
                let draw = &chain.values[i * self.dim..(i + 1) * self.dim];
                values.extend(replace(i, draw)?);
            }
            Ok(ChainDraws { values, stats: chain.stats.clone() })
        })?;
        let chains = chains.into_iter().collect::<Result<Vec<ChainDraws>>>()?;
        Ok(Draws { dim, chains, weights: self.weights.clone(), ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::infer::Stat;

    fn draws() -> Draws {
        let chain = |first: f64| ChainDraws {
            values: vec![first, first + 1.0],
            stats: vec![Stat { lp: first, ..Stat::default() }; 2],
        };
        Draws::new(1, 3, vec![chain(0.0), chain(10.0)]).unwrap()
    }

    #[test]
    fn each_chain_has_its_own_map_and_all_else_stays() {
        let map = |c: usize| {
            let mut count = 100.0 * c as f64;
            move |i: usize, draw: &[f64]| {
                assert_eq!(i as f64, draw[0] % 10.0);
                count += 1.0;
                Ok(vec![draw[0], count])
            }
        };
        for threads in [1, 2, 5] {
            let mapped = draws().mapped(2, threads, map).unwrap();
            let all: Vec<&[f64]> = mapped.iter().collect();
            assert_eq!(all, [[0.0, 1.0], [1.0, 2.0], [10.0, 101.0], [11.0, 102.0]]);
            assert_eq!((mapped.dim(), mapped.per_chain(), mapped.interrupted()), (2, 2, true));
            assert_eq!(mapped.chains()[1].stats[0].lp, 10.0);
        }
    }

    #[test]
    fn an_error_of_one_draw_is_that_of_the_run() {
        let map = |c: usize| {
            move |i: usize, draw: &[f64]| match (c, i) {
                (1, 1) => Err(Error::Sampling("here".into())),
                _ => Ok(draw.to_vec()),
            }
        };
        assert_eq!(draws().mapped(1, 2, map).unwrap_err(), Error::Sampling("here".into()));
    }
}
