//! A digest of the columns of files, to tell whether they are still the same.

/// The digest of some columns of numbers: it changes with any number, and with their order.
pub fn digest<'a>(columns: impl IntoIterator<Item = &'a [f64]>) -> String {
    let mut sum = crc32fast::Hasher::new();
    for column in columns {
        sum.update(&(column.len() as u64).to_le_bytes());
        column.iter().for_each(|value| sum.update(&value.to_bits().to_le_bytes()));
    }
    format!("{:08x}", sum.finalize())
}
