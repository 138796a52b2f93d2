//! Looks at the footer of a Parquet file before it is decoded: flags in a list take no room there in
//! the eyes of the decoder, so that a few bytes could keep it busy for ever.
//!
//! No field of a footer is such a list, nor a map.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Result, Seek, SeekFrom};

use super::pages::{byte, pass, unsigned, wrong};

/// Deeper than the decoder goes.
const DEPTH: usize = 200;

/// Refuse lists of flags. What else is wrong, the decoder finds.
pub(super) fn check(file: &File, length: u64) -> Result<()> {
    let mut input = BufReader::new(file);
    let mut end = [0; 4];
    let Some(at) = length.checked_sub(8) else { return Ok(()) };
    input.seek(SeekFrom::Start(at))?;
    input.read_exact(&mut end)?;
    let size = u64::from(u32::from_le_bytes(end));
    let Some(start) = at.checked_sub(size) else { return Ok(()) };
    input.seek(SeekFrom::Start(start))?;
    match structure(&mut input.take(size), 0) {
        Err(e) if e.kind() == ErrorKind::InvalidData => Err(e),
        _ => Ok(()),
    }
}

fn structure(input: &mut impl Read, depth: usize) -> Result<()> {
    loop {
        let head = byte(input)?;
        if head == 0 {
            return Ok(());
        }
        if head >> 4 == 0 {
            unsigned(input)?;
        }
        value(input, head & 15, depth)?;
    }
}

fn value(input: &mut impl Read, kind: u8, depth: usize) -> Result<()> {
    match kind {
        1 | 2 => Ok(()),
        3 => byte(input).map(|_| ()),
        4..=6 => unsigned(input).map(|_| ()),
        7 => pass(input, 8),
        8 => {
            let length = unsigned(input)?;
            pass(input, length)
        }
        9 | 10 if depth < DEPTH => {
            let head = byte(input)?;
            let count = if head >> 4 == 15 { unsigned(input)? } else { u64::from(head >> 4) };
            if count > 0 && matches!(head & 15, 1 | 2) {
                return Err(wrong("its footer has a list of flags"));
            }
            (0..count).try_for_each(|_| value(input, head & 15, depth + 1))
        }
        11 => Err(wrong("its footer has a map")),
        12 if depth < DEPTH => structure(input, depth + 1),
        13 => pass(input, 16),
        _ => Err(ErrorKind::Unsupported.into()),
    }
}
