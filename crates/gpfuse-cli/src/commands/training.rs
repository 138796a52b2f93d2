//! What a model is fitted to: columns of a table, by name.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use gpfuse::Data;
use gpfuse::columns::{Columns as MadeOf, Missing, Purpose};
use gpfuse::fit::{CheckedFit, FitSettings};
use gpfuse::settings::{Given, Message, Settled, Style};
use gpfuse_io::table::{ExpertColumns, ExpertKind, Made, Table, TableError, data_columns};
use serde_json::Value;

use crate::args::ColumnArgs;
use crate::print;

/// Rows of a table, and how the table is called in messages.
pub(super) struct Training {
    pub(super) data: Data,
    pub(super) path: String,
    /// How its columns became inputs.
    notes: Vec<String>,
    warnings: Vec<String>,
}

/// Which columns of a table are used.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) target: &'a str,
    /// Without them, all that are not excluded.
    pub(super) inputs: Option<&'a [String]>,
    pub(super) exclude: &'a [String],
}

impl<'a> From<&'a ColumnArgs> for Columns<'a> {
    fn from(args: &'a ColumnArgs) -> Columns<'a> {
        Columns { target: &args.target, inputs: args.inputs.as_deref(), exclude: &args.exclude }
    }
}

impl Training {
    /// The inputs asked for, or all columns but the target, and the target.
    pub(super) fn read(
        path: &Path,
        columns: Columns<'_>,
        missing: Missing,
    ) -> anyhow::Result<Training> {
        let Columns { target, inputs: Some(inputs), .. } = columns else {
            return Training::with(path, columns, missing, |_| Ok(ExpertColumns::default()));
        };
        columns.check()?;
        // Who names all columns may have numbers for names.
        let none = ExpertColumns::default();
        let (table, _) = Table::read_wanted(path, &data_columns(inputs, Some(target), &none))?;
        let made_of = table.learn(inputs, missing)?;
        Training::of(table, &made_of, Purpose::Fit, target, &none)
    }

    /// Rows with the inputs of others.
    pub(super) fn like(path: &Path, other: &Data) -> anyhow::Result<Training> {
        let made_of = other.columns().cloned();
        let made_of = made_of.unwrap_or_else(|| MadeOf::plain(other.inputs()));
        let (target, none) = (other.target(), ExpertColumns::default());
        let wanted = data_columns(&made_of.names(), Some(target), &none);
        let (table, _) = Table::read_wanted(path, &wanted)?;
        Training::of(table, &made_of, Purpose::Ask, target, &none)
    }

    fn of(
        table: Table,
        made_of: &MadeOf,
        purpose: Purpose,
        target: &str,
        said: &ExpertColumns,
    ) -> anyhow::Result<Training> {
        let Made { data, notes, warnings } = table.data(made_of, purpose, target, said)?;
        Ok(Training { data, path: table.path, notes, warnings })
    }

    /// The same with what experts made elsewhere say, in columns `mean_NAME` and `sd_NAME`, or `lpd_NAME`.
    pub(super) fn with_experts(
        path: &Path,
        columns: Columns<'_>,
        missing: Missing,
    ) -> anyhow::Result<Training> {
        Training::with(path, columns, missing, |header| expert_columns(path, header, columns))
    }

    fn with(
        path: &Path,
        columns: Columns<'_>,
        missing: Missing,
        experts: impl FnOnce(&[String]) -> anyhow::Result<ExpertColumns>,
    ) -> anyhow::Result<Training> {
        columns.check()?;
        let target = columns.target;
        let (mut inputs, mut said) = (Vec::new(), ExpertColumns::default());
        let table = Table::choose(path, |header| {
            said = experts(header)?;
            let other = data_columns(&[], Some(target), &said).numbers.unwrap_or_default();
            inputs = columns.inputs(path, header, &other)?;
            if inputs.is_empty() {
                bail!(
                    "`{}`: has no column besides the target `{target}`: add an input column",
                    path.display()
                );
            }
            anyhow::Ok(data_columns(&inputs, Some(target), &said))
        })?;
        let made_of = table.learn(&inputs, missing)?;
        Training::of(table, &made_of, Purpose::Fit, target, &said)
    }

    /// Whether rows of the table are left out.
    pub(super) fn left_out(&self) -> bool {
        (0..self.data.len()).any(|row| self.data.number(row) != row)
    }

    /// Say what somebody should know about the rows before they are fitted.
    pub(super) fn tell(&self) {
        self.tell_columns();
        self.tell_all(&self.data.notes());
    }

    /// Say how the columns of a table became inputs.
    pub(super) fn tell_columns(&self) {
        print::notes(&self.path, self.notes.clone());
        print::warn(self.warnings.iter().map(|words| format!("`{}`: {words}", self.path)));
    }

