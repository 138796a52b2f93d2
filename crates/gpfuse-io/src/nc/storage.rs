//! The bytes of a file as the reader asks for them, but for headers that claim more than they hold.

use hdf5_reader::error::{Error, Result};
use netcdf_reader::{BytesStorage, Storage, StorageBuffer};

/// An HDF5 object header of version 1 begins with 16 bytes: the version and a zero, the number of
/// messages (16 bits), a count of references, the size of the messages (32 bits), padding. The
/// reader makes room for all messages before it reads one, for each header again, though every message
/// takes a part of that size, and of the file. gpfuse writes headers of version 2.
const HEADER: usize = 16;

/// The least bytes of a message that says anything: 8 of its own and 8 more.
const MESSAGE: u64 = 16;

/// Fewer messages take no room worth a word; and what else is read 16 bytes at a time and begins
/// alike, an object of a heap, has few references there.
const MANY: u16 = 1024;

/// A file in memory.
pub(super) struct Guarded(pub(super) BytesStorage);

impl Storage for Guarded {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<StorageBuffer> {
        let found = self.0.read_range(offset, len)?;
        let rest = self.len().saturating_sub(offset);
        if len == HEADER && claims_too_much(found.as_ref(), rest) {
            return Err(Error::InvalidData("an object header has no room for its messages".into()));
        }
        Ok(found)
    }
}

/// Whether a header, of which so many bytes are left in the file, has no room for its messages.
fn claims_too_much(bytes: &[u8], rest: u64) -> bool {
    let [1, 0, a, b, _, _, _, _, w, x, y, z, ..] = *bytes else { return false };
    let messages = u16::from_le_bytes([a, b]);
    let size = u32::from_le_bytes([w, x, y, z]);
    messages >= MANY && u64::from(messages) * MESSAGE > u64::from(size).min(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_claim_too_much_are_not_read() {
        let header = |messages: u16, size: u32, whole: usize| {
            let mut bytes = vec![1, 0];
            bytes.extend(messages.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.resize(whole, 0);
            Guarded(BytesStorage::from_owner(bytes)).read_range(0, HEADER).is_ok()
        };
        assert!(header(1, 0, 64) && header(2000, 32_000, 32_000) && header(1023, 0, 64));
        assert!(!header(u16::MAX, 48, 64) && !header(2000, 31_999, 40_000));
        // The size may claim too much as well.
        assert!(!header(2000, u32::MAX, 31_999));
    }
}
