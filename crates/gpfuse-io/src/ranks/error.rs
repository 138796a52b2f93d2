//! What can be wrong with the folder of a calibration study, each case with its cure.

use crate::ledger::LedgerError;

/// Why the folder of a calibration study cannot be read or written.
#[allow(missing_docs)] // The fields are what the message shows.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// The folder or a file of it cannot be read, written or locked.
    #[error(transparent)]
    Folder(#[from] LedgerError),
    /// There are ranks without their settings.
    #[error(
        "`{path}`: has a `ranks.csv` but no `settings.toml`: put that back, or choose another \
         folder"
    )]
    NoSettings { path: String },
    /// The settings are no TOML.
    #[error("`{path}`: cannot be understood ({problem}): put it back, or choose another folder")]
    Settings { path: String, problem: String },
    /// A line that cannot be read, and is not the last.
    #[error("`{path}`, line {line}: is no simulation ({problem}): take the line out")]
    Line { path: String, line: usize, problem: String },
    /// The folder belongs to other settings or to another version.
    #[error(
        "`{path}` holds a study with other settings: {difference}. Choose another folder, or go on \
         with the old settings"
    )]
    Other { path: String, difference: String },
}
