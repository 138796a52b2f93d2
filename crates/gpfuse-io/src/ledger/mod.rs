//! The folder of a sweep: its settings, one durable row for each finished cell, data and models.
//!
//! ```text
//! settings.toml   all that the sweep was told, and the version; written first
//! ledger.jsonl    a finished cell per line, each brought to the disk before the next step
//! lock            held by the process that writes
//! results.csv     the rows sorted, without the seconds; written at the end
//! data/NAME.csv   the rows of the data, and the test rows of each split
//! models/CELL.nc  the models that are kept
//! ```

mod error;
mod folder;
mod log;
mod merge;
mod results;
#[cfg(test)]
mod tests;
mod write;

pub use error::LedgerError;
pub use folder::Folder;
pub(crate) use log::Log;
pub use merge::merge;
pub use write::Ledger;

/// The settings.
const SETTINGS: &str = "settings.toml";
/// The rows.
const ROWS: &str = "ledger.jsonl";
/// The sorted table.
const RESULTS: &str = "results.csv";
/// The folder of the data.
const DATA: &str = "data";
/// The folder of the models.
const MODELS: &str = "models";
