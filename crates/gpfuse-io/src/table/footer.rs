//! Looks at the footer of a Parquet file before it is decoded: the decoder believes what it says of
//! the length of lists and of groups in groups, so that a few bytes could keep it busy for ever, fill
//! the memory or the stack.
//!
//! The decoder reads the fields that it knows by their number and looks at the type of the others
//! only. So every field that it knows must have its type here, and comes once. No field of a footer
//! is a list of flags, which take no room in the eyes of the decoder, nor a map.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Result, Seek, SeekFrom};

use super::shape::{CHUNK, Structure, Value};
use super::thrift::{STRUCTURE, byte, field, plain, size, text, unsigned, wrong};
use super::tree::{Element, Tree};

/// Deeper than the decoder goes.
const DEPTH: usize = 200;

/// A footer may take so many bytes of memory per byte of the file,
const FACTOR: u64 = 16;

/// and so many more, whatever its size.
const SMALL: u64 = 1 << 19;

/// Refuse what the decoder should not read. A file too short for its footer is left to the decoder.
pub(super) fn check(file: &File, length: u64) -> Result<()> {
    let mut input = BufReader::new(file);
    let mut end = [0; 4];
    let Some(at) = length.checked_sub(8) else { return Ok(()) };
    input.seek(SeekFrom::Start(at))?;
    input.read_exact(&mut end)?;
    let size = u64::from(u32::from_le_bytes(end));
    let Some(start) = at.checked_sub(size) else { return Ok(()) };
    input.seek(SeekFrom::Start(start))?;
    let room = length.saturating_mul(FACTOR).saturating_add(SMALL) - size;
    let input = input.take(size);
    let mut footer = Footer { input, room, element: Element::default(), tree: Tree::default() };
    footer.structure(Structure::Footer, 0).map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof => wrong("its footer ends early"),
        _ => e,
    })
}

struct Footer<R> {
    input: R,
    /// Bytes of memory that are left for it.
    room: u64,
    element: Element,
    tree: Tree,
}

impl<R: Read> Footer<R> {
    fn take(&mut self, bytes: u64) -> Result<()> {
        let room = self.room.checked_sub(bytes);
        self.room = room.ok_or_else(|| wrong("its footer says more than the file can hold"))?;
        Ok(())
    }

    fn structure(&mut self, own: Structure, depth: usize) -> Result<()> {
        let (mut last, mut seen) = (0, 0_u32);
        while let Some((kind, id)) = field(&mut self.input, last)? {
            last = id;
            let Some(value) = own.field(id) else {
                self.unknown(kind, depth)?;
                continue;
            };
            if !value.is(kind) {
                return Err(wrong("a field of its footer has another type"));
            }
            let bit = 1 << id;
            if seen & bit != 0 {
                return Err(wrong("a field of its footer comes twice"));
            }
            seen |= bit;
            match (own, id) {
                (Structure::Element, 4) => self.element.name = self.text()?,
                (Structure::Element, 5) => self.element.own = size(&mut self.input)?,
                _ => self.known(value, kind, depth)?,
            }
        }
        Ok(())
    }

    /// A field that the decoder knows.
    fn known(&mut self, value: Value, kind: u8, depth: usize) -> Result<()> {
        match value {
            Value::Text => self.text().map(|_| ()),
            Value::Part(own) => {
                self.take(own.size() as u64)?;
                self.structure(own, depth + 1)
            }
            Value::Numbers => {
                let (kind, count) = self.list()?;
                if count > 0 && !Value::Number.is(kind) {
                    return Err(wrong("a list of its footer has another type"));
                }
                (0..count).try_for_each(|_| {
                    self.take(size_of::<i64>() as u64)?;
                    plain(&mut self.input, kind).map(|_| ())
                })
            }
            Value::Parts(own) => {
                let (kind, count) = self.list()?;
                if count > 0 && kind != STRUCTURE {
                    return Err(wrong("a list of its footer has another type"));
                }
                (0..count).try_for_each(|i| self.part(own, count - i - 1, depth + 1))
            }
            _ => plain(&mut self.input, kind).map(|_| ()),
        }
    }

    /// A structure of a list, after which there are `left`.
    fn part(&mut self, own: Structure, left: u64, depth: usize) -> Result<()> {
        self.take(own.size() as u64)?;
        if own == Structure::RowGroup {
            // The decoder makes room for its columns before it looks for them.
            self.take(self.tree.columns.saturating_mul(CHUNK as u64))?;
        }
        self.element = Element::default();
        self.structure(own, depth)?;
        if own == Structure::Element {
            let bytes = self.tree.add(self.element, left)?;
            self.take(bytes)?;
        }
        Ok(())
    }

    /// Pass over a text that is kept: its length.
    fn text(&mut self) -> Result<u64> {
        let length = text(&mut self.input)?;
        self.take(length)?;
        Ok(length)
    }

    /// The type and the number of the values of a list.
    fn list(&mut self) -> Result<(u8, u64)> {
        let head = byte(&mut self.input)?;
        let count = if head >> 4 == 15 { unsigned(&mut self.input)? } else { u64::from(head >> 4) };
        Ok((head & 15, count))
    }

    /// A value that the decoder passes over by its type.
    fn unknown(&mut self, kind: u8, depth: usize) -> Result<()> {
        match kind {
            9 | 10 if depth < DEPTH => {
                let (kind, count) = self.list()?;
                if count > 0 && matches!(kind, 1 | 2) {
                    return Err(wrong("its footer has a list of flags"));
                }
                (0..count).try_for_each(|_| self.unknown(kind, depth + 1))
            }
            11 => Err(wrong("its footer has a map")),
            STRUCTURE if depth < DEPTH => self.structure(Structure::Other, depth + 1),
            _ if plain(&mut self.input, kind)? => Ok(()),
            _ => Err(wrong("its footer cannot be read")),
        }
    }
}
