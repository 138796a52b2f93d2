//! Reads the columns of a Parquet file in batches.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use gpfuse::columns::Cells;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::{self, ColumnDescriptor};

use super::data::is_impossible;
use super::error::{Place, TableError};
use super::name::name;
pub(super) use super::parquet_sink::ParquetSink;
use super::select::select;
use super::{Table, Texts, Wanted};
use crate::guard::guarded;
use crate::words::{first_line, show};

const BATCH: usize = 8192;

/// Reads the wanted columns, and those to keep.
pub(super) fn read(path: &str, file: File, wanted: &Wanted) -> Result<(Table, Texts), TableError> {
    let read = || {
        let source = Source::open(path, file)?;
        Ok((source.read(wanted)?, source.texts(&wanted.keep)?))
    };
    guarded(read).unwrap_or_else(|cause| damaged(path, &cause))
}

/// Reads the names only.
pub(super) fn header(path: &str, file: File) -> Result<Vec<String>, TableError> {
    guarded(|| Source::open(path, file).map(|source| source.header))
        .unwrap_or_else(|cause| damaged(path, &cause))
}

fn damaged<T>(path: &str, cause: &str) -> Result<T, TableError> {
    Err(TableError::ParquetDamaged { path: path.to_owned(), cause: first_line(cause) })
}

struct Source<'a> {
    path: &'a str,
    reader: SerializedFileReader<File>,
    header: Vec<String>,
    kinds: Vec<Arc<ColumnDescriptor>>,
}

impl<'a> Source<'a> {
    fn open(path: &'a str, file: File) -> Result<Self, TableError> {
        let reader = SerializedFileReader::new(file).or_else(|e| damaged(path, &e.to_string()))?;
        let kinds = reader.metadata().file_metadata().schema_descr().columns().to_vec();
        let mut header = Vec::with_capacity(kinds.len());
        for (i, kind) in kinds.iter().enumerate() {
            header.push(name(path, i, &kind.path().string())?);
        }
        Ok(Self { path, reader, header, kinds })
    }

    fn read(&self, wanted: &Wanted) -> Result<Table, TableError> {
        let mut at = select(self.path, &self.header, wanted.names().as_deref())?;
        let free = at.split_off(at.len() - wanted.cells.len());
        let mut groups = self.reader.metadata().row_groups().iter();
        let add = |sum: usize, group: &RowGroupMetaData| {
            sum.checked_add(usize::try_from(group.num_rows()).ok()?)
        };
        let Some(rows) = groups.try_fold(0, add) else {
            return damaged(self.path, "its number of rows is out of range");
        };
        let mut columns = Vec::with_capacity(at.len());
        for &i in &at {
            columns.push(self.column(i, Gaps::Refused)?);
        }
        if rows == 0 {
            return Err(TableError::HeaderOnly { path: self.path.to_owned() });
        }
        let mut cells = BTreeMap::new();
        for &i in &free {
            cells.insert(self.header[i].clone(), self.cells(i)?);
        }
        let names = at.iter().map(|&i| self.header[i].clone()).collect();
        Ok(Table { path: self.path.to_owned(), names, columns, cells, lines: None, rows })
    }

    /// Columns as they stand, each value as text and none as nothing.
    fn texts(&self, keep: &[String]) -> Result<Texts, TableError> {
        let (mut texts, keep) =
            (Texts::default(), keep.iter().map(String::as_str).collect::<Vec<_>>());
        for i in select(self.path, &self.header, Some(&keep))? {
            texts.names.push(self.header[i].clone());
            texts.columns.push(self.text(i)?);
        }
        Ok(texts)
    }

    fn text(&self, at: usize) -> Result<Vec<String>, TableError> {
        let kind = &self.kinds[at];
        if kind.max_rep_level() > 0 || kind.path().parts().len() != 1 {
            let (path, column) = (self.path.to_owned(), show(&self.header[at]));
            return Err(TableError::Nested { path, column });
        }
        let wrong = |e: ParquetError| self.damaged(&e);
        let one = types::Type::group_type_builder("schema").with_fields(vec![kind.self_type_ptr()]);
        let rows = self.reader.get_row_iter(Some(one.build().map_err(wrong)?)).map_err(wrong)?;
        let mut column = Vec::new();
        for row in rows {
            let row = row.map_err(wrong)?;
            column.push(match row.get_column_iter().next() {
                Some((_, Field::Null)) | None => String::new(),
                Some((_, Field::Str(text))) => text.clone(),
                Some((_, Field::Double(value))) => value.to_string(),
                Some((_, Field::Float(value))) => value.to_string(),
                Some((_, other)) => other.to_string(),
            });
        }
        Ok(column)
    }

    fn damaged(&self, error: &ParquetError) -> TableError {
        let cause = first_line(&error.to_string());
        TableError::ParquetDamaged { path: self.path.to_owned(), cause }
    }

    /// A column that may hold words, or nothing.
    fn cells(&self, at: usize) -> Result<Cells, TableError> {
        if !["text", "true/false values"].contains(&describe(&self.kinds[at]).as_str()) {
            return Ok(Cells::numbers(self.column(at, Gaps::Kept)?));
        }
        let mut cells = Cells::default();
        self.text(at)?.iter().for_each(|text| cells.push(text));
        Ok(cells)
    }

