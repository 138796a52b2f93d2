//! How the weights of a model, or its predictions, depend on each input, the others being as they are in some rows.
//!
//! Let `f_jk(x)` be the share of expert k in the weights of draw j (the weight itself where weights sum to one: of free
//! weights the sum says how narrow a prediction is, and the shares whose it is), or the mean of the predictive density
//! (then k is 1 alone), `x_r` some n rows, and `v_g` places along input i that stand for shares `p_g` of the rows. `x_r(v)` is row r with
//! input i set to v. Then
//!
//! * the curve of input i is its partial dependence `1/n sum_r f_jk(x_r(v))` (Friedman 2001, "Greedy function
//!   approximation"), by its mean and interval over the draws;
//! * input i moves f by the root of the mean over experts and rows of `Var_g f_k(x_r(v_g))`: the variance that is left
//!   where all other inputs are known, which is the numerator of the total effect of Homma and Saltelli (1996,
//!   "Importance measures in global sensitivity analysis of nonlinear models"). It counts what an input does together
//!   with others, which its curve averages out, and is in the units of f.
//!
//! Draws differ also where nothing is known. With `f_j = m + e_j`, errors `e_j` that are independent between the J
//! draws, `A` the mean over draws of the variance of `f_j` and `B` the variance of the mean of the draws,
//! `E A = Var m + Var e` and `E B = Var m + Var e / J`. So `M = (J B - A) / (J - 1)` estimates the variance of what all
//! draws have in common, which is what is reported, and `M / A` is the share of the variance that they agree on.
//! Draws of the prior agree on nothing.

use super::{Experts, Fitted};
use crate::Result;
use crate::data::Data;
use crate::infer::{Draws, spread};
use crate::predict::{FusedBlock, Predictive as _, Summary};
use crate::rows::Rows;

/// About how many rows weights are asked for, and predictions.
const ASKED: [usize; 2] = [20_000, 8_000];
/// What experts that are GPs may cost: the sum over them of their rows squared, for each row asked for.
const COST: f64 = 3e10;
/// The most and the least rows that the other inputs are taken from.
const ROWS: (usize, usize) = (100, 15);
/// The most and the least places along an input.
const PLACES: (usize, usize) = (40, 12);
/// Draws that are looked at.
const DRAWS: usize = 100;
/// Places along each input of a pair.
const PAIR: usize = 18;

/// How something depends on one input.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The input's number.
    pub input: usize,
    /// How far it moves what is looked at, in its units: a standard deviation.
    pub moves: f64,
    /// Places along the input.
    pub x: Vec<f64>,
    /// For each expert, or for the predictive mean alone, the average over the rows at each place.
    pub curves: Vec<Vec<Summary>>,
}

/// How the shares of the weights or the predictive mean depend on each input.
#[derive(Debug, Clone, PartialEq)]
pub struct Effects {
    /// The inputs, first the one that moves them most.
    pub inputs: Vec<Effect>,
    /// For each expert, or for the predictive mean alone, its average over the rows.
    pub level: Vec<Summary>,
    /// How far they move from row to row, all inputs together: a standard deviation.
    pub spread: f64,
    /// The share of the variance from row to row that the draws agree on.
    pub agreed: f64,
    /// The rows that the other inputs are taken from.
    pub rows: usize,
    /// The draws that were looked at.
    pub draws: usize,
    /// The chain that these are of, where experts have labels that can differ between chains.
    pub chain: Option<usize>,
}

/// The average shares of the experts along two inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The inputs' numbers.
    pub inputs: [usize; 2],
    /// Places along both.
    pub places: [Vec<f64>; 2],
    /// For each expert, the posterior mean at each place of the second input for the first place of the first
    /// input, then for its second place, and so on.
    pub mean: Vec<Vec<f64>>,
}

impl Effects {
    /// Whether the weights come out the same at all rows, in all draws.
    pub fn constant(&self) -> bool {
        self.inputs.iter().all(|input| input.moves == 0.0) && self.spread == 0.0
    }

