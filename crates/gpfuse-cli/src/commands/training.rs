//! What a model is fitted to: columns of a table, by name.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use gpfuse::Data;
use gpfuse::fit::{CheckedFit, FitSettings};
use gpfuse::settings::{Given, Settled, Style};
use gpfuse_io::table::{Table, data_columns};
use serde_json::Value;

use crate::print;

/// Rows of a table, and how the table is called in messages.
pub(super) struct Training {
    pub(super) data: Data,
    pub(super) path: String,
}

impl Training {
    /// The inputs asked for, or all columns but the target, and the target.
    pub(super) fn read(
        path: &Path,
        asked: Option<&[String]>,
        target: &str,
    ) -> anyhow::Result<Training> {
        let Some(inputs) = asked else {
            return Training::with(path, None, target, |_, _| Ok(Vec::new()));
        };
        check_inputs(asked, target)?;
        // Who names all columns may have numbers for names.
        let wanted = data_columns(inputs, Some(target), &[]);
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let table = Table::read(path, Some(&wanted))?;
        Ok(Training { data: table.data(inputs, target, &[])?, path: table.path })
    }

    /// The same with what experts made elsewhere say, in columns `mean_NAME` and `sd_NAME`.
    pub(super) fn with_experts(
        path: &Path,
        asked: Option<&[String]>,
        target: &str,
    ) -> anyhow::Result<Training> {
        Training::with(path, asked, target, |header, inputs| expert_names(path, header, inputs))
    }

    fn with(
        path: &Path,
        asked: Option<&[String]>,
        target: &str,
        experts: impl FnOnce(&[String], Option<&[String]>) -> anyhow::Result<Vec<String>>,
    ) -> anyhow::Result<Training> {
        check_inputs(asked, target)?;
        let (mut inputs, mut names) = (Vec::new(), Vec::new());
        let table = Table::choose(path, |header| {
            names = experts(header, asked)?;
            let other = data_columns(&[], Some(target), &names);
            inputs = match asked {
                Some(inputs) => inputs.to_vec(),
                None => header.iter().filter(|name| !other.contains(name)).cloned().collect(),
            };
            if inputs.is_empty() {
                bail!(
                    "`{}`: has no column besides the target `{target}`: add an input column",
                    path.display()
                );
            }
            anyhow::Ok(data_columns(&inputs, Some(target), &names))
        })?;
        let data = table.data(&inputs, target, &names)?;
        Ok(Training { data, path: table.path })
    }
}

/// Refuse inputs that are empty, or the target itself.
fn check_inputs(asked: Option<&[String]>, target: &str) -> anyhow::Result<()> {
    let Some(inputs) = asked else { return Ok(()) };
    if inputs.iter().any(|name| name == target) {
        bail!("column `{target}` is both target and input: take it out of --inputs");
    }
    if inputs.iter().any(|name| name.trim().is_empty()) {
        bail!("--inputs has an empty name: separate the names by single commas");
    }
    if let Some(i) = (1..inputs.len()).find(|i| inputs[..*i].contains(&inputs[*i])) {
        bail!("column `{}` stands twice in --inputs: take one out", inputs[i]);
    }
    Ok(())
}

/// Whether settings are for one method or for several.
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
    Ok((0..table.rows).flat_map(|r| table.columns.iter().map(move |c| c[r])).collect())
}

/// The names of the experts that a header has columns for, in their order; `inputs` are not
/// looked at.
fn expert_names(
    path: &Path,
    header: &[String],
    inputs: Option<&[String]>,
) -> anyhow::Result<Vec<String>> {
    let taken = |name: &&String| inputs.is_some_and(|inputs| inputs.contains(name));
    let free: Vec<&String> = header.iter().filter(|name| !taken(name)).collect();
    let named = |start: &'static str| free.iter().filter_map(move |name| name.strip_prefix(start));
    for (kind, other) in [("mean_", "sd_"), ("sd_", "mean_")] {
        if let Some(name) = named(kind).find(|name| !named(other).any(|n| n == *name)) {
            bail!(
                "`{}`: column `{kind}{name}` has no partner `{other}{name}`: add it, or name the \
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

/// Errors of the data name the table.
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
