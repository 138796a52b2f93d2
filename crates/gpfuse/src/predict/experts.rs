//! The experts at new inputs: how much each is trusted, and what each says.

use super::Predictor;
use super::block::{TURNED, turn};
use crate::Result;
use crate::math::simd::vectorised;
use crate::math::{Lanes, ROWS, exp};
use crate::model::Given;
use crate::parallel::parallel_with;
use crate::pool::ExpertBlock;
use crate::rows::Rows;
use crate::scale::Affine;

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
        let (experts, draws) = (self.model.experts(), self.draws());
        let room = || {
            let expert =
                || (Gathered::new(), vec![Lanes::splat(0.0); TURNED], vec![0.0; ROWS * draws]);
            (self.model.scratch(false), (0..experts).map(|_| expert()).collect::<Vec<_>>())
        };
        let blocks = parallel_with(rows.blocks(), threads, room, |(scratch, all), b| {
            let filled = rows.filled(b);
            self.each_draw(rows, b, given, scratch, |j, block| {
                for (k, (sums, turning, weight)) in all.iter_mut().enumerate() {
                    gather(self.level, j, k, block, self.target, sums, &mut turning[j % TURNED]);
                    let done = j % TURNED + 1;
                    if done == TURNED || j + 1 == draws {
                        let (lanes, start) = (turning[..done].iter(), j + 1 - done);
                        turn(self.level, lanes, Affine::IDENTITY, weight, draws, start);
                    }
                }
            });
            let mut out = Vec::with_capacity(filled * experts);
            for r in 0..filled {
                for (sums, _, weight) in all.iter_mut() {
                    let weight = Summary::of(&mut weight[r * draws..(r + 1) * draws], level);
                    let (mean, sd) = sums.moments(r, draws as f64);
                    out.push(ExpertSummary { weight, mean, sd });
                }
            }
            out
        })?;
        Ok(blocks.into_iter().flatten().collect())
    }
}

/// The sums of one expert over the draws, rows abreast: the first draw's mean, and about it,
/// so that an offset costs no digits, the means and the squares with the variances.
struct Gathered {
    origin: Lanes,
    first: Lanes,
    second: Lanes,
}

impl Gathered {
    fn new() -> Gathered {
        let none = Lanes::splat(0.0);
        Gathered { origin: none, first: none, second: none }
    }

    /// Mean and standard deviation at row `r`.
    fn moments(&self, r: usize, draws: f64) -> (f64, f64) {
        let (gap, square) = (self.first[r] / draws, self.second[r] / draws);
        (self.origin[r] + gap, (square - gap * gap).max(0.0).sqrt())
    }
}

vectorised! {
    /// Add expert `k` in draw `j`; its weights go to `weight`.
    fn gather = gather_kernel(
        j: usize, k: usize, block: &ExpertBlock, target: Affine, sums: &mut Gathered,
        weight: &mut Lanes,
    );
}

#[inline(always)]
fn gather_kernel<const FMA: bool>(
    j: usize,
    k: usize,
    block: &ExpertBlock,
    target: Affine,
    sums: &mut Gathered,
    weight: &mut Lanes,
) {
    let (mu, log_sd, log_w) = (&block.mu[k], &block.log_sd[k], &block.log_w[k]);
    if j == 0 {
        *sums = Gathered::new();
        for r in 0..ROWS {
            sums.origin[r] = target.restore(mu[r]);
        }
    }
    for r in 0..ROWS {
        weight[r] = exp::<FMA>(log_w[r]);
        let sd = target.scale * exp::<FMA>(log_sd[r]);
        let gap = target.restore(mu[r]) - sums.origin[r];
        sums.first[r] += gap;
        sums.second[r] += gap * gap + sd * sd;
    }
}

impl Summary {
    /// Of some values, whose order changes on the way.
    pub fn of(values: &mut [f64], level: f64) -> Summary {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut at = |p: f64| {
            let place = p * (values.len() - 1) as f64;
            let below = place.floor() as usize;
            let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
            let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*low);
            *low + (place - below as f64) * (next - *low)
        };
        Summary { mean, low: at(0.5 - 0.5 * level), high: at(0.5 + 0.5 * level) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_an_interval_lie_between_order_statistics() {
        for n in [1, 2, 3, 10, 101] {
            let values: Vec<f64> = (0..n).map(|i| (1.7 * i as f64).sin()).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for level in [0.0, 0.5, 0.9, 1.0] {
                let found = Summary::of(&mut values.clone(), level);
                let at = |p: f64| {
                    let place = p * (n - 1) as f64;
                    let (low, high) = (place.floor() as usize, place.ceil() as usize);
                    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
                };
                let (low, high) = (at(0.5 - 0.5 * level), at(0.5 + 0.5 * level));
                assert!((found.low - low).abs() < 1e-15 && (found.high - high).abs() < 1e-15);
                assert!((found.mean - values.iter().sum::<f64>() / n as f64).abs() < 1e-15);
            }
        }
    }
}
