//! The experts at new inputs: how much each is trusted, and what each says.

use super::Predictor;
use crate::Result;
use crate::math::ROWS;
use crate::model::Given;
use crate::parallel::parallel;
use crate::rows::Rows;

/// A posterior by its mean and a central interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The posterior mean.
    pub mean: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// One expert at one row, in the units of the target.
///
/// In a joint model the experts are exchangeable: a label means the same expert throughout a
/// draw, but not always in another draw or chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpertSummary {
    /// Its weight.
    pub weight: Summary,
    /// Its mean.
    pub mean: f64,
    /// Its predictive standard deviation, by the law of total variance over the draws.
    pub sd: f64,
}

impl Predictor {
    /// The experts at each of `rows`, K after K, with central intervals of the weights that
    /// hold `level` of the draws.
    pub fn experts(
        &self,
        rows: &Rows,
        given: Option<&Given>,
        level: f64,
        threads: usize,
    ) -> Result<Vec<ExpertSummary>> {
        self.model.check_given(rows, given)?;
        let cache = self.model.basis().cache(rows);
        let experts = self.model.experts();
        let draws = self.coefs.len();
        let blocks = parallel(rows.blocks(), threads, |b| {
            let mut scratch = self.model.scratch(false);
            // Per expert and row: weight, mean and variance of every draw.
            let mut weight = vec![0.0; experts * ROWS * draws];
            let mut sums = vec![[0.0; 3]; experts * ROWS];
            for (j, coefs) in self.coefs.iter().enumerate() {
                self.model.experts_on(self.level, rows, b, &cache, given, coefs, &mut scratch);
                for k in 0..experts {
                    for r in 0..rows.filled(b) {
                        let mean = self.target.restore(scratch.experts.mu[k][r]);
                        let sd = self.target.scale * scratch.experts.log_sd[k][r].exp();
                        weight[(r * experts + k) * draws + j] = scratch.experts.log_w[k][r].exp();
                        let sum = &mut sums[r * experts + k];
                        // About the first draw's mean, so that an offset costs no digits.
                        if j == 0 {
                            sum[0] = mean;
                        }
                        let gap = mean - sum[0];
                        sum[1] += gap / draws as f64;
                        sum[2] += (gap * gap + sd * sd) / draws as f64;
                    }
                }
            }
            let rows = rows.filled(b) * experts;
            let weights = weight.chunks_exact_mut(draws);
            let all = sums.iter().zip(weights).take(rows);
            all.map(|(sum, weight)| ExpertSummary {
                weight: Summary::of(weight, level),
                mean: sum[0] + sum[1],
                sd: (sum[2] - sum[1] * sum[1]).max(0.0).sqrt(),
            })
            .collect::<Vec<_>>()
        })?;
        Ok(blocks.into_iter().flatten().collect())
    }
}

impl Summary {
    /// Of some values, which are sorted on the way.
    pub fn of(values: &mut [f64], level: f64) -> Summary {
        values.sort_by(f64::total_cmp);
        let at = |p: f64| {
            let place = p * (values.len() - 1) as f64;
            let (low, high) = (place.floor() as usize, place.ceil() as usize);
            values[low] + (place - low as f64) * (values[high] - values[low])
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Summary { mean, low: at(0.5 - 0.5 * level), high: at(0.5 + 0.5 * level) }
    }
}
