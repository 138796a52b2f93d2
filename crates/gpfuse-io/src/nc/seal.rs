//! The seal of a model file: a checksum of all its bytes, where programs that read netCDF do not look.
//!
//! ```text
//! superblock, HDF5 data | mark | checksum of all before it
//!                              ^ the end of the file, says the superblock
//! ```
//!
//! HDF5 ignores what follows that end, and what nothing refers to before it. So a file that is cut
//! anywhere is told by its length: before the end by the superblock, at the end or after it by the mark.
//! Model files of gpfuse 0.1.0 have no seal, nor has a copy that another library wrote: those are told
//! by the checksum of their contents alone.

use hdf5_core::jenkins_lookup3;

use super::read::Wrong;

/// What stands before the end.
const MARK: &[u8; 8] = b"gpfseal1";

/// The bytes of the checksum behind it.
const SUM_BYTES: usize = 8;

/// Where a superblock of version 2 has the end of the file.
const END: std::ops::Range<usize> = 28..36;
/// Where it has its own checksum, with which it ends.
const SUPERBLOCK_SUM: std::ops::Range<usize> = 44..48;

/// The same HDF5 file with a seal.
pub(super) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(MARK);
    let end = (bytes.len() as u64).to_le_bytes();
    bytes[END].copy_from_slice(&end);
    let sum = jenkins_lookup3(&bytes[..SUPERBLOCK_SUM.start]).to_le_bytes();
    bytes[SUPERBLOCK_SUM].copy_from_slice(&sum);
    let sum = checksum(&bytes);
    bytes.extend(sum);
    bytes
}

/// Checks that a file is whole and, where it has a seal, that its bytes are those that were sealed.
pub(super) fn check(bytes: &[u8]) -> Result<(), Wrong> {
    let length = bytes.len();
    let marked = |end: usize| bytes.get(..end).is_some_and(|part| part.ends_with(MARK));
    let end = end(bytes)?;
    match end {
        Some(end) if length < end => return Err(Wrong::Truncated(end)),
        Some(end) if length < end + SUM_BYTES && marked(end) => {
            return Err(Wrong::Truncated(end + SUM_BYTES));
        }
        _ => {}
    }
    let (body, sum) = bytes.split_at(length.saturating_sub(SUM_BYTES));
    let sealed = marked(body.len()) || end.is_some_and(|end| length > end);
    if sealed && sum != checksum(body) { Err(Wrong::Altered) } else { Ok(()) }
}

/// The end of the file by its superblock, where that is of the version that gpfuse writes.
fn end(bytes: &[u8]) -> Result<Option<usize>, Wrong> {
    let Some(Ok(end)) = bytes.get(END).map(<[u8; 8]>::try_from) else {
        return Err(Wrong::Truncated(END.end));
    };
    let known = matches!(bytes[8..10], [2 | 3, 8]);
    // A length that no file can have comes from a damaged superblock.
    let end = usize::try_from(u64::from_le_bytes(end)).ok().filter(|end| *end <= usize::MAX / 2);
    if known { end.map(Some).ok_or(Wrong::Altered) } else { Ok(None) }
}

fn checksum(bytes: &[u8]) -> [u8; SUM_BYTES] {
    u64::from(crc32fast::hash(bytes)).to_le_bytes()
}
