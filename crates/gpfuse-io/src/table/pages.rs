//! Looks at the headers of a Parquet file's pages before anything is unpacked: what they promise is
//! allocated at once by the decoder.
//!
//! Field 2 of a header is the length of the page when unpacked, field 3 in the file, and field 1 of
//! field 7 the number of entries of a dictionary.
//!
//! The decoder reads the fields it knows without a look at their types, and cuts numbers to their
//! lowest bits. So a header is refused where types or numbers are not those of the format: it would
//! say one thing here and another there.

use std::fs::File;
use std::io::{BufReader, Error, Read, Result, Seek, SeekFrom};
use std::ops::Range;

use super::thrift::{NUMBER, STRUCTURE, field, plain, size, wrong};

/// Structures in structures that are still read.
const DEPTH: usize = 16;

/// Why pages are refused.
pub(super) enum Refused {
    /// They cannot be read.
    Damaged(Error),
    /// One of them unpacks to so many bytes.
    Expands(u64),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Damaged(error)
    }
}

/// What a header says.
#[derive(Default)]
struct Page {
    unpacked: u64,
    packed: u64,
    entries: u64,
}

/// Refuse pages in a part of the file that promise more than `most` of their bytes, or a dictionary
/// with more entries of `width` bytes than it has room for.
pub(super) fn check(
    file: &File,
    part: Range<u64>,
    width: u64,
    most: impl Fn(u64) -> u64,
) -> std::result::Result<(), Refused> {
    let mut input = BufReader::new(file);
    let mut at = input.seek(SeekFrom::Start(part.start))?;
    while at < part.end {
        let mut page = Page::default();
        structure(&mut input, Structure::Header, 0, &mut page)?;
        at = input.stream_position()?;
        if part.end.checked_sub(at).is_none_or(|left| page.packed > left) {
            return Err(wrong("a page reaches past the end of its column").into());
        }
        if page.unpacked > most(page.packed) {
            return Err(Refused::Expands(page.unpacked));
        }
        if page.entries.saturating_mul(width) > page.unpacked {
            return Err(wrong("a dictionary has more entries than room").into());
        }
        at = input.seek(SeekFrom::Start(at + page.packed))?;
    }
    Ok(())
}

/// A structure in a header.
#[derive(Clone, Copy)]
enum Structure {
    Header,
    Data,
    Dictionary,
    DataV2,
    /// Whose fields the decoder passes over.
    Other,
}

impl Structure {
    /// The first fields are numbers of 32 bits: how many.
    fn numbers(self) -> i16 {
        match self {
            Self::Header | Self::Data => 4,
            Self::Dictionary => 2,
            Self::DataV2 => 6,
            Self::Other => 0,
        }
    }

    /// Field `id` of a header.
    fn of(id: i16) -> Self {
        match id {
            5 => Self::Data,
            7 => Self::Dictionary,
            8 => Self::DataV2,
            _ => Self::Other,
        }
    }
}

/// Read the fields of a structure.
fn structure(input: &mut impl Read, own: Structure, depth: usize, page: &mut Page) -> Result<()> {
    let mut last = 0;
    while let Some((kind, id)) = field(input, last)? {
        last = id;
        let number = (1..=own.numbers()).contains(&id);
        if number && kind != NUMBER {
            return Err(wrong("a number in a page header has another type"));
        }
        match (own, id) {
            (Structure::Header, 2) => page.unpacked = size(input)?,
            (Structure::Header, 3) => page.packed = size(input)?,
            (Structure::Dictionary, 1) => page.entries = size(input)?,
            (Structure::Header, 5..=8) if kind == STRUCTURE => {
                structure(input, Structure::of(id), depth + 1, page)?;
            }
            (Structure::Header, _) if !number => {
                return Err(wrong("a page header has an unknown field"));
            }
            _ if kind == STRUCTURE && depth < DEPTH => {
                structure(input, Structure::Other, depth + 1, page)?;
            }
            _ if plain(input, kind)? => {}
            _ => return Err(wrong("a page header cannot be read")),
        }
    }
    Ok(())
}
