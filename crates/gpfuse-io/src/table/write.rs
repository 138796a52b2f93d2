//! Writes a CSV table row by row; the file appears when it is complete.

use std::io::{self, BufWriter, ErrorKind, Stdout, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::atomic::{AtomicFile, WriteError};

enum Out {
    Plain(BufWriter<AtomicFile>),
    Gzip(Box<GzEncoder<BufWriter<AtomicFile>>>),
    Standard(BufWriter<Stdout>),
}

impl Out {
    fn open(path: &Path) -> Result<Self, WriteError> {
        if path == Path::new("-") {
            return Ok(Self::Standard(BufWriter::new(io::stdout())));
        }
        let file = BufWriter::new(AtomicFile::create(path)?);
        let gzip = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        let level = Compression::default();
        Ok(if gzip { Self::Gzip(Box::new(GzEncoder::new(file, level))) } else { Self::Plain(file) })
    }

    fn finish(self) -> io::Result<()> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Gzip(file) => file.finish()?,
            Self::Standard(mut out) => return out.flush(),
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)?.commit()
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
            Self::Standard(out) => out.flush(),
        }
    }
}

/// A CSV table being written; without [`CsvSink::finish`] no file appears.
pub struct CsvSink {
    // Gone once the reader of a pipe has left: further rows are then dropped.
    out: Option<csv::Writer<Out>>,
    path: PathBuf,
    width: usize,
    failed: bool,
    cell: String,
}

impl CsvSink {
    /// Opens the file (standard output for `None` or `-`, gzip for a name in `.gz`) and writes
    /// the header.
    pub fn create(path: Option<&Path>, names: &[&str]) -> Result<Self, WriteError> {
        let path = path.unwrap_or(Path::new("-")).to_owned();
        let out = csv::Writer::from_writer(Out::open(&path)?);
        let width = names.len();
        let mut sink = Self { out: Some(out), path, width, failed: false, cell: String::new() };
        sink.cells(names)?;
        Ok(sink)
    }

    /// Appends one row of numbers.
    pub fn row(&mut self, values: &[f64]) -> Result<(), WriteError> {
        self.mixed(std::iter::empty(), values)
    }

    /// Appends one row of texts and numbers.
    pub fn mixed<'t>(
        &mut self,
        texts: impl ExactSizeIterator<Item = &'t str>,
        values: &[f64],
    ) -> Result<(), WriteError> {
        self.check(texts.len() + values.len())?;
        self.each(texts, values)
    }

    /// Appends one row of text.
    pub fn cells(&mut self, cells: &[&str]) -> Result<(), WriteError> {
        self.check(cells.len())?;
        let Some(out) = &mut self.out else { return Ok(()) };
        let outcome = out.write_record(cells);
        self.settle(outcome)
    }

    /// Completes the table: only now does the file take its name.
    pub fn finish(mut self) -> Result<(), WriteError> {
        if self.failed {
            return self.fail(&io::Error::other("a row could not be written"));
        }
        let Some(mut out) = self.out.take() else { return Ok(()) };
        let outcome = out.flush().and_then(|()| match out.into_inner() {
            Ok(out) => out.finish(),
            Err(failed) => Err(io::Error::new(failed.error().kind(), failed.to_string())),
        });
        self.settle(outcome.map_err(csv::Error::from))
    }

    fn each<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t str>,
        values: &[f64],
    ) -> Result<(), WriteError> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let cell = &mut self.cell;
        let write = || {
            for text in texts {
                out.write_field(text)?;
            }
            for value in values {
                cell.clear();
                number(cell, *value);
                out.write_field(&cell)?;
            }
            out.write_record(None::<&[u8]>)
        };
        let outcome = write();
        self.settle(outcome)
    }

    fn settle(&mut self, outcome: Result<(), csv::Error>) -> Result<(), WriteError> {
        let Err(error) = outcome else { return Ok(()) };
        let cause = match error.into_kind() {
            csv::ErrorKind::Io(cause) => cause,
            other => io::Error::other(format!("{other:?}")),
        };
        if self.is_standard() && cause.kind() == ErrorKind::BrokenPipe {
            self.out = None;
            return Ok(());
        }
        self.fail(&cause)
    }

    fn check(&mut self, width: usize) -> Result<(), WriteError> {
        if width == self.width {
            return Ok(());
        }
        let cause = format!("{width} cells under a header of {}", self.width);
        self.fail(&io::Error::other(cause))
    }

    /// Keeps a table that lacks a row from being finished.
    fn fail(&mut self, cause: &io::Error) -> Result<(), WriteError> {
        self.failed = true;
        let path = if self.is_standard() { Path::new("standard output") } else { &self.path };
        Err(WriteError::new(path, cause))
    }

    fn is_standard(&self) -> bool {
        self.path == Path::new("-")
    }
}

/// The shortest text that reads back as the same double; an exponent only for long ones.
fn number(cell: &mut String, value: f64) {
    use std::fmt::Write as _;
    let size = value.abs();
    let plain = value == 0.0 || (1e-5..1e16).contains(&size) || !value.is_finite();
    // Writing to a string cannot fail.
    let _ = if plain { write!(cell, "{value}") } else { write!(cell, "{value:e}") };
}
