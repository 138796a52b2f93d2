//! One cell, run: fitted and scored, or the reason why not.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::{Cell, Finished};
use crate::fit::{FitSettings, Fitted, fit_with};
use crate::infer::Monitor;
use crate::metrics::Scores;
use crate::{Error, Result};

/// Fit and score a cell; with it comes the model where the cell asks for it. An error or a panic
/// is a finished cell that says so. None if the monitor stopped it.
pub fn run_cell(
    cell: &Cell,
    threads: usize,
    monitor: &dyn Monitor,
) -> Option<(Finished, Option<Fitted>)> {
    let begun = Instant::now();
    // What a panic leaves behind is dropped here; the cell itself is only read.
    let outcome = catch_unwind(AssertUnwindSafe(|| fit_and_score(cell, threads, monitor)));
    let outcome = outcome.unwrap_or_else(|panic| Err(Error::Worker(message(panic.as_ref()))));
    match outcome {
        Ok(None) => None,
        Ok(Some((finished, fitted))) => Some((finished, cell.keep.then_some(fitted))),
        // A cell whose chains were stopped did not fail.
        Err(_) if monitor.cancelled() => None,
        Err(e) => {
            let mut finished = Finished::unscored(cell.key.clone(), cell.settings.method);
            finished.error = e.to_string();
            finished.fit_seconds = begun.elapsed().as_secs_f64();
            Some((finished, None))
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    text.lines().next().unwrap_or_default().into()
}

fn fit_and_score(
    cell: &Cell,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<Option<(Finished, Fitted)>> {
    let (train, test) = (cell.training()?, cell.testing()?);
    let mut settings: FitSettings = (*cell.settings).clone();
    settings.sampler.threads = threads;
    let begun = Instant::now();
    let fitted = fit_with(&train, &settings, monitor)?;
    if fitted.draws.interrupted() {
        return Ok(None);
    }
    let (fit_seconds, begun) = (begun.elapsed().as_secs_f64(), Instant::now());
    let scores = fitted.evaluate(&test)?;
    if let Some(row) = scores.losses.iter().position(|l| !l[0].is_finite()) {
        let row = test.number(row) + 1;
        let problem = format!("row {row}: the density is 0 or no number: drop the row");
        return Err(Error::Data(problem));
    }
    let mut finished = Finished::unscored(cell.key.clone(), cell.settings.method);
    finished.fit_seconds = fit_seconds;
    finished.predict_seconds = begun.elapsed().as_secs_f64();
    score(&mut finished, &scores);
    judge(&mut finished, &fitted);
    Ok(Some((finished, fitted)))
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|v| v.is_finite())
}

fn score(out: &mut Finished, scores: &Scores) {
    out.nlpd = finite(scores.nlpd.value);
    out.nlpd_se = scores.nlpd.se.and_then(finite);
    out.nlpd_mcse = scores.nlpd.mcse.and_then(finite);
    out.crps = finite(scores.crps.value);
    out.rmse = finite(scores.rmse.value);
    let [half, most, nearly_all] = scores.coverage.map(|c| finite(c.value));
    (out.coverage_50, out.coverage_80, out.coverage_95) = (half, most, nearly_all);
}

fn judge(out: &mut Finished, fitted: &Fitted) {
    let found = &fitted.diagnostics;
    // A mode is a single draw: there are no chains to judge.
    let Some(rows) = found.quantities.iter().find(|q| q.name.contains("likelihood")) else {
        return;
    };
    out.passed = Some(found.passed());
    out.rhat_median = finite(rows.rhat_median);
    out.rhat_max = finite(rows.rhat_max);
    out.ess_median = finite(rows.ess_bulk_median);
    out.divergences = Some(found.divergences);
    out.leapfrogs = finite(found.steps);
    let weights = fitted.draws.weights().unwrap_or_default();
    let weights: Vec<String> = weights.iter().map(|w| format!("{w:.4}")).collect();
    out.chain_weights = weights.join(" ");
}
