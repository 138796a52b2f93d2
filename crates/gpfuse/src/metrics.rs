//! Scores of predictions, each with two standard errors: of the Monte Carlo draws and of the
//! test rows.
//!
//! Every score is a mean over rows of a loss that depends on the predictive only through
//! averages over draws (density at y, mean, distribution function). The Monte Carlo standard
//! error is a jackknife over batches of draws: with the score `T` and the scores `T_(b)`
//! without batch b, the pseudo-values are `B T - (B - 1) T_(b)`, and the standard error of
//! their mean is reported, taken once over batches and once over whole chains, whichever is
//! larger: chains that sit in different modes must widen the error bar.
//!
//! Where chains have weights, these are taken as given, and only the other batches of a chain stand
//! for a batch left out. The standard error is then that of a jackknife in strata: with m batches
//! in chain c, `sum_c (m - 1) / m sum_b (T_(b) - mean of T_(b) in c)^2` is its square. That the
//! chains differ is what the weights are for; it does not widen the error bar.

mod outcomes;
mod paired;

use std::ops::Range;

use serde::Serialize;

pub use outcomes::{LogScores, Measured};
pub use paired::{Difference, paired};

use crate::predict::{Batches, FusedBlock, Mixture, Predictive, Spectrum};
use crate::{Error, Result};

/// The levels of the central intervals whose coverage is scored.
pub const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];

/// Losses per row: negative log density, squared and absolute error of the mean, CRPS, and
/// whether the row lies inside each central interval.
pub const LOSSES: usize = 4 + LEVELS.len();

/// A score and its errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    /// The score.
    pub value: f64,
    /// Its Monte Carlo standard error; none where there are too few draws to tell.
    pub mcse: Option<f64>,
    /// Its standard error over the test rows; none for a single row.
    pub se: Option<f64>,
}

/// All scores of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// Mean negative log predictive density.
    pub nlpd: Score,
    /// Root mean square error of the predictive mean.
    pub rmse: Score,
    /// Mean absolute error of the predictive mean.
    pub mae: Score,
    /// Mean continuous ranked probability score.
    pub crps: Score,
    /// Share of rows inside the central intervals of [`LEVELS`].
    pub coverage: [Score; LEVELS.len()],
    /// The number of test rows.
    pub rows: usize,
    /// The losses of each row, for paired comparisons.
    #[serde(skip)]
    pub losses: Vec<[f64; LOSSES]>,
}

impl Scores {
    /// The same by their names.
    fn named(&self) -> Vec<(String, &Score)> {
        let plain = [&self.nlpd, &self.crps, &self.rmse, &self.mae];
        let plain = ["NLPD", "CRPS", "RMSE", "MAE"].map(String::from).into_iter().zip(plain);
        let level = |level: &f64| format!("coverage of {:.0} %", 100.0 * level);
        plain.chain(LEVELS.iter().map(level).zip(&self.coverage)).collect()
    }
}

/// Score predictions against `y`, one outcome for each of their rows, in the units of the
/// target.
///
/// # Errors
/// If there are more or fewer outcomes than rows, or one is not finite: a score without it would be
/// that of other rows.
pub fn evaluate(predictive: &impl Predictive, y: &[f64], threads: usize) -> Result<Scores> {
    let (rows, batches) = (predictive.rows(), predictive.batches());
    if y.len() != rows.len() {
        return Err(Error::Shape {
            what: "targets".into(),
            expected: format!("{}, one per row", rows.len()),
            found: y.len().to_string(),
        });
    }
    if let Some(row) = y.iter().position(|y| !y.is_finite()) {
        let problem = format!("row {}: the outcome is {}: leave the row out", row + 1, y[row]);
        return Err(Error::Data(problem));
    }
    let blocks = predictive.blocks(threads, |block| {
        let first = block.first - rows.start;
        block_losses(block, &y[first..first + block.len()], batches)
    })?;
    let mut losses = Vec::with_capacity(y.len());
    let mut without = vec![[0.0; LOSSES]; batches.len()];
    for block in blocks {
        let (of_rows, left_out) = block?;
        losses.extend(of_rows);
        for (sum, part) in without.iter_mut().zip(left_out) {
            (0..LOSSES).for_each(|l| sum[l] += part[l] / y.len() as f64);
        }
    }
    let score = |l: usize, root: bool| summarise(&losses, &without, l, root, batches);
    Ok(Scores {
        nlpd: score(0, false),
        rmse: score(1, true),
        mae: score(2, false),
        crps: score(3, false),
        coverage: std::array::from_fn(|i| score(4 + i, false)),
        rows: y.len(),
        losses,
    })
}

/// The losses of each row, and of each batch left out the losses summed over rows.
type BlockLosses = (Vec<[f64; LOSSES]>, Vec<[f64; LOSSES]>);

