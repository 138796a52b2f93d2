//! The folder of a sweep: its cells as lines of JSON, its data and its models.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gpfuse::Fitted;
use gpfuse::sweep::{Finished, Key};

use super::{Ledger, LedgerError, Work, results, rows, settings};
use crate::atomic::atomic_write;
use crate::model_file;
use crate::sweep_file::{SweepFile, difference};
use crate::table::write_table;
use crate::words::{first_line, show_path};

/// The sorted table.
const RESULTS: &str = "results.csv";
/// The folder of the data.
pub(super) const DATA: &str = "data";
/// The folder of the models.
pub(super) const MODELS: &str = "models";

/// The cells of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct Cells;

impl Work for Cells {
    type Row = Finished;
    type Key = Key;
    type Settings = SweepFile;

    const NAME: &'static str = "sweep";
    const FILE: &'static str = "ledger.jsonl";
    const FOLDERS: &'static [&'static str] = &[DATA, MODELS];
    const HEAD: &'static str =
        "# The settings of this sweep, as used. `gpfuse sweep` takes this file again.\n\n";

    fn key(row: &Finished) -> Key {
        row.key.clone()
    }

    fn called(row: &Finished) -> String {
        format!("the cell {}", row.key)
    }

    fn write(&self, row: &Finished) -> Vec<u8> {
        // Writing text keys into memory cannot fail.
        let mut line = serde_json::to_vec(row).unwrap_or_default();
        line.push(b'\n');
        line
    }

    fn read(&self, line: &[u8]) -> Result<Finished, String> {
        serde_json::from_slice(line).map_err(|e| first_line(&e.to_string()))
    }

    fn parse(text: &str, path: &Path) -> Result<SweepFile, LedgerError> {
        Ok(SweepFile::parse(text, path)?)
    }

    fn text(settings: &SweepFile) -> Result<String, String> {
        settings.text()
    }

    fn version(settings: &SweepFile) -> Option<&str> {
        settings.version.as_deref()
    }

    fn difference(there: &SweepFile, here: &SweepFile) -> Option<String> {
        difference(there, here)
    }

    fn go_on(folder: &str) -> String {
        format!("go on as it was begun: gpfuse sweep {folder}/settings.toml --out {folder}")
    }
}

impl Ledger<Cells> {
    /// Write the rows of a data set, unless they are there.
    pub fn data(&self, name: &str, columns: &[&str], values: &[&[f64]]) -> Result<(), LedgerError> {
        let path = self.folder.join(DATA).join(format!("{name}.csv"));
        if !path.is_file() {
            write_table(Some(&path), columns, values)?;
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
        let (settings, file) = settings::<Cells>(path)?
            .ok_or_else(|| LedgerError::NoSweep { path: show_path(path) })?;
        let mut rows = rows(path, &Cells)?;
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
fn model(folder: &Path, key: &Key) -> PathBuf {
    folder.join(MODELS).join(format!("{}.nc", key.slug()))
}
