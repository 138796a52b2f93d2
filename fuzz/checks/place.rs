//! A folder in memory for readers that take paths; each process has its own.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let make = || tempfile::Builder::new().prefix("gpfuse-fuzz-").to_owned();
    match make().tempdir_in(memory) {
        Ok(folder) => folder,
        Err(_) => make().tempdir().expect("a folder for files"),
    }
});

/// The path of a file.
pub fn place(name: &str) -> PathBuf {
    FOLDER.path().join(name)
}

/// The path of a file that holds these bytes.
pub fn put(name: &str, bytes: &[u8]) -> PathBuf {
    let path = place(name);
    std::fs::write(&path, bytes).expect("a file in memory");
    path
}
