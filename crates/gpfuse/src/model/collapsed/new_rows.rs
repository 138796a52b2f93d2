//! What a draw says about new rows once the coefficients of its means are integrated out.
//!
//! Given h and the data, `theta ~ N(psi, A^-1)`. A new row with shares `c_k` and precision tau has
//! `y ~ N(m + f theta, 1 / tau)`, where f holds `c_k scale_k phi_k(x)` in the columns of expert k.
//! So, given h and the data, `y ~ N(m + f psi, 1 / tau + f A^-1 f')`.

use super::{Collapsed, precision};
use crate::math::{Lanes, ROWS};
use crate::model::Cached;
use crate::rows::Rows;

/// Mean and standard deviation of each row of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Law {
    pub(crate) mean: Lanes,
    pub(crate) sd: Lanes,
}

impl Collapsed {
    /// The law of the target at new rows given `h` and the data, block by block; each block comes
    /// alone, with its cache. Nothing where the coefficients' law cannot be had at `h`.
    pub(crate) fn predict(&mut self, h: &[f64], blocks: &[(Rows, Cached)]) -> Option<Vec<Law>> {
        self.regress(h)?;
        let Collapsed { posterior, bank, hole, regression, weight, .. } = self;
        let features = hole.len() / bank.count;
        let (on, passes, _) = posterior.split();
        let (scratch, basis) = (&mut passes[0].scratch, on.model.basis());
        let mut share = vec![Lanes::splat(0.0); bank.count];
        let mut columns = vec![0.0; hole.len() * ROWS];
        let law = |(rows, cache): &(Rows, Cached)| {
            let (mut mean, mut sd) = (Lanes::splat(0.0), Lanes::splat(0.0));
            let mut root = Lanes::splat(0.0);
            on.model.experts_on(on.level, rows, 0, cache, None, on.prepared, scratch);
            precision::weights(on.level, &scratch.experts, &mut share, weight, &mut root);
            let chunks = columns.as_chunks_mut::<ROWS>().0.chunks_mut(features);
            for (k, (chunk, share)) in chunks.zip(&share).enumerate() {
                let (coefs, work, g) = (&on.prepared.coefs[0], &scratch.work[0], bank.first + k);
                basis.weighted(on.level, g, rows, 0, &cache.0[0], coefs, work, share, chunk);
            }
            regression.predict(&mut columns, &mut mean, &mut sd);
            for r in 0..ROWS {
                mean[r] += bank.mean;
                // The variance so far is that of the mean alone.
                sd[r] = (1.0 / root[r]).hypot(sd[r].sqrt());
            }
            Law { mean, sd }
        };
        Some(blocks.iter().map(law).collect())
    }
}
