//! Joins parts of one sweep.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpfuse::sweep::{Finished, Key};
use serde_json::Value;

use super::sweep::{DATA, MODELS};
use super::{Cells, Folder, Ledger, LedgerError};
use crate::sweep_file::difference;
use crate::words::{in_one_line, show, show_path};

/// Join the parts of a sweep in the folder `out`, which may hold a part already.
///
/// # Errors
/// If the parts are of different settings or versions, or disagree about a cell; `out` is then as
/// it was.
pub fn merge(parts: &[PathBuf], out: &Path) -> Result<Ledger<Cells>, LedgerError> {
    let folders = parts.iter().map(|p| Folder::read(p)).collect::<Result<Vec<Folder>, _>>()?;
    let Some(first) = folders.first() else {
        return Err(LedgerError::NoSweep { path: show_path(out) });
    };
    for other in &folders[1..] {
        let found = match first.version == other.version {
            true => difference(&first.file, &other.file),
            false => Some(format!(
                "`version` is \"{}\" there and \"{}\" here",
                show(&first.version),
                show(&other.version)
            )),
        };
        if let Some(difference) = found {
            let name = |folder: &Folder| show_path(&folder.path);
            let (first, second) = (name(first), name(other));
            return Err(LedgerError::Parts { first, second, difference });
        }
    }
    let mut known: BTreeMap<&Key, (&Path, &Finished)> = BTreeMap::new();
    for folder in &folders {
        for row in &folder.rows {
            let (path, other) = known.entry(&row.key).or_insert((&folder.path, row));
            agree(path, other, &folder.path, row)?;
        }
    }
    let mut ledger = Ledger::open(out, Cells, &first.file)?;
    for row in ledger.rows() {
        if let Some((path, other)) = known.remove(&row.key) {
            agree(out, row, path, other)?;
        }
    }
    for folder in &folders {
        for path in folder.data.values() {
            ledger.copy(path, DATA)?;
        }
        for path in folder.models.values() {
            ledger.copy(path, MODELS)?;
        }
    }
    for (_, row) in known.into_values() {
        ledger.record(row.clone())?;
    }
    Ok(ledger)
}

/// Two rows of one cell must be equal but for the seconds.
fn agree(
    first: &Path,
    there: &Finished,
    second: &Path,
    here: &Finished,
) -> Result<(), LedgerError> {
    let same = |row: &Finished| Finished { fit_seconds: 0.0, predict_seconds: 0.0, ..row.clone() };
    if same(there) == same(here) {
        return Ok(());
    }
    let fields = |row: &Finished| match serde_json::to_value(same(row)) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (a, b) = (fields(there), fields(here));
    let column = a.keys().find(|name| a.get(*name) != b.get(*name)).cloned().unwrap_or_default();
    let value = |of: &serde_json::Map<String, Value>| {
        of.get(&column).map_or("missing".into(), |value| in_one_line(&value.to_string()))
    };
    Err(LedgerError::Disagree {
        first: show_path(first),
        second: show_path(second),
        cell: in_one_line(&there.key.to_string()),
        difference: format!("`{column}` is {} and {}", value(&a), value(&b)),
    })
}
