//! `--checkpoint`: a fit that was killed goes on.

use std::path::Path;

use gpfuse::Data;
use gpfuse::fit::{CheckedFit, Fitted};
use gpfuse_io::checkpoint::{Checkpoint, Run};
use gpfuse_io::sweep_file::digest;

use crate::print;
use crate::progress::{cancelled, listen, listen_saying};

/// What a run is known by: its settings and the rows that it is fitted to.
fn run(settings: &CheckedFit, data: &Data) -> Run {
    let experts = data.predictions().into_iter().flat_map(|said| said.columns());
    let target = data.y().unwrap_or_default();
    let numbers = digest([data.x(), target].into_iter().chain(experts));
    let run = Run::new(settings)
        .with("rows", &data.len())
        .with("inputs", &data.inputs())
        .with("target", &data.target())
        .with("experts", &data.experts())
        .with("data", &numbers);
    let Some(assignment) = data.assignment() else { return run };
    let lists = assignment.experts.iter().chain([&assignment.stacking]);
    let lists: Vec<Vec<f64>> =
        lists.map(|rows| rows.iter().map(|row| *row as f64).collect()).collect();
    run.with("assignment", &digest(lists.iter().map(Vec::as_slice)))
}

/// The checkpoint in a folder, if there is one, open for this run.
pub(super) fn open(
    folder: Option<&Path>,
    settings: &CheckedFit,
    data: &Data,
) -> anyhow::Result<Option<Checkpoint>> {
    let Some(folder) = folder else { return Ok(None) };
    let checkpoint = Checkpoint::open(folder, &run(settings, data), print::note)?;
    let [starts, chains] = checkpoint.found();
    if starts + chains > 0 {
        print::note(&format!(
            "going on from `{}`: {}, {} of {}",
            folder.display(),
            print::count(starts, "starting point"),
            chains,
            print::count(settings.sampler.chains, "chain")
        ));
    }
    Ok(Some(checkpoint))
}

/// Listen for Ctrl-C, and tell what becomes of the run.
pub(super) fn hear(checkpoint: Option<&Checkpoint>) -> anyhow::Result<()> {
    match checkpoint {
        None => listen(),
        Some(_) => listen_saying(
            "stopping: the checkpoint keeps what is done (Ctrl-C again to end at once)".into(),
        ),
    }
}

/// Whether a run was stopped whose checkpoint can go on; a model of a part of the draws is then
/// not written.
pub(super) fn stopped(folder: Option<&Path>, fitted: &anyhow::Result<Fitted>) -> bool {
    let Some(folder) = folder.filter(|_| cancelled()) else { return false };
    let part = match fitted {
        Ok(fitted) => fitted.draws.interrupted(),
        Err(e) => matches!(e.downcast_ref(), Some(gpfuse::Error::Sampling(_))),
    };
    if part {
        let folder = folder.display();
        print::note(&format!(
            "stopped: no model is written; the same command goes on from `{folder}`"
        ));
    }
    part
}
