//! Stands in for the Parquet reader in a build without it.

use std::fs::File;

use super::{Table, TableError};

/// Refuses with the cure.
pub(super) fn read(path: &str, _: File, _: Option<&[&str]>) -> Result<Table, TableError> {
    Err(TableError::NoParquet { path: path.to_owned() })
}

/// Refuses with the cure.
pub(super) fn header(path: &str, _: File) -> Result<Vec<String>, TableError> {
    Err(TableError::NoParquet { path: path.to_owned() })
}
