//! `gpfuse fit`: from a table to a model file.

use std::path::Path;
use std::time::Instant;

use anyhow::{anyhow, bail};
use gpfuse::experts::Assignment;
use gpfuse::fit::{CheckedFit, Fitted, fit, fit_assigned};
use gpfuse::infer::Monitor;
use gpfuse_io::checkpoint::Checkpoint;
use gpfuse_io::model_file::{self, Saved, Training};
use gpfuse_io::table::Table;

use super::checkpoint::{self, Subject};
use super::training::{Methods, in_table, inputs, model_out, settled};
use super::{Outcome, interleave, judged};
use crate::args::FitArgs;
use crate::print;
use crate::progress::{Bars, cancelled};

pub(super) fn run(args: &FitArgs) -> anyhow::Result<Outcome> {
    let given = args.options.with_file(args.settings.as_deref())?;
    let inputs = inputs(&args.data, args.inputs.as_deref(), &args.target, |_| false)?;
    let settings = settled(given, &inputs, Methods::One)?;
    if settings.method.learns_experts() && args.assign.is_some() {
        bail!("setting `assign`: is for bhs and pbhs: `{}` has no such rows", settings.method);
    }
    let assignment = args.assign.as_deref().map(|p| assignment(p, settings.experts)).transpose()?;
    let out = model_out(args.out.as_deref(), &args.data)?;
    let wanted: Vec<&str> =
        inputs.iter().map(String::as_str).chain([args.target.as_str()]).collect();
    let table = Table::read(&args.data, Some(&wanted))?;
    let y = table.column(&args.target).unwrap_or_default().to_vec();
    let x = interleave(&table.columns[..inputs.len()]);

    let training = Training { x: &x, y: &y, predictions: None };
    let subject = Subject {
        inputs: &inputs,
        target: &args.target,
        experts: &[],
        assignment: assignment.as_ref(),
        table: training,
    };
    let folder = args.checkpoint.as_deref();
    let kept = checkpoint::open(folder, &settings, &subject)?;

    let begun = Instant::now();
    let fitted =
        watched(settings.method.name(), &settings, kept.as_ref(), |monitor| match assignment {
            Some(rows) => fit_assigned(&x, inputs.len(), &y, rows, &settings, monitor),
            None => fit(&x, inputs.len(), &y, &settings, monitor),
        });
    if checkpoint::stopped(folder, &fitted) {
        return Ok(Outcome::Interrupted);
    }
    let fitted = fitted.map_err(|e| in_table(e, &table.path))?;
    let saved = Saved { fitted, inputs, target: args.target.clone() };
    let seconds = begun.elapsed().as_secs_f64();
    model_file::save(&out, &saved, training)?;
    if let Some(kept) = kept {
        kept.remove();
    }
    report(&saved, &out, y.len(), seconds, args.json)?;
    // With a checkpoint, a run that came to its end is done, even if it was asked to stop.
    if cancelled() && folder.is_none() {
        return Ok(Outcome::Interrupted);
    }
    Ok(judged(&saved, args.strict))
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
    let own = |k: usize| {
        let pairs = rows.iter().zip(&to).filter(|(_, to)| **to == k);
        pairs.map(|(row, _)| row - 1).collect::<Vec<usize>>()
    };
    let parts = (1..=experts).map(own).collect();
    Assignment::new(parts, own(0)).map_err(|e| in_table(anyhow!(e), &table.path))
}

/// Fit with progress bars under a title, and a checkpoint if there is one.
pub(super) fn watched(
    title: &str,
    settings: &CheckedFit,
    checkpoint: Option<&Checkpoint>,
    run: impl FnOnce(&dyn Monitor) -> gpfuse::Result<Fitted>,
) -> anyhow::Result<Fitted> {
    checkpoint::hear(checkpoint)?;
    let bars = Bars::new(title, settings.sampler.chains).keeping(checkpoint);
    let fitted = run(&bars);
    bars.clear();
    let fitted = fitted?;
    if fitted.draws.interrupted() && checkpoint.is_none() {
        print::note(&format!(
            "interrupted: kept {} x {} of {} x {}",
            print::count(fitted.draws.chains().len(), "chain"),
            print::count(fitted.draws.per_chain(), "draw"),
            settings.sampler.chains,
            settings.sampler.draws
        ));
    }
    Ok(fitted)
}

/// What was fitted, how it went, where it is.
pub(super) fn report(
    saved: &Saved,
    out: &Path,
    n: usize,
    seconds: f64,
    json: bool,
) -> anyhow::Result<()> {
    let fitted = &saved.fitted;
    print::warn(print::rendered(&fitted.diagnostics.warnings));
    if json {
        return print::json(&serde_json::json!({
            "model": out,
            "rows": n,
            "seconds": seconds,
            "settings": fitted.settings,
            "diagnostics": print::diagnostics_json(&fitted.diagnostics),
        }));
    }
    let mut lines = vec![format!(
        "{} with {} on {n} rows{}, {}: {seconds:.1} s",
        fitted.settings.method,
        print::count(fitted.model.experts(), "expert"),
        stacking(fitted, n),
        print::count(saved.inputs.len(), "input"),
    )];
    lines.extend(print::diagnostics(&fitted.diagnostics));
    lines.push(format!("wrote `{}`", out.display()));
    print::lines(&lines)
}

/// How many of the rows trained the weights, where not all did.
fn stacking(fitted: &Fitted, n: usize) -> String {
    match fitted.rows.len() {
        own if own < n => format!(" ({own} of them for the weights)"),
        _ => String::new(),
    }
}