    /// What it comes to, in words, where it is of weights.
    pub fn words(&self) -> String {
        if self.constant() {
            return "the weights are constant: no input changes them".into();
        }
        let known = match self.agreed {
            share if share < LITTLE => {
                "so that they hardly differ from their prior, whose draws agree on none of it"
            }
            _ => "where draws of the prior alone would agree on none of it",
        };
        format!(
            "from row to row the share of an expert moves by {:.3} (standard deviation), and the draws agree on {:.0} % of that \
             variance, {known}",
            self.spread,
            100.0 * self.agreed
        )
    }
}

/// Draws that agree on a smaller share of the variance know little.
const LITTLE: f64 = 0.1;

impl Fitted {
    /// How the shares of the weights depend on each of some inputs, with central intervals that hold `level` of the draws; none
    /// for a model of one expert. What experts say has no part in it, so that `data` needs no more than inputs.
    ///
    /// # Errors
    /// If the rows do not have the model's inputs.
    pub fn weight_effects(
        &self,
        data: &Data,
        inputs: &[usize],
        level: f64,
        threads: usize,
    ) -> Result<Option<Effects>> {
        self.same_inputs(data)?;
        if self.model.experts() == 1 {
            return Ok(None);
        }
        let (draws, chain) = self.labelled();
        let (predictor, k) = (self.predictor_of(&draws), self.model.experts());
        let ask = |x: Vec<f64>| Ok(shares(predictor.weights(&self.scaled(&x)?, threads)?, k));
        let (rows, places) = shape(ASKED[0], inputs.len(), data.len());
        effects(data, inputs, (rows, places), (k, draws.len(), level), ask)
            .map(|found| Some(Effects { chain, ..found }))
    }

    /// How the mean of the predictive density depends on each of some inputs.
    ///
    /// # Errors
    /// If the rows do not have the model's inputs, or the experts were made elsewhere: these speak only at rows of
    /// tables.
    pub fn mean_effects(
        &self,
        data: &Data,
        inputs: &[usize],
        level: f64,
        threads: usize,
    ) -> Result<Effects> {
        self.same_inputs(data)?;
        let draws = self.draws.thinned(DRAWS);
        let predictor = self.predictor_of(&draws).draw_by_draw();
        let ask = |x: Vec<f64>| -> Result<Vec<f64>> {
            let at = Data::new(x, self.inputs().len())?;
            let at = self.locate(&at, 0..at.len())?;
            let each = |block: &FusedBlock| -> Result<Vec<f64>> {
                let all = (0..block.len()).flat_map(|r| (0..draws.len()).map(move |j| (r, j)));
                all.map(|(r, j)| Ok(block.row_draws(r, j..j + 1)?.mean())).collect()
            };
            let blocks = predictor.at(&at.rows, at.given.as_ref()).blocks(threads, each)?;
            Ok(blocks.into_iter().collect::<Result<Vec<_>>>()?.concat())
        };
        let one: f64 = match &self.experts {
            Experts::Trained(all) => {
                all.iter().filter_map(|e| e.gp()).map(|(gp, _)| (gp.rows() as f64).powi(2)).sum()
            }
            _ => 0.0,
        };
        let asked = ASKED[1].min((COST / one.max(1.0)) as usize);
        effects(data, inputs, shape(asked, inputs.len(), data.len()), (1, draws.len(), level), ask)
    }

