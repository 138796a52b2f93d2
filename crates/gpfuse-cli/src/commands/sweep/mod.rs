//! `gpfuse sweep`: many fits, each recorded as soon as it is finished.

mod plan;
mod record;
mod show;
mod source;
mod watch;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use gpfuse::sweep::{Ended, Key, run_all, share};
use gpfuse_io::ledger::{Cells, Folder, Ledger, merge};
use gpfuse_io::sweep_file::SweepFile;

use self::record::Recorder;
use self::show::Summary;
use self::source::Set;
use super::{Outcome, threads};
use crate::args::{RunArgs, SweepArgs};
use crate::print;
use crate::progress::{cancelled, listen_saying};

/// A sweep file as it was written, for messages about its lines and for its relative paths.
pub(super) struct Written {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl Written {
    /// The folder that its paths start from.
    fn base(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

pub(super) fn run(args: &SweepArgs) -> anyhow::Result<Outcome> {
    let (how, Some(path)) = (&args.how, &args.config) else {
        return join(&args.how, args.how.merge.as_deref().unwrap_or_default());
    };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("sweep file `{}`: check the path", path.display()))?;
    let file = SweepFile::parse(&text, path)?;
    start(file, &Written { path: path.clone(), text }, how)
}

/// Run a sweep, or join its parts where that is asked for.
pub(super) fn start(
    mut file: SweepFile,
    written: &Written,
    how: &RunArgs,
) -> anyhow::Result<Outcome> {
    if let Some(parts) = &how.merge {
        return join(how, parts);
    }
    let (begun, threads) = (Instant::now(), threads(how.threads)?);
    let version = env!("CARGO_PKG_VERSION");
    if let Some(other) = file.version.replace(version.into()).filter(|v| v != version) {
        let path = written.path.display();
        print::note(&format!("note: `{path}` was written by gpfuse {other}; this is {version}"));
    }
    let mut sets = BTreeMap::new();
    for (name, source) in &mut file.data {
        let set = Set::load(source, written.base()).with_context(|| format!("data `{name}`"))?;
        sets.insert(name.clone(), set);
    }
    let all = plan::cells(&file, &sets, written)?;
    let ledger = open(how, &file, &sets)?;
    let cells = match how.shard {
        Some(shard) => share(all, shard.i, shard.n),
        None => all,
    };
    let asked: HashSet<Key> = cells.iter().map(|cell| cell.key.clone()).collect();
    let known: HashSet<&Key> = ledger.rows().iter().map(|row| &row.key).collect();
    let left: Vec<_> = cells.into_iter().filter(|cell| !known.contains(&cell.key)).collect();
    if !left.is_empty() && !known.is_empty() {
        let done = asked.len() - left.len();
        print::note(&format!("{done} of {} are there already", print::count(asked.len(), "cell")));
    }

    listen_saying("stopping: all finished cells are kept".into())?;
    let ran = left.len();
    let recorder = Recorder::new(ledger, &file, &left, asked.len());
    let ended = run_all(left, threads, &recorder);
    let ledger = recorder.into_ledger()?;
    let ended = ended?.with_context(|| {
        "stopped: all cells before this one are kept; once it is mended, the same command goes on"
    })?;
    if ended == Ended::Cancelled || cancelled() {
        let done = ledger.rows().iter().filter(|row| asked.contains(&row.key)).count();
        print::note(&format!(
            "stopped: {done} of {} are in `{}`: the same command goes on from there",
            print::count(asked.len(), "cell"),
            how.out.display()
        ));
        return Ok(Outcome::Interrupted);
    }
    finish(ledger, how, ran, begun)
}

/// Join the parts of a sweep.
fn join(how: &RunArgs, parts: &[PathBuf]) -> anyhow::Result<Outcome> {
    let begun = Instant::now();
    finish(merge(parts, &how.out)?, how, 0, begun)
}

/// Lock the folder and put there what belongs to all cells.
fn open(
    how: &RunArgs,
    file: &SweepFile,
    sets: &BTreeMap<String, Set>,
) -> anyhow::Result<Ledger<Cells>> {
    let ledger = Ledger::open(&how.out, Cells, file)?;
    if ledger.was_cut() {
        print::note(&format!(
            "note: the last row of `{}` was half written: it is taken out and its cell runs again",
            ledger.path().display()
        ));
    }
    for (name, set) in sets {
        let (names, columns) = set.columns()?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        ledger.data(name, &names, &columns)?;
    }
    Ok(ledger)
}

/// Write the table and say what is in it.
fn finish(
    ledger: Ledger<Cells>,
    how: &RunArgs,
    ran: usize,
    begun: Instant,
) -> anyhow::Result<Outcome> {
    let results = ledger.results()?;
    drop(ledger);
    let folder = Folder::read(&how.out)?;
    let seconds = begun.elapsed().as_secs_f64();
    Summary { folder: &folder, results: &results, ran, seconds }.show(how.json)
}
