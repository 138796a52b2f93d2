//! Tables of numbers with named columns, read from CSV or Parquet and written as either.

mod csv;
mod data;
mod error;
mod lines;
mod name;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_sink;
#[cfg(test)]
#[cfg(feature = "parquet")]
mod parquet_tests;
mod select;
mod sink;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use gpfuse::columns::Cells;

pub use self::data::{ExpertColumns, Kind as ExpertKind, Made, data_columns, model_columns};
pub use self::error::TableError;
pub use self::sink::{TableSink, write_table};
pub use self::write::CsvSink;

use crate::words::{first_line, show_path};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const PARQUET: [u8; 4] = *b"PAR1";

/// Which columns of a file are read, and as what.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wanted {
    /// Columns of numbers; without them, all are.
    pub numbers: Option<Vec<String>>,
    /// Columns that may hold words, or nothing.
    pub cells: Vec<String>,
    /// Columns to keep as they stand.
    pub keep: Vec<String>,
}

impl Wanted {
    /// Columns of numbers, or all, and columns to keep.
    pub fn numbers(numbers: Option<&[&str]>, keep: &[&str]) -> Wanted {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Wanted { numbers: numbers.map(owned), cells: Vec::new(), keep: owned(keep) }
    }

    /// The names of what is not only kept, numbers first.
    fn names(&self) -> Option<Vec<&str>> {
        let numbers = self.numbers.as_ref()?;
        Some(numbers.iter().chain(&self.cells).map(String::as_str).collect())
    }
}

/// A table of finite numbers, beside columns that may hold anything.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The file as it is called in messages.
    pub path: String,
    /// The names of [`Table::columns`]: those asked for, in that order.
    pub names: Vec<String>,
    /// One vector of [`Table::rows`] numbers per name.
    pub columns: Vec<Vec<f64>>,
    /// Columns that may hold words, or nothing, by their names.
    pub cells: BTreeMap<String, Cells>,
    /// Where the rows of a text begin.
    lines: Option<RowLines>,
    /// The number of rows, at least one.
    pub rows: usize,
}

/// Columns as they stand in a file, whatever they hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Texts {
    /// The names of [`Texts::columns`].
    pub names: Vec<String>,
    /// One text for each row.
    pub columns: Vec<Vec<String>>,
}

impl Table {
    /// Reads the `wanted` columns, or all of them; other columns may hold anything.
    ///
    /// `-` is standard input. A name ending in `.parquet` must be Parquet and one in `.tsv` is
    /// separated by tabs; gzip is recognised by its first bytes.
    pub fn read(path: &Path, wanted: Option<&[&str]>) -> Result<Self, TableError> {
        Ok(Self::read_wanted(path, &Wanted::numbers(wanted, &[]))?.0)
    }

    /// Reads columns of several kinds, and those to keep.
    pub fn read_wanted(path: &Path, wanted: &Wanted) -> Result<(Self, Texts), TableError> {
        let source = Source::open(path)?;
        match source.kind {
            Kind::Text { mut input, gzip, separator } => {
                csv::Text { path: &source.path, gzip, separator }.read(&mut input, wanted)
            }
            Kind::Parquet(file) => parquet::read(&source.path, file, wanted),
        }
    }

    /// Reads the columns that are chosen when the names of all are known. The file is opened once,
    /// so that a pipe will do.
    pub fn choose<E: From<TableError>>(
        path: &Path,
        choose: impl FnOnce(&[String]) -> Result<Wanted, E>,
    ) -> Result<Self, E> {
        let source = Source::open(path)?;
        match source.kind {
            Kind::Text { mut input, gzip, separator } => {
                csv::Text { path: &source.path, gzip, separator }.choosing(&mut input, choose)
            }
            Kind::Parquet(file) => {
                let again = file.try_clone().map_err(|cause| failure(&source.path, &cause))?;
                let wanted = choose(&parquet::header(&source.path, again)?)?;
                Ok(parquet::read(&source.path, file, &wanted)?.0)
            }
        }
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let at = self.names.iter().position(|known| known == name)?;
        self.columns.get(at).map(Vec::as_slice)
    }
}

/// The column names of the file, without its rows.
pub fn header(path: &Path) -> Result<Vec<String>, TableError> {
    let source = Source::open(path)?;
    match source.kind {
        Kind::Text { mut input, gzip, separator } => {
            csv::Text { path: &source.path, gzip, separator }.header(&mut input)
        }
        Kind::Parquet(file) => parquet::header(&source.path, file),
    }
}

/// A name for messages.
fn label(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { show_path(path) }
}

struct Source {
    path: String,
    kind: Kind,
}

enum Kind {
    Text { input: Box<dyn Read>, gzip: bool, separator: u8 },
    Parquet(File),
}

impl Source {
    fn open(path: &Path) -> Result<Self, TableError> {
        let label = label(path);
        let name = path.to_string_lossy().to_lowercase();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        let fail = |cause: io::Error| failure(&label, &cause);
        let file = if name == "-" { None } else { Some(File::open(path).map_err(fail)?) };
        if let Some(file) = &file
            && file.metadata().map_err(fail)?.is_dir()
        {
            return Err(TableError::Folder { path: label });
        }
        let mut input: Box<dyn Read> = match &file {
            Some(file) => Box::new(file.try_clone().map_err(fail)?),
            None => Box::new(io::stdin()),
        };
        let mut magic = Vec::new();
        input.by_ref().take(PARQUET.len() as u64 + 1).read_to_end(&mut magic).map_err(fail)?;
        if magic.is_empty() {
            return Err(TableError::Empty { path: label });
        }
        let named = stem.ends_with(".parquet");
        // A text may begin with a column of that name, but it does not go on with a control byte.
        let binary = magic.get(4).is_some_and(|b| b.is_ascii_control() && !b.is_ascii_whitespace());
        if magic.starts_with(&PARQUET) && (named || binary) {
            let plain = |file: &File| file.metadata().is_ok_and(|meta| meta.is_file());
            return match file {
                Some(file) if plain(&file) => Ok(Self { path: label, kind: Kind::Parquet(file) }),
                _ => Err(TableError::ParquetPipe { path: label }),
            };
        }
        if named {
            return Err(TableError::NotParquet { path: label });
        }
        let gzip = magic.starts_with(&GZIP);
        let whole = Cursor::new(magic).chain(input);
        let input: Box<dyn Read> = if gzip {
            Box::new(MultiGzDecoder::new(io::BufReader::new(whole)))
        } else {
            Box::new(whole)
        };
        let separator = if stem.ends_with(".tsv") { b'\t' } else { b',' };
        Ok(Self { path: label, kind: Kind::Text { input, gzip, separator } })
    }
}

/// On which line of a text each row begins: a new start where that is not the line after the row before.
#[derive(Debug, Clone, PartialEq, Default)]
struct RowLines(Vec<(usize, u64)>);

impl RowLines {
    /// Note the line of row `row`, counted from 1.
    fn note(&mut self, row: usize, line: u64) {
        if self.of(row) != Some(line) {
            self.0.push((row, line));
        }
    }

    fn of(&self, row: usize) -> Option<u64> {
        let (start, line) = self.0[..self.0.partition_point(|(start, _)| *start <= row)].last()?;
        Some(line + (row - start) as u64)
    }
}

fn failure(path: &str, cause: &io::Error) -> TableError {
    let path = path.to_owned();
    match cause.kind() {
        ErrorKind::NotFound => TableError::Missing { path },
        ErrorKind::IsADirectory => TableError::Folder { path },
        _ => TableError::Read { path, cause: first_line(&cause.to_string()) },
    }
}