    /// The average shares of the weights along two inputs; none for a model of one expert.
    ///
    /// # Errors
    /// As [`Fitted::weight_effects`].
    pub fn weight_pair(
        &self,
        data: &Data,
        inputs: [usize; 2],
        threads: usize,
    ) -> Result<Option<Pair>> {
        self.same_inputs(data)?;
        if self.model.experts() == 1 {
            return Ok(None);
        }
        let (draws, _) = self.labelled();
        let predictor = self.predictor_of(&draws);
        let rows = spread(data.len(), (ASKED[0] / (PAIR * PAIR)).min(ROWS.0));
        let even = |i: usize| -> Vec<f64> {
            let values = || data.x().iter().skip(i).step_by(data.inputs().len()).copied();
            let (low, high) =
                (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
            (0..PAIR).map(|p| low + (high - low) * p as f64 / (PAIR - 1) as f64).collect()
        };
        let places = inputs.map(even);
        let (mut x, k) = (Vec::new(), self.model.experts());
        for a in &places[0] {
            for b in &places[1] {
                for r in &rows {
                    let start = x.len();
                    x.extend_from_slice(data.row(*r));
                    (x[start + inputs[0]], x[start + inputs[1]]) = (*a, *b);
                }
            }
        }
        let found = shares(predictor.weights(&self.scaled(&x)?, threads)?, k);
        let (cell, all) = (rows.len() * draws.len() * k, (rows.len() * draws.len()) as f64);
        let mean = |e: usize| -> Vec<f64> {
            let average = |cell: &[f64]| cell.iter().skip(e).step_by(k).sum::<f64>() / all;
            found.chunks(cell).map(average).collect()
        };
        Ok(Some(Pair { inputs, places, mean: (0..k).map(mean).collect() }))
    }

    /// Some draws in which a label means the same expert, and their chain where these are of one alone.
    fn labelled(&self) -> (Draws, Option<usize>) {
        match &self.experts {
            Experts::Learned if self.draws.chains().len() > 1 => {
                let best = self.draws.best();
                (self.draws.alone(best).thinned(DRAWS), Some(best))
            }
            _ => (self.draws.thinned(DRAWS), None),
        }
    }

    fn scaled(&self, x: &[f64]) -> Result<Rows> {
        Rows::new(&self.scaler.scale_inputs(x), self.inputs().len())
    }
}

/// The shares of k weights in their sums.
fn shares(mut weights: Vec<f64>, k: usize) -> Vec<f64> {
    for of_draw in weights.chunks_mut(k) {
        let sum: f64 = of_draw.iter().sum();
        if sum > 0.0 && sum.is_finite() {
            of_draw.iter_mut().for_each(|w| *w /= sum);
        }
    }
    weights
}

/// Rows and places for which about `asked` rows are asked for in all.
fn shape(asked: usize, inputs: usize, rows: usize) -> (usize, usize) {
    let inputs = inputs.max(1);
    let each = asked / (inputs * (PLACES.0 + PLACES.1) / 2);
    let rows = rows.min(each.clamp(ROWS.1, ROWS.0));
    (rows, (asked / (inputs * rows).max(1)).clamp(PLACES.1, PLACES.0))
}

/// Places along an input and the shares of the rows that they stand for: all of its values where these are few, else
/// its quantiles in equal steps, with the weights of the trapezoidal rule.
fn places(data: &Data, input: usize, most: usize) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> =
        data.x().iter().skip(input).step_by(data.inputs().len()).copied().collect();
    sorted.sort_by(f64::total_cmp);
    let distinct = sorted.chunk_by(|a, b| a == b).count();
    let last = sorted.len() - 1;
    let each: Vec<(f64, f64)> = match distinct <= most {
        true => sorted.iter().map(|v| (*v, 1.0)).collect(),
        false => (0..most)
            .map(|g| {
                let share = if g == 0 || g + 1 == most { 0.5 } else { 1.0 };
                (sorted[(g * last) / (most - 1)], share)
            })
            .collect(),
    };
    let total: f64 = each.iter().map(|place| place.1).sum();
    let alike = each.chunk_by(|a, b| a.0 == b.0);
    alike.map(|v| (v[0].0, v.iter().map(|place| place.1).sum::<f64>() / total)).collect()
}

/// Sums of the variances of something in each draw, and of that of its mean over the draws.
#[derive(Default)]
struct Variances {
    each: f64,
    of_mean: f64,
}

