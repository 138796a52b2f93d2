//! What can be wrong with the folder of a checkpoint, each case with its cure.

use std::io;
use std::path::Path;

use crate::atomic::WriteError;
use crate::claim::ClaimError;
use crate::words::{first_line, show_path};

/// Why the folder of a checkpoint cannot be used.
#[allow(missing_docs)] // The fields are what the message shows.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A file cannot be written: no space, no permission.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file cannot be read.
    #[error("`{path}`: cannot be read ({cause}): check the file and its permissions")]
    Read { path: String, cause: String },
    /// The folder cannot be had.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// There is something else in the folder.
    #[error("`{path}`: holds files but no checkpoint: choose a new or empty folder")]
    Foreign { path: String },
    /// The checkpoint belongs to another run.
    #[error(
        "`{path}` is the checkpoint of another run: {difference}. Give the command of that run \
         again, or choose another folder, or remove this one"
    )]
    Other { path: String, difference: String },
}

impl CheckpointError {
    pub(super) fn read(path: &Path, cause: &io::Error) -> CheckpointError {
        let cause = first_line(&cause.to_string());
        CheckpointError::Read { path: show_path(path), cause }
    }
}
