//! A folder for one writer.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;

use crate::atomic::WriteError;
use crate::guard::first_line;

/// The file that the writer holds.
pub(crate) const LOCK: &str = "lock";

/// Why a folder cannot be had.
#[allow(missing_docs)] // The fields are what the message shows.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// The folder cannot be made.
    #[error("cannot make the folder `{path}` ({cause}): choose another place")]
    NoFolder { path: String, cause: String },
    /// Its lock cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Another process writes there.
    #[error(
        "`{path}`: another gpfuse is at work in this folder: wait until it ends, or choose \
         another folder"
    )]
    Busy { path: String },
    /// The file system has no locks.
    #[error("`{path}`: cannot be locked ({cause}): choose a folder on another file system")]
    NoLock { path: String, cause: String },
}

/// Make a folder, lock it against other writers for as long as the result lives, and clear it of
/// what a writer that was killed left.
pub(crate) fn claim(folder: &Path) -> Result<File, ClaimError> {
    loop {
        make(folder)?;
        let lock = lock(folder)?;
        // A writer that ended in between may have removed the file that is locked now.
        if is_at(&lock, &folder.join(LOCK)) {
            remove_leftovers(folder);
            return Ok(lock);
        }
    }
}

/// Make a folder, where there is none.
pub(crate) fn make(folder: &Path) -> Result<(), ClaimError> {
    fs::create_dir_all(folder).map_err(|e| ClaimError::NoFolder {
        path: folder.display().to_string(),
        cause: first_line(&e.to_string()),
    })
}

fn lock(folder: &Path) -> Result<File, ClaimError> {
    let path = folder.join(LOCK);
    let open = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
    let file = open.map_err(|e| WriteError::new(&path, &e))?;
    let path = folder.display().to_string();
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ClaimError::Busy { path }),
        Err(TryLockError::Error(e)) => {
            Err(ClaimError::NoLock { path, cause: first_line(&e.to_string()) })
        }
    }
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = |data: &fs::Metadata| (data.dev(), data.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if own(&a) == own(&b))
}

/// An open file cannot be removed here.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Remove the temporary files of a writer that was killed.
pub(crate) fn remove_leftovers(folder: &Path) {
    for name in names(folder).iter().filter(|name| is_temporary(name)) {
        // Only room is lost if it stays.
        let _ = fs::remove_file(folder.join(name));
    }
}

/// The names in a folder; none where it cannot be read.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether a file is one that was being written.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(".gpfuse-") && name.ends_with(".tmp")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// As by a writer that ends while the next one waits at the door.
    #[test]
    fn a_lock_that_was_removed_locks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let first = claim(&path).unwrap();
        assert!(matches!(claim(&path), Err(ClaimError::Busy { .. })));
        fs::remove_dir_all(&path).unwrap();
        assert!(!is_at(&first, &path.join(LOCK)));
        let second = claim(&path).unwrap();
        assert!(is_at(&second, &path.join(LOCK)));
        assert!(matches!(claim(&path), Err(ClaimError::Busy { .. })));
    }
}