impl Variances {
    /// Add those of values with shares `p`, one row of draws x experts for each.
    fn add(&mut self, rows: &[&[f64]], p: &[f64], k: usize) {
        let draws = rows[0].len() / k;
        for e in 0..k {
            let (mut mean, mut squares) = (vec![0.0; rows.len()], 0.0);
            for j in 0..draws {
                let of_draw: Vec<f64> = rows.iter().map(|row| row[j * k + e]).collect();
                squares += variance(&of_draw, p);
                mean.iter_mut().zip(&of_draw).for_each(|(m, v)| *m += v / draws as f64);
            }
            self.each += squares / (draws * k) as f64;
            self.of_mean += variance(&mean, p) / k as f64;
        }
    }

    /// The variance of what `draws` draws have in common.
    fn common(&self, draws: usize) -> f64 {
        match draws {
            0 | 1 => self.each,
            _ => {
                let j = draws as f64;
                ((j * self.of_mean - self.each) / (j - 1.0)).max(0.0)
            }
        }
    }
}

fn variance(values: &[f64], p: &[f64]) -> f64 {
    let mean: f64 = values.iter().zip(p).map(|(v, p)| p * v).sum();
    values.iter().zip(p).map(|(v, p)| p * (v - mean).powi(2)).sum()
}

