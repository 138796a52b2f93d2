//! How probable outcomes are, where experts say just that: the log density of the target, or all classes.

use super::average::WeightSum;
use super::{Batches, Predictor};
use crate::Result;
use crate::math::Lanes;
use crate::model::Given;
use crate::parallel::parallel_with;
use crate::rows::Rows;

/// The log probabilities of some outcomes at rows, for each batch of draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcomes {
    batches: Batches,
    count: usize,
    /// Of each row, of each batch the log of the mean over its draws, for each outcome.
    log_p: Vec<f64>,
}

impl Outcomes {
    pub(crate) fn new(batches: Batches, count: usize, log_p: Vec<f64>) -> Outcomes {
        Outcomes { batches, count, log_p }
    }

    /// How many outcomes there are: one where experts speak of the target alone.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.log_p.len() / (self.batches.len() * self.count)
    }

    /// How the draws are cut for Monte Carlo errors.
    pub(crate) fn batches(&self) -> &Batches {
        &self.batches
    }

    /// The log probabilities at row `row`, averaged over the batches with these shares.
    pub(crate) fn averaged(&self, row: usize, shares: &[f64]) -> Vec<f64> {
        let each = self.batches.len() * self.count;
        let all = &self.log_p[row * each..(row + 1) * each];
        let of = |c: usize| all.iter().skip(c).step_by(self.count).zip(shares);
        let one = |c: usize| {
            let top = of(c).map(|(log_p, _)| *log_p).fold(f64::MIN, f64::max);
            top + of(c).map(|(log_p, share)| share * (log_p - top).exp()).sum::<f64>().ln()
        };
        (0..self.count).map(one).collect()
    }

    /// The log probabilities, averaged over all draws: all outcomes of a row, then those of the next.
    pub fn log_p(&self) -> Vec<f64> {
        let shares = self.batches.shares(None);
        (0..self.rows()).flat_map(|row| self.averaged(row, &shares)).collect()
    }
}

impl Predictor {
    /// The log probabilities of the outcomes of which given experts say how probable they are.
    pub(crate) fn outcomes(&self, rows: &Rows, given: &Given, threads: usize) -> Result<Vec<f64>> {
        self.model.check_given(rows, Some(given))?;
        let (count, batches) = (given.outcomes(), self.batches.len());
        let room =
            || (self.model.scratch(false), WeightSum::new(count), vec![Lanes::splat(0.0); count]);
        let blocks = parallel_with(rows.blocks(), threads, room, |(scratch, sum, log_p), b| {
            let mut out = vec![0.0; rows.filled(b) * batches * count];
            let (mut batch, mut first) = (0, 0);
            self.each_draw(rows, b, Some(given), scratch, |j, experts| {
                self.model.pool().outcomes(self.level, experts, log_p);
                sum.add(self.level, log_p);
                if j + 1 == self.batches.end(batch) {
                    sum.finish(log_p);
                    let draws = ((j + 1 - first) as f64).ln();
                    for (r, row) in out.chunks_mut(batches * count).enumerate() {
                        let each = row[batch * count..].iter_mut().zip(&*log_p);
                        each.for_each(|(out, log_p)| *out = log_p[r] - draws);
                    }
                    (batch, first) = (batch + 1, j + 1);
                }
            });
            out
        })?;
        Ok(blocks.concat())
    }
}
