//! What can be wrong with a table, each case with its cure.

use std::fmt;

use thiserror::Error;

/// Where a cell stands: the data row counts from 1 below the header, the line is that of the
/// text file.
#[allow(missing_docs)] // The fields are what the message shows.
#[derive(Debug)]
pub struct Place {
    pub path: String,
    pub row: usize,
    pub line: Option<u64>,
    pub column: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, row {}", self.path, self.row)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        write!(f, ", column `{}`", self.column)
    }
}

/// Why a table could not be read.
#[allow(missing_docs)] // The fields are what the message shows.
#[derive(Debug, Error)]
pub enum TableError {
    /// No such file.
    #[error("`{path}`: no such file: check the path")]
    Missing { path: String },
    /// The path is a folder.
    #[error("`{path}`: is a folder: give a table file")]
    Folder { path: String },
    /// The system refused to open or read.
    #[error("`{path}`: cannot be read ({cause}): check the file and its permissions")]
    Read { path: String, cause: String },
    /// Nothing in it.
    #[error("`{path}`: is empty: write a header line and rows of numbers")]
    Empty { path: String },
    /// A header without rows.
    #[error("`{path}`: has a header but no rows: add at least one row of numbers")]
    HeaderOnly { path: String },
    /// The first line looks like data.
    #[error(
        "`{path}`: the first line is all numbers (`{first}`, ...): put a header line with column names above it"
    )]
    NoHeader { path: String, first: String },
    /// Two columns of one name.
    #[error("`{path}`: columns {first} and {second} are both named `{name}`: rename one")]
    Duplicate { path: String, name: String, first: usize, second: usize },
    /// A column that is to be used has no name.
    #[error("`{path}`: column {column} has no name: name it in the header or remove it")]
    Unnamed { path: String, column: usize },
    /// A wanted column is missing.
    #[error("`{path}`: no column `{name}`{hint}: it has {known}")]
    NoColumn { path: String, name: String, hint: String, known: String },
    /// The header is in one piece that holds another separator.
    #[error(
        "`{path}`: the header `{header}` is not separated by {expected}: save the table with {expected} between the columns"
    )]
    Separator { path: String, header: String, expected: &'static str },
    /// Text where a number belongs.
    #[error("{place}: `{value}` is not a number: correct it or leave the column out")]
    Text { place: Place, value: String },
    /// No value.
    #[error("{place}: no value: fill it in or remove the row")]
    NoValue { place: Place },
    /// Not positive where an expert's spread belongs.
    #[error("{place}: {value} is no standard deviation: it must be above 0")]
    Sd { place: Place, value: f64 },
    /// Numbers that the library refuses.
    #[error("`{path}`: {problem}")]
    Data { path: String, problem: String },
    /// NaN, infinite, or beyond the range of a double.
    #[error("{place}: `{value}` is not a finite number: replace it or remove the row")]
    NonFinite { place: Place, value: String },
    /// Too few or too many cells.
    #[error(
        "`{path}`, row {row} (line {line}): {found} cells where the header has {expected}: {cure}"
    )]
    Length {
        path: String,
        row: usize,
        line: u64,
        found: usize,
        expected: usize,
        cure: &'static str,
    },
    /// Bytes that are no text in the header.
    #[error("`{path}`: the header is not UTF-8 text: save the table as CSV in UTF-8")]
    HeaderNotUtf8 { path: String },
    /// A character that cannot be in a name.
    #[error(
        "`{path}`: the name of column {column} has the control character `{character}`: remove it, or save the table as CSV in UTF-8"
    )]
    HeaderControl { path: String, column: usize, character: String },
    /// Bytes that are no text in a cell.
    #[error("{place}: not UTF-8 text: save the table as CSV in UTF-8")]
    NotUtf8 { place: Place },
    /// A gzip file that ends early.
    #[error("`{path}`: the gzip file ends early: copy or compress it again")]
    GzipTruncated { path: String },
    /// A damaged gzip file.
    #[error("`{path}`: the gzip file is damaged ({cause}): copy or compress it again")]
    GzipDamaged { path: String, cause: String },
    /// Named like Parquet, but is not.
    #[error(
        "`{path}`: is not a Parquet file: write it as Parquet, or name it `.csv` if it is text"
    )]
    NotParquet { path: String },
    /// A damaged Parquet file.
    #[error("`{path}`: the Parquet file is damaged or cut off ({cause}): copy or write it again")]
    ParquetDamaged { path: String, cause: String },
    /// A Parquet column of another type.
    #[error(
        "`{path}`, column `{column}`: holds {kind}, not numbers: convert it to doubles or leave it out"
    )]
    NotNumeric { path: String, column: String, kind: String },
    /// A Parquet column that is no column.
    #[error("`{path}`, column `{column}`: holds nested values, which cannot be kept: leave it out")]
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    Nested { path: String, column: String },
    /// Parquet on standard input, which cannot be read from its end.
    #[error("`{path}`: Parquet cannot be read from a pipe: give the file's name")]
    ParquetPipe { path: String },
    /// Built without Parquet.
    #[error(
        "`{path}`: this build reads no Parquet: convert the table to CSV, or build with `--features parquet`"
    )]
    #[cfg_attr(feature = "parquet", allow(dead_code))]
    NoParquet { path: String },
}
