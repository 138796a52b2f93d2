//! Parquet.

use gpfuse_io::table::{Table, header};

use super::csv::{again, sound};
use super::one_line;
use super::place::put;

/// Larger tables are not written again, which would only cost time.
const LARGEST_TABLE: usize = 1 << 20;

/// A table is what it says, or the error is one line; and the columns that are numbers can be read
/// whatever the others hold.
pub fn parquet(bytes: &[u8]) {
    let path = put("t.parquet", bytes);
    let names = match header(&path) {
        Ok(names) => names,
        Err(error) => return one_line(&error),
    };
    match Table::read(&path, None) {
        Ok(table) => {
            assert_eq!(names, table.names);
            sound(&table);
            if 8 * table.rows * table.columns.len() <= LARGEST_TABLE {
                again(&table);
            }
        }
        Err(error) => one_line(&error),
    }
    for name in names.iter().take(4) {
        match Table::read(&path, Some(&[name.as_str()])) {
            Ok(table) => sound(&table),
            Err(error) => one_line(&error),
        }
    }
}
