//! The bytes of a file as the reader asks for them, but for headers and heaps that claim more than
//! they hold.

use std::sync::{Mutex, PoisonError};

use hdf5_reader::error::{Error, Result};
use netcdf_reader::{BytesStorage, Storage, StorageBuffer};

use super::header::Claims;

/// The reader looks at the first 4 bytes of an object header,
const MARK: usize = 4;

/// and then at more of them: 16 in version 1, and 6 in version 2, which gpfuse writes.
const HEADERS: [usize; 2] = [16, 6];

/// The first bytes of a heap of texts, whose size follows, and the bytes with it.
const HEAP: &[u8] = b"GCOL\x01";
const HEAP_SIZE: usize = 16;

/// The first bytes of a node of a tree of chunks, and the bytes without its entries, which are read
/// before.
const NODE: &[u8] = b"TREE";
const NODE_START: usize = 24;

/// A file in memory.
pub(super) struct Guarded {
    bytes: BytesStorage,
    state: Mutex<State>,
}

struct State {
    claims: Claims,
    /// Where 4 bytes were read last: more at the same place are a header, those of anything else
    /// are not.
    marked: Option<u64>,
}

impl Guarded {
    pub(super) fn new(bytes: BytesStorage) -> Self {
        let claims = Claims::new(bytes.len());
        Guarded { bytes, state: Mutex::new(State { claims, marked: None }) }
    }
}

impl Storage for Guarded {
    fn len(&self) -> u64 {
        self.bytes.len()
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<StorageBuffer> {
        let found = self.bytes.read_range(offset, len)?;
        let node = len > NODE_START && found.as_ref().starts_with(NODE);
        if len > HEAP_SIZE && !node {
            return Ok(found);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        if len == MARK {
            state.marked = Some(offset);
        }
        let outcome = if node {
            state.claims.node(offset, len as u64)
        } else if len == HEAP_SIZE && found.as_ref().starts_with(HEAP) {
            state.claims.heap(offset, found.as_ref())
        } else if HEADERS.contains(&len) && state.marked == Some(offset) {
            // A view: nothing is copied.
            let whole = self.bytes.read_range(0, self.bytes.len() as usize)?;
            state.claims.header(whole.as_ref(), offset)
        } else {
            Ok(())
        };
        outcome.map_err(|problem| Error::InvalidData(problem.into()))?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header that claims too many messages.
    fn file() -> Guarded {
        let mut bytes = vec![1, 82, 0xff, 0xff];
        bytes.resize(64, 0);
        Guarded::new(BytesStorage::from_owner(bytes))
    }

    #[test]
    fn headers_that_claim_too_much_are_not_read() {
        let file = file();
        assert!(file.read_range(0, MARK).is_ok() && file.read_range(0, 16).is_err());
        assert!(file.read_range(0, MARK).is_ok() && file.read_range(0, 16).is_err());
    }

    #[test]
    fn data_that_look_like_a_header_are_read() {
        let file = file();
        assert!(file.read_range(0, 16).is_ok());
        assert!(file.read_range(16, MARK).is_ok() && file.read_range(0, 16).is_ok());
    }

    #[test]
    fn heaps_in_heaps_are_not_read() {
        let mut bytes = Vec::new();
        for size in [64_u64, 48, 32] {
            bytes.extend(b"GCOL\x01\0\0\0");
            bytes.extend(size.to_le_bytes());
        }
        bytes.resize(64, 0);
        let file = Guarded::new(BytesStorage::from_owner(bytes));
        assert!(file.read_range(0, 16).is_ok() && file.read_range(0, 64).is_ok());
        assert!(file.read_range(16, 16).is_err());
    }
}
