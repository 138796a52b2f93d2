//! The folder of a checkpoint: what a fit has finished, so that one that was killed goes on.
//!
//! ```text
//! run.txt       what the run is: version, machine, data, settings; written first, removed last
//! lock          held by the process that writes
//! start-I.bin   where starting point I ended
//! chain-C.bin   the draws of chain C when its last round ended
//! ```
//!
//! Starts and chains appear whole or not at all. Every file carries the sign of its run and a checksum,
//! and is left alone where one of them is wrong: the worst that a damaged folder costs is time. A chain
//! that was not finished begins anew and experts are trained again, both with the same outcome.

mod error;
mod file;
mod run;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub use error::CheckpointError;
pub use run::Run;

use gpfuse::infer::map::Point;
use gpfuse::infer::{ChainDraws, Keeper};

use crate::atomic::atomic_write;
use crate::claim::{LOCK, claim, is_temporary, names, remove_leftovers};
use crate::words::show_path;

/// What the run is.
const RUN: &str = "run.txt";

/// A checkpoint that is being written, locked against others.
pub struct Checkpoint {
    folder: PathBuf,
    /// The sign of the run.
    sum: u64,
    warn: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether something could not be written.
    failed: AtomicBool,
    // Holding it is its use.
    _lock: File,
}

impl Checkpoint {
    /// Open or make the checkpoint of a run. `warn` hears of files that are damaged, and once if
    /// something cannot be written: the fit goes on without.
    ///
    /// # Errors
    /// If the folder cannot be written, another process is at work in it, or it holds something
    /// else: other files, or the checkpoint of another run.
    pub fn open(
        folder: &Path,
        run: &Run,
        warn: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Checkpoint, CheckpointError> {
        let path = || show_path(folder);
        // Before the folder is locked, so that one with other files gets none from here. By a single
        // listing: between two looks, another run may make its files or remove them.
        let all = names(folder);
        if !all.iter().any(|name| name == RUN) && all.iter().any(|name| !passing(name)) {
            return Err(CheckpointError::Foreign { path: path() });
        }
        let lock = claim(folder)?;
        let there = match fs::read_to_string(folder.join(RUN)) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(CheckpointError::read(&folder.join(RUN), &e)),
        };
        if let Some(difference) = there.and_then(|text| run.difference(&text)) {
            return Err(CheckpointError::Other { path: path(), difference });
        }
        // Written even where it exists: a folder that cannot be written is then noticed before the work.
        let text = run.text();
        atomic_write(&folder.join(RUN), |out| out.write_all(text.as_bytes()))?;
        let (warn, failed) = (Box::new(warn), AtomicBool::new(false));
        Ok(Checkpoint { folder: folder.into(), sum: run.sum(), warn, failed, _lock: lock })
    }

    /// How many starting points and chains are kept.
    pub fn found(&self) -> [usize; 2] {
        let all = names(&self.folder);
        ["start", "chain"].map(|kind| all.iter().filter(|name| is_of(kind, name)).count())
    }

    /// The run is over and its result is safe: remove the folder. What others put there stays.
    pub fn remove(self) {
        // What cannot be removed now is found by the next run, and removed then.
        for name in names(&self.folder) {
            // Files called `met` were written by 0.1.0.
            if ["start", "chain", "met"].iter().any(|kind| is_of(kind, &name)) {
                let _ = fs::remove_file(self.folder.join(name));
            }
        }
        remove_leftovers(&self.folder);
        for name in [RUN, LOCK] {
            let _ = fs::remove_file(self.folder.join(name));
        }
        let _ = fs::remove_dir(&self.folder);
    }

    fn path(&self, kind: &str, number: usize) -> PathBuf {
        self.folder.join(format!("{kind}-{}.bin", number + 1))
    }

    /// The words of a file, if it is there and is what it should be.
    fn read(&self, kind: &str, number: usize) -> Option<Vec<u64>> {
        let path = self.path(kind, number);
        match file::read(&path, self.sum, kind, number) {
            Ok(words) => words,
            Err(problem) => {
                let path = show_path(&path);
                let problem = format!("warning: `{path}` is {problem}: that part is done again");
                (self.warn)(&problem);
                None
            }
        }
    }

    fn write(&self, kind: &str, number: usize, words: impl Iterator<Item = u64>) {
        let done = file::write(&self.path(kind, number), self.sum, kind, number, words);
        // Warn once: where one file cannot be written, the next cannot either.
        if let Err(error) = done
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            let rest = "the fit goes on, and its checkpoint stays behind";
            (self.warn)(&format!("warning: {error}; {rest}"));
        }
    }
}

/// Whether a name is that of a file of a kind.
fn is_of(kind: &str, name: &str) -> bool {
    name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".bin"))
}

impl Keeper for Checkpoint {
    fn start(&self, index: usize) -> Option<Point> {
        self.read("start", index).and_then(|words| file::point(&words))
    }

    fn keep_start(&self, index: usize, point: &Point) {
        self.write("start", index, file::point_words(point));
    }

    fn chain(&self, chain: usize) -> Option<ChainDraws> {
        self.read("chain", chain).and_then(|words| file::chain(&words))
    }

    fn keep_chain(&self, chain: usize, draws: &ChainDraws) {
        self.write("chain", chain, file::chain_words(draws));
    }
}

/// Whether a name is left where a run was killed as it made or removed its folder.
fn passing(name: &str) -> bool {
    name == LOCK || is_temporary(name)
}
