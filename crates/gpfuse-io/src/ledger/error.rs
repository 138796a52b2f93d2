//! What can be wrong with the folder of finished work, each case with its cure.

use std::io;
use std::path::Path;

use crate::atomic::WriteError;
use crate::claim::ClaimError;
use crate::model_file::ModelFileError;
use crate::sweep_file::SweepFileError;
use crate::words::{first_line, show_path};

/// Why the folder of a sweep or of a calibration study cannot be read or written.
#[allow(missing_docs)] // The fields are what the message shows.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A file cannot be written: no space, no permission.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// What was written is no longer there.
    #[error(
        "`{folder}`: its file `{file}` was removed or replaced while this run wrote to it, and what \
         stood there is lost: put it back if you can, and give the same command again"
    )]
    Gone { folder: String, file: String },
    /// A file cannot be read.
    #[error("`{path}`: cannot be read ({cause}): check the file and its permissions")]
    Read { path: String, cause: String },
    /// The folder cannot be had.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// There is no sweep in the folder.
    #[error("`{path}`: is not the folder of a sweep: it has no `settings.toml`")]
    NoSweep { path: String },
    /// There are results without their settings.
    #[error(
        "`{path}`: has a `{file}` but no `settings.toml`: put that back, or choose another folder"
    )]
    NoSettings { path: String, file: &'static str },
    /// A row that cannot be read, and is not the last.
    #[error("`{path}`, line {line}: cannot be understood ({problem}): take the line out")]
    Row { path: String, line: usize, problem: String },
    /// Two rows of one piece of work.
    #[error("`{path}`, line {line}: is a second row of {called}: take one out")]
    Twice { path: String, line: usize, called: String },
    /// The settings of a sweep cannot be used.
    #[error(transparent)]
    Settings(#[from] SweepFileError),
    /// The settings are no TOML.
    #[error("`{path}`: cannot be understood ({problem}): put it back, or choose another folder")]
    NoToml { path: String, problem: String },
    /// The folder belongs to other settings.
    #[error(
        "`{path}` holds a {name} with other settings: {difference}. Choose another folder, or \
         {again}"
    )]
    Other { path: String, name: &'static str, difference: String, again: String },
    /// The folder belongs to another version.
    #[error(
        "`{path}` holds results of gpfuse {there}, and this is {here}: their numbers may differ. \
         Go on with {there}, or choose another folder"
    )]
    Version { path: String, there: String, here: String },
    /// Parts of different sweeps.
    #[error("`{first}` and `{second}` are parts of different sweeps: {difference}")]
    Parts { first: String, second: String, difference: String },
    /// Parts that disagree about a cell.
    #[error(
        "`{first}` and `{second}` disagree about the cell {cell}: {difference}. Take it out of one \
         of the two `ledger.jsonl`, and find out which machine is wrong"
    )]
    Disagree { first: String, second: String, cell: String, difference: String },
    /// A model cannot be written.
    #[error(transparent)]
    Model(#[from] ModelFileError),
}

impl LedgerError {
    pub(crate) fn read(path: &Path, cause: &io::Error) -> LedgerError {
        let cause = first_line(&cause.to_string());
        LedgerError::Read { path: show_path(path), cause }
    }

    pub(super) fn gone(path: &Path) -> LedgerError {
        let folder = path.parent().map_or_else(String::new, show_path);
        let file = path.file_name().map_or_else(String::new, |file| show_path(Path::new(file)));
        LedgerError::Gone { folder, file }
    }

    pub(crate) fn write(path: &Path, cause: &io::Error) -> LedgerError {
        LedgerError::Write(WriteError::new(path, cause))
    }
}
