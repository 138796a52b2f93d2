//! What an expert says about its own rows as if it had not seen them.
//!
//! For an exact GP that is a formula, at hyperparameters that have seen the row all the same. With few rows for each
//! hyperparameter that flatters: on the 506 rows and 13 inputs of the housing data by 0.1 nats a row. There, the
//! rows are left out in folds instead, and the hyperparameters are found again from those of all rows. Trees
//! always have folds.

use rand::seq::SliceRandom;

use crate::Result;
use crate::gp::{self, Gp, Objective};
use crate::infer::Monitor;
use crate::random::{Purpose, stream};

/// The number of folds.
const FOLDS: usize = 10;
/// Above this many rows for each hyperparameter, the formula does not flatter by much.
const ROWS_EACH: usize = 100;
/// Above this many rows, finding hyperparameters again takes too long.
const MOST_ROWS: usize = 500;
/// Steps of a climb from the hyperparameters of all rows.
const STEPS: usize = 20;

/// Folds of about equally many rows; twins are in the same one.
pub(super) fn folds(twins: &[usize], seed: u64) -> Vec<usize> {
    let mut groups = twins.to_vec();
    groups.sort_unstable();
    groups.dedup();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.shuffle(&mut stream(seed, Purpose::Folds, 0));
    let fold = |twin: &usize| groups.binary_search(twin).map_or(0, |at| order[at] % FOLDS);
    twins.iter().map(fold).collect()
}

/// Mean and sd of each row of a GP without it and its twins. The rows are `x` (row-major) and `y`.
pub(super) fn left_out(
    gp: &Gp,
    x: &[f64],
    y: &[f64],
    twins: &[usize],
    objective: Objective,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<(f64, f64)>> {
    let (n, inputs) = (y.len(), x.len() / y.len().max(1));
    // Variance, noise and mean are hyperparameters too.
    let few = n <= MOST_ROWS && n < ROWS_EACH * (inputs + 3);
    if !few || n < 2 * FOLDS {
        return gp.leave_out(twins);
    }
    let settings = gp::Settings {
        kernel: gp.kernel(),
        objective,
        steps: STEPS,
        seed,
        threads: 1,
        ..gp::Settings::default()
    };
    let (settings, fold_of_row) = (settings.check()?, folds(twins, seed));
    let mut out = gp.leave_out(twins)?;
    for fold in 0..FOLDS {
        let (own, others): (Vec<usize>, Vec<usize>) =
            (0..n).partition(|row| fold_of_row[*row] == fold);
        let points = |rows: &[usize]| -> Vec<f64> {
            rows.iter().flat_map(|r| &x[r * inputs..(r + 1) * inputs]).copied().collect()
        };
        let target: Vec<f64> = others.iter().map(|r| y[*r]).collect();
        if own.is_empty() || target.windows(2).all(|pair| pair[0] == pair[1]) {
            continue;
        }
        let without =
            gp::refine(&points(&others), inputs, &target, &[], gp.hyper(), &settings, monitor)?;
        let found = without.predict(&points(&own), true)?;
        for (row, said) in own.into_iter().zip(found.mean.into_iter().zip(found.sd)) {
            out[row] = said;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Quiet;

    fn rows(n: usize, inputs: usize) -> (Vec<f64>, Vec<f64>) {
        let at = |i: usize, k: usize| ((i * (k + 2)) as f64 * 0.37).sin();
        let x: Vec<f64> = (0..n).flat_map(|i| (0..inputs).map(move |k| at(i, k))).collect();
        let noise = |i: usize| 0.3 * ((i * i) as f64 * 1.7).sin();
        let y = x.chunks(inputs).enumerate().map(|(i, x)| x[0] + noise(i)).collect();
        (x, y)
    }

    /// Twins share a fold, and folds are of equal size where there are none.
    #[test]
    fn folds_keep_twins_together() {
        let twins: Vec<usize> = (0..40).map(|i| if i % 4 == 0 { 0 } else { i }).collect();
        let found = folds(&twins, 1);
        assert!((0..40).step_by(4).all(|i| found[i] == found[0]));
        let even = folds(&(0..50).collect::<Vec<usize>>(), 1);
        assert!((0..FOLDS).all(|fold| even.iter().filter(|f| **f == fold).count() == 5));
    }

    /// With few rows and many inputs the formula flatters, and folds do not use it; with many rows for each
    /// hyperparameter the formula is what is said.
    #[test]
    fn few_rows_are_left_out_in_folds() {
        let score = |y: &[f64], said: &[(f64, f64)]| -> f64 {
            let each = y.iter().zip(said).map(|(y, (m, s))| 0.5 * ((y - m) / s).powi(2) + s.ln());
            each.sum::<f64>() / y.len() as f64
        };
        let settings =
            gp::Settings { starts: 2, ..gp::Settings::default() }.check().expect("checked");
        for (n, inputs, in_folds) in [(60, 8, true), (501, 1, false)] {
            let (x, y) = rows(n, inputs);
            let gp = gp::fit(&x, inputs, &y, &settings).expect("a GP");
            let twins: Vec<usize> = (0..n).collect();
            let said = left_out(&gp, &x, &y, &twins, Objective::Map, 0, &Quiet).expect("densities");
            let formula = gp.leave_out(&twins).expect("densities");
            assert_eq!(said != formula, in_folds, "{n} rows");
            if in_folds {
                assert!(score(&y, &said) > score(&y, &formula));
            }
        }
    }
}
