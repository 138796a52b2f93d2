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
mod shell;
mod simulate;
mod stack;
mod sweep;
mod training;

use std::path::Path;

use gpfuse::settings::Style;
use gpfuse::{Data, Fitted};
use gpfuse_io::atomic::AtomicFile;
use gpfuse_io::model_file;
use gpfuse_io::table::{Made, Table, Texts, model_columns};

use crate::args::Command;
use crate::progress::during;

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
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}

/// The outcome of a fit or of a look at one.
fn judged(fitted: &Fitted, strict: bool) -> Outcome {
    match strict && !fitted.diagnostics.passed() {
        true => Outcome::Doubtful,
        false => Outcome::Done,
    }
}

/// A model, and the rows of a table that it is asked about.
struct Query {
    fitted: Fitted,
    data: Data,
    /// Columns to carry over: those asked for, then the inputs where they are not all numbers as they stand.
    kept: Texts,
}

impl Query {
    /// Read a model, and its inputs and experts from a table; `with_target` its target too.
    fn read(model: &Path, data: &Path, with_target: bool) -> anyhow::Result<Query> {
        Query::keeping(model, data, with_target, &[])
    }

    /// The same with columns to carry over.
    fn keeping(
        model: &Path,
        data: &Path,
        with_target: bool,
        keep: &[&str],
    ) -> anyhow::Result<Query> {
        let (fitted, table, kept) = during("reading", || -> anyhow::Result<_> {
            let fitted = model_file::load(model)?;
            let mut wanted = model_columns(&fitted, with_target);
            wanted.keep = keep.iter().map(|name| (*name).to_owned()).collect();
            // What is not a column of numbers stands in a table of predictions as it was.
            if !fitted.columns().is_plain() {
                wanted.keep.extend(wanted.cells.clone());
            }
            let (table, kept) = Table::read_wanted(data, &wanted)?;
            Ok((fitted, table, kept))
        })?;
        let Made { data, notes, warnings } = table.data_for(&fitted)?;
        crate::print::notes(&table.path, notes);
        let outside = fitted.warn_outside(&data).map(|warning| warning.render(Style::CommandLine));
        let warnings = warnings.into_iter().chain(outside);
        crate::print::warn(warnings.map(|words| format!("`{}`: {words}", table.path)));
        Ok(Query { fitted, data, kept })
    }
}

/// A table has no columns for probabilities of classes.
fn refuse_classes(fitted: &Fitted, model: &Path) -> anyhow::Result<()> {
    if fitted.classes().is_some() {
        anyhow::bail!(
            "`{}`: its target is a class: predict and score it in Python (gpfuse.load), or ask for --experts alone, \
             their weights",
            model.display()
        );
    }
    Ok(())
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