/// The effects of some inputs on what `ask` says about rows: draws x experts for each.
fn effects(
    data: &Data,
    inputs: &[usize],
    (rows, most): (usize, usize),
    (k, draws, level): (usize, usize, f64),
    ask: impl Fn(Vec<f64>) -> Result<Vec<f64>>,
) -> Result<Effects> {
    let (rows, width) = (spread(data.len(), rows), k * draws);
    let n = rows.len() as f64;
    // Of the averages of some rows.
    let summaries = |averages: &[f64]| -> Vec<Summary> {
        let of = |e: usize| averages.iter().skip(e).step_by(k).copied().collect::<Vec<f64>>();
        (0..k).map(|e| Summary::of(&mut of(e), level)).collect()
    };
    let average = |values: &[&[f64]]| -> Vec<f64> {
        (0..width).map(|w| values.iter().map(|v| v[w]).sum::<f64>() / n).collect()
    };
    let mut found = Vec::with_capacity(inputs.len());
    for input in inputs {
        let places = places(data, *input, most);
        let mut x = Vec::with_capacity(places.len() * rows.len() * data.inputs().len());
        for (v, _) in &places {
            for r in &rows {
                let start = x.len();
                x.extend_from_slice(data.row(*r));
                x[start + input] = *v;
            }
        }
        let values = ask(x)?;
        let values: Vec<&[f64]> = values.chunks(width).collect();
        let shares: Vec<f64> = places.iter().map(|place| place.1).collect();
        let mut variances = Variances::default();
        for r in 0..rows.len() {
            let of_row: Vec<&[f64]> = values.iter().skip(r).step_by(rows.len()).copied().collect();
            variances.add(&of_row, &shares, k);
        }
        let at: Vec<Vec<Summary>> =
            values.chunks(rows.len()).map(|rows| summaries(&average(rows))).collect();
        found.push(Effect {
            input: *input,
            moves: (variances.common(draws) / n).sqrt(),
            x: places.iter().map(|place| place.0).collect(),
            curves: (0..k).map(|e| at.iter().map(|place| place[e]).collect()).collect(),
        });
    }
    found.sort_by(|a, b| b.moves.total_cmp(&a.moves));
    let values = ask(rows.iter().flat_map(|r| data.row(*r)).copied().collect())?;
    let values: Vec<&[f64]> = values.chunks(width).collect();
    let mut whole = Variances::default();
    whole.add(&values, &vec![1.0 / n; rows.len()], k);
    let common = whole.common(draws);
    Ok(Effects {
        inputs: found,
        level: summaries(&average(&values)),
        spread: common.sqrt(),
        agreed: if whole.each > 0.0 { (common / whole.each).min(1.0) } else { 1.0 },
        rows: rows.len(),
        draws,
        chain: None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// 200 rows of three inputs, the last of which has two values.
    fn rows() -> Data {
        let at = |i: u32, k: f64| (k * f64::from(i)).sin();
        let row = |i: u32| [at(i, 1.3), 3.0 * at(i, 2.1), f64::from(u8::from(i.is_multiple_of(4)))];
        Data::new((0..200).flat_map(row).collect(), 3).unwrap()
    }

    /// Two quantities in 40 draws, whose errors have the pattern of a random walk through signs.
    fn asked(x: &[f64], f: fn(&[f64], f64) -> f64) -> Vec<f64> {
        let draws = |x: &[f64]| {
            let x = x.to_vec();
            (0..40).flat_map(move |j| {
                let value = f(&x, (2.0 + 7.3 * f64::from(j)).sin() * 2f64.sqrt());
                [value, -value]
            })
        };
        x.chunks(3).flat_map(draws).collect()
    }

    fn found(f: fn(&[f64], f64) -> f64) -> Effects {
        let data = rows();
        effects(&data, &[0, 1, 2], (60, 20), (2, 40, 0.9), |x| Ok(asked(&x, f))).unwrap()
    }

    /// By hand: along input 2 (values 0 and 1 in shares 3/4 and 1/4) `4 x_2` has the variance 16 * 3/16.
    #[test]
    fn inputs_move_by_the_root_of_their_total_effect() {
        let found = found(|x, _| 4.0 * x[2] + x[1]);
        let order: Vec<usize> = found.inputs.iter().map(|e| e.input).collect();
        assert_eq!(order, [1, 2, 0]);
        assert!((found.inputs[1].moves - 3f64.sqrt()).abs() < 1e-12, "{:?}", found.inputs[1]);
        assert_eq!(found.inputs[2].moves, 0.0);
        assert!((found.agreed - 1.0).abs() < 1e-12);
        // The partial dependence of a sum is its part, but for a constant.
        let curve = &found.inputs[1].curves[0];
        assert_eq!(found.inputs[1].x, [0.0, 1.0]);
        assert!((curve[1].mean - curve[0].mean - 4.0).abs() < 1e-12);
        assert!((curve[0].high - curve[0].low).abs() < 1e-12);
    }

    /// What two inputs do together is in the total effect of both and in the curve of neither.
    #[test]
    fn interactions_count() {
        let found = found(|x, _| x[1].signum() * (x[0] - 0.0));
        let first = found.inputs.iter().find(|e| e.input == 0).unwrap();
        let second = found.inputs.iter().find(|e| e.input == 1).unwrap();
        assert!((first.moves - 0.71).abs() < 0.05 && (second.moves - 0.71).abs() < 0.08);
        let of = |e: &Effect| e.curves[0].iter().map(|s| s.mean).collect::<Vec<f64>>();
        let range =
            |v: Vec<f64>| v.iter().fold(f64::MIN, |a, b| a.max(*b)) - v[0].min(v[v.len() - 1]);
        assert!(range(of(first)) < 0.5, "{:?}", of(first));
    }

    /// Slopes that are nothing but noise move nothing that draws agree on.
    #[test]
    fn what_draws_do_not_agree_on_is_not_counted() {
        let known = found(|x, _| x[0]).spread;
        let noise = found(|x, e| e * x[0]);
        assert!(noise.agreed < 0.05 && noise.spread < 0.25 * known, "{noise:?}");
        let half = found(|x, e| (1.0 + e) * x[0]);
        assert!((half.agreed - 0.5).abs() < 0.1, "{}", half.agreed);
        assert!((half.spread / known - 1.0).abs() < 0.1, "{}", half.spread / known);
    }

    #[test]
    fn places_stand_for_all_rows() {
        let data = rows();
        for (input, most) in [(0, 20), (1, 12), (2, 20)] {
            let found = places(&data, input, most);
            assert!((found.iter().map(|p| p.1).sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(found.windows(2).all(|w| w[0].0 < w[1].0) && found.len() <= most);
        }
        assert_eq!(places(&data, 2, 20), [(0.0, 0.75), (1.0, 0.25)]);
        for (asked, inputs) in [(10_000, 1), (10_000, 8), (10_000, 40), (100, 8)] {
            let (rows, places) = shape(asked, inputs, 1000);
            assert!((15..=100).contains(&rows) && (12..=40).contains(&places), "{rows}, {places}");
        }
    }
}
