//! Parquet.

use gpfuse_io::table::{Table, header};

use super::bound::{FACTOR, FLOOR, bounded, bounded_by};
use super::csv::{again, sound};
use super::one_line;
use super::place::put;

/// Runs and dictionaries shrink a column without limit: of a thousand equal numbers a few bytes are
/// left. The reader takes up to this many bytes of numbers per byte of the file, and [`SMALL`] from
/// any file.
const RUNS: usize = 1024;

/// So many bytes of numbers are read whatever the size of the file.
const SMALL: usize = 64 << 20;

/// A vector that grows to its end takes three times its bytes, and a page and its dictionary are
/// unpacked beside it.
const TIMES: usize = 5;

/// Larger tables are not written again, which would only cost time.
const MOST: usize = 1 << 20;

/// A table is what it says, or the error is one line; and the columns that are numbers can be read
/// whatever the others hold.
pub fn parquet(bytes: &[u8]) {
    let size = bytes.len();
    let path = put("t.parquet", bytes);
    let names = match bounded(size, || header(&path)) {
        Ok(names) => names,
        Err(error) => return one_line(&error),
    };
    let unpacked = RUNS * size + SMALL;
    let most = FACTOR * size + TIMES * unpacked + FLOOR;
    match bounded_by(most, || Table::read(&path, None)).0 {
        Ok(table) => {
            assert_eq!(names, table.names);
            sound(&table);
            let numbers = 8 * table.rows * table.columns.len();
            // The bound is on the file and what it holds, and on a page and its dictionary, of which
            // little may be used.
            let held = size + numbers + 2 * unpacked / FACTOR;
            bounded(held, || Table::read(&path, None)).expect("the same as before");
            if numbers <= MOST {
                again(&table);
            }
        }
        Err(error) => one_line(&error),
    }
    for name in names.iter().take(4) {
        let read = || Table::read(&path, Some(&[name.as_str()]));
        match bounded_by(most, read).0 {
            Ok(table) => sound(&table),
            Err(error) => one_line(&error),
        }
    }
}
