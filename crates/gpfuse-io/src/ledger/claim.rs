//! A folder for one writer.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;

use super::{LOCK, LedgerError};
use crate::guard::first_line;

/// Make a folder, lock it against other writers for as long as the result lives, and clear it of
/// what a writer that was killed left.
pub(crate) fn claim(folder: &Path) -> Result<File, LedgerError> {
    fs::create_dir_all(folder).map_err(|e| LedgerError::NoFolder {
        path: folder.display().to_string(),
        cause: first_line(&e.to_string()),
    })?;
    let lock = lock(folder)?;
    remove_leftovers(folder);
    Ok(lock)
}

fn lock(folder: &Path) -> Result<File, LedgerError> {
    let path = folder.join(LOCK);
    let open = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
    let file = open.map_err(|e| LedgerError::write(&path, &e))?;
    let path = folder.display().to_string();
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LedgerError::Busy { path }),
        Err(TryLockError::Error(e)) => {
            Err(LedgerError::NoLock { path, cause: first_line(&e.to_string()) })
        }
    }
}

/// Temporary files of a writer that was killed.
pub(super) fn remove_leftovers(folder: &Path) {
    let Ok(all) = fs::read_dir(folder) else { return };
    for entry in all.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(".gpfuse-") && name.ends_with(".tmp") {
            // Only room is lost if it stays.
            let _ = fs::remove_file(entry.path());
        }
    }
}
