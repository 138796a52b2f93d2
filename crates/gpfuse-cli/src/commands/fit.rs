//! `gpfuse fit`: from a table to a model file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use gpfuse::fit::{CheckedFit, fit};
use gpfuse_io::model_file::{self, Saved};
use gpfuse_io::table::{Table, header};

use super::{Outcome, interleave, judged};
use crate::args::FitArgs;
use crate::print;
use crate::progress::{Bars, cancelled, listen};

pub(super) fn run(args: FitArgs) -> anyhow::Result<Outcome> {
    let options = args.options.clone().with_file(args.settings.as_deref())?;
    let omega = match &options.omega {
        Some(path) => Some(interleave(&Table::read(path, None)?.columns)),
        None => None,
    };
    let settings = options.check(omega)?;
    let (inputs, table) = training(&args)?;
    let y = table.column(&args.target).unwrap_or_default().to_vec();
    let x = interleave(&table.columns[..inputs.len()]);
    let out = args.out.clone().unwrap_or_else(|| default_out(&args.data));
    refuse_unwritable(&out)?;

    let begun = Instant::now();
    let saved = fit_named(&settings, inputs, &args.target, &x, &y, settings.method.name())?;
    let seconds = begun.elapsed().as_secs_f64();
    model_file::save(&out, &saved, &x, &y)?;
    report(&args, &saved, &out, y.len(), seconds)?;
    if cancelled() {
        return Ok(Outcome::Interrupted);
    }
    Ok(judged(&saved, args.strict))
}

/// The table's input columns and target, inputs first.
fn training(args: &FitArgs) -> anyhow::Result<(Vec<String>, Table)> {
    let inputs = match &args.inputs {
        Some(inputs) => inputs.clone(),
        None if args.data == Path::new("-") => {
            bail!("name the input columns of standard input with --inputs")
        }
        None => header(&args.data)?.into_iter().filter(|name| *name != args.target).collect(),
    };
    if inputs.contains(&args.target) {
        bail!("column `{}` is both target and input: take it out of --inputs", args.target);
    }
    let wanted: Vec<&str> =
        inputs.iter().map(String::as_str).chain([args.target.as_str()]).collect();
    let table = Table::read(&args.data, Some(&wanted))?;
    if inputs.is_empty() {
        bail!("`{}`: has no column besides the target `{}`", table.path, args.target);
    }
    Ok((inputs, table))
}

/// `data.csv.gz` becomes `data.nc`.
fn default_out(data: &Path) -> PathBuf {
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().filter(|s| !s.is_empty() && *s != "-");
    data.with_file_name(format!("{}.nc", stem.unwrap_or("model")))
}

/// A run of hours must not end at a folder that does not exist.
fn refuse_unwritable(out: &Path) -> anyhow::Result<()> {
    let file = gpfuse_io::atomic::AtomicFile::create(out)?;
    drop(file);
    Ok(())
}

/// Fit with progress bars under a title.
pub(super) fn fit_named(
    settings: &CheckedFit,
    inputs: Vec<String>,
    target: &str,
    x: &[f64],
    y: &[f64],
    title: &str,
) -> anyhow::Result<Saved> {
    listen()?;
    let bars = Bars::new(title, settings.sampler.chains);
    let fitted = fit(x, inputs.len(), y, settings, &bars);
    bars.clear();
    let fitted = fitted?;
    if fitted.draws.interrupted() {
        eprintln!(
            "interrupted: kept {} chains x {} draws of {} x {}",
            fitted.draws.chains().len(),
            fitted.draws.per_chain(),
            settings.sampler.chains,
            settings.sampler.draws
        );
    }
    Ok(Saved { fitted, inputs, target: target.into() })
}

fn report(args: &FitArgs, saved: &Saved, out: &Path, n: usize, seconds: f64) -> anyhow::Result<()> {
    let fitted = &saved.fitted;
    print::warn(&fitted.diagnostics.warnings);
    if args.json {
        return print::json(&serde_json::json!({
            "model": out,
            "rows": n,
            "seconds": seconds,
            "settings": fitted.settings,
            "diagnostics": fitted.diagnostics,
        }));
    }
    let mut lines = vec![format!(
        "{} with {} expert{} on {n} rows, {} input{}: {seconds:.1} s",
        fitted.settings.method,
        fitted.model.experts(),
        if fitted.model.experts() == 1 { "" } else { "s" },
        saved.inputs.len(),
        if saved.inputs.len() == 1 { "" } else { "s" },
    )];
    lines.extend(print::diagnostics(&fitted.diagnostics));
    lines.push(format!("wrote `{}`", out.display()));
    print::lines(&lines)
}
