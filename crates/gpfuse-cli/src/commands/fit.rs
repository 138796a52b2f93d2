//! `gpfuse fit`: from a table to a model file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{anyhow, bail};
use gpfuse::fit::{CheckedFit, fit};
use gpfuse_io::model_file::{self, Saved};
use gpfuse_io::table::{Table, header};

use super::{Outcome, interleave, judged, refuse_same, refuse_unwritable};
use crate::args::FitArgs;
use crate::print;
use crate::progress::{Bars, cancelled, listen};

pub(super) fn run(args: &FitArgs) -> anyhow::Result<Outcome> {
    let options = args.options.clone().with_file(args.settings.as_deref())?;
    let omega = match &options.omega {
        Some(path) => Some(Table::read(path, None)?),
        None => None,
    };
    let settings = options.check(omega.as_ref().map(|table| interleave(&table.columns)))?;
    let out = args.out.clone().unwrap_or_else(|| default_out(&args.data));
    if out == Path::new("-") {
        bail!("a model file cannot go to standard output: give --out a file name");
    }
    refuse_same(&args.data, &out)?;
    refuse_unwritable(&out)?;
    let (inputs, table) = training(args)?;
    if let Some(omega) = omega.filter(|omega| omega.columns.len() != inputs.len()) {
        let (path, found, wanted) = (omega.path, omega.columns.len(), inputs.len());
        bail!("`{path}`: has {found} columns for {wanted} inputs: give one column per input");
    }
    let y = table.column(&args.target).unwrap_or_default().to_vec();
    let x = interleave(&table.columns[..inputs.len()]);

    let begun = Instant::now();
    let saved = fit_named(&settings, inputs, &args.target, &x, &y, settings.method.name())
        .map_err(|e| in_table(e, &table.path))?;
    let seconds = begun.elapsed().as_secs_f64();
    model_file::save(&out, &saved, &x, &y)?;
    report(args, &saved, &out, y.len(), seconds)?;
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
    if args.inputs.is_some() && inputs.iter().any(|name| name.trim().is_empty()) {
        bail!("--inputs has an empty name: separate the names by single commas");
    }
    if let Some(i) = (1..inputs.len()).find(|i| inputs[..*i].contains(&inputs[*i])) {
        bail!("column `{}` stands twice in --inputs: take one out", inputs[i]);
    }
    let wanted: Vec<&str> =
        inputs.iter().map(String::as_str).chain([args.target.as_str()]).collect();
    let table = Table::read(&args.data, Some(&wanted))?;
    if inputs.is_empty() {
        bail!(
            "`{}`: has no column besides the target `{}`: add an input column",
            table.path,
            args.target
        );
    }
    Ok((inputs, table))
}

/// Trouble with the data names the table.
fn in_table(error: anyhow::Error, path: &str) -> anyhow::Error {
    match error.downcast_ref::<gpfuse::Error>() {
        Some(gpfuse::Error::Data(problem)) => anyhow!("`{path}`: {problem}"),
        _ => error,
    }
}

/// `run.1.csv.gz` becomes `run.1.nc`, and standard input `model.nc`.
fn default_out(data: &Path) -> PathBuf {
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    let mut stem = name.as_ref();
    for end in [".gz", ".csv", ".tsv", ".txt", ".parquet"] {
        stem = stem.strip_suffix(end).unwrap_or(stem);
    }
    let stem = if stem.is_empty() || stem == "-" { "model" } else { stem };
    data.with_file_name(format!("{stem}.nc"))
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
        print::note(&format!(
            "interrupted: kept {} x {} of {} x {}",
            print::count(fitted.draws.chains().len(), "chain"),
            print::count(fitted.draws.per_chain(), "draw"),
            settings.sampler.chains,
            settings.sampler.draws
        ));
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
        "{} with {} on {n} rows, {}: {seconds:.1} s",
        fitted.settings.method,
        print::count(fitted.model.experts(), "expert"),
        print::count(saved.inputs.len(), "input"),
    )];
    lines.extend(print::diagnostics(&fitted.diagnostics));
    lines.push(format!("wrote `{}`", out.display()));
    print::lines(&lines)
}
