//! Stands in for the reader and the writer of Parquet in a build without them.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{Table, TableError, Texts, Wanted};
use crate::atomic::WriteError;

/// Refuses with the cure.
pub(super) fn read(path: &str, _: File, _: &Wanted) -> Result<(Table, Texts), TableError> {
    Err(TableError::NoParquet { path: path.to_owned() })
}

/// Refuses with the cure.
pub(super) fn header(path: &str, _: File) -> Result<Vec<String>, TableError> {
    Err(TableError::NoParquet { path: path.to_owned() })
}

/// Cannot be made.
pub(super) enum ParquetSink {}

impl ParquetSink {
    /// Refuses with the cure.
    pub(super) fn create(path: &Path, _: Texts, _: &[&str]) -> Result<Self, WriteError> {
        let cause = "this build writes no Parquet, another name ends in .csv";
        Err(WriteError::new(path, &io::Error::other(cause)))
    }

    pub(super) fn row(&mut self, _: &[f64]) -> Result<(), WriteError> {
        match *self {}
    }

    pub(super) fn finish(self) -> Result<(), WriteError> {
        match self {}
    }
}
