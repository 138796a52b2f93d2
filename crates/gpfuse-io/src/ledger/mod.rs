//! A folder of finished work: its settings, and one durable line for each piece that is finished.
//!
//! ```text
//! settings.toml   all that the work was told, and the version; written first
//! ledger.jsonl    a finished piece per line, brought to the disk before the next step
//! lock            held by the process that writes
//! ```
//!
//! [`Cells`] are those of a sweep, which has more files beside them:
//!
//! ```text
//! results.csv     the rows sorted, without the seconds; written at the end
//! data/NAME.csv   the rows of the data, and the test rows of each split
//! models/CELL.nc  the models that are kept
//! ```
//!
//! [`Simulations`] are those of a calibration study, with lines of their own in `ranks.csv`. How many
//! simulations are wanted is no part of the settings: a study can be made longer.

mod error;
mod log;
mod merge;
mod results;
mod simulations;
#[cfg(test)]
mod simulations_tests;
mod sweep;
#[cfg(test)]
mod tests;
mod work;

use std::fs::File;
use std::path::{Path, PathBuf};

pub use error::LedgerError;
pub use merge::merge;
pub use simulations::Simulations;
pub use sweep::{Cells, Folder};
pub use work::Work;

use self::log::{Lines, Log};
use self::work::{same, settings, write_settings};
use crate::atomic::make_folder;
use crate::claim::{claim, remove_leftovers};
use crate::words::show_path;

/// The settings.
const SETTINGS: &str = "settings.toml";

/// A folder that is being written, locked against others.
pub struct Ledger<W: Work> {
    folder: PathBuf,
    work: W,
    rows: Vec<W::Row>,
    log: Log,
    /// A half-written row was found and cut off.
    cut: bool,
    // Holding it is its use.
    _lock: File,
}

impl<W: Work> Ledger<W> {
    /// Open or make the folder of some work.
    ///
    /// # Errors
    /// If another process writes there, or it holds work with other settings or of another version.
    pub fn open(folder: &Path, work: W, told: &W::Settings) -> Result<Ledger<W>, LedgerError> {
        let lock = claim(folder)?;
        let path = folder.join(W::FILE);
        match settings::<W>(folder)? {
            Some((_, there)) => same::<W>(folder, &there, told)?,
            None if path.exists() => {
                let file = W::FILE;
                return Err(LedgerError::NoSettings { path: show_path(folder), file });
            }
            None => write_settings::<W>(folder, told)?,
        }
        for part in W::FOLDERS {
            let path = folder.join(part);
            make_folder(&path).map_err(|e| LedgerError::write(&path, &e))?;
            remove_leftovers(&path);
        }
        let Lines { rows, whole, half } = log::read(&path, &work)?;
        let mut log = Log::open(&path, whole, half)?;
        if whole == 0 && !work.header().is_empty() {
            log.append(&work.header())?;
        }
        Ok(Ledger { folder: folder.into(), work, rows, log, cut: half, _lock: lock })
    }

    /// What is finished, in the order in which it was recorded.
    pub fn rows(&self) -> &[W::Row] {
        &self.rows
    }

    /// The file of the rows.
    pub fn path(&self) -> &Path {
        &self.log.path
    }

    /// Whether a half-written row was found, which is cut off: that piece of work is done again.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// Record a finished piece: when this returns, it is on the disk.
    pub fn record(&mut self, row: W::Row) -> Result<(), LedgerError> {
        self.log.append(&self.work.write(&row))?;
        self.rows.push(row);
        Ok(())
    }
}

/// What is finished in a folder, which may be written meanwhile; nothing where it is not there.
pub fn rows<W: Work>(folder: &Path, work: &W) -> Result<Vec<W::Row>, LedgerError> {
    Ok(log::read(&folder.join(W::FILE), work)?.rows)
}
