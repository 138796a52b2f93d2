//! The messages of an object header whose contents cost more than their bytes: types, which may
//! nest and claim any number of members, and attributes, whose values may be of any type.
//!
//! A model file has numbers and texts. What netCDF adds of its own to tie variables to dimensions
//! has other types, but two names.

use super::header::{Outcome, number};

/// Classes of types.
const WHOLE: u8 = 0;
const REAL: u8 = 1;
const TEXT: u8 = 3;
const COMPOUND: u8 = 6;
const REFERENCE: u8 = 7;
const VARYING: u8 = 9;

const STRANGE: &str = "a value is neither a number nor a text";

/// The bytes of a type before what its class adds.
const START: usize = 8;

fn class(kind: &[u8]) -> Outcome<u8> {
    Ok(number(kind, 0, 1)? as u8 & 15)
}

/// Whether it is a text of varying length, kept in a heap.
fn varying_text(kind: &[u8]) -> Outcome<bool> {
    Ok(class(kind)? == VARYING && number(kind, 1, 1)? & 15 == 1)
}

/// Only numbers and texts are the types of variables.
pub(super) fn plain_type(kind: &[u8]) -> Outcome<()> {
    match class(kind)? {
        WHOLE | REAL | TEXT => Ok(()),
        VARYING if varying_text(kind)? => match class(kind.get(START..).unwrap_or_default())? {
            WHOLE | TEXT => Ok(()),
            _ => Err(STRANGE),
        },
        _ => Err(STRANGE),
    }
}

/// The pairs that name the variables of a dimension: of a reference and a number.
fn pair(kind: &[u8]) -> Outcome<()> {
    let (version, size) = (number(kind, 0, 1)? >> 4, number(kind, 4, 4)?);
    if number(kind, 1, 2)? > 2 || size > 0xff || !(1..=3).contains(&version) {
        return Err(STRANGE);
    }
    let mut at = START;
    for _ in 0..number(kind, 1, 2)? {
        let rest = kind.get(at..).unwrap_or_default();
        let name = rest.iter().position(|byte| *byte == 0).ok_or(STRANGE)? + 1;
        // Its place, and in the first version four sizes.
        at += match version {
            1 => name.next_multiple_of(8) + 32,
            2 => name.next_multiple_of(8) + 4,
            _ => name + 1,
        };
        at += match class(kind.get(at..).unwrap_or_default())? {
            WHOLE => START + 4,
            REFERENCE => START,
            _ => return Err(STRANGE),
        };
    }
    Ok(())
}

/// Checks the type of an attribute.
pub(super) fn attribute(body: &[u8]) -> Outcome<()> {
    let version = number(body, 0, 1)?;
    let size = |at| number(body, at, 2).map(|size| size as usize);
    let padded = |size: usize| if version == 1 { size.next_multiple_of(8) } else { size };
    let start = if version == 3 { 9 } else { 8 };
    let name = body.get(start..).and_then(|name| name.get(..size(2).ok()?)).unwrap_or_default();
    let kind = body.get(start + padded(size(2)?)..).unwrap_or_default();
    let called = |other: &[u8]| name.strip_suffix(&[0]) == Some(other);
    match class(kind)? {
        COMPOUND if called(b"REFERENCE_LIST") => pair(kind),
        VARYING if called(b"DIMENSION_LIST") && !varying_text(kind)? => {
            match class(kind.get(START..).unwrap_or_default())? {
                REFERENCE => Ok(()),
                _ => Err(STRANGE),
            }
        }
        _ => plain_type(kind),
    }
}

/// Whether a reference, of which there are the address of the heap and the number in it, is to no
/// text.
pub(super) fn empty(at: &[u8; 10]) -> bool {
    at[..8] == [0xff; 8] || at[8..] == [0; 2]
}

/// Attributes beside the header: libraries do so with more than eight, which no object of a model
/// file has. Any number of entries could name the same.
pub(super) fn dense(body: &[u8]) -> Outcome<()> {
    let at = if number(body, 1, 1)? & 1 != 0 { 4 } else { 2 };
    match number(body, at, 8)? {
        u64::MAX => Ok(()),
        _ => Err("an object has more attributes than its header holds"),
    }
}
