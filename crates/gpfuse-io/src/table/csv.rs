//! Reads a delimited text table row by row.

use std::io::{ErrorKind, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};
use gpfuse::columns::Cells;

use super::data::is_impossible;
use super::error::{Place, TableError};
use super::lines::Lines;
use super::select::select;
use super::{RowLines, Table, Texts, Wanted};
use crate::words::show;

/// How a text table is to be read.
pub(super) struct Text<'a> {
    /// The name for messages.
    pub(super) path: &'a str,
    /// Whether the input was unpacked from gzip, for the error message.
    pub(super) gzip: bool,
    /// The byte between two cells.
    pub(super) separator: u8,
}

impl Text<'_> {
    /// Reads the wanted columns, and those to keep.
    pub(super) fn read(
        &self,
        input: &mut dyn Read,
        wanted: &Wanted,
    ) -> Result<(Table, Texts), TableError> {
        let mut rows = Rows::new(self, input);
        let header = self.names(&mut rows)?;
        self.cells(rows, &header, wanted)
    }

    /// Reads the columns that are chosen when the names of all are known.
    pub(super) fn choosing<E: From<TableError>>(
        &self,
        input: &mut dyn Read,
        choose: impl FnOnce(&[String]) -> Result<Wanted, E>,
    ) -> Result<Table, E> {
        let mut rows = Rows::new(self, input);
        let header = self.names(&mut rows)?;
        self.choose(&header, Some(&[]))?;
        let wanted = choose(&header)?;
        Ok(self.cells(rows, &header, &wanted)?.0)
    }

    /// Reads the wanted columns of the rows below the header, and those to keep.
    fn cells(
        &self,
        mut rows: Rows<'_>,
        header: &[String],
        wanted: &Wanted,
    ) -> Result<(Table, Texts), TableError> {
        let mut at = self.choose(header, wanted.names().as_deref())?;
        let free = at.split_off(at.len() - wanted.cells.len());
        let keep: Vec<&str> = wanted.keep.iter().map(String::as_str).collect();
        let kept = select(self.path, header, Some(&keep))?;
        let mut columns = vec![Vec::new(); at.len()];
        let mut cells = vec![Cells::default(); free.len()];
        let mut lines = RowLines::default();
        let mut texts = vec![Vec::new(); kept.len()];
        let mut row = 0;
        while rows.next()? {
            if header.len() > 1 && rows.is_blank() {
                continue;
            }
            row += 1;
            if header.len() == 1 && rows.skipped {
                let place = self.place(row, rows.line - 1, &header[0]);
                return Err(TableError::NoValue { place });
            }
            if rows.record.len() != header.len() {
                return Err(self.length(row, &rows, header.len()));
            }
            lines.note(row, rows.line);
            for (cells, &i) in cells.iter_mut().zip(&free) {
                cells.push(self.text(row, rows.line, &header[i], &rows.record[i])?);
            }
            for (column, &i) in columns.iter_mut().zip(&at) {
                column.push(self.number(row, rows.line, &header[i], &rows.record[i])?);
            }
            for (column, &i) in texts.iter_mut().zip(&kept) {
                column.push(self.text(row, rows.line, &header[i], &rows.record[i])?.to_owned());
            }
        }
        let path = self.path.to_owned();
        if row == 0 {
            return Err(TableError::HeaderOnly { path });
        }
        let names = |at: &[usize]| at.iter().map(|&i| header[i].clone()).collect::<Vec<_>>();
        let texts = Texts { names: names(&kept), columns: texts };
        let cells = names(&free).into_iter().zip(cells).collect();
        let lines = Some(lines);
        Ok((Table { path, names: names(&at), columns, cells, lines, rows: row }, texts))
    }

    /// Reads the names only.
    pub(super) fn header(&self, input: &mut dyn Read) -> Result<Vec<String>, TableError> {
        let header = self.names(&mut Rows::new(self, input))?;
        self.choose(&header, Some(&[]))?;
        Ok(header)
    }

    fn names(&self, rows: &mut Rows<'_>) -> Result<Vec<String>, TableError> {
        let path = || self.path.to_owned();
        loop {
            if !rows.next()? {
                return Err(TableError::Empty { path: path() });
            }
            if !rows.is_blank() {
                break;
            }
        }
        let mut header = Vec::with_capacity(rows.record.len());
        for (i, cell) in rows.record.iter().enumerate() {
            let Ok(name) = str::from_utf8(cell) else {
                return Err(TableError::HeaderNotUtf8 { path: path() });
            };
            header.push(super::name::name(self.path, i, name)?);
        }
        let expected = if self.separator == b',' { "commas" } else { "tabs" };
        if let [name] = header.as_slice()
            && name.contains([',', ';', '\t'])
        {
            return Err(TableError::Separator { path: path(), header: show(name), expected });
        }
        Ok(header)
    }

    fn choose(&self, header: &[String], wanted: Option<&[&str]>) -> Result<Vec<usize>, TableError> {
        let chosen = select(self.path, header, wanted);
        let named = |name: &&str| header.iter().any(|known| known == name);
        // Columns may be named by numbers, but only if the caller asks for such names.
        let known = wanted.is_some_and(|names| !names.is_empty() && names.iter().all(named));
        if !known && header.iter().all(|name| name.parse::<f64>().is_ok()) {
            let first = header.first().map(|name| show(name)).unwrap_or_default();
            return Err(TableError::NoHeader { path: self.path.to_owned(), first });
        }
        chosen
    }

    fn number(&self, row: usize, line: u64, name: &str, cell: &[u8]) -> Result<f64, TableError> {
        let place = || self.place(row, line, name);
        let text = self.text(row, line, name, cell)?.trim();
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() || is_impossible(name, value) => Ok(value),
            Ok(_) => Err(TableError::NonFinite { place: place(), value: show(text) }),
            Err(_) if text.is_empty() => Err(TableError::NoValue { place: place() }),
            Err(_) => Err(TableError::Text { place: place(), value: show(text) }),
        }
    }

    fn text<'c>(
        &self,
        row: usize,
        line: u64,
        name: &str,
        cell: &'c [u8],
    ) -> Result<&'c str, TableError> {
        let place = || self.place(row, line, name);
        str::from_utf8(cell).map_err(|_| TableError::NotUtf8 { place: place() })
    }

    fn place(&self, row: usize, line: u64, name: &str) -> Place {
        Place { path: self.path.to_owned(), row, line: Some(line), column: show(name) }
    }

    fn length(&self, row: usize, rows: &Rows<'_>, expected: usize) -> TableError {
        let cure = if rows.newlines() > 0 {
            "a quote is opened and not closed on that line"
        } else {
            "add or remove separators"
        };
        let (path, found) = (self.path.to_owned(), rows.record.len());
        TableError::Length { path, row, line: rows.line, found, expected, cure }
    }

    fn failure(&self, error: csv::Error) -> TableError {
        let path = self.path.to_owned();
        match error.into_kind() {
            csv::ErrorKind::Io(cause) if self.gzip => match cause.kind() {
                ErrorKind::UnexpectedEof => TableError::GzipTruncated { path },
                _ => {
                    let cause = crate::words::first_line(&cause.to_string());
                    TableError::GzipDamaged { path, cause }
                }
            },
            csv::ErrorKind::Io(cause) => super::failure(self.path, &cause),
            other => TableError::Read { path, cause: format!("{other:?}") },
        }
    }
}

