//! `gpfuse report`: a sweep or a model as one HTML page.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use gpfuse::sweep::Key;
use gpfuse::{Data, Fitted};
use gpfuse_io::ledger::Folder;
use gpfuse_io::model_file;
use gpfuse_io::table::Table;
use gpfuse_report::figure::Calibration;
use gpfuse_report::page::{Names, Page, model, sweep};
use gpfuse_report::view::{View, calibration, view};

use super::{Outcome, Query, refuse_same, refuse_unwritable, threads};
use crate::args::ReportArgs;
use crate::print;
use crate::progress::during;

pub(super) fn run(args: &ReportArgs) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let threads = threads(args.threads)?;
    let (page, out, figures) = match args.path.is_dir() {
        true => of_sweep(args, threads)?,
        false => of_model(args, threads)?,
    };
    page.write(&out, figures.as_deref())?;
    let mut message = format!("wrote `{}`", out.display());
    if let Some(folder) = figures {
        let drawn = print::count(page.drawings.len(), "figure");
        message += &format!(" and {drawn} in `{}`", folder.display());
    }
    print::note(&format!("{message} ({} s)", print::seconds(started.elapsed().as_secs_f64())));
    Ok(Outcome::Done)
}

/// The page, its file, and the folder of its figures.
type Made = (Page, PathBuf, Option<PathBuf>);

fn of_sweep(args: &ReportArgs, threads: usize) -> anyhow::Result<Made> {
    let path = &args.path;
    if args.data.is_some() {
        bail!("`{}` is a sweep: --data is for a model", path.display());
    }
    let folder = Folder::read(path)?;
    if folder.rows.is_empty() {
        bail!(
            "`{}`: no cell is finished yet: run gpfuse sweep {}/settings.toml --out {}",
            path.display(),
            path.display(),
            path.display()
        );
    }
    let out = args.out.clone().unwrap_or_else(|| path.join("report.html"));
    // The page must not take the place of what it is made from.
    let sources =
        ["settings.toml", "ledger.jsonl", "results.csv", "lock"].map(|name| path.join(name));
    for file in sources.iter().chain(folder.data.values()).chain(folder.models.values()) {
        refuse_same(file, &out)?;
    }
    refuse_unwritable(&out)?;
    let mut kept: Vec<sweep::Kept> = Vec::new();
    for (key, file) in sweep::models(&folder) {
        let best = kept.iter().all(|k| k.key.basis != key.basis);
        // A model that cannot be read costs its own figure, not the page.
        match shown(&folder, key, file, best, threads) {
            Ok(view) => kept.push(sweep::Kept { key: key.clone(), view }),
            Err(e) => print::note(&format!("warning: {e:#}")),
        }
    }
    let figures = args.figures.clone().unwrap_or_else(|| path.join("figures"));
    let sweep = sweep::Sweep { folder, kept };
    let page = match gpfuse_paper::is_paper(&sweep.folder.file) {
        true => gpfuse_paper::page(&sweep),
        false => sweep::page(&sweep, Names::new()),
    };
    Ok((page, out, Some(figures)))
}

/// What figures show of a kept model; of the best on its basis, calibration at its test rows too.
fn shown(
    folder: &Folder,
    key: &Key,
    file: &Path,
    best: bool,
    threads: usize,
) -> anyhow::Result<View> {
    let fitted = model_file::load(file)?;
    let mut out = View { calibration: None, ..view(&fitted, None, threads)? };
    if let (true, Some(path)) = (best, folder.data.get(&key.data)) {
        match tested(&fitted, path, key.split, threads) {
            Ok(found) => out.calibration = found,
            Err(e) => print::note(&format!("warning: no calibration: {e:#}")),
        }
    }
    Ok(out)
}

/// Calibration at the rows of a table that the column of a split marks.
fn tested(
    fitted: &Fitted,
    path: &Path,
    split: usize,
    threads: usize,
) -> anyhow::Result<Option<Calibration>> {
    let table = Table::read(path, None)?;
    let name = format!("test{split}");
    let Some(marks) = table.column(&name) else {
        bail!("`{}`: has no column `{name}`, which marks test rows: add it", path.display());
    };
    let marked: Vec<bool> = marks.iter().map(|mark| *mark == 1.0).collect();
    calibration(fitted, &table.data_for(fitted)?.data, &marked, threads)
}

fn of_model(args: &ReportArgs, threads: usize) -> anyhow::Result<Made> {
    let path = &args.path;
    if !path.exists() {
        bail!(
            "`{}`: no such folder or file: give the folder of a sweep or a model file",
            path.display()
        );
    }
    let (fitted, data) = match &args.data {
        Some(data) => {
            let Query { fitted, data, .. } = Query::read(path, data, true)?;
            (fitted, Some(data))
        }
        None => (during("reading", || model_file::load(path))?, None),
    };
    let out = args.out.clone().unwrap_or_else(|| beside(path));
    refuse_same(path, &out)?;
    if let Some(data) = &args.data {
        refuse_same(data, &out)?;
    }
    refuse_unwritable(&out)?;
    let measure = |data: &Data| fitted.predict(data)?.on_threads(threads).measure();
    let (shown, scores, experts) = during("looking at the model", || -> anyhow::Result<_> {
        let experts = data.as_ref().map(|data| fitted.evaluate_experts(data, threads));
        Ok((
            view(&fitted, data.as_ref(), threads)?,
            data.as_ref().map(measure).transpose()?,
            experts.transpose()?.unwrap_or_default(),
        ))
    })?;
    let (scored, experts) = (args.data.as_deref().zip(scores.as_ref()), &experts);
    let page = model::page(&model::Model { path, fitted: &fitted, view: &shown, scored, experts });
    Ok((page, out, args.figures.clone()))
}

/// `run.1.nc` becomes `run.1.html`.
fn beside(model: &Path) -> PathBuf {
    let name = model.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".nc").unwrap_or(&name);
    model.with_file_name(format!("{stem}.html"))
}
