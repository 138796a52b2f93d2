//! A folder for one writer.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::atomic::{WriteError, make_folder};
use crate::words::{first_line, show_path};

/// The file that the writer holds.
pub(crate) const LOCK: &str = "lock";

/// How often a folder is asked for that another writer may be removing.
const TRIES: usize = 100;

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);

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
    let mut tries = 1;
    loop {
        match attempt(folder) {
            Ok(lock) => {
                remove_leftovers(folder);
                return Ok(lock);
            }
            Err(refusal) if tries == TRIES || !refusal.passing => return Err(refusal.error),
            Err(_) => sleep(PAUSE),
        }
        tries += 1;
    }
}

/// Why one try failed.
struct Refusal {
    error: ClaimError,
    /// Whether it can be the work of a writer that ends meanwhile, and removes the folder.
    passing: bool,
}

fn attempt(folder: &Path) -> Result<File, Refusal> {
    let name = || show_path(folder);
    make_folder(folder).map_err(|e| Refusal {
        error: ClaimError::NoFolder { path: name(), cause: first_line(&e.to_string()) },
        passing: passing(e.kind()) && !in_the_way(folder),
    })?;
    let path = folder.join(LOCK);
    let open = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
    let file = open.map_err(|e| Refusal {
        error: WriteError::new(&path, &e).into(),
        passing: passing(e.kind()),
    })?;
    let no_lock = |cause: &str| ClaimError::NoLock { path: name(), cause: cause.into() };
    let lasting = |error| Refusal { error, passing: false };
    match file.try_lock() {
        // Another file than the locked one is there, or none: a writer ended in between.
        Ok(()) if !is_at(&file, &path) => {
            let error = no_lock("its lock is another file whenever it is looked at");
            Err(Refusal { error, passing: true })
        }
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(lasting(ClaimError::Busy { path: name() })),
        Err(TryLockError::Error(e)) => Err(lasting(no_lock(&first_line(&e.to_string())))),
    }
}

/// The error for a folder that is removed, or removed and made again, while it is opened.
fn passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::AlreadyExists)
}

/// Whether something that is no folder has the place of a folder.
fn in_the_way(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|data| !data.is_dir())
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |data: &fs::Metadata| (data.dev(), data.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if identity(&a) == identity(&b))
}

/// Whether there is a file at a path. Whether it is the open one cannot be told on this system: where
/// it was removed and another took its place at once, that is not noticed, and of two writers that
/// wait for the end of a third both may go on.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Remove the temporary files of writers that were killed: one that is at work holds its own locked,
/// and need not be the writer of this folder.
pub(crate) fn remove_leftovers(folder: &Path) {
    for name in names(folder).iter().filter(|name| is_temporary(name)) {
        let path = folder.join(name);
        // The lock is held until the file is gone, so that a writer that has just made it notices.
        if let Ok(file) = File::open(&path)
            && file.try_lock_shared().is_ok()
        {
            // If it stays, it only takes room.
            let _ = fs::remove_file(&path);
        }
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
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::atomic::AtomicFile;

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

    /// As by a table that is written into the folder of a sweep, beside what a killed writer left.
    #[test]
    fn a_file_that_is_being_written_is_no_leftover() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let left = folder.path().join(".gpfuse-left.tmp");
        fs::write(&left, "").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"one").unwrap();
        let _lock = claim(folder.path()).unwrap();
        assert!(!left.exists());
        file.write_all(b" two").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one two");
    }

    /// A file is not lost either where it is cleared away before its writer has locked it.
    #[test]
    fn files_are_made_while_the_folder_is_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let over = AtomicBool::new(false);
        let made = |_| {
            let _file = AtomicFile::create(&folder.path().join("a")).unwrap();
            names(folder.path()).iter().any(|name| is_temporary(name))
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    remove_leftovers(folder.path());
                }
            });
            let all = (0..2000).all(made);
            over.store(true, Ordering::Relaxed);
            assert!(all, "a file is gone");
        });
        assert!(names(folder.path()).is_empty());
    }

    /// A link to nowhere can be opened by nobody, as a folder that comes and goes for ever.
    #[test]
    fn what_never_comes_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let link = |name: &str| std::os::unix::fs::symlink("no/where", folder.path().join(name));
        link("a").unwrap();
        assert!(matches!(claim(&folder.path().join("a")), Err(ClaimError::NoFolder { .. })));
        link(LOCK).unwrap();
        assert!(matches!(claim(folder.path()), Err(ClaimError::Write(_))));
    }

    /// Two threads claim and remove one folder: each claim is had, or refused as that of another.
    #[test]
    fn a_folder_that_comes_and_goes_is_had_or_busy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let work = || {
            for _ in 0..300 {
                match claim(&path) {
                    Ok(_lock) => {
                        fs::remove_file(path.join(LOCK)).unwrap();
                        // Not where the other has its lock there already.
                        let _ = fs::remove_dir(&path);
                    }
                    Err(ClaimError::Busy { .. }) => (),
                    Err(other) => panic!("{other}"),
                }
            }
        };
        std::thread::scope(|scope| {
            let both = [scope.spawn(work), scope.spawn(work)];
            both.into_iter().for_each(|one| one.join().unwrap());
        });
    }
}