/// The records of a text, each with the line it starts on.
struct Rows<'a> {
    text: &'a Text<'a>,
    reader: Reader<Lines<'a>>,
    record: ByteRecord,
    line: u64,
    /// Whether empty lines came before the record.
    skipped: bool,
}

impl<'a> Rows<'a> {
    fn new(text: &'a Text<'a>, input: &'a mut dyn Read) -> Self {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(text.separator)
            .buffer_capacity(1 << 14)
            .from_reader(Lines::new(input));
        Self { text, reader, record: ByteRecord::new(), line: 1, skipped: false }
    }

    fn next(&mut self) -> Result<bool, TableError> {
        let start = self.reader.position().line();
        let more = self.reader.read_byte_record(&mut self.record);
        if !more.map_err(|error| self.text.failure(error))? {
            return Ok(false);
        }
        // The reader passes over empty lines, so the record's line is counted from its end; a
        // quote that is never closed takes in that end, too.
        let end = self.reader.position().line();
        self.line = end.saturating_sub(1 + self.newlines()).max(start);
        self.skipped = self.line > start;
        Ok(true)
    }

    fn newlines(&self) -> u64 {
        let inside = self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count();
        inside as u64
    }

    fn is_blank(&self) -> bool {
        self.record.len() == 1 && self.record[0].trim_ascii().is_empty()
    }
}
