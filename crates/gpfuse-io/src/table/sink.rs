//! A table written row by row, as CSV or Parquet by the name of the file.

use std::io;
use std::path::Path;

use super::parquet::ParquetSink;
use super::{CsvSink, Texts};
use crate::atomic::WriteError;

/// A table being written; without [`TableSink::finish`] no file appears.
pub struct TableSink(Sink);

enum Sink {
    Csv { out: Box<CsvSink>, kept: Texts, row: usize },
    Parquet(Box<ParquetSink>),
}

impl TableSink {
    /// Opens the file: Parquet for a name in `.parquet`, else CSV (gzip for a name in `.gz`, standard
    /// output for `None` or `-`). Each row begins with what is `kept` of it.
    pub fn create(path: Option<&Path>, kept: Texts, names: &[&str]) -> Result<Self, WriteError> {
        let parquet =
            |path: &&Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
        Ok(Self(match path.filter(parquet) {
            Some(path) => Sink::Parquet(Box::new(ParquetSink::create(path, kept, names)?)),
            None => {
                let all: Vec<&str> =
                    kept.names.iter().map(String::as_str).chain(names.iter().copied()).collect();
                Sink::Csv { out: Box::new(CsvSink::create(path, &all)?), kept, row: 0 }
            }
        }))
    }

    /// Appends one row of numbers to what is kept of it.
    pub fn row(&mut self, values: &[f64]) -> Result<(), WriteError> {
        match &mut self.0 {
            Sink::Parquet(out) => out.row(values),
            Sink::Csv { out, kept, row } => {
                let at = *row;
                let texts = kept.columns.iter().map(|c| c.get(at).map_or("", String::as_str));
                *row += 1;
                out.mixed(texts, values)
            }
        }
    }

    /// Completes the table: only now does the file take its name.
    pub fn finish(self) -> Result<(), WriteError> {
        match self.0 {
            Sink::Csv { out, .. } => out.finish(),
            Sink::Parquet(out) => out.finish(),
        }
    }
}

/// Writes a whole table of equally long columns.
pub fn write_table(
    path: Option<&Path>,
    names: &[&str],
    columns: &[&[f64]],
) -> Result<(), WriteError> {
    let rows = columns.first().map_or(0, |column| column.len());
    if columns.iter().any(|column| column.len() != rows) {
        let path = path.unwrap_or(Path::new("standard output"));
        return Err(WriteError::new(path, &io::Error::other("the columns differ in length")));
    }
    let mut sink = TableSink::create(path, Texts::default(), names)?;
    let mut line = Vec::with_capacity(columns.len());
    for row in 0..rows {
        line.clear();
        line.extend(columns.iter().map(|column| column[row]));
        sink.row(&line)?;
    }
    sink.finish()
}