fn block_losses(block: &FusedBlock, y: &[f64], batches: &Batches) -> Result<BlockLosses> {
    let mut rows = Vec::with_capacity(block.len());
    let mut without = vec![[0.0; LOSSES]; batches.len()];
    let shares = batches.shares(None);
    let left_shares: Vec<Vec<f64>> = (0..batches.len()).map(|b| batches.shares(Some(b))).collect();
    for (r, &y) in y.iter().enumerate() {
        let whole = block.row(r)?;
        let parts: Result<Vec<Mixture<'_>>> =
            (0..batches.len()).map(|b| block.row_draws(r, batches.held(b))).collect();
        let parts = parts?;
        let (crps, influence) = crps(&whole, &parts, y, batches);
        let at_y: Vec<[f64; 3]> =
            parts.iter().map(|p| [p.log_density(y), p.mean(), p.cdf(y)]).collect();
        rows.push(losses(combine(&at_y, &shares), y, crps));
        if batches.spare() {
            // The mean influence over all batches is 0.
            let mean_influence = |stratum: Range<usize>| {
                let total: f64 = stratum.clone().map(|b| shares[b]).sum();
                stratum.map(|b| shares[b] / total * influence[b]).sum::<f64>()
            };
            for (b, sum) in without.iter_mut().enumerate() {
                // Without batch b of share s the distribution moves by
                // -s w / (w - s) (F_b - F_stratum), with w the share of its stratum.
                let (share, (stratum, weight)) = (batches.share(b), batches.stratum(b));
                let in_stratum = if batches.are_weighted() { mean_influence(stratum) } else { 0.0 };
                let crps = crps - (influence[b] - in_stratum) * share * weight / (weight - share);
                let left = losses(combine(&at_y, &left_shares[b]), y, crps);
                (0..LOSSES).for_each(|l| sum[l] += left[l]);
            }
        }
    }
    Ok((rows, without))
}

/// Log density, mean and distribution function of the batches together, by their shares.
fn combine(at_y: &[[f64; 3]], shares: &[f64]) -> [f64; 3] {
    let kept = || (0..at_y.len()).filter(|b| shares[*b] > 0.0);
    let top = kept().map(|b| at_y[b][0]).fold(f64::MIN, f64::max);
    let mean = |f: &dyn Fn(usize) -> f64| kept().map(|b| shares[b] * f(b)).sum();
    let density: f64 = mean(&|b| (at_y[b][0] - top).exp());
    [top + density.ln(), mean(&|b| at_y[b][1]), mean(&|b| at_y[b][2])]
}

fn losses([log_density, mean, cdf]: [f64; 3], y: f64, crps: f64) -> [f64; LOSSES] {
    let mut out = [-log_density, (y - mean).powi(2), (y - mean).abs(), crps, 0.0, 0.0, 0.0];
    for (inside, level) in out[4..].iter_mut().zip(LEVELS) {
        *inside = f64::from((cdf - 0.5).abs() <= 0.5 * level);
    }
    out
}

/// The CRPS, `E|X - y| - E|X - X'| / 2`, and the first-order effect of each batch on it,
/// `(E|X_b - y| - E|X - y|) - (E|X_b - X| - E|X - X'|)`.
fn crps(whole: &Mixture<'_>, parts: &[Mixture<'_>], y: f64, batches: &Batches) -> (f64, Vec<f64>) {
    if parts.len() < 2 {
        return (whole.crps(y), vec![0.0; parts.len()]);
    }
    let layers = whole.layers();
    let each: Vec<Spectrum> = parts.iter().map(|p| p.spectrum(&layers)).collect();
    let all = Spectrum::mix(&layers, (0..each.len()).map(|b| (batches.share(b), &each[b])));
    let (from_y, apart) = (whole.distance(y), all.distance(&all, &layers));
    // Grids that are too coarse for the score are ample for its error bar.
    let score = if layers.enough { from_y - 0.5 * apart } else { whole.crps(y) };
    let effect = |(part, spectrum): (&Mixture<'_>, &Spectrum)| {
        (part.distance(y) - from_y) - (spectrum.distance(&all, &layers) - apart)
    };
    (score, parts.iter().zip(&each).map(effect).collect())
}

fn summarise<const N: usize>(
    losses: &[[f64; N]],
    without: &[[f64; N]],
    l: usize,
    root: bool,
    batches: &Batches,
) -> Score {
    let n = losses.len() as f64;
    let mean = losses.iter().map(|row| row[l]).sum::<f64>() / n;
    let finish = |v: f64| if root { v.max(0.0).sqrt() } else { v };
    let value = finish(mean);
    let se = standard_error(losses.iter().map(|row| row[l]));
    // The delta method: d sqrt(v) = dv / (2 sqrt(v)).
    let se = se.map(|se| if root && value > 0.0 { se / (2.0 * value) } else { se });
    let left: Vec<f64> = without.iter().map(|t| finish(t[l])).collect();
    let each = left.len() / batches.chains();
    let mcse = if batches.are_weighted() {
        in_strata(left.chunks(each))
    } else {
        let count = left.len() as f64;
        let pseudo: Vec<f64> = left.iter().map(|t| count * value - (count - 1.0) * t).collect();
        let by_chain =
            pseudo.chunks(each).map(|chain| chain.iter().sum::<f64>() / chain.len() as f64);
        match (standard_error(pseudo.iter().copied()), standard_error(by_chain)) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    };
    Score { value, mcse, se }
}

/// The jackknife standard error from a score with each batch left out, stratum by stratum; none
/// where a stratum has but one batch.
fn in_strata<'a>(strata: impl Iterator<Item = &'a [f64]>) -> Option<f64> {
    let square = |stratum: &[f64]| {
        // With each left out the score moves m - 1 times less than the mean does.
        let by = stratum.len() as f64 - 1.0;
        standard_error(stratum.iter().copied()).map(|se| (by * se).powi(2))
    };
    strata.map(square).sum::<Option<f64>>().map(f64::sqrt)
}

/// The standard error of a mean; none of fewer than two values.
pub(crate) fn standard_error(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let square = values.map(|v| (v - mean).powi(2)).sum::<f64>();
    (n >= 2.0).then(|| (square / (n - 1.0) / n).sqrt())
}
