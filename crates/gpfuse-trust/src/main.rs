//! Run the studies and write their page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use gpfuse_io::atomic::atomic_write;
use gpfuse_trust::{Record, Run, STUDIES, Study, page};

/// Ask gpfuse what could have a bad answer, and put each target beside its result.
#[derive(Parser)]
#[command(name = "gpfuse-trust")]
struct Args {
    /// The studies to run, by name; all of them by default.
    studies: Vec<String>,
    /// The folder for records and the page, `trust.html`. Records of studies that are not run
    /// now are read from it.
    #[arg(long, default_value = "target/trust")]
    out: PathBuf,
    /// Run the short form of each study, of seconds instead of minutes.
    #[arg(long)]
    short: bool,
    /// Make what is kept in `bench/results/trust` and missing there; it goes on where it stopped.
    #[arg(long, conflicts_with = "short")]
    long: bool,
    /// The seed of all randomness.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads; no result depends on it.
    #[arg(long)]
    threads: Option<usize>,
    /// The seconds that building took before, which belong to the time of all.
    #[arg(long)]
    building: Option<f64>,
    /// Write the names of the studies and stop.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(e) => {
            eprintln!("gpfuse-trust: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether no target was missed.
fn run(args: &Args) -> anyhow::Result<bool> {
    if args.list {
        STUDIES.iter().for_each(|study| println!("{:<14} {}", study.name, study.title));
        return Ok(true);
    }
    let known = |name: &String| STUDIES.iter().any(|study| study.name == name);
    if let Some(name) = args.studies.iter().find(|name| !known(name)) {
        anyhow::bail!("there is no study `{name}`: see --list");
    }
    fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder `{}`", args.out.display()))?;
    let mut run = Run::short(&args.out);
    (run.short, run.long, run.seed) = (args.short, args.long, args.seed);
    run.threads = args.threads.unwrap_or(run.threads).max(1);
    let mut all: Vec<(&Study, Option<Record>)> =
        STUDIES.iter().map(|study| (study, read(study, &args.out))).collect();
    let building = building(args)?;
    let out = args.out.join("trust.html");
    let chosen =
        |study: &Study| args.studies.is_empty() || args.studies.iter().any(|n| n == study.name);
    // Those that are asked for are made anew, also if this run is stopped.
    all.iter_mut().filter(|(study, _)| chosen(study)).for_each(|(_, record)| *record = None);
    for i in 0..all.len() {
        if chosen(all[i].0) {
            all[i].1 = Some(perform(all[i].0, &run)?);
            // After each, so that what stops one study does not lose the others.
            page::write(&out, &all, building)?;
        }
    }
    println!("wrote `{}`", out.display());
    Ok(all.iter().flat_map(|(_, record)| record).all(|record| record.missed().count() == 0))
}

/// The seconds before the studies, kept beside the records.
fn building(args: &Args) -> anyhow::Result<Option<f64>> {
    let path = args.out.join("building.json");
    let Some(seconds) = args.building else {
        return Ok(fs::read_to_string(path).ok().and_then(|text| serde_json::from_str(&text).ok()));
    };
    let text = serde_json::to_string(&seconds)?;
    atomic_write(&path, |out| out.write_all(text.as_bytes()))?;
    Ok(Some(seconds))
}

/// Run a study, say what it found, and keep it.
fn perform(study: &Study, run: &Run) -> anyhow::Result<Record> {
    println!("{}", study.title);
    let record = study.record(run);
    for finding in &record.findings {
        let outcome = format!("{:?}", finding.outcome).to_lowercase();
        println!(
            "  {outcome:<7} {}: {} (target: {})",
            finding.claim, finding.result, finding.target
        );
    }
    println!("  {:.1} s", record.seconds);
    let text = serde_json::to_string_pretty(&record)?;
    atomic_write(&file(study, &run.out), |out| out.write_all(text.as_bytes()))?;
    Ok(record)
}

/// The record of an earlier run, if there is one that this version can read.
fn read(study: &Study, folder: &Path) -> Option<Record> {
    serde_json::from_str(&fs::read_to_string(file(study, folder)).ok()?).ok()
}

fn file(study: &Study, folder: &Path) -> PathBuf {
    folder.join(format!("{}.json", study.name))
}
