//! `gpfuse fit`: from a table to a model file.

use std::path::Path;
use std::time::Instant;

use anyhow::{anyhow, bail};
use gpfuse::experts::Assignment;
use gpfuse::fit::{CheckedFit, Fitted, fit_with};
use gpfuse::infer::Monitor;
use gpfuse_io::checkpoint::Checkpoint;
use gpfuse_io::model_file;
use gpfuse_io::table::Table;

use super::training::{Methods, Training, in_table, missing, model_out, settled};
use super::{Outcome, checkpoint, judged};
use crate::args::FitArgs;
use crate::print;
use crate::progress::{Bars, Interrupted, cancelled, during};

pub(super) fn run(args: &FitArgs) -> anyhow::Result<Outcome> {
    let given = args.options.with_file(args.settings.as_deref())?;
    let mut training = Training::read(&args.data, (&args.columns).into(), missing(&given)?)?;
    training.tell();
    let settings = settled(given, &training.data, Methods::One)?;
    training.tell_with(&settings);
    if let Some(path) = args.assign.as_deref() {
        if !settings.method.fuses() {
            let method = settings.method;
            bail!("setting `assign`: is for bhs, pbhs and rules: `{method}` has no such rows");
        }
        if training.left_out() {
            bail!(
                "--assign: it numbers the rows of the table, and some are left out: fill in what is missing"
            );
        }
        let assignment = assignment(path, settings.experts)?;
        training.data = training.data.with_assignment(assignment);
    }
    fit_and_save(args, &training, &settings)
}

/// Fit, write the model file, say how it went.
pub(super) fn fit_and_save(
    args: &FitArgs,
    training: &Training,
    settings: &CheckedFit,
) -> anyhow::Result<Outcome> {
    let (out, data) = (model_out(args.out.as_deref(), &args.data)?, &training.data);
    let folder = args.checkpoint.as_deref();
    let kept = checkpoint::open(folder, settings, data)?;
    let begun = Instant::now();
    let fitted = watched(settings, kept.as_ref(), |monitor| fit_with(data, settings, monitor));
    if checkpoint::stopped(folder, &fitted) {
        return Ok(Outcome::Interrupted);
    }
    if let Err(e) = &fitted
        && cancelled()
        && matches!(e.downcast_ref(), Some(gpfuse::Error::Sampling(_)))
    {
        print::note(&format!("gpfuse: {Interrupted}"));
        return Ok(Outcome::Interrupted);
    }
    let fitted = fitted.map_err(|e| in_table(e, &training.path))?;
    let seconds = begun.elapsed().as_secs_f64();
    during("writing the model file", || model_file::save(&out, &fitted))?;
    if let Some(kept) = kept {
        kept.remove();
    }
    report(&fitted, &out, data.len(), seconds, args.json)?;
    // With a checkpoint, a run that came to its end is done, even if it was asked to stop.
    if cancelled() && folder.is_none() {
        return Ok(Outcome::Interrupted);
    }
    Ok(judged(&fitted, args.strict))
}

/// Which rows train which expert, and which the weights.
fn assignment(path: &Path, experts: usize) -> anyhow::Result<Assignment> {
    let table = Table::read(path, Some(&["row", "expert"]))?;
    let whole = |name: &str, low: f64, high: f64| -> anyhow::Result<Vec<usize>> {
        let values = table.column(name).unwrap_or_default();
        match values.iter().position(|v| v.fract() != 0.0 || *v < low || *v > high) {
            Some(at) => bail!(
                "`{}`, row {}, column `{name}`: {} is not a whole number from {low} to {high}",
                table.path,
                at + 1,
                values[at]
            ),
            None => Ok(values.iter().map(|v| *v as usize).collect()),
        }
    };
    let (rows, to) = (whole("row", 1.0, 1e15)?, whole("expert", 0.0, experts as f64)?);
    let rows_of = |k: usize| {
        let pairs = rows.iter().zip(&to).filter(|(_, to)| **to == k);
        pairs.map(|(row, _)| row - 1).collect::<Vec<usize>>()
    };
    let parts = (1..=experts).map(rows_of).collect();
    Assignment::new(parts, rows_of(0)).map_err(|e| in_table(anyhow!(e), &table.path))
}

/// Fit with progress bars under the method's name, and a checkpoint if there is one.
pub(super) fn watched(
    settings: &CheckedFit,
    checkpoint: Option<&Checkpoint>,
    run: impl FnOnce(&dyn Monitor) -> gpfuse::Result<Fitted>,
) -> anyhow::Result<Fitted> {
    checkpoint::hear(checkpoint)?;
    let bars = Bars::new(settings.method.name(), settings.sampler.chains);
    let bars = bars.keeping(checkpoint).alone();
    let fitted = run(&bars);
    bars.clear();
    let fitted = fitted?;
    if fitted.draws.interrupted() && checkpoint.is_none() {
        print::note(&format!(
            "interrupted: kept {} x {} of {} x {}{}",
            print::count(fitted.draws.chains().len(), "chain"),
            print::count(fitted.draws.per_chain(), "draw"),
            settings.sampler.chains,
            settings.sampler.first_draws(),
            if settings.sampler.draws.is_none() { " or more" } else { "" }
        ));
    }
    Ok(fitted)
}

/// What was fitted, how it went, where it is.
fn report(fitted: &Fitted, out: &Path, n: usize, seconds: f64, json: bool) -> anyhow::Result<()> {
    print::warn(print::rendered(&fitted.diagnostics.warnings));
    if json {
        return print::json(&serde_json::json!({
            "model": out,
            "rows": n,
            "seconds": seconds,
            "settings": fitted.settings,
            "chosen": fitted.chosen,
            "worth": fitted.worth,
            "resolution": fitted.resolution,
            "diagnostics": print::diagnostics_json(&fitted.diagnostics),
        }));
    }
    let mut lines = vec![format!(
        "{} with {} on {n} rows{}, {}: {seconds:.1} s",
        fitted.settings.method,
        print::count(fitted.experts.count().unwrap_or(fitted.model.experts()), "expert"),
        stacking(fitted, n),
        print::count(fitted.inputs().len(), "input"),
    )];
    lines.extend(fitted.chosen.iter().flat_map(print::chosen));
    lines.extend(fitted.worth.iter().flat_map(print::worth));
    lines.extend(print::diagnostics(&fitted.diagnostics));
    lines.push(format!("wrote `{}`", out.display()));
    print::lines(&lines)
}

/// How many of the rows trained the weights, where not all did.
fn stacking(fitted: &Fitted, n: usize) -> String {
    match fitted.rows.len() {
        count if count < n => format!(" ({count} of them for the weights)"),
        _ => String::new(),
    }
}
