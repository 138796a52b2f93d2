//! Rows in a file that only grows: a line each, brought to the disk as it is written.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{LedgerError, Work};
use crate::atomic::sync_folder;
use crate::claim::is_at;
use crate::words::{in_one_line, show_path};

/// What a file of rows holds.
pub(super) struct Lines<R> {
    /// The rows, in their order.
    pub(super) rows: Vec<R>,
    /// The length of the lines that they are in, in bytes.
    pub(super) whole: u64,
    /// Whether a last line was cut short.
    pub(super) half: bool,
}

/// Read a file of rows, which need not be there. A last line that is half written is left out.
pub(super) fn read<W: Work>(path: &Path, work: &W) -> Result<Lines<W::Row>, LedgerError> {
    let bytes = match std::fs::read(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
        other => other.map_err(|e| LedgerError::read(path, &e))?,
    };
    let header = work.header();
    let mut out = Lines { rows: Vec::new(), whole: 0, half: false };
    let mut known = HashSet::new();
    for (i, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let last = out.whole + line.len() as u64 == bytes.len() as u64;
        let broken = |problem: String| LedgerError::Row {
            path: show_path(path),
            line: i + 1,
            problem: in_one_line(&problem),
        };
        if !line.ends_with(b"\n") {
            out.half = true;
            break;
        }
        if i == 0 && !header.is_empty() {
            if line != header {
                return Err(broken("its columns are others".into()));
            }
        } else {
            match work.read(line) {
                Ok(row) if !known.insert(W::key(&row)) => {
                    let (path, called) = (show_path(path), in_one_line(&W::called(&row)));
                    return Err(LedgerError::Twice { path, line: i + 1, called });
                }
                Ok(row) => out.rows.push(row),
                Err(_) if last => {
                    out.half = true;
                    break;
                }
                Err(problem) => return Err(broken(problem)),
            }
        }
        out.whole += line.len() as u64;
    }
    Ok(out)
}

/// A file of lines, open to grow.
pub(super) struct Log {
    file: File,
    pub(super) path: PathBuf,
    length: u64,
}

impl Log {
    /// Open for more lines after the first `whole` bytes; with `half`, what follows them is cut off.
    pub(super) fn open(path: &Path, whole: u64, half: bool) -> Result<Log, LedgerError> {
        let fail = |e: std::io::Error| LedgerError::write(path, &e);
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail)?;
        // The lines are lost if the name of their new file does not reach the disk.
        sync_folder(path);
        if half {
            file.set_len(whole).and_then(|()| file.sync_all()).map_err(fail)?;
        }
        Ok(Log { file, path: path.into(), length: whole })
    }

    /// Append a line, its end included, and bring it to the disk. After an error the file is as it
    /// was before.
    pub(super) fn append(&mut self, line: &[u8]) -> Result<(), LedgerError> {
        if let Err(e) = self.file.write_all(line).and_then(|()| self.file.sync_data()) {
            // If this fails too, the file is cut when it is opened the next time.
            let _ = self.file.set_len(self.length);
            return Err(LedgerError::write(&self.path, &e));
        }
        // Writing to a removed file succeeds, and its lines are lost when it is closed: look for it.
        if !is_at(&self.file, &self.path) {
            return Err(LedgerError::gone(&self.path));
        }
        self.length += line.len() as u64;
        Ok(())
    }
}
