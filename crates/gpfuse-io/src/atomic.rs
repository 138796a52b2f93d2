//! Writes files whole or not at all: a temporary neighbour, then one rename.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

use crate::words::{first_line, show_path};

/// Why a file could not be written; the target is then as it was before.
#[allow(missing_docs)] // The fields are what the message shows.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The target names a folder.
    #[error("cannot write `{path}`: it is a folder: give a file name")]
    Folder { path: String },
    /// The folder of the target is missing.
    #[error("cannot write `{path}`: folder `{folder}` does not exist: create it first")]
    NoFolder { path: String, folder: String },
    /// The folder or file may not be written.
    #[error("cannot write `{path}`: no permission ({cause}): choose another place")]
    Permission { path: String, cause: String },
    /// No space left.
    #[error("cannot write `{path}`: the disk is full ({cause}): free some space")]
    Full { path: String, cause: String },
    /// Any other failure of the system.
    #[error("cannot write `{path}`: {cause}: check the path and the disk")]
    Other { path: String, cause: String },
}

impl WriteError {
    /// Sorts a system error by its cure.
    pub fn new(path: &Path, cause: &io::Error) -> Self {
        let name = show_path(path);
        let text = first_line(&cause.to_string());
        match cause.kind() {
            ErrorKind::IsADirectory => Self::Folder { path: name },
            ErrorKind::NotFound => Self::NoFolder { path: name, folder: show_path(parent(path)) },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::Permission { path: name, cause: text }
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full { path: name, cause: text }
            }
            _ => Self::Other { path: name, cause: text },
        }
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes the name of a new file durable, as its contents are by their own means; some systems cannot
/// open a folder, so a failure is no reason to call the written file lost.
pub(crate) fn sync_folder(path: &Path) {
    let _ = File::open(parent(path)).and_then(|folder| folder.sync_all());
}

/// Makes a folder and those it lies in, and brings the names of the new ones to the disk: without them
/// a loss of power would take all that is in them.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let named = folder.ancestors().filter(|at| !at.as_os_str().is_empty());
    let new: Vec<&Path> = named.take_while(|at| !at.exists()).collect();
    fs::create_dir_all(folder)?;
    new.into_iter().for_each(sync_folder);
    Ok(())
}

/// Makes a temporary file and locks it for as long as it is open: whoever clears the folder of what
/// killed writers left can tell it by that. Not by `tempfile`, whose files only their owner may read.
fn temporary(at: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).open(at)?;
    match file.try_lock() {
        // Without locks no folder is claimed, and none is cleared.
        Err(TryLockError::Error(_)) => Ok(file),
        Ok(()) if at.exists() => Ok(file),
        // It was taken for a leftover before it was locked; at this answer another name is tried.
        Ok(()) | Err(TryLockError::WouldBlock) => Err(ErrorKind::AlreadyExists.into()),
    }
}

enum Out {
    Temporary(NamedTempFile<File>),
    // Whether it is a device or a pipe, which a rename would replace by a plain file.
    Direct(File),
}

/// A file being written: it takes its name only in [`AtomicFile::commit`], and dropping it
/// before leaves nothing behind.
pub struct AtomicFile {
    out: Out,
    target: PathBuf,
}

impl AtomicFile {
    /// Opens a temporary file next to `path`.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let fail = |cause: io::Error| WriteError::new(path, &cause);
        // A link is followed, so that it goes on pointing at the new contents.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&target).ok();
        if target.file_name().is_none() || old.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(fail(ErrorKind::IsADirectory.into()));
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = OpenOptions::new().write(true).open(&target).map_err(fail)?;
            return Ok(Self { out: Out::Direct(file), target });
        }
        let file = tempfile::Builder::new()
            .prefix(".gpfuse-")
            .suffix(".tmp")
            .make_in(parent(&target), temporary)
            .map_err(fail)?;
        if let Some(old) = old {
            file.as_file().set_permissions(old.permissions()).map_err(fail)?;
        }
        Ok(Self { out: Out::Temporary(file), target })
    }

    /// Brings the contents to the disk and gives the file its name.
    pub fn commit(mut self) -> io::Result<()> {
        self.flush()?;
        if let Out::Temporary(file) = self.out {
            file.as_file().sync_all()?;
            file.persist(&self.target).map_err(|failed| failed.error)?;
            sync_folder(&self.target);
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Out::Temporary(file) => file.as_file_mut().write(bytes),
            Out::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Out::Temporary(file) => file.as_file_mut().flush(),
            Out::Direct(file) => file.flush(),
        }
    }
}

/// Writes `path` through `fill`: the file appears whole, or stays as it was.
pub fn atomic_write(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let fail = |cause: io::Error| WriteError::new(path, &cause);
    let mut out = io::BufWriter::new(AtomicFile::create(path)?);
    fill(&mut out).map_err(fail)?;
    let file = out.into_inner().map_err(|failed| fail(failed.into_error()))?;
    file.commit().map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn replaces_whole_or_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        atomic_write(&path, |out| out.write_all(b"one")).unwrap();
        let failed = atomic_write(&path, |out| {
            out.write_all(b"two")?;
            Err(ErrorKind::StorageFull.into())
        });
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        atomic_write(&path, |out| out.write_all(b"three")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        drop(AtomicFile::create(&path).unwrap());
        assert_eq!(listing(folder.path()), ["a.txt"]);
    }

    #[test]
    fn errors_name_path_and_cure() {
        let folder = tempfile::tempdir().unwrap();
        let text = |path: &Path| {
            let error = atomic_write(path, |out| out.write_all(b"x")).unwrap_err().to_string();
            assert!(error.contains(&format!("`{}`", path.display())), "{error}");
            assert_eq!(error.lines().count(), 1);
            error
        };
        assert!(text(folder.path()).contains("it is a folder"));
        assert!(text(Path::new("/")).contains("it is a folder"));
        assert!(text(&folder.path().join("no/a.txt")).contains("does not exist: create it"));
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(text(&folder.path().join("file/a.txt")).contains("check the path"));
        let denied = WriteError::new(Path::new("a"), &ErrorKind::PermissionDenied.into());
        assert!(denied.to_string().contains("no permission"));
        assert_eq!(listing(folder.path()), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_follow_the_umask_and_the_old_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (plain, ours) = (folder.path().join("plain"), folder.path().join("ours"));
        fs::write(&plain, "").unwrap();
        atomic_write(&ours, |out| out.write_all(b"x")).unwrap();
        assert_eq!(mode(&ours), mode(&plain));
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o640)).unwrap();
        atomic_write(&ours, |out| out.write_all(b"y")).unwrap();
        assert_eq!(mode(&ours), 0o640);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&ours, &link).unwrap();
        atomic_write(&link, |out| out.write_all(b"z")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&ours).unwrap(), b"z");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_directly() {
        atomic_write(Path::new("/dev/null"), |out| out.write_all(b"x")).unwrap();
        let full = atomic_write(Path::new("/dev/full"), |out| out.write_all(b"x")).unwrap_err();
        assert!(full.to_string().contains("the disk is full"), "{full}");
    }
}
