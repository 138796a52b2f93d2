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

mod average;

use average::{effects, shape};

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
    /// Whether they come out the same at all rows, in each draw.
    pub constant: bool,
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
    /// What it comes to, in words, where it is of weights.
    pub fn words(&self) -> String {
        if self.constant {
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

    /// The weights of the experts at each row of `data`, in each draw of each chain, whatever the weight of the chain.
    /// What experts say has no part in it.
    ///
    /// # Errors
    /// If the rows do not have the model's inputs.
    pub fn weight_draws(&self, data: &Data, threads: usize) -> Result<Vec<f64>> {
        self.same_inputs(data)?;
        let draws = self.draws.clone().weighted(&vec![1.0; self.draws.chains().len()])?;
        self.predictor_of(&draws).weights(&self.scaled(data.x())?, threads)
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
