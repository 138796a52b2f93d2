//! Looks through object headers and heaps before the reader does: it makes room for whatever they
//! claim, and copies what they refer to as often as they do.

use std::collections::HashSet;

use super::message::{attribute, dense, plain_type};

/// Fewer messages take no room worth a word;
const MANY: u64 = 1024;

/// of more, each needs so many bytes of the file: it takes about as many in memory, some of them
/// twice, and an empty one has only 4.
const SPARSE: u64 = 64;

/// How often the nodes of a tree may be read: to judge them, and for each look at the values. Variables
/// that share their nodes would read them more often.
const AGAIN: u64 = 8;

/// The bytes of a checksum, which ends each chunk of version 2, and of the mark that begins it.
const SUM: u64 = 4;

/// What a header or a heap must not hold.
pub(super) type Outcome<T> = Result<T, &'static str>;

const SHORT: &str = "an object header ends too early";

/// What the rest of the file may still claim.
pub(super) struct Claims {
    /// Headers, heaps and nodes lie beside each other, so all of them are no longer than the file.
    bytes: u64,
    messages: u64,
    /// Bytes of nodes that may still be read, also again.
    nodes: u64,
    /// Where headers, heaps and nodes were found to be good, and for nodes their bytes.
    known: HashSet<(u64, u64)>,
}

impl Claims {
    /// Those of a file of `length` bytes.
    pub(super) fn new(length: u64) -> Self {
        let messages = MANY + length / SPARSE;
        let nodes = length.saturating_mul(AGAIN);
        Claims { bytes: length, messages, nodes, known: HashSet::new() }
    }

    /// Checks a heap by its first bytes, which end with its size.
    pub(super) fn heap(&mut self, at: u64, start: &[u8]) -> Outcome<()> {
        self.once((at, 0), number(start, 8, 8)?)
    }

    /// Checks a node of a tree of chunks by its bytes.
    pub(super) fn node(&mut self, at: u64, bytes: u64) -> Outcome<()> {
        let left = self.nodes.checked_sub(bytes);
        self.nodes = left.ok_or("variables share their chunks")?;
        self.once((at, bytes), bytes)
    }

    fn once(&mut self, part: (u64, u64), bytes: u64) -> Outcome<()> {
        if !self.known.contains(&part) {
            self.spend(bytes)?;
            self.known.insert(part);
        }
        Ok(())
    }

    /// Checks the header at `at` and what continues it.
    pub(super) fn header(&mut self, file: &[u8], at: u64) -> Outcome<()> {
        if self.known.contains(&(at, 0)) {
            return Ok(());
        }
        let bytes = usize::try_from(at).ok().and_then(|at| file.get(at..)).ok_or(SHORT)?;
        let header = if bytes.starts_with(b"OHDR") { second(bytes)? } else { first(bytes)? };
        if header.claimed > self.messages {
            return Err("an object header has no room for its messages");
        }
        let end = if header.marked { SUM } else { 0 };
        let mut chunks = vec![(at, header.start, header.size, end)];
        while let Some((at, start, size, end)) = chunks.pop() {
            self.spend(start.saturating_add(size).saturating_add(end))?;
            let chunk =
                usize::try_from(at.saturating_add(start)).ok().and_then(|at| file.get(at..));
            let chunk = usize::try_from(size).ok().and_then(|size| chunk?.get(..size));
            for (at, length) in self.messages(chunk.ok_or(SHORT)?, &header)? {
                chunks.push(match header.marked {
                    true => (at, SUM, length.checked_sub(2 * SUM).ok_or(SHORT)?, SUM),
                    false => (at, 0, length, 0),
                });
            }
        }
        self.known.insert((at, 0));
        Ok(())
    }

