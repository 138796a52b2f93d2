//! The folder of a sweep as its one writer sees it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use gpfuse::Fitted;
use gpfuse::sweep::{Finished, Key};

use super::folder::{model, settings};
use super::log::{self, Log};
use super::{DATA, LedgerError, MODELS, RESULTS, ROWS, SETTINGS, results};
use crate::atomic::{atomic_write, make_folder};
use crate::claim::{claim, remove_leftovers};
use crate::model_file;
use crate::sweep_file::{SweepFile, difference};
use crate::table::write_csv;
use crate::words::{show, show_path};

/// What stands above the settings.
const HEAD: &str =
    "# The settings of this sweep, as used. `gpfuse sweep` takes this file again.\n\n";

/// A folder that is being written, locked against others.
pub struct Ledger {
    folder: PathBuf,
    rows: Vec<Finished>,
    log: Log,
    /// A half-written row was found and cut off.
    cut: bool,
    // Holding it is its use.
    _lock: File,
}

impl Ledger {
    /// Open or make the folder of a sweep.
    ///
    /// # Errors
    /// If another process writes there, or it holds a sweep with other settings or of another
    /// version.
    pub fn open(folder: &Path, file: &SweepFile) -> Result<Ledger, LedgerError> {
        let name = || show_path(folder);
        let lock = claim(folder)?;
        match settings(folder)? {
            Some((_, there)) => same(folder, &there, file)?,
            None if folder.join(ROWS).exists() => {
                return Err(LedgerError::NoSettings { path: name() });
            }
            None => write_settings(folder, file)?,
        }
        for part in [DATA, MODELS] {
            let path = folder.join(part);
            make_folder(&path).map_err(|e| LedgerError::write(&path, &e))?;
            remove_leftovers(&path);
        }
        let path = folder.join(ROWS);
        let found = log::read(&path)?;
        let log = Log::open(&path, &found)?;
        let (rows, cut) = (found.rows, found.half);
        Ok(Ledger { folder: folder.into(), rows, log, cut, _lock: lock })
    }

    /// The finished cells, in the order in which they were recorded.
    pub fn rows(&self) -> &[Finished] {
        &self.rows
    }

    /// Whether a half-written row was found, which is cut off: its cell runs again.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// Record a finished cell: when this returns, it is on the disk.
    pub fn record(&mut self, row: Finished) -> Result<(), LedgerError> {
        self.log.append(&row)?;
        self.rows.push(row);
        Ok(())
    }

    /// Write the rows of a data set, unless they are there.
    pub fn data(&self, name: &str, columns: &[&str], values: &[&[f64]]) -> Result<(), LedgerError> {
        let path = self.folder.join(DATA).join(format!("{name}.csv"));
        if !path.is_file() {
            write_csv(Some(&path), columns, values)?;
        }
        Ok(())
    }

    /// Write the model of a cell. To be done before its row is recorded.
    pub fn keep(&self, key: &Key, fitted: &Fitted) -> Result<(), LedgerError> {
        Ok(model_file::save(&model(&self.folder, key), fitted)?)
    }

    /// Write the sorted table; returns its path.
    pub fn results(&self) -> Result<PathBuf, LedgerError> {
        let path = self.folder.join(RESULTS);
        let mut rows: Vec<&Finished> = self.rows.iter().collect();
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        results::write(&path, &rows)?;
        Ok(path)
    }

    /// Copy a file of another folder to the same place here, unless it is there.
    pub(super) fn copy(&self, from: &Path, part: &str) -> Result<(), LedgerError> {
        let Some(name) = from.file_name() else { return Ok(()) };
        let to = self.folder.join(part).join(name);
        if to.is_file() {
            return Ok(());
        }
        let bytes = fs::read(from).map_err(|e| LedgerError::read(from, &e))?;
        Ok(atomic_write(&to, |out| out.write_all(&bytes))?)
    }
}

/// Refuse a folder of other settings or of another version.
fn same(folder: &Path, there: &SweepFile, here: &SweepFile) -> Result<(), LedgerError> {
    let path = show_path(folder);
    if there.version != here.version {
        let name =
            |file: &SweepFile| file.version.as_deref().map_or("an unknown version".into(), show);
        return Err(LedgerError::Version { path, there: name(there), here: name(here) });
    }
    match difference(there, here) {
        Some(difference) => Err(LedgerError::Other { path, difference }),
        None => Ok(()),
    }
}

fn write_settings(folder: &Path, file: &SweepFile) -> Result<(), LedgerError> {
    let path = folder.join(SETTINGS);
    let text = file.text().map_err(|e| LedgerError::write(&path, &std::io::Error::other(e)))?;
    Ok(atomic_write(&path, |out| write!(out, "{HEAD}{text}"))?)
}
