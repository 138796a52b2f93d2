//! The experts at new inputs: how much each is trusted, and what each says.

use super::Predictor;
use super::block::{DRAWS_TURNED, turn};
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
    /// Its mean; none of an expert that says how probable outcomes are.
    pub mean: Option<f64>,
    /// Its predictive standard deviation, by the law of total variance over the draws; none of such an expert.
    pub sd: Option<f64>,
}

impl Predictor {
    /// The experts at each of `rows`, K after K, with central intervals of the weights that
    /// hold `level` of the draws, or of their weights. Without what given experts say there are weights alone.
    pub fn experts(
        &self,
        rows: &Rows,
        given: Option<&Given>,
        level: f64,
        threads: usize,
    ) -> Result<Vec<ExpertSummary>> {
        if given.is_some() {
            self.model.check_given(rows, given)?;
        }
        let moments = match given {
            Some(given) => given.outcomes() == 0,
            None => self.model.learned(),
        };
        let (experts, draws) = (self.model.experts(), self.draws());
        let factors = self.batches.factors();
        let weighted = self.batches.are_weighted().then_some(factors.as_slice());
        let room = || {
            let expert = || {
                (Gathered::new(), vec![Lanes::splat(0.0); DRAWS_TURNED], vec![0.0; ROWS * draws])
            };
            (self.model.scratch(false), (0..experts).map(|_| expert()).collect::<Vec<_>>())
        };
        let blocks = parallel_with(rows.blocks(), threads, room, |(scratch, all), b| {
            let filled = rows.filled(b);
            self.each_draw(rows, b, given, scratch, |j, block| {
                for (k, (sums, turning, weight)) in all.iter_mut().enumerate() {
                    let (last, by, factor) =
                        (&mut turning[j % DRAWS_TURNED], self.target, factors[j]);
                    gather(self.level, j, k, block, by, factor, sums, last);
                    let done = j % DRAWS_TURNED + 1;
                    if done == DRAWS_TURNED || j + 1 == draws {
                        let (lanes, start) = (turning[..done].iter(), j + 1 - done);
                        turn(self.level, lanes, Affine::IDENTITY, weight, draws, start);
                    }
                }
            });
            let mut out = Vec::with_capacity(filled * experts);
            for r in 0..filled {
                for (sums, _, weight) in all.iter_mut() {
                    let weights = &mut weight[r * draws..(r + 1) * draws];
                    let weight = match weighted {
                        None => Summary::of(weights, level),
                        Some(factors) => Summary::weighted(weights, factors, level),
                    };
                    let (mean, sd) = sums.moments(r, draws as f64);
                    let [mean, sd] = [mean, sd].map(|value| moments.then_some(value));
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
    /// Add expert `k` in draw `j`, which counts `factor` times; its weights go to `weight`.
    fn gather = gather_kernel(
        j: usize, k: usize, block: &ExpertBlock, target: Affine, factor: f64, sums: &mut Gathered,
        weight: &mut Lanes,
    );
}

#[inline(always)]
fn gather_kernel<const FMA: bool>(
    j: usize,
    k: usize,
    block: &ExpertBlock,
    target: Affine,
    factor: f64,
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
        sums.first[r] += factor * gap;
        sums.second[r] += factor * (gap * gap + sd * sd);
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

    /// Of values with weights, not all 0. From one value to the next in order, the distribution
    /// function grows by half the weight of both: equal weights give what [`Summary::of`] does.
    pub fn weighted(values: &[f64], weights: &[f64], level: f64) -> Summary {
        let mut sorted: Vec<(f64, f64)> =
            values.iter().copied().zip(weights.iter().copied()).filter(|v| v.1 > 0.0).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = sorted.iter().map(|(_, w)| w).sum();
        let mean = sorted.iter().map(|(v, w)| v * (w / total)).sum();
        let mut top = 0.0;
        let steps = sorted.windows(2).map(|pair| 0.5 * (pair[0].1 + pair[1].1));
        let places: Vec<f64> =
            std::iter::once(0.0).chain(steps.map(|s| (top += s, top).1)).collect();
        let at = |p: f64| {
            let place = p * places[places.len() - 1];
            let above = places.partition_point(|q| *q < place).clamp(1, places.len() - 1);
            let (low, high) = (sorted[above - 1].0, sorted[above].0);
            let part = (place - places[above - 1]) / (places[above] - places[above - 1]);
            low + part.clamp(0.0, 1.0) * (high - low)
        };
        match sorted.as_slice() {
            [] => Summary { mean: 0.0, low: 0.0, high: 0.0 },
            [(only, _)] => Summary { mean, low: *only, high: *only },
            _ => Summary { mean, low: at(0.5 - 0.5 * level), high: at(0.5 + 0.5 * level) },
        }
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
                let alike = Summary::weighted(&values, &vec![0.3; n], level);
                let gaps = [alike.mean - found.mean, alike.low - low, alike.high - high];
                assert!(gaps.iter().all(|g| g.abs() < 1e-12), "{alike:?}, {found:?}");
            }
        }
    }

    /// What has no weight is not there, and the order of the values means nothing.
    #[test]
    fn weights_count() {
        let (values, weights) = ([3.0, 1.0, 9.0, 2.0], [1.0, 1.0, 0.0, 2.0]);
        let found = Summary::weighted(&values, &weights, 0.5);
        assert_eq!(found, Summary::weighted(&[1.0, 2.0, 3.0], &[1.0, 2.0, 1.0], 0.5));
        // The distribution function is 0 at 1, a half at 2 and 1 at 3.
        assert_eq!(found, Summary { mean: 2.0, low: 1.5, high: 2.5 });
        let one = Summary::weighted(&values, &[0.0, 0.0, 5.0, 0.0], 0.9);
        assert_eq!(one, Summary { mean: 9.0, low: 9.0, high: 9.0 });
    }
}
