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
const SMALL: usize = 1 << 20;

/// A table is what it says, or the error is one line; and the columns that are numbers can be read
/// whatever the others hold.
pub fn parquet(bytes: &[u8]) {
    let size = bytes.len();
    let path = put("t.parquet", bytes);
    let names = match bounded(size, || header(&path)) {
        Ok(names) => names,
        Err(error) => return one_line(&error),
    };
    let most = (FACTOR + 3 * RUNS) * size + 3 * SMALL + FLOOR;
    match bounded_by(most, || Table::read(&path, None)).0 {
        Ok(table) => {
            assert_eq!(names, table.names);
            sound(&table);
            let numbers = 8 * table.rows * table.columns.len();
            // The bound is on the file and what it holds.
            bounded(size + numbers, || Table::read(&path, None)).expect("the same as before");
            again(&table);
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