    fn column(&self, at: usize, gaps: Gaps) -> Result<Vec<f64>, TableError> {
        let kind = &self.kinds[at];
        let Some(number) = Number::of(kind) else {
            return Err(TableError::NotNumeric {
                path: self.path.to_owned(),
                column: show(&self.header[at]),
                kind: describe(kind),
            });
        };
        let mut sink = Sink { source: self, at, gaps, values: Vec::new(), end: 0 };
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|e| self.damaged(&e))?;
            sink.end += usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            match group.get_column_reader(at).map_err(|e| self.damaged(&e))? {
                ColumnReader::DoubleColumnReader(pages) => sink.take(pages, |v| v)?,
                ColumnReader::FloatColumnReader(pages) => sink.take(pages, f64::from)?,
                ColumnReader::Int32ColumnReader(pages) => sink.take(pages, |v| number.int(v))?,
                ColumnReader::Int64ColumnReader(pages) => sink.take(pages, |v| number.long(v))?,
                _ => return damaged(self.path, "a column has two types"),
            }
        }
        Ok(sink.values)
    }
}

/// What happens where a column of numbers has none.
#[derive(Clone, Copy, PartialEq)]
enum Gaps {
    Refused,
    /// NaN stands there.
    Kept,
}

/// The values of one column as they come in.
struct Sink<'a> {
    source: &'a Source<'a>,
    at: usize,
    gaps: Gaps,
    values: Vec<f64>,
    /// The length the file declares up to the present row group. Nothing is allocated by it.
    end: usize,
}

impl Sink<'_> {
    fn take<T: DataType>(
        &mut self,
        mut pages: ColumnReaderImpl<T>,
        convert: impl Fn(T::T) -> f64,
    ) -> Result<(), TableError> {
        let (mut levels, mut batch) = (Vec::new(), Vec::new());
        let path = self.source.path;
        let required = self.source.kinds[self.at].max_def_level() == 0;
        loop {
            levels.clear();
            batch.clear();
            let (rows, ..) = pages
                .read_records(BATCH, Some(&mut levels), None, &mut batch)
                .map_err(|error| self.source.damaged(&error))?;
            let mut values = batch.drain(..);
            for row in 0..rows {
                let held = required || levels.get(row).is_some_and(|level| *level > 0);
                let value = if held { values.next().map(&convert) } else { None };
                match (value, self.gaps) {
                    (Some(value), _) if value.is_finite() => self.values.push(value),
                    (Some(value), _) if is_impossible(&self.source.header[self.at], value) => {
                        self.values.push(value);
                    }
                    (None, Gaps::Kept) => self.values.push(f64::NAN),
                    (Some(value), Gaps::Kept) if value.is_nan() => self.values.push(value),
                    (None, Gaps::Refused) => {
                        return Err(TableError::NoValue { place: self.place() });
                    }
                    (Some(value), _) => {
                        let (place, value) = (self.place(), value.to_string());
                        return Err(TableError::NonFinite { place, value });
                    }
                }
            }
            if rows == 0 || self.values.len() > self.end {
                break;
            }
        }
        if self.values.len() == self.end {
            Ok(())
        } else {
            damaged(path, "the columns differ in length")
        }
    }

    fn place(&self) -> Place {
        let column = show(&self.source.header[self.at]);
        let (path, row) = (self.source.path.to_owned(), self.values.len() + 1);
        Place { path, row, line: None, column }
    }
}

/// How a stored integer becomes a number.
#[derive(Clone, Copy)]
struct Number {
    unsigned: bool,
    scale: f64,
}

impl Number {
    fn of(kind: &ColumnDescriptor) -> Option<Self> {
        let plain = Self { unsigned: false, scale: 1.0 };
        if kind.max_rep_level() > 0 || kind.path().parts().len() != 1 {
            return None;
        }
        match kind.physical_type() {
            Type::DOUBLE | Type::FLOAT => return Some(plain),
            Type::INT32 | Type::INT64 => {}
            _ => return None,
        }
        // Dates and times are stored as integers too, but are no numbers to fit.
        match kind.logical_type_ref() {
            None | Some(LogicalType::Integer { .. } | LogicalType::Decimal { .. }) => {}
            Some(_) => return None,
        }
        match kind.converted_type() {
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Some(plain),
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Some(Self { unsigned: true, ..plain }),
            ConvertedType::DECIMAL => Some(Self { scale: 10f64.powi(kind.type_scale()), ..plain }),
            _ => None,
        }
    }

    fn int(self, value: i32) -> f64 {
        // The file stores an unsigned integer by its bits.
        if self.unsigned { f64::from(value as u32) } else { f64::from(value) / self.scale }
    }

    fn long(self, value: i64) -> f64 {
        if self.unsigned { value as u64 as f64 } else { value as f64 / self.scale }
    }
}

fn describe(kind: &ColumnDescriptor) -> String {
    if kind.max_rep_level() > 0 || kind.path().parts().len() != 1 {
        return "nested values".to_owned();
    }
    match (kind.physical_type(), kind.logical_type_ref(), kind.converted_type()) {
        (Type::BYTE_ARRAY, Some(LogicalType::String), _)
        | (Type::BYTE_ARRAY, _, ConvertedType::UTF8) => "text".to_owned(),
        (Type::BOOLEAN, ..) => "true/false values".to_owned(),
        (_, Some(LogicalType::Date), _) | (_, _, ConvertedType::DATE) => "dates".to_owned(),
        (Type::INT96 | Type::INT32 | Type::INT64, ..) => "times".to_owned(),
        (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY, ..) => "raw bytes".to_owned(),
        (other, ..) => format!("`{other}`"),
    }
}
