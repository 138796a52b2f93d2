//! The bytes of a file as the reader asks for them, but for headers that claim more than they hold.

use std::sync::atomic::{AtomicU64, Ordering};

use hdf5_reader::error::{Error, Result};
use netcdf_reader::{BytesStorage, Storage, StorageBuffer};

/// The reader looks at the first 4 bytes of an object header: `OHDR` begins one of version 2, which
/// gpfuse writes.
const MARK: usize = 4;

/// Any other is of version 1 and is read again, its first 16 bytes: the version, a byte that is not
/// looked at, the number of messages (16 bits), a count of references, the size of the messages
/// (32 bits), padding. The reader makes room for all messages before it reads one, for each header
/// again, though every message takes a part of that size.
const HEADER: usize = 16;

/// The least bytes of a message that says anything: 8 of its own and 8 more.
const MESSAGE: u64 = 16;

/// Fewer messages take no room worth a word.
const MANY: u16 = 1024;

/// A file in memory.
pub(super) struct Guarded {
    bytes: BytesStorage,
    /// Where 4 bytes were read last: 16 at the same place are a header, those of anything else are not.
    marked: AtomicU64,
}

impl Guarded {
    pub(super) fn new(bytes: BytesStorage) -> Self {
        Guarded { bytes, marked: AtomicU64::new(u64::MAX) }
    }
}

impl Storage for Guarded {
    fn len(&self) -> u64 {
        self.bytes.len()
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<StorageBuffer> {
        let found = self.bytes.read_range(offset, len)?;
        if len == MARK {
            self.marked.store(offset, Ordering::Relaxed);
        }
        let header = len == HEADER && self.marked.load(Ordering::Relaxed) == offset;
        if header && claims_too_much(found.as_ref()) {
            return Err(Error::InvalidData("an object header has no room for its messages".into()));
        }
        Ok(found)
    }
}

fn claims_too_much(bytes: &[u8]) -> bool {
    let [1, _, a, b, _, _, _, _, w, x, y, z, ..] = *bytes else { return false };
    let messages = u16::from_le_bytes([a, b]);
    let size = u32::from_le_bytes([w, x, y, z]);
    messages >= MANY && u64::from(messages) * MESSAGE > u64::from(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(second: u8, messages: u16, size: u32) -> Guarded {
        let mut bytes = vec![1, second];
        bytes.extend(messages.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.resize(64, 0);
        Guarded::new(BytesStorage::from_owner(bytes))
    }

    #[test]
    fn headers_that_claim_too_much_are_not_read() {
        let header = |second, messages, size| {
            let file = file(second, messages, size);
            file.read_range(0, MARK).is_ok() && file.read_range(0, HEADER).is_ok()
        };
        for second in [0, 82] {
            assert!(header(second, 1, 0) && header(second, 2000, 32_000));
            assert!(header(second, 1023, 0));
            assert!(!header(second, u16::MAX, 48) && !header(second, 2000, 31_999));
        }
    }

    #[test]
    fn data_that_look_like_a_header_are_read() {
        let file = file(0, u16::MAX, 48);
        assert!(file.read_range(0, HEADER).is_ok());
        assert!(file.read_range(16, MARK).is_ok() && file.read_range(0, HEADER).is_ok());
    }
}