    /// The same about these rows and a method.
    pub(super) fn tell_with(&self, settings: &CheckedFit) {
        self.tell_all(settings.note(self.data.len(), self.data.inputs().len()).as_slice());
    }

    fn tell_all(&self, notes: &[Message]) {
        print::notes(&self.path, print::rendered(notes));
    }
}

impl Columns<'_> {
    /// Refuse names that are empty, that stand twice, or that are the target's.
    fn check(&self) -> anyhow::Result<()> {
        let target = self.target;
        for (flag, names) in
            [("--inputs", self.inputs.unwrap_or_default()), ("--exclude", self.exclude)]
        {
            if names.iter().any(|name| name == target) {
                let other = if flag == "--inputs" { "input" } else { "excluded" };
                bail!("column `{target}` is both target and {other}: take it out of {flag}");
            }
            if names.iter().any(|name| name.trim().is_empty()) {
                bail!("{flag} has an empty name: separate the names by single commas");
            }
            if let Some(i) = (1..names.len()).find(|i| names[..*i].contains(&names[*i])) {
                bail!("column `{}` stands twice in {flag}: take one out", names[i]);
            }
        }
        Ok(())
    }

    /// The inputs asked for, or what is left of a header: not the `other` columns, those that are
    /// excluded, and an index.
    fn inputs(
        &self,
        path: &Path,
        header: &[String],
        other: &[String],
    ) -> anyhow::Result<Vec<String>> {
        if let Some(inputs) = self.inputs {
            return Ok(inputs.to_vec());
        }
        let shown = path.display();
        if let Some(name) = self.exclude.iter().find(|name| !header.contains(name)) {
            return Err(TableError::no_column(&shown.to_string(), header, name).into());
        }
        let mut inputs = Vec::new();
        for (at, name) in header.iter().enumerate() {
            if other.contains(name) || self.exclude.contains(name) {
            } else if is_index(at, name) {
                let name = if name.is_empty() { "no name" } else { &format!("the name `{name}`") };
                print::note(&format!(
                    "note: `{shown}`: column {} has {name}, as an index that was written with a table: \
                     it is left out",
                    at + 1
                ));
            } else if name.is_empty() {
                let path = shown.to_string();
                return Err(TableError::Unnamed { path, column: at + 1 }.into());
            } else {
                inputs.push(name.clone());
            }
        }
        Ok(inputs)
    }
}

/// Whether a column is the index that pandas and R write in front of the others: without a name, which
/// pandas makes `Unnamed: 0` when it reads and writes such a table again; and as it is in Parquet.
fn is_index(at: usize, name: &str) -> bool {
    at == 0 && ["", "Unnamed: 0"].contains(&name) || name.starts_with("__index_level_")
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
    data: &Data,
    methods: Methods,
) -> anyhow::Result<CheckedFit> {
    let inputs = data.inputs();
    if let Some(path) = given.get("omega").and_then(Value::as_str).map(PathBuf::from) {
        given.set("omega", omega(&path, inputs.len())?);
    }
    let Settled { settings, unused } = given.settle(&FitSettings::default(), inputs)?;
    let settings = settings.check()?;
    let unused = unused.iter().filter(|u| methods == Methods::One || u.on_basis());
    print::warn(unused.map(|unused| unused.render(Style::CommandLine)));
    Ok(settings)
}

/// What is to happen to rows that lack the value of an input.
pub(super) fn missing(given: &Given) -> anyhow::Result<Missing> {
    let word = given.get("missing").cloned();
    Ok(word.map(serde_json::from_value).transpose()?.unwrap_or_default())
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

/// The experts that a header has columns for, in their order; inputs and what is excluded are not looked at.
fn expert_columns(
    path: &Path,
    header: &[String],
    columns: Columns<'_>,
) -> anyhow::Result<ExpertColumns> {
    let inputs = columns.inputs.unwrap_or_default();
    let taken = |name: &&String| inputs.contains(name) || columns.exclude.contains(name);
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
    let found = [ExpertKind::Normal, ExpertKind::LogDensity].map(|kind| ExpertColumns {
        names: named(kind.starts()[0]).map(String::from).collect(),
        kind,
    });
    match found {
        [normal, said] if normal.names.is_empty() && said.names.is_empty() => bail!(
            "`{}`: has no experts: add columns `mean_NAME` and `sd_NAME` for each, or `lpd_NAME` with its log \
             density of the target",
            path.display()
        ),
        [normal, said] if said.names.is_empty() => Ok(normal),
        [normal, said] if normal.names.is_empty() => Ok(said),
        [normal, said] => bail!(
            "`{}`: has `mean_{}` and `lpd_{}`: give all experts the one or the other, or name the inputs with \
             --inputs if this is one",
            path.display(),
            normal.names[0],
            said.names[0]
        ),
    }
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
