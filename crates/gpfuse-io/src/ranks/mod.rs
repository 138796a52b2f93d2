//! The folder of a calibration study: its settings and one durable line for each simulation.
//!
//! ```text
//! settings.toml   all that the study was told, and the version; written first
//! ranks.csv       a simulation per line, brought to the disk as it ends
//! lock            held by the process that writes
//! ```
//!
//! How many simulations are wanted is no part of the settings: a study can be made longer.

mod error;
mod line;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gpfuse::calibrate::{Settings, Simulation};
use toml::Table;

pub use error::RanksError;

use crate::atomic::atomic_write;
use crate::claim::claim;
use crate::ledger::{LedgerError, Log};
use crate::sweep_file::tables;
use crate::words::{in_one_line, show_path};

const SETTINGS: &str = "settings.toml";
const RANKS: &str = "ranks.csv";

/// The name of the version among the settings.
const VERSION: &str = "version";

/// What stands above the settings.
const HEAD: &str = "# The settings of this calibration study, as used.\n\n";

/// A folder that is being written, locked against others.
pub struct RankLedger {
    rows: Vec<Simulation>,
    log: Log,
    path: PathBuf,
    cut: bool,
    // Holding it is its use.
    _lock: File,
}

impl RankLedger {
    /// Open or make the folder of a study with quantities `names`, run by a version of gpfuse.
    ///
    /// # Errors
    /// If another process writes there, or it holds a study with other settings or of another
    /// version.
    pub fn open(
        folder: &Path,
        settings: &Settings,
        names: &[String],
        version: &str,
    ) -> Result<RankLedger, RanksError> {
        let lock = claim(folder).map_err(LedgerError::from)?;
        let (told, path) = (folder.join(SETTINGS), folder.join(RANKS));
        let mut here = table(settings, &told)?;
        here.insert(VERSION.into(), version.into());
        match read(&told)? {
            Some(there) => same(folder, &there, &here)?,
            None if path.exists() => {
                return Err(RanksError::NoSettings { path: show_path(folder) });
            }
            None => {
                atomic_write(&told, |out| write!(out, "{HEAD}{here}")).map_err(LedgerError::from)?
            }
        }
        let found = rows(&path, &contents(&path)?, names)?;
        let mut log = Log::after(&path, found.whole, found.half)?;
        if found.whole == 0 {
            log.line(&line::header(names))?;
        }
        Ok(RankLedger { rows: found.rows, log, path, cut: found.half, _lock: lock })
    }

    /// The simulations that are there, in the order in which they ended.
    pub fn rows(&self) -> &[Simulation] {
        &self.rows
    }

    /// Whether a half-written line was found, which is cut off: its simulation runs again.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// The file of the ranks.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Record a simulation: when this returns, it is on the disk.
    pub fn record(&mut self, row: Simulation) -> Result<(), RanksError> {
        self.log.line(&line::write(&row))?;
        self.rows.push(row);
        Ok(())
    }
}

/// Refuse a folder whose study was told other settings; its version may be another.
pub fn told(folder: &Path, settings: &Settings) -> Result<(), RanksError> {
    let path = folder.join(SETTINGS);
    let here = table(settings, &path)?;
    let Some(mut there) = read(&path)? else {
        return Err(RanksError::NoSettings { path: show_path(folder) });
    };
    there.remove(VERSION);
    same(folder, &there, &here)
}

/// The settings as they are written.
fn table(settings: &Settings, path: &Path) -> Result<Table, RanksError> {
    let failed = |e| LedgerError::write(path, &std::io::Error::other(e));
    Ok(Table::try_from(settings).map_err(failed)?)
}

/// The simulations in the folder of a study with quantities `names`, which may be written meanwhile;
/// none where there is no such folder.
pub fn simulations(folder: &Path, names: &[String]) -> Result<Vec<Simulation>, RanksError> {
    let path = folder.join(RANKS);
    Ok(rows(&path, &contents(&path)?, names)?.rows)
}

/// The bytes of a file of ranks; none where it is not there.
fn contents(path: &Path) -> Result<Vec<u8>, RanksError> {
    match fs::read(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        other => Ok(other.map_err(|e| LedgerError::read(path, &e))?),
    }
}

/// What a file of ranks holds.
struct Rows {
    rows: Vec<Simulation>,
    /// The length of the whole lines, in bytes.
    whole: u64,
    /// Whether a last line was cut short.
    half: bool,
}

/// The lines of a file of ranks; a last one that is half written is left out.
fn rows(path: &Path, bytes: &[u8], names: &[String]) -> Result<Rows, RanksError> {
    let fail = |line: usize, problem: String| {
        Err(RanksError::Line { path: show_path(path), line, problem })
    };
    // No line is shorter than nine bytes, so that this is in proportion to them.
    let lines = bytes.iter().filter(|b| **b == b'\n').count().min(bytes.len() / 9);
    let mut out = Rows { rows: Vec::with_capacity(lines), whole: 0, half: false };
    let mut known = HashSet::new();
    for (i, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        if !line.ends_with(b"\n") {
            out.half = true;
            break;
        }
        if i == 0 {
            if line != line::header(names).as_slice() {
                return fail(1, "its columns are not those of this study".into());
            }
        } else {
            match line::read(line, names.len()) {
                Ok(row) if !known.insert(row.number) => {
                    return fail(i + 1, format!("simulation {} is there already", row.number));
                }
                Ok(row) => out.rows.push(row),
                Err(problem) => return fail(i + 1, problem),
            }
        }
        out.whole += line.len() as u64;
    }
    Ok(out)
}

/// The settings that a folder has, if any.
fn read(path: &Path) -> Result<Option<Table>, RanksError> {
    let text = match fs::read_to_string(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| LedgerError::read(path, &e))?,
    };
    let table = text.parse::<Table>().map_err(|e| RanksError::Settings {
        path: show_path(path),
        problem: in_one_line(&e.message().lines().collect::<Vec<_>>().join(", ")),
    })?;
    Ok(Some(table))
}

/// Refuse a folder of other settings or of another version.
fn same(folder: &Path, there: &Table, here: &Table) -> Result<(), RanksError> {
    match tables("", there, here) {
        Some(difference) => Err(RanksError::Other { path: show_path(folder), difference }),
        None => Ok(()),
    }
}