    /// Checks the messages of a chunk; those that say where others are.
    fn messages(&mut self, mut rest: &[u8], header: &Header) -> Outcome<Vec<(u64, u64)>> {
        let mut more = Vec::new();
        while rest.len() >= header.envelope {
            let (kind, size, flags) = match header.marked {
                true => (rest[0].into(), number(rest, 1, 2)?, rest[3]),
                false => (number(rest, 0, 2)?, number(rest, 2, 2)?, rest[4]),
            };
            rest = &rest[header.envelope..];
            if header.marked && kind == 0 && size == 0 && rest.iter().all(|byte| *byte == 0) {
                break;
            }
            let (body, after) = rest.split_at_checked(size as usize).ok_or(SHORT)?;
            rest = after;
            self.messages = self.messages.checked_sub(1).ok_or("object headers are too long")?;
            match kind {
                0 => {}
                _ if flags & 2 != 0 => return Err("an object header shares another's messages"),
                0x03 => plain_type(body)?,
                0x07 => return Err("the values of a variable are in another file"),
                0x0c => attribute(body)?,
                // Its names may be one text, and its parts one list, many times over.
                0x11 => return Err("a group is of the old form, which netCDF does not write"),
                0x10 => more.push((number(body, 0, 8)?, number(body, 8, 8)?)),
                0x15 => dense(body)?,
                _ => {}
            }
        }
        Ok(more)
    }

    fn spend(&mut self, bytes: u64) -> Outcome<()> {
        let left = self.bytes.checked_sub(bytes).ok_or("headers or heaps overlap");
        self.bytes = left?;
        Ok(())
    }
}

/// The start of an object header.
struct Header {
    /// Whether chunks and messages are those of version 2.
    marked: bool,
    /// Bytes before each message.
    envelope: usize,
    /// Where the messages begin, and their bytes.
    start: u64,
    size: u64,
    /// The messages that room is made for.
    claimed: u64,
}

fn first(bytes: &[u8]) -> Outcome<Header> {
    let (claimed, size) = (number(bytes, 2, 2)?, number(bytes, 8, 4)?);
    Ok(Header { marked: false, envelope: 8, start: 16, size, claimed })
}

fn second(bytes: &[u8]) -> Outcome<Header> {
    let flags = *bytes.get(5).ok_or(SHORT)?;
    let times = if flags & 0x20 != 0 { 16 } else { 0 };
    let phases = if flags & 0x10 != 0 { 4 } else { 0 };
    let (at, width) = (6 + times + phases, 1 << (flags & 3));
    let envelope = if flags & 4 != 0 { 6 } else { 4 };
    let start = (at + width) as u64;
    Ok(Header { marked: true, envelope, start, size: number(bytes, at, width)?, claimed: 0 })
}

