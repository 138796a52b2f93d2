//! Cross-fitting: how many rounds, how wide, and what the trees say of rows that they have not seen.
//!
//! The trees of all folds grow round by round. Left-out rows choose the number of rounds and one
//! factor `c` on all sds: with the `z` of the left-out rows, `c^2 = mean z^2` is best, and then their
//! mean negative log density is, up to a constant, `mean log sd + log c`.

use rand_chacha::ChaCha8Rng;

use super::Settings;
use super::bins::Bins;
use super::boost::{Boost, LEAST_LOG_SD};
use super::boosted::Boosted;
use crate::infer::Monitor;
use crate::random::Purpose;

/// The fold of rows that are never left out.
pub const NEVER: usize = usize::MAX;

/// Trees, and what trees fitted without a row say of it.
#[derive(Debug, Clone)]
pub struct CrossFitted {
    /// The trees that all rows were fitted with.
    pub trees: Boosted,
    /// Mean and sd of each row that is left out, in order, by the trees of its fold, which were fitted on all
    /// other rows, with the same number of rounds and the same factor on the sds.
    pub left_out: Vec<(f64, f64)>,
    /// The number of rounds at which the density of left-out rows is best.
    pub rounds: usize,
    /// The log of the factor on the sds, which `trees` and `left_out` have already.
    pub log_scale: f64,
}

/// The best round so far.
struct Best {
    loss: f64,
    round: usize,
    log_scale: f64,
    left_out: Vec<(f64, f64)>,
}

/// Fits trees to the rows of `x`, with `inputs` numbers in each, and their targets `y`, whose sd is
/// about one. Rows of a fold are left out together, those of [`NEVER`] not at all. All numbers are finite, and `x`, `y` and
/// `fold_of_row` have the same rows; what one of them has more is not used. Where the monitor cancels, no round
/// begins any more.
pub fn cross_fit(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    fold_of_row: &[usize],
    settings: &Settings,
    seed: u64,
    monitor: &dyn Monitor,
) -> CrossFitted {
    let rows = y.len().min(fold_of_row.len()).min(x.len() / inputs.max(1));
    let (x, y, fold_of_row) = (&x[..rows * inputs], &y[..rows], &fold_of_row[..rows]);
    let bins = Bins::new(x, inputs);
    let (folds, fold_of_row) = numbered(fold_of_row);
    let fold_of_row = &fold_of_row;
    let fit =
        |fold| Boost::new(&bins, y, settings, move |r| fold_of_row[r] != fold, stream(seed, fold));
    let mut fits: Vec<Boost> = (0..folds).map(fit).collect();
    let mut best = judge(&fits, y, fold_of_row, 0);
    for round in 1..=settings.rounds {
        if monitor.cancelled() {
            break;
        }
        fits.iter_mut().for_each(Boost::round);
        let now = judge(&fits, y, fold_of_row, round);
        if now.loss < best.loss {
            best = now;
        } else if round >= best.round + settings.patience {
            break;
        }
    }
    let Best { round: rounds, log_scale, left_out, .. } = best;
    let mut last = fit(folds);
    (0..rounds).take_while(|_| !monitor.cancelled()).for_each(|_| last.round());
    let mut trees = last.trees;
    trees.scale(log_scale);
    let left_out = left_out.into_iter().map(|(m, l)| (m, (l + log_scale).max(LEAST_LOG_SD).exp()));
    CrossFitted { trees, left_out: left_out.collect(), rounds, log_scale }
}

/// The number of folds that have rows to leave out, and these folds numbered without gaps.
fn numbered(fold_of_row: &[usize]) -> (usize, Vec<usize>) {
    let mut folds = fold_of_row.to_vec();
    folds.sort_unstable();
    folds.dedup();
    folds.retain(|fold| *fold != NEVER);
    let number = |fold: &usize| match *fold {
        NEVER => NEVER,
        fold => folds.partition_point(|f| *f < fold),
    };
    (folds.len(), fold_of_row.iter().map(number).collect())
}

/// Bounds of the log of the factor on the sds.
const LOG_SCALE: (f64, f64) = (-1.0, 3.0);

/// What the left-out rows say after a round.
fn judge(fits: &[Boost], y: &[f64], fold_of_row: &[usize], round: usize) -> Best {
    let out = || fold_of_row.iter().enumerate().filter(|(_, fold)| **fold != NEVER);
    let says = |(row, fold): (usize, &usize)| (fits[*fold].mean[row], fits[*fold].log_sd[row]);
    let left_out: Vec<(f64, f64)> = out().map(says).collect();
    let n = left_out.len().max(1) as f64;
    let z =
        |(row, (m, log_sd)): (usize, &(f64, f64))| (y[row] - m) * (-log_sd.max(LEAST_LOG_SD)).exp();
    let rows = out().map(|(row, _)| row);
    let square = rows.zip(&left_out).map(|row| z(row).powi(2)).sum::<f64>() / n;
    let log_sd = left_out.iter().map(|(_, l)| l.max(LEAST_LOG_SD)).sum::<f64>() / n;
    let log_scale = (0.5 * square.ln()).clamp(LOG_SCALE.0, LOG_SCALE.1);
    let loss = log_sd + log_scale + 0.5 * square * (-2.0 * log_scale).exp();
    Best { loss, round, log_scale, left_out }
}

/// The generator of a fold; that of all rows comes after those of the folds.
pub(super) fn stream(seed: u64, fold: usize) -> ChaCha8Rng {
    crate::random::stream(seed, Purpose::Trees, fold as u64)
}
