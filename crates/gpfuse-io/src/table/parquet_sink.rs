//! Writes a Parquet table in groups of rows; the file appears when it is complete.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::Texts;
use crate::atomic::{AtomicFile, WriteError};

/// Rows of a group, which are in memory at one time.
const GROUP: usize = 1 << 16;

/// A Parquet table being written.
pub(super) struct ParquetSink {
    out: SerializedFileWriter<AtomicFile>,
    path: PathBuf,
    kept: Vec<Kept>,
    columns: Vec<Vec<f64>>,
    /// Rows in groups that are written.
    written: usize,
}

/// A kept column, with the type that all its texts have; an empty text is no value.
enum Kept {
    Whole(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    Text(Vec<Option<ByteArray>>),
}

impl Kept {
    fn new(texts: &[String]) -> Kept {
        fn all<T>(texts: &[String], read: impl Fn(&str) -> Option<T>) -> Option<Vec<Option<T>>> {
            let one = |text: &String| match text.as_str() {
                "" => Some(None),
                text => read(text).map(Some),
            };
            texts.iter().map(one).collect()
        }
        // Zeros in front are a part of a name.
        let whole = |text: &str| text.parse::<i64>().ok().filter(|n| n.to_string() == text);
        let plain = |text: &str| {
            let digits = text.trim_start_matches('-');
            !(digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0."))
        };
        let number =
            |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite() && plain(text));
        if texts.iter().all(String::is_empty) {
            return Kept::Text(vec![None; texts.len()]);
        }
        let words = || all(texts, |text| Some(ByteArray::from(text))).unwrap_or_default();
        all(texts, whole)
            .map(Kept::Whole)
            .or_else(|| all(texts, number).map(Kept::Number))
            .unwrap_or_else(|| Kept::Text(words()))
    }

    fn kind(&self) -> (Physical, Option<LogicalType>) {
        match self {
            Kept::Whole(_) => (Physical::INT64, None),
            Kept::Number(_) => (Physical::DOUBLE, None),
            Kept::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        }
    }

    fn write(
        &self,
        column: &mut SerializedColumnWriter<'_>,
        rows: Range<usize>,
    ) -> Result<(), ParquetError> {
        match self {
            Kept::Whole(all) => some::<Int64Type>(column, &all[rows]),
            Kept::Number(all) => some::<DoubleType>(column, &all[rows]),
            Kept::Text(all) => some::<ByteArrayType>(column, &all[rows]),
        }
    }
}

/// Values, some of which there are not.
fn some<D: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &[Option<D::T>],
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<D::T> = values.iter().flatten().cloned().collect();
    column.typed::<D>().write_batch(&there, Some(&levels), None).map(drop)
}

impl ParquetSink {
    /// Opens the file.
    pub(super) fn create(path: &Path, kept: Texts, names: &[&str]) -> Result<Self, WriteError> {
        let fail = |cause: ParquetError| failure(path, cause);
        let columns: Vec<Kept> = kept.columns.iter().map(|texts| Kept::new(texts)).collect();
        let field = |name: &str, physical, logical, repetition| {
            let of = Type::primitive_type_builder(name, physical).with_repetition(repetition);
            of.with_logical_type(logical).build().map(Arc::new)
        };
        let texts = kept.names.iter().zip(&columns).map(|(name, column)| {
            let (physical, logical) = column.kind();
            field(name, physical, logical, Repetition::OPTIONAL)
        });
        let numbers =
            names.iter().map(|name| field(name, Physical::DOUBLE, None, Repetition::REQUIRED));
        let fields = texts.chain(numbers).collect::<Result<Vec<_>, _>>().map_err(fail)?;
        let schema =
            Type::group_type_builder("schema").with_fields(fields).build().map_err(fail)?;
        let settings = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = AtomicFile::create(path)?;
        let out =
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(settings)).map_err(fail)?;
        let (path, written) = (path.to_owned(), 0);
        Ok(Self { out, path, kept: columns, columns: vec![Vec::new(); names.len()], written })
    }

    /// Appends one row of numbers.
    pub(super) fn row(&mut self, values: &[f64]) -> Result<(), WriteError> {
        if values.len() != self.columns.len() {
            let cause = format!("{} cells under a header of {}", values.len(), self.columns.len());
            return Err(WriteError::new(&self.path, &io::Error::other(cause)));
        }
        self.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(*value));
        if self.rows() < GROUP {
            return Ok(());
        }
        self.group().map_err(|cause| failure(&self.path, cause))
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Writes the rows that are in memory.
    fn group(&mut self) -> Result<(), ParquetError> {
        let rows = self.written..self.written + self.rows();
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.out.next_row_group()?;
        for kept in &self.kept {
            if let Some(mut column) = group.next_column()? {
                kept.write(&mut column, rows.clone())?;
                column.close()?;
            }
        }
        for values in &mut self.columns {
            if let Some(mut column) = group.next_column()? {
                column.typed::<DoubleType>().write_batch(values, None, None)?;
                column.close()?;
            }
            values.clear();
        }
        group.close()?;
        self.written = rows.end;
        Ok(())
    }

    /// Completes the table: only now does the file take its name.
    pub(super) fn finish(mut self) -> Result<(), WriteError> {
        let written = self.group();
        let file = written.and_then(|()| self.out.into_inner());
        let file = file.map_err(|cause| failure(&self.path, cause))?;
        file.commit().map_err(|cause| WriteError::new(&self.path, &cause))
    }
}

/// The error of the system that is behind one of Parquet's, where there is one.
fn failure(path: &Path, error: ParquetError) -> WriteError {
    let cause = match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause.to_string()),
        },
        other => io::Error::other(other.to_string()),
    };
    WriteError::new(path, &cause)
}
