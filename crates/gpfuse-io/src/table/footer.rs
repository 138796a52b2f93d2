//! Looks at the footer of a Parquet file before it is decoded: flags in a list take no room there in
//! the eyes of the decoder, so that a few bytes could keep it busy for ever.
//!
//! No field of a footer is such a list, nor a map.
//!
//! This is a partial guard. It reads every field by its type, but the decoder reads those that it
//! knows by their number and looks at the type of the others only. A footer that was made to differ
//! can still hide a list here; one that cannot be read by its types is refused.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Result, Seek, SeekFrom};

use super::thrift::{STRUCTURE, byte, field, plain, unsigned, wrong};

/// Deeper than the decoder goes.
const DEPTH: usize = 200;

/// Refuse lists of flags, and what cannot be read. A file too short for its footer is left to the
/// decoder.
pub(super) fn check(file: &File, length: u64) -> Result<()> {
    let mut input = BufReader::new(file);
    let mut end = [0; 4];
    let Some(at) = length.checked_sub(8) else { return Ok(()) };
    input.seek(SeekFrom::Start(at))?;
    input.read_exact(&mut end)?;
    let size = u64::from(u32::from_le_bytes(end));
    let Some(start) = at.checked_sub(size) else { return Ok(()) };
    input.seek(SeekFrom::Start(start))?;
    structure(&mut input.take(size), 0).map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof => wrong("its footer ends early"),
        _ => e,
    })
}

fn structure(input: &mut impl Read, depth: usize) -> Result<()> {
    while let Some((kind, _)) = field(input, 0)? {
        value(input, kind, depth)?;
    }
    Ok(())
}

fn value(input: &mut impl Read, kind: u8, depth: usize) -> Result<()> {
    match kind {
        9 | 10 if depth < DEPTH => {
            let head = byte(input)?;
            let count = if head >> 4 == 15 { unsigned(input)? } else { u64::from(head >> 4) };
            if count > 0 && matches!(head & 15, 1 | 2) {
                return Err(wrong("its footer has a list of flags"));
            }
            (0..count).try_for_each(|_| value(input, head & 15, depth + 1))
        }
        11 => Err(wrong("its footer has a map")),
        STRUCTURE if depth < DEPTH => structure(input, depth + 1),
        _ if plain(input, kind)? => Ok(()),
        _ => Err(wrong("its footer cannot be read")),
    }
}
