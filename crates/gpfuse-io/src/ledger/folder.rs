//! The folder of a sweep as a reader sees it, finished or not.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gpfuse::sweep::{Finished, Key};

use super::{DATA, LedgerError, MODELS, ROWS, SETTINGS, log};
use crate::sweep_file::SweepFile;
use crate::words::show_path;

/// What is in the folder of a sweep. Reading takes no lock: a sweep may be running.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
    /// The settings, as text.
    pub settings: String,
    /// The settings.
    pub file: SweepFile,
    /// The version of gpfuse that runs the sweep.
    pub version: String,
    /// The finished cells, sorted by their keys.
    pub rows: Vec<Finished>,
    /// The tables of the data, by their names: inputs, target, and for each split a column
    /// `test0`, `test1`, ... that is 1 at its test rows.
    pub data: BTreeMap<String, PathBuf>,
    /// The model files that were kept and are there.
    pub models: BTreeMap<Key, PathBuf>,
}

impl Folder {
    /// Read a folder.
    pub fn read(path: &Path) -> Result<Folder, LedgerError> {
        let (settings, file) =
            settings(path)?.ok_or_else(|| LedgerError::NoSweep { path: show_path(path) })?;
        let mut rows = log::read(&path.join(ROWS))?.rows;
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        let table = |name: &String| path.join(DATA).join(format!("{name}.csv"));
        let data = file.data.keys().map(|name| (name.clone(), table(name)));
        let data = data.filter(|(_, path)| path.is_file()).collect();
        let models = file.keep.iter().map(|keep| (keep.key(), model(path, &keep.key())));
        let models = models.filter(|(_, path)| path.is_file()).collect();
        let version = file.version.clone().unwrap_or_default();
        Ok(Folder { path: path.into(), settings, file, version, rows, data, models })
    }

    /// The cells that are not finished, sorted.
    pub fn missing(&self) -> Vec<Key> {
        let mut keys = self.file.keys();
        keys.retain(|key| self.row(key).is_none());
        keys
    }

    /// The row of a cell.
    pub fn row(&self, key: &Key) -> Option<&Finished> {
        let at = self.rows.binary_search_by(|row| row.key.cmp(key)).ok()?;
        self.rows.get(at)
    }
}

/// The model file of a cell.
pub(super) fn model(folder: &Path, key: &Key) -> PathBuf {
    folder.join(MODELS).join(format!("{}.nc", key.slug()))
}

/// The settings of a folder as text and as they are, if it has any.
pub(super) fn settings(folder: &Path) -> Result<Option<(String, SweepFile)>, LedgerError> {
    let path = folder.join(SETTINGS);
    let text = match std::fs::read_to_string(&path) {
        // A file in the place of the folder holds no sweep either.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        other => other.map_err(|e| LedgerError::read(&path, &e))?,
    };
    let file = SweepFile::parse(&text, &path)?;
    Ok(Some((text, file)))
}
