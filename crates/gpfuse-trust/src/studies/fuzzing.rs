//! Fuzzing of all that gpfuse reads: the record of the long runs, and a fresh short one.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use serde::Deserialize;

use crate::finding::short;
use crate::study::{none, project, recorded};
use crate::{Finding, Run, Study};

pub(super) const STUDY: Study = Study {
    name: "fuzzing",
    title: "Fuzzing of every reader",
    about: "Random changes of real files, guided by which code they reach, are read as a user's file \
            would be: tables as CSV and Parquet, model files, settings, and what gpfuse finds in \
            its own folders. No input may end the program or take more than 16 bytes of memory per \
            byte, and 1 MiB; what is read must be the same after it was written, and a model that \
            is read must predict. Where a format packs numbers, as Parquet and gzip do, the bound is on \
            what is unpacked, and that is bounded by the size of the file: of Parquet 1,024 bytes of \
            numbers are unpacked per byte, and 64 MiB from any file.",
    run,
    figures: none,
};

/// What each target reads.
const TARGETS: [(&str, &str); 5] = [
    ("csv", "text tables, also in gzip"),
    ("parquet", "Parquet tables"),
    ("model_file", "model files"),
    ("settings", "settings of sweeps, and of fits in model files"),
    ("ledger", "folders of sweeps, calibrations and checkpoints"),
];

/// CPU minutes of each long run.
const MINUTES: f64 = 30.0;

/// CPU minutes of each fresh run.
const FRESH: f64 = 40.0 / 60.0;

/// A line of what `fuzz/run` writes.
#[derive(Debug, Deserialize)]
struct Line {
    target: String,
    cpu_minutes: f64,
    executions: u64,
    crashes: u64,
    crash: String,
    largest_ratio: f64,
    coverage: u64,
    corpus_files: u64,
    rustc: String,
    commit: String,
}

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let mut out = vec![corpora()?];
    if !run.short {
        let lines = read(&recorded("fuzz.json"))?;
        let command = "fuzz/run --record bench/results/trust/fuzz.json";
        let judged = |target| judged(target, &lines, MINUTES, "recorded", command);
        out.extend(TARGETS.iter().map(judged));
        out.extend(fresh(run)?);
    }
    Ok(out)
}

/// The lines of a record, none where there is no file.
fn read(path: &Path) -> anyhow::Result<Vec<Line>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path)?;
    serde_json::from_str(&text).with_context(|| format!("`{}`: is no record", path.display()))
}

fn judged(
    (name, what): &(&str, &str),
    lines: &[Line],
    minutes: f64,
    kind: &str,
    command: &str,
) -> Finding {
    let claim = format!("{what}, {kind}");
    let target = format!(
        "at least {} CPU-minutes, 0 crashes; more than 16 bytes of memory per byte is one",
        short(minutes)
    );
    let Some(line) = lines.iter().find(|line| line.target == *name) else {
        return Finding::not_run(claim, target, format!("there is no record: run `{command}`"));
    };
    let crash = if line.crashes > 0 { format!(" ({})", line.crash) } else { String::new() };
    let result = format!(
        "{:.1} CPU-minutes, {} executions, {} crashes{crash}, at most {} bytes per byte above 1 MiB",
        line.cpu_minutes,
        line.executions,
        line.crashes,
        short(line.largest_ratio)
    );
    let met = line.cpu_minutes >= minutes && line.crashes == 0;
    let note = format!(
        "made by `{command}` at commit {} with {}: {} edges reached, {} files in the corpus; no chance \
         of a false failure",
        line.commit, line.rustc, line.coverage, line.corpus_files
    );
    Finding::new(claim, target, result, met).with(note)
}

/// The corpora that `cargo test` runs are there.
fn corpora() -> anyhow::Result<Finding> {
    let (mut files, mut least) = (0, usize::MAX);
    for (target, _) in TARGETS {
        let folder = project().join("fuzz/corpus").join(target);
        let count = fs::read_dir(&folder)
            .with_context(|| format!("`{}`: is no corpus", folder.display()))?
            .count();
        (files, least) = (files + count, least.min(count));
    }
    let result = format!("{files} files, at least {least} of a target");
    let note = "every file goes through the checks of its target in `cargo test`";
    Ok(Finding::new("committed corpora", "at least 10 files of each target", result, least >= 10)
        .with(note))
}

/// No fresh run, for a reason.
fn unmade(why: &str) -> Vec<Finding> {
    let none =
        |(_, what): &(&str, &str)| Finding::not_run(format!("{what}, fresh"), "0 crashes", why);
    TARGETS.iter().map(none).collect()
}

/// A fresh run that failed. Without a network there may be no crates to build it with.
fn broken(said: &str) -> Vec<Finding> {
    if ["failed to download", "failed to fetch"].iter().any(|words| said.contains(words)) {
        return unmade("the crates cannot be fetched");
    }
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let result = format!("`fuzz/run` failed: {}", last.unwrap_or("it says nothing").trim());
    let one = |(_, what): &(&str, &str)| {
        Finding::new(format!("{what}, fresh"), "0 crashes", result.as_str(), false)
    };
    TARGETS.iter().map(one).collect()
}

/// A short run from here, on copies of the corpora.
fn fresh(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let there = Command::new("cargo").args(["fuzz", "--version"]).output();
    let command = format!("fuzz/run --cpu-minutes {FRESH:.2}");
    if !there.is_ok_and(|said| said.status.success()) {
        return Ok(unmade("needs cargo-fuzz: `make tools` makes it possible"));
    }
    if Command::new("c++").arg("--version").output().is_err() {
        return Ok(unmade("needs a C++ compiler, such as Debian's g++"));
    }
    let folder = std::path::absolute(run.out.join("fuzz"))?;
    let corpus = folder.join("corpus");
    for (target, _) in TARGETS {
        let (from, to) = (project().join("fuzz/corpus").join(target), corpus.join(target));
        fs::create_dir_all(&to)?;
        for file in fs::read_dir(from)? {
            let file = file?;
            fs::copy(file.path(), to.join(file.file_name()))?;
        }
    }
    let record = folder.join("fuzz.json");
    if record.exists() {
        fs::remove_file(&record)?;
    }
    let done = Command::new("python3")
        .arg(project().join("fuzz/run"))
        .args(["--cpu-minutes", &FRESH.to_string(), "--jobs", &run.threads.min(2).to_string()])
        .args(["--round", "40"])
        .arg("--record")
        .arg(&record)
        .arg("--corpus")
        .arg(&corpus)
        .arg("--artifacts")
        .arg(folder.join("artifacts"))
        .output()
        .context("cannot run `python3 fuzz/run`")?;
    let lines = read(&record)?;
    if lines.len() < TARGETS.len() {
        return Ok(broken(&String::from_utf8_lossy(&done.stderr)));
    }
    Ok(TARGETS.iter().map(|target| judged(target, &lines, FRESH, "fresh", &command)).collect())
}
