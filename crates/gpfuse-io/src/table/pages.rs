//! Looks at the headers of a Parquet file's pages before anything is unpacked: what they promise is
//! allocated at once by the decoder.
//!
//! A header is a Thrift structure in the compact protocol: fields of a type and a number, ended by a
//! zero. Field 2 is the length of the page when unpacked, field 3 in the file, and field 1 of field 7
//! the number of entries of a dictionary.

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Result, Seek, SeekFrom, copy, sink};
use std::ops::Range;

/// Structures in structures that are still read.
const DEPTH: usize = 16;

/// What a header says.
#[derive(Default)]
struct Page {
    unpacked: i64,
    packed: i64,
    entries: i64,
}

/// Refuse pages in a part of the file that promise more than `expansion` bytes per byte and `small`
/// bytes, or a dictionary with more entries than it has bytes.
pub(super) fn check(file: &File, part: Range<u64>, expansion: u64, small: u64) -> Result<()> {
    let mut input = BufReader::new(file);
    let mut at = input.seek(SeekFrom::Start(part.start))?;
    while at < part.end {
        let mut page = Page::default();
        structure(&mut input, 0, 0, &mut page)?;
        let size = |value: i64| u64::try_from(value).map_err(|_| wrong("a page of negative size"));
        let (unpacked, packed) = (size(page.unpacked)?, size(page.packed)?);
        if unpacked > packed.saturating_mul(expansion).saturating_add(small) {
            let problem = format!("a page of {packed} bytes claims {unpacked} when unpacked");
            return Err(Error::new(ErrorKind::InvalidData, problem));
        }
        if size(page.entries)? > unpacked {
            return Err(wrong("a dictionary has more entries than bytes"));
        }
        at = input.seek(SeekFrom::Current(page.packed))?;
    }
    Ok(())
}

pub(super) fn wrong(problem: &'static str) -> Error {
    Error::new(ErrorKind::InvalidData, problem)
}

/// Read the fields of a structure that is field `of` of the header, or the header itself.
fn structure(input: &mut impl Read, depth: usize, of: i64, page: &mut Page) -> Result<()> {
    let mut id = 0;
    loop {
        let head = byte(input)?;
        if head == 0 {
            return Ok(());
        }
        id = if head >> 4 == 0 { signed(input)? } else { id + i64::from(head >> 4) };
        match (head & 15, of, id) {
            (4..=6, 0, 2) => page.unpacked = signed(input)?,
            (4..=6, 0, 3) => page.packed = signed(input)?,
            (4..=6, 7, 1) => page.entries = signed(input)?,
            (kind, 0, _) => value(input, kind, depth, id, page)?,
            (kind, ..) => value(input, kind, depth, i64::MAX, page)?,
        }
    }
}

/// Pass over a value.
fn value(input: &mut impl Read, kind: u8, depth: usize, id: i64, page: &mut Page) -> Result<()> {
    match kind {
        // The field's type is the value.
        1 | 2 => Ok(()),
        3 => byte(input).map(|_| ()),
        4..=6 => unsigned(input).map(|_| ()),
        7 => pass(input, 8),
        8 => {
            let length = unsigned(input)?;
            pass(input, length)
        }
        12 if depth < DEPTH => structure(input, depth + 1, id, page),
        _ => Err(wrong("a page header cannot be read")),
    }
}

pub(super) fn pass(input: &mut impl Read, length: u64) -> Result<()> {
    let passed = copy(&mut input.take(length), &mut sink())?;
    if passed == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

pub(super) fn byte(input: &mut impl Read) -> Result<u8> {
    let mut byte = [0];
    input.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// A number in groups of seven bits, the lowest first.
pub(super) fn unsigned(input: &mut impl Read) -> Result<u64> {
    let mut out = 0;
    for shift in (0..64).step_by(7) {
        let byte = byte(input)?;
        out |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(out);
        }
    }
    Err(wrong("a page header cannot be read"))
}

/// The same with the sign in the lowest bit.
fn signed(input: &mut impl Read) -> Result<i64> {
    let bits = unsigned(input)?;
    Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
}
