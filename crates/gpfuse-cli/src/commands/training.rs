//! What a model is fitted to: columns of a table, by name.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use gpfuse::baseline::Predictions;
use gpfuse::fit::{CheckedFit, FitSettings};
use gpfuse::settings::{Given, Settled, Style};
use gpfuse_io::table::{Table, header};
use serde_json::Value;

use crate::print;

/// The input columns: those asked for, or all that are not otherwise used.
pub(super) fn inputs(
    data: &Path,
    asked: Option<&[String]>,
    target: &str,
    used: impl Fn(&str) -> bool,
) -> anyhow::Result<Vec<String>> {
    let inputs = match asked {
        Some(inputs) => inputs.to_vec(),
        None if data == Path::new("-") => {
            bail!("name the input columns of standard input with --inputs")
        }
        None => {
            let all = header(data)?.into_iter();
            let inputs: Vec<String> =
                all.filter(|name| name.as_str() != target && !used(name)).collect();
            if inputs.is_empty() {
                bail!(
                    "`{}`: has no column besides the target `{target}`: add an input column",
                    data.display()
                );
            }
            inputs
        }
    };
    if inputs.iter().any(|name| name == target) {
        bail!("column `{target}` is both target and input: take it out of --inputs");
    }
    if asked.is_some() && inputs.iter().any(|name| name.trim().is_empty()) {
        bail!("--inputs has an empty name: separate the names by single commas");
    }
    if let Some(i) = (1..inputs.len()).find(|i| inputs[..*i].contains(&inputs[*i])) {
        bail!("column `{}` stands twice in --inputs: take one out", inputs[i]);
    }
    Ok(inputs)
}

/// How many methods settings are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Methods {
    One,
    Several,
}

/// Checked settings for these inputs; what was given without effect is said, unless it has one with
/// another of several methods.
pub(super) fn settled(
    mut given: Given,
    inputs: &[String],
    methods: Methods,
) -> anyhow::Result<CheckedFit> {
    if let Some(path) = given.get("omega").and_then(Value::as_str).map(PathBuf::from) {
        given.set("omega", omega(&path, inputs.len())?);
    }
    let Settled { settings, unused } = given.settle(&FitSettings::default(), inputs)?;
    let settings = settings.check()?;
    let unused = unused.iter().filter(|u| methods == Methods::One || u.on_basis());
    print::warn(unused.map(|unused| unused.render(Style::CommandLine)));
    Ok(settings)
}

/// Base frequencies from a file, row-major: a column for each input.
fn omega(path: &Path, inputs: usize) -> anyhow::Result<Vec<f64>> {
    let table = Table::read(path, None)?;
    let (path, found) = (&table.path, table.columns.len());
    if found != inputs {
        bail!("`{path}`: has {found} columns for {inputs} inputs: give one column per input");
    }
    Ok(super::interleave(&table.columns))
}

/// The columns of some experts: means, then standard deviations.
pub(super) fn expert_columns(names: &[String]) -> Vec<String> {
    let means = names.iter().map(|name| format!("mean_{name}"));
    means.chain(names.iter().map(|name| format!("sd_{name}"))).collect()
}

/// The names of the experts that a header has columns for, in their order; `inputs` are not
/// looked at.
pub(super) fn expert_names(
    path: &Path,
    header: &[String],
    inputs: &[String],
) -> anyhow::Result<Vec<String>> {
    let free: Vec<&String> = header.iter().filter(|name| !inputs.contains(name)).collect();
    let named = |start: &'static str| free.iter().filter_map(move |name| name.strip_prefix(start));
    for (own, other) in [("mean_", "sd_"), ("sd_", "mean_")] {
        if let Some(name) = named(own).find(|name| !named(other).any(|n| n == *name)) {
            bail!(
                "`{}`: column `{own}{name}` has no partner `{other}{name}`: add it, or name the \
                 inputs with --inputs if this is one",
                path.display()
            );
        }
    }
    let names: Vec<String> = named("mean_").map(String::from).collect();
    if names.is_empty() {
        bail!(
            "`{}`: has no experts: add columns `mean_NAME` and `sd_NAME` for each",
            path.display()
        );
    }
    Ok(names)
}

/// What the experts `names` say in a table; nothing where there are none.
pub(super) fn predictions(table: &Table, names: &[String]) -> anyhow::Result<Option<Predictions>> {
    if names.is_empty() {
        return Ok(None);
    }
    let column = |kind: &str, name: &String| {
        table.column(&format!("{kind}_{name}")).map(<[f64]>::to_vec).unwrap_or_default()
    };
    let mean: Vec<Vec<f64>> = names.iter().map(|name| column("mean", name)).collect();
    let sd: Vec<Vec<f64>> = names.iter().map(|name| column("sd", name)).collect();
    for (name, sd) in names.iter().zip(&sd) {
        if let Some(row) = sd.iter().position(|sd| *sd <= 0.0) {
            bail!(
                "`{}`, row {}, column `sd_{name}`: {} is no standard deviation: it must be above 0",
                table.path,
                row + 1,
                sd[row]
            );
        }
    }
    Predictions::new(mean, sd).map(Some).map_err(|e| in_table(e.into(), &table.path))
}

/// Trouble with the data names the table.
pub(super) fn in_table(error: anyhow::Error, path: &str) -> anyhow::Error {
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

/// The model file to write, which must be writable and not the table itself.
pub(super) fn model_out(asked: Option<&Path>, data: &Path) -> anyhow::Result<PathBuf> {
    let out = asked.map_or_else(|| default_out(data), Path::to_path_buf);
    if out == Path::new("-") {
        bail!("a model file cannot go to standard output: give --out a file name");
    }
    super::refuse_same(data, &out)?;
    super::refuse_unwritable(&out)?;
    Ok(out)
}
