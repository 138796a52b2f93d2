//! The folder of a checkpoint: what a fit has finished, so that one that was killed goes on.
//!
//! ```text
//! run.txt       what the run is: version, machine, data, settings; written first, removed last
//! lock          held by the process that writes
//! start-I.bin   where starting point I ended
//! chain-C.bin   all draws of chain C
//! met-C.bin     of a chain that is not finished: what the density said to it, call after call
//! ```
//!
//! Starts and chains appear whole or not at all; `met-C.bin` grows, and a part of it that did not
//! reach the disk ends it. Every file carries the sign of its run and a checksum, and is left alone
//! where one of them is wrong: the worst that a damaged folder costs is time. Trained experts are not
//! kept: they are trained again, with the same outcome.

mod error;
mod file;
mod met;
mod run;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use error::CheckpointError;
pub use run::Run;

use gpfuse::infer::map::Point;
use gpfuse::infer::{ChainDraws, Keeper, Met};

use crate::atomic::{WriteError, atomic_write};
use crate::claim::{LOCK, claim, is_temporary, names, remove_leftovers};
use crate::words::show_path;

/// What the run is.
const RUN: &str = "run.txt";

/// A checkpoint that is being written, locked against others.
pub struct Checkpoint {
    folder: PathBuf,
    /// The sign of the run.
    sum: u64,
    trouble: Arc<Trouble>,
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
        // Again where it is there already: a folder that cannot be written is known before the work.
        let text = run.text();
        atomic_write(&folder.join(RUN), |out| out.write_all(text.as_bytes()))?;
        let trouble = Arc::new(Trouble { warn: Box::new(warn), failed: AtomicBool::new(false) });
        Ok(Checkpoint { folder: folder.into(), sum: run.sum(), trouble, _lock: lock })
    }

    /// How many starting points and chains are kept, and of how many more chains a part.
    pub fn found(&self) -> [usize; 3] {
        let all = names(&self.folder);
        let count = |start: &str| {
            all.iter().filter(|name| name.starts_with(start) && name.ends_with(".bin")).count()
        };
        [count("start-"), count("chain-"), count("met-")]
    }

    /// The run is over and its result is safe: remove the folder. What others put there stays.
    pub fn remove(self) {
        let own = |name: &String| {
            ["start-", "chain-", "met-"].iter().any(|start| name.starts_with(start))
                && name.ends_with(".bin")
        };
        // What cannot be removed is found whole by the next run, and removed by it.
        for name in names(&self.folder).iter().filter(|name| own(name)) {
            let _ = fs::remove_file(self.folder.join(name));
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
                (self.trouble.warn)(&problem);
                None
            }
        }
    }

    fn write(&self, kind: &str, number: usize, words: impl Iterator<Item = u64>) -> bool {
        let done = file::write(&self.path(kind, number), self.sum, kind, number, words);
        if let Err(e) = &done {
            self.trouble.fail(e);
        }
        done.is_ok()
    }
}

/// What went wrong on the way, said to whoever wants to hear it.
struct Trouble {
    warn: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether something could not be written.
    failed: AtomicBool,
}

impl Trouble {
    /// Said once: where one file cannot be written, the next cannot either.
    fn fail(&self, error: &WriteError) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            let rest = "the fit goes on, and its checkpoint stays behind";
            (self.warn)(&format!("warning: {error}; {rest}"));
        }
    }
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
        if self.write("chain", chain, file::chain_words(draws)) {
            // What led to the draws is of no more use; only room is lost if it stays.
            let _ = fs::remove_file(self.path("met", chain));
        }
    }

    fn met(&self, chain: usize, dim: usize) -> Option<Box<dyn Met>> {
        let path = self.path("met", chain);
        Some(Box::new(met::Journal::open(&path, self.sum, chain, dim, self.trouble.clone())))
    }
}

/// Whether a name is left where a run was killed as it made or removed its folder.
fn passing(name: &str) -> bool {
    name == LOCK || is_temporary(name)
}
