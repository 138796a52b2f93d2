//! A study, how it is run, and the record that is kept of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::anyhow;
use gpfuse_report::page::Album;
use gpfuse_report::page::document::Block;
use serde::{Deserialize, Serialize};

use crate::{Finding, Outcome};

/// How studies are run.
#[derive(Debug, Clone)]
pub struct Run {
    /// Whether to run the short form, of seconds instead of minutes.
    pub short: bool,
    /// Whether to make anew what is kept in the project's folder and missing there, in an hour.
    pub long: bool,
    /// Threads; no result depends on it.
    pub threads: usize,
    /// The seed of all randomness.
    pub seed: u64,
    /// The folder for records and figures.
    pub out: PathBuf,
}

impl Run {
    /// The short form, as `cargo test` runs it: one seed, so that it passes or fails for good.
    pub fn short(out: &Path) -> Run {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Run { short: true, long: false, threads, seed: 0, out: out.into() }
    }

    /// One of two sizes.
    pub fn size(&self, short: usize, full: usize) -> usize {
        if self.short { short } else { full }
    }
}

/// Where a long study is kept that is not run again each time, in the project's folder.
pub(crate) fn recorded(name: &str) -> PathBuf {
    project().join("bench/results/trust").join(name)
}

/// The project's folder.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A question and the function that answers it.
#[derive(Debug, Clone, Copy)]
pub struct Study {
    /// Its name on the command line and of its record.
    pub name: &'static str,
    /// Its heading on the page.
    pub title: &'static str,
    /// What is asked and how, for a reader of the page.
    pub about: &'static str,
    /// The work.
    pub run: fn(&Run) -> anyhow::Result<Vec<Finding>>,
    /// What there is to see.
    pub figures: Figures,
}

/// Makes the figures of a study.
pub type Figures = fn(&mut Album) -> anyhow::Result<Vec<Block>>;

/// No figures.
pub(crate) fn none(_: &mut Album) -> anyhow::Result<Vec<Block>> {
    Ok(Vec::new())
}

/// What is kept of a study that was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The study's name.
    pub study: String,
    /// The version of gpfuse.
    pub version: String,
    /// The commit of the sources, with `-dirty` where they were changed since.
    pub commit: String,
    /// The seed.
    pub seed: u64,
    /// Whether it was the short form.
    pub short: bool,
    /// How long it took.
    pub seconds: f64,
    /// What it found.
    pub findings: Vec<Finding>,
}

impl Study {
    /// Run the study. An error is a finding too, so that the other studies go on.
    pub fn record(&self, run: &Run) -> Record {
        let begun = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| (self.run)(run)));
        let done = done.unwrap_or_else(|_| Err(anyhow!("a panic, see above")));
        let found = done.and_then(|findings| match findings.is_empty() {
            true => Err(anyhow!("it found nothing")),
            false => Ok(findings),
        });
        let findings = found.unwrap_or_else(|error| {
            let (claim, target) = ("The study can be run", "to its end, without an error");
            vec![Finding::new(claim, target, format!("{error:#}"), false)]
        });
        let seconds = begun.elapsed().as_secs_f64();
        let version = env!("CARGO_PKG_VERSION").into();
        let (study, seed, short) = (self.name.into(), run.seed, run.short);
        Record { study, version, commit: commit(), seed, short, seconds, findings }
    }
}

impl Record {
    /// The findings that missed their target.
    pub fn missed(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.outcome == Outcome::Missed)
    }
}

/// The commit of the project's folder, if git knows one.
fn commit() -> String {
    let args = ["describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"];
    let output = Command::new("git").args(args).current_dir(project()).output();
    let output = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let text = output.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".into())
}