/// The number of `width` bytes, at most 8, at a place.
pub(super) fn number(bytes: &[u8], at: usize, width: usize) -> Outcome<u64> {
    let found = bytes.get(at..).and_then(|bytes| bytes.get(..width)).ok_or(SHORT)?;
    Ok(found.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of version 1 with messages of some kinds, in a file with room for more.
    fn header(messages: &[(u16, &[u8])]) -> Vec<u8> {
        let mut all = Vec::new();
        for (kind, body) in messages {
            all.extend(kind.to_le_bytes());
            all.extend((body.len() as u16).to_le_bytes());
            all.extend([0; 4]);
            all.extend_from_slice(body);
        }
        let mut file = vec![1, 0];
        file.extend((messages.len() as u16).to_le_bytes());
        file.extend([1, 0, 0, 0]);
        file.extend((all.len() as u32).to_le_bytes());
        file.extend([0; 4]);
        file.extend(all);
        file
    }

    fn check(file: &[u8]) -> Outcome<()> {
        Claims::new(file.len() as u64).header(file, 0)
    }

    fn attribute(name: &str, kind: &[u8], dims: &[u64], value: &[u8]) -> Vec<u8> {
        let space: Vec<u8> =
            [1, dims.len() as u8, 0, 0, 0, 0, 0, 0].into_iter().chain(le(dims)).collect();
        let mut body = vec![3, 0];
        for size in [name.len() + 1, kind.len(), space.len()] {
            body.extend((size as u16).to_le_bytes());
        }
        [&body[..], &[0], name.as_bytes(), &[0], kind, &space, value].concat()
    }

    fn le(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// A text of varying length, and one of 8 bytes.
    const VARYING: &[u8] = &[0x19, 1, 0, 0, 16, 0, 0, 0, 0x13, 0, 0, 0, 1, 0, 0, 0];
    const FIXED: &[u8] = &[0x13, 0, 0, 0, 8, 0, 0, 0];
    const WHOLE: &[u8] = &[0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0];

    /// The pairs as libraries write them, in the first and in the third version of types.
    fn pairs(inner: &[u8]) -> [Vec<u8>; 2] {
        let first = [
            &[0x16, 2, 0, 0, 16, 0, 0, 0][..],
            b"dataset\0",
            &[0; 32],
            &[0x17, 0, 0, 0, 8, 0, 0, 0],
            b"dimension\0\0\0\0\0\0\0",
            &[0; 32],
            inner,
        ];
        let third = [
            &[0x36, 2, 0, 0, 16, 0, 0, 0][..],
            b"dataset\0\0",
            &[0x37, 0, 0, 0, 8, 0, 0, 0],
            b"dimension\0\x08",
            inner,
        ];
        [first.concat(), third.concat()]
    }

    #[test]
    fn types_do_not_nest_but_where_netcdf_does() {
        let nested = [0x36, 0xff, 0xff, 0, 16, 0, 0, 0];
        for kind in pairs(WHOLE) {
            let good = attribute("REFERENCE_LIST", &kind, &[1], &[0; 16]);
            assert!(check(&header(&[(12, &good)])).is_ok());
            let other = attribute("REFERENCE_LISTS", &kind, &[1], &[0; 16]);
            assert!(check(&header(&[(12, &other)])).is_err());
            assert!(check(&header(&[(3, &kind)])).is_err());
        }
        // Members of the first versions have other places, so a number that is none hides some.
        let [mut odd, _] = pairs(WHOLE);
        odd[0] &= 15;
        assert!(
            check(&header(&[(12, &attribute("REFERENCE_LIST", &odd, &[1], &[0; 16]))])).is_err()
        );
        for kind in pairs(&nested) {
            let bad = attribute("REFERENCE_LIST", &kind, &[1], &[0; 16]);
            assert!(check(&header(&[(12, &bad)])).is_err());
        }
        let list = [&[0x19, 0, 0, 0, 16, 0, 0, 0][..], &[0x17, 0, 0, 0, 8, 0, 0, 0]].concat();
        let good = attribute("DIMENSION_LIST", &list, &[2], &[0; 32]);
        assert!(check(&header(&[(12, &good)])).is_ok());
        for kind in [&nested[..], &[&VARYING[..8], &nested].concat()] {
            assert!(check(&header(&[(3, kind)])).is_err());
            assert!(check(&header(&[(12, &attribute("a", kind, &[], &[0; 16]))])).is_err());
        }
        assert!(check(&header(&[(3, WHOLE), (3, FIXED), (3, VARYING)])).is_ok());
    }

    #[test]
    fn headers_hold_what_they_claim() {
        assert!(check(&header(&[(0, &[][..]); 1024])).is_ok());
        assert!(check(&header(&[(0, &[][..]); 2000])).is_err());
        let mut file = header(&[]);
        file[2..4].fill(0xff);
        let problem = check(&file).unwrap_err();
        assert_eq!(problem, "an object header has no room for its messages");
        assert!(check(&header(&[(7, &[0; 16])])).is_err());
        assert!(check(&header(&[(17, &[0; 16])])).is_err());
        // Attributes beside the header, of which there are none, or some.
        assert!(check(&header(&[(21, &[&[0, 0][..], &[0xff; 16]].concat())])).is_ok());
        assert!(check(&header(&[(21, &[0; 18])])).is_err());
    }

    #[test]
    fn headers_and_heaps_do_not_overlap() {
        // Its only message is continued where it stands.
        let file = header(&[(16, &le(&[16, 24]))]);
        assert_eq!(check(&file).unwrap_err(), "headers or heaps overlap");
        let heap = |size: u64| [b"GCOL\x01\0\0\0", &size.to_le_bytes()[..]].concat();
        let mut claims = Claims::new(4096);
        assert!(claims.heap(0, &heap(3000)).is_ok() && claims.heap(0, &heap(3000)).is_ok());
        assert!(claims.heap(3000, &heap(1000)).is_ok() && claims.heap(40, &heap(2000)).is_err());
        let mut claims = Claims::new(1000);
        assert!(claims.node(0, 600).is_ok() && claims.node(0, 600).is_ok());
        assert!(claims.node(24, 600).is_err());
        let mut claims = Claims::new(1000);
        assert!((0..8).all(|_| claims.node(0, 1000).is_ok()) && claims.node(0, 1000).is_err());
    }
}
