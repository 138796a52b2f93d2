//! Delimited text, plain or in gzip.

use std::io::{self, Read};

use gpfuse_io::table::{Table, header, write_table};

use super::one_line;
use super::place::{place, put};

/// What text may unpack to here; more would only cost time.
const LARGEST_TEXT: u64 = 8 << 20;

/// A table has as many finite numbers as it says, under different names, and is the same after it
/// was written.
pub fn csv(bytes: &[u8]) {
    if unpacks_to_much(bytes) {
        return;
    }
    let name = if bytes.first() == Some(&b'\t') { "t.tsv" } else { "t.csv" };
    let path = put(name, bytes);
    let names = header(&path);
    let table = match Table::read(&path, None) {
        Ok(table) => table,
        Err(error) => return one_line(&error),
    };
    assert_eq!(names.expect("a table has a header"), table.names);
    sound(&table);
    again(&table);
    let last = table.names.len() - 1;
    let one = Table::read(&path, Some(&[&table.names[last]])).expect("a column of the table");
    assert_eq!(one.columns[..], table.columns[last..]);
}

/// Whether it is gzip of a text that is too long.
fn unpacks_to_much(bytes: &[u8]) -> bool {
    let gzip = bytes.starts_with(&[0x1f, 0x8b]);
    let mut text = flate2::bufread::MultiGzDecoder::new(bytes).take(LARGEST_TEXT + 1);
    gzip && matches!(io::copy(&mut text, &mut io::sink()), Ok(length) if length > LARGEST_TEXT)
}

/// Shape and values are what a table promises.
pub fn sound(table: &Table) {
    assert!(table.rows > 0 && !table.names.is_empty());
    assert_eq!(table.names.len(), table.columns.len());
    for column in &table.columns {
        assert_eq!(column.len(), table.rows);
        assert!(column.iter().all(|value| value.is_finite()));
    }
    let mut names = table.names.clone();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), table.names.len());
}

/// Written as CSV and read again, it is the same to the bit.
pub fn again(table: &Table) {
    let path = place("again.csv");
    let names: Vec<&str> = table.names.iter().map(String::as_str).collect();
    let columns: Vec<&[f64]> = table.columns.iter().map(Vec::as_slice).collect();
    write_table(Some(&path), &names, &columns).expect("a table is written");
    let back = Table::read(&path, Some(&names)).expect("a table that was written is read");
    assert_eq!((back.rows, &back.names), (table.rows, &table.names));
    let bits = |columns: &[Vec<f64>]| -> Vec<u64> {
        columns.iter().flatten().map(|value| value.to_bits()).collect()
    };
    assert_eq!(bits(&back.columns), bits(&table.columns));
}
