//! The commands: each reads its files, calls the library, writes its files.

mod checkpoint;
mod compare;
mod demo;
mod evaluate;
mod fit;
mod inspect;
mod paper;
mod predict;
mod report;
mod sbc;
mod simulate;
mod stack;
mod sweep;
mod training;

use std::path::Path;

use gpfuse::baseline::Predictions;
use gpfuse::fit::Experts;
use gpfuse::settings::Style;
use gpfuse_io::atomic::AtomicFile;
use gpfuse_io::model_file::{self, Saved};
use gpfuse_io::table::Table;

use crate::args::Command;

/// How a command ended, as its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done = 0,
    /// With `--strict`: the diagnostics do not pass.
    Doubtful = 3,
    /// Stopped by Ctrl-C; what was drawn is kept.
    Interrupted = 130,
}

pub(crate) fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Fit(args) => fit::run(&args),
        Command::Stack(args) => stack::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Sbc(args) => sbc::run(&args),
        Command::Report(args) => report::run(&args),
    }
}

/// The outcome of a fit or of a look at one.
fn judged(saved: &Saved, strict: bool) -> Outcome {
    match strict && !saved.fitted.diagnostics.passed() {
        true => Outcome::Doubtful,
        false => Outcome::Done,
    }
}

/// Inputs of all rows, row-major, from the columns of a table.
fn interleave(columns: &[Vec<f64>]) -> Vec<f64> {
    let n = columns.first().map_or(0, Vec::len);
    (0..n).flat_map(|r| columns.iter().map(move |c| c[r])).collect()
}

/// A model and the columns of a table that it needs.
struct Query {
    saved: Saved,
    table: Table,
    /// Inputs, row-major.
    x: Vec<f64>,
    /// What experts made elsewhere say.
    predictions: Option<Predictions>,
}

impl Query {
    /// Read a model, and its inputs and experts from a table; `with_target` its target too.
    fn read(model: &Path, data: &Path, with_target: bool) -> anyhow::Result<Query> {
        let saved = model_file::load(model)?;
        let names = match &saved.fitted.experts {
            Experts::Named(names) => names.as_slice(),
            _ => &[],
        };
        let columns = training::expert_columns(names);
        let wanted =
            saved.inputs.iter().chain(&columns).chain(with_target.then_some(&saved.target));
        let wanted: Vec<&str> = wanted.map(String::as_str).collect();
        let table = Table::read(data, Some(&wanted))?;
        let x = interleave(&table.columns[..saved.inputs.len()]);
        let predictions = training::predictions(&table, names)?;
        if let Some(warning) = saved.fitted.warn_outside(&x) {
            let words = warning.render(Style::CommandLine);
            crate::print::warn([format!("`{}`: {words}", table.path)]);
        }
        Ok(Query { saved, table, x, predictions })
    }

    /// The target, if it was read.
    fn target(&self) -> Option<&[f64]> {
        self.table.column(&self.saved.target)
    }
}

/// A long run must not end at a folder that does not exist.
fn refuse_unwritable(out: &Path) -> anyhow::Result<()> {
    drop(AtomicFile::create(out)?);
    Ok(())
}

/// A file that was read must not be written over.
fn refuse_same(read: &Path, out: &Path) -> anyhow::Result<()> {
    let same = match (read.canonicalize(), out.canonicalize()) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        _ => false,
    };
    if same {
        anyhow::bail!("`{}` would be written over: give --out another name", read.display());
    }
    Ok(())
}

/// All cores, unless told otherwise.
fn threads(asked: Option<usize>) -> anyhow::Result<usize> {
    match asked {
        Some(n) if !(1..=10_000).contains(&n) => {
            anyhow::bail!("setting `threads`: {n} is out of range: use 1 to 10000")
        }
        Some(n) => Ok(n),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}
