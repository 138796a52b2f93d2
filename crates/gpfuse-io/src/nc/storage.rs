//! The bytes of a file as the reader asks for them, but for headers that claim more than they hold.

use hdf5_reader::error::{Error, Result};
use netcdf_reader::{BytesStorage, Storage, StorageBuffer};

/// An HDF5 object header of version 1 begins with 16 bytes: the version and a zero, the number of
/// messages (16 bits), a count of references, the size of the messages (32 bits), padding. The
/// reader makes room for all messages before it reads one, for each header again, though every message
/// takes 8 bytes of that size. gpfuse writes headers of version 2.
const HEADER: usize = 16;

/// The least bytes of a message.
const MESSAGE: u64 = 8;

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
        if len == HEADER && claims_too_much(found.as_ref()) {
            return Err(Error::InvalidData("an object header has no room for its messages".into()));
        }
        Ok(found)
    }
}

fn claims_too_much(bytes: &[u8]) -> bool {
    let [1, 0, a, b, _, _, _, _, w, x, y, z, ..] = *bytes else { return false };
    let messages = u16::from_le_bytes([a, b]);
    let size = u32::from_le_bytes([w, x, y, z]);
    messages >= MANY && u64::from(messages) * MESSAGE > u64::from(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_claim_too_much_are_not_read() {
        let header = |messages: u16, size: u32| {
            let mut bytes = vec![1, 0];
            bytes.extend(messages.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.resize(64, 0);
            Guarded(BytesStorage::from_owner(bytes)).read_range(0, HEADER).is_ok()
        };
        assert!(header(1, 0) && header(2000, 16_000) && header(1023, 0));
        assert!(!header(u16::MAX, 48) && !header(2000, 15_999));
    }
}
