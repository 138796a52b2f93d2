//! Reads the pieces of Thrift's compact protocol, in which a Parquet file describes itself.
//!
//! A structure is a row of fields, each of a type and a number, and ends with a field of type 0.

use std::io::{Error, ErrorKind, Read, Result, copy, sink};

/// The type of a number of 32 bits.
pub(super) const NUMBER: u8 = 5;

/// The type of a structure.
pub(super) const STRUCTURE: u8 = 12;

pub(super) fn wrong(problem: &'static str) -> Error {
    Error::new(ErrorKind::InvalidData, problem)
}

/// The type and the number of the field after field `last`, or nothing where the structure ends.
///
/// Like for the decoder, it ends at type 0 whatever the byte's other bits, and a number has 16 bits.
pub(super) fn field(input: &mut impl Read, last: i16) -> Result<Option<(u8, i16)>> {
    let head = byte(input)?;
    let (step, kind) = (head >> 4, head & 15);
    if kind == 0 {
        return Ok(None);
    }
    let id = match step {
        0 => i16::try_from(signed(input)?).ok(),
        _ => last.checked_add(i16::from(step)),
    };
    id.map(|id| Some((kind, id))).ok_or_else(|| wrong("a field's number is out of range"))
}

/// Pass over a value that has no parts; whether the type is one of those.
pub(super) fn plain(input: &mut impl Read, kind: u8) -> Result<bool> {
    match kind {
        // The field's type is the value.
        1 | 2 => {}
        3 => pass(input, 1)?,
        4..=6 => {
            unsigned(input)?;
        }
        7 => pass(input, 8)?,
        8 => {
            text(input)?;
        }
        13 => pass(input, 16)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Pass over a text: its length.
pub(super) fn text(input: &mut impl Read) -> Result<u64> {
    let length = unsigned(input)?;
    pass(input, length)?;
    Ok(length)
}

fn pass(input: &mut impl Read, length: u64) -> Result<()> {
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
    Err(wrong("a number is too long"))
}

/// The same with the sign in the lowest bit.
pub(super) fn signed(input: &mut impl Read) -> Result<i64> {
    let bits = unsigned(input)?;
    Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
}

/// A number of 32 bits that is not negative.
pub(super) fn size(input: &mut impl Read) -> Result<u64> {
    let value = i32::try_from(signed(input)?).ok();
    value.and_then(|value| u64::try_from(value).ok()).ok_or_else(|| wrong("a size is out of range"))
}
