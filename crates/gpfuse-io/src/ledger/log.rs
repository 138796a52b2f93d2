//! The rows of a sweep in a file that only grows: a line each, brought to the disk as it is
//! written.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use gpfuse::sweep::Finished;

use super::LedgerError;
use crate::atomic::sync_folder;
use crate::claim::is_at;
use crate::words::{first_line, in_one_line, show_path};

/// What a file of rows holds.
pub(super) struct Rows {
    /// The rows, in their order.
    pub(super) rows: Vec<Finished>,
    /// The length of the lines that they are in, in bytes.
    whole: u64,
    /// Whether a last line was cut short.
    pub(super) half: bool,
}

/// Read a file of rows, which need not be there. A last line that is half written is left out.
pub(super) fn read(path: &Path) -> Result<Rows, LedgerError> {
    let bytes = match std::fs::read(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
        other => other.map_err(|e| LedgerError::read(path, &e))?,
    };
    let name = || show_path(path);
    let mut out = Rows { rows: Vec::new(), whole: 0, half: false };
    let mut known = HashSet::new();
    for (i, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let last = out.whole + line.len() as u64 == bytes.len() as u64;
        if !line.ends_with(b"\n") {
            out.half = true;
            break;
        }
        match serde_json::from_slice::<Finished>(line) {
            Ok(row) => {
                if !known.insert(row.key.clone()) {
                    let (path, cell) = (name(), in_one_line(&row.key.to_string()));
                    return Err(LedgerError::Twice { path, line: i + 1, cell });
                }
                out.rows.push(row);
                out.whole += line.len() as u64;
            }
            Err(_) if last => out.half = true,
            Err(e) => {
                let problem = first_line(&e.to_string());
                return Err(LedgerError::Row { path: name(), line: i + 1, problem });
            }
        }
    }
    Ok(out)
}

/// A file of lines, open to grow.
pub(crate) struct Log {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Log {
    /// Open for more rows after those that were read; what is left of a half row is cut off.
    pub(super) fn open(path: &Path, rows: &Rows) -> Result<Log, LedgerError> {
        Log::after(path, rows.whole, rows.half)
    }

    /// Open for more lines after the first `whole` bytes; with `half`, what follows them is cut off.
    pub(crate) fn after(path: &Path, whole: u64, half: bool) -> Result<Log, LedgerError> {
        let fail = |e: std::io::Error| LedgerError::write(path, &e);
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail)?;
        // Lines on the disk are lost all the same if the name of their file is not there.
        sync_folder(path);
        if half {
            file.set_len(whole).and_then(|()| file.sync_all()).map_err(fail)?;
        }
        Ok(Log { file, path: path.into(), length: whole })
    }

    /// Append a row and bring it to the disk. After an error the file is as it was before.
    pub(super) fn append(&mut self, row: &Finished) -> Result<(), LedgerError> {
        let fail = |e: std::io::Error| LedgerError::write(&self.path, &e);
        let mut line = serde_json::to_vec(row).map_err(|e| fail(e.into()))?;
        line.push(b'\n');
        self.line(&line)
    }

    /// Append a line, its end included, and bring it to the disk. After an error the file is as it
    /// was before.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<(), LedgerError> {
        let fail = |e: std::io::Error| LedgerError::write(&self.path, &e);
        if let Err(e) = self.file.write_all(line).and_then(|()| self.file.sync_data()) {
            // Should this fail as well, the next to open the file cuts it.
            let _ = self.file.set_len(self.length);
            return Err(fail(e));
        }
        // The system takes lines for a removed file as well, and drops them with it at the end.
        if !is_at(&self.file, &self.path) {
            return Err(LedgerError::gone(&self.path));
        }
        self.length += line.len() as u64;
        Ok(())
    }
}
