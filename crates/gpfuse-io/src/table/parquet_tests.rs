//! Tests of Parquet tables, written here with several types, row groups and codecs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

use super::pages::{self, Refused};
use super::tests::random;
use super::{Table, TableError, header};

const SCHEMA: &str = "message t {
    required double d; optional float f; required int32 i; optional int64 l;
    required int32 u (INTEGER(32, false)); required int64 c (DECIMAL(10, 2));
    optional binary s (UTF8); required boolean b; required int32 day (DATE);
    required int64 at (TIMESTAMP(MICROS, true));
    optional group nest { required double inner; }
}";

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, fs::File>,
    values: &[T::T],
    levels: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

/// Two row groups of `rows` rows; row `null` of the second has no value in `l`.
fn write(path: &Path, rows: usize, d: f64, null: Option<usize>, codec: Compression) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let options = WriterProperties::builder().set_compression(codec).build();
    let file = fs::File::create(path).unwrap();
    let mut out = SerializedFileWriter::new(file, schema, Arc::new(options)).unwrap();
    for part in 0..2 {
        let mut group = out.next_row_group().unwrap();
        let one = vec![1i16; rows];
        let mut levels = one.clone();
        if let Some(at) = null.filter(|_| part == 1) {
            levels[at] = 0;
        }
        let present = levels.iter().filter(|&&level| level > 0).count();
        put::<DoubleType>(&mut group, &vec![d; rows], None);
        put::<FloatType>(&mut group, &vec![0.5; rows], Some(&one));
        put::<Int32Type>(&mut group, &vec![-3; rows], None);
        put::<Int64Type>(&mut group, &vec![1 << 40; present], Some(&levels));
        put::<Int32Type>(&mut group, &vec![-1; rows], None);
        put::<Int64Type>(&mut group, &vec![1234; rows], None);
        put::<ByteArrayType>(&mut group, &vec![ByteArray::from("x"); rows], Some(&one));
        put::<BoolType>(&mut group, &vec![true; rows], None);
        put::<Int32Type>(&mut group, &vec![9; rows], None);
        put::<Int64Type>(&mut group, &vec![9; rows], None);
        put::<DoubleType>(&mut group, &vec![9.0; rows], Some(&one));
        group.close().unwrap();
    }
    out.close().unwrap();
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    (folder, path)
}

fn message(path: &Path, wanted: Option<&[&str]>) -> String {
    let text = Table::read(path, wanted).unwrap_err().to_string();
    assert!(text.starts_with(&format!("`{}`", path.display())), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn reads_every_kind_of_number() {
    let (folder, path) = place();
    let zstd = Compression::ZSTD(ZstdLevel::default());
    for codec in [Compression::UNCOMPRESSED, Compression::SNAPPY, zstd] {
        write(&path, 9000, 2.5, None, codec);
        let table = Table::read(&path, Some(&["l", "d", "f", "i", "u", "c"])).unwrap();
        assert_eq!((table.rows, table.columns[0].len()), (18_000, 18_000));
        let last: Vec<f64> = table.columns.iter().map(|column| column[17_999]).collect();
        assert_eq!(last, [2f64.powi(40), 2.5, 0.5, -3.0, f64::from(u32::MAX), 12.34]);
    }
    // The contents decide, not the name.
    let other = folder.path().join("t.csv");
    fs::copy(&path, &other).unwrap();
    assert_eq!(Table::read(&other, Some(&["d"])).unwrap().rows, 18_000);
    let names = ["d", "f", "i", "l", "u", "c", "s", "b", "day", "at", "nest.inner"];
    assert_eq!(header(&path).unwrap(), names);
}

#[test]
fn cells_and_columns_that_are_no_numbers() {
    let (_folder, path) = place();
    write(&path, 10, 1.0, Some(4), Compression::SNAPPY);
    let text = message(&path, Some(&["l"]));
    assert!(text.contains(", row 15, column `l`: no value"), "{text}");
    let kinds = [("s", "text"), ("b", "true/false"), ("day", "dates"), ("at", "times")];
    for (name, kind) in kinds.into_iter().chain([("nest.inner", "nested values")]) {
        let text = message(&path, Some(&[name]));
        assert!(text.contains(&format!("column `{name}`: holds {kind}")), "{text}");
    }
    assert!(message(&path, Some(&["ff"])).contains("did you mean `f`?"));
    assert!(matches!(Table::read(&path, None), Err(TableError::NoValue { .. })));
    write(&path, 10, f64::NAN, None, Compression::SNAPPY);
    let text = message(&path, Some(&["i", "d"]));
    assert!(text.contains(", row 1, column `d`: `NaN` is not a finite number"), "{text}");
    write(&path, 0, 1.0, None, Compression::SNAPPY);
    assert!(message(&path, Some(&["d"])).contains("has a header but no rows"));
}

#[test]
fn other_files_and_cut_off_ones() {
    let (_folder, path) = place();
    fs::write(&path, "x,y\n1,2\n").unwrap();
    assert!(message(&path, None).contains("is not a Parquet file: write it as Parquet"));
    fs::write(&path, "").unwrap();
    assert!(message(&path, None).contains("is empty"));
    write(&path, 200, 1.0, None, Compression::SNAPPY);
    let bytes = fs::read(&path).unwrap();
    for length in (4..bytes.len()).step_by(31) {
        fs::write(&path, &bytes[..length]).unwrap();
        let text = message(&path, Some(&["d"]));
        assert!(text.contains("damaged or cut off"), "{text}");
    }
}

#[test]
fn random_damage_never_panics() {
    let (_folder, path) = place();
    write(&path, 200, 1.0, None, Compression::SNAPPY);
    let bytes = fs::read(&path).unwrap();
    let mut state = 3;
    let mut found = 0;
    for round in 0..800 {
        let mut damaged = bytes.clone();
        // The first bytes stay, or it would only be another file.
        for _ in 0..=round % 4 {
            let at = 4 + random(&mut state) % (damaged.len() - 4);
            damaged[at] = random(&mut state) as u8;
        }
        fs::write(&path, &damaged).unwrap();
        if let Err(error) = Table::read(&path, Some(&["d", "f", "i", "l", "u", "c"])) {
            found += 1;
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
    assert!(found > 200, "{found}");
}

/// `rows` equal numbers in one page.
fn write_equal(path: &Path, rows: usize, dictionary: bool) {
    let schema = Arc::new(parse_message_type("message t { required double d; }").unwrap());
    let options = WriterProperties::builder()
        .set_dictionary_enabled(dictionary)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_data_page_size_limit(usize::MAX)
        .set_data_page_row_count_limit(usize::MAX)
        .build();
    let file = fs::File::create(path).unwrap();
    let mut out = SerializedFileWriter::new(file, schema, Arc::new(options)).unwrap();
    let mut group = out.next_row_group().unwrap();
    put::<DoubleType>(&mut group, &vec![1.0; rows], None);
    group.close().unwrap();
    out.close().unwrap();
}

/// A column of equal numbers takes no room, so that beyond 64 MiB rows are believed only in
/// proportion to the file.
#[test]
fn rows_beyond_belief_are_refused() {
    let (_folder, path) = place();
    for dictionary in [true, false] {
        write_equal(&path, 1_000_000, dictionary);
        assert_eq!(Table::read(&path, None).unwrap().rows, 1_000_000);
        write_equal(&path, 10_000_000, dictionary);
        let text = message(&path, None);
        let expected = "`: unpacks to 80000000 bytes, more than 1024 times its size: write it";
        assert!(text.contains(expected), "{text}");
    }
}

/// Check `bytes` as the pages of a column of doubles.
fn check_pages(bytes: &[u8]) -> Result<(), String> {
    let (_folder, path) = place();
    fs::write(&path, bytes).unwrap();
    let file = fs::File::open(&path).unwrap();
    let most = |packed: u64| 1024 * packed + (1 << 20);
    pages::check(&file, 0..bytes.len() as u64, 8, most).map_err(|refused| match refused {
        Refused::Damaged(cause) => cause.to_string(),
        Refused::Expands(bytes) => format!("{bytes} bytes"),
    })
}

fn refused_pages(bytes: &[u8], expected: &str) {
    let problem = check_pages(bytes).unwrap_err();
    assert!(problem.contains(expected), "{problem}");
}

/// What the header of a page promises is looked at before it is allocated.
#[test]
fn pages_beyond_belief_are_refused() {
    // Type 0, 5 bytes unpacked, 2 in the file; four numbers, and a structure with a text, a number
    // and a flag.
    let header = [0x15, 0, 0x15, 10, 0x15, 4, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6];
    let header = [&header[..], &[0x1c, 0x18, 1, b'x', 0x16, 8, 0x11, 0, 0, 0]].concat();
    let two = [&header[..], b"ab", &header[..], b"cd"].concat();
    check_pages(&two).unwrap();
    assert!(check_pages(&two[..two.len() - 5]).is_err());
    refused_pages(&two[..two.len() - 1], "past the end of its column");
    let large = [0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 4, 0, b'a', b'b'];
    refused_pages(&large, "2147483647 bytes");
    refused_pages(&[0x15, 0, 0x15, 10, 0x15, 5, 0], "a size is out of range");
    let entries = |n: u8| [0x15, 4, 0x15, 32, 0x15, 4, 0x4c, 0x15, 2 * n, 0, 0, b'a', b'b'];
    check_pages(&entries(2)).unwrap();
    refused_pages(&entries(3), "more entries than room");
    assert!(check_pages(&[0x1c; 100_000]).is_err());
    let deep = [&[0x15, 0, 0x15, 0, 0x15, 0, 0x2c][..], &[0x6c; 100_000]].concat();
    refused_pages(&deep, "a page header cannot be read");
}

/// The decoder keeps the lowest 32 bits of a size, here 2 of 2^32 + 2.
#[test]
fn sizes_of_more_bits_are_refused() {
    let wide = [0x15, 4, 0x15, 2, 0x15, 0x84, 0x80, 0x80, 0x80, 0x20, 0, b'a', b'b'];
    refused_pages(&wide, "a size is out of range");
}

/// A structure in field 0 is not the header.
#[test]
fn unknown_fields_of_a_page_header_are_refused() {
    let zero = [0x15, 4, 0x15, 2, 0x15, 4, 0x0c, 0, 0x25, 2, 0x15, 4, 0, 0, b'a', b'b'];
    refused_pages(&zero, "an unknown field");
    refused_pages(&[0x15, 4, 0x15, 2, 0x15, 4, 0x65, 0, 0, b'a', b'b'], "an unknown field");
}

/// The decoder takes field 2 for a number though it says it is a double, in every structure it knows.
#[test]
fn numbers_of_another_type_are_refused() {
    let double = [0x15, 4, 0x17, 2, 0, 0, 0, 0, 0, 0, 0, 0x15, 4, 0, b'a', b'b'];
    refused_pages(&double, "another type");
    for (inner, numbers) in [(0x2c, 4), (0x4c, 2), (0x5c, 6)] {
        let start = [0x15, 4, 0x15, 16, 0x15, 4, inner];
        for at in 0..numbers {
            let mut page = start.to_vec();
            page.extend([0x15, 2].repeat(at));
            check_pages(&[&page[..], &[0, 0, b'a', b'b']].concat()).unwrap();
            page.extend([0x13, 2, 0, 0, b'a', b'b']);
            refused_pages(&page, "another type");
        }
    }
    refused_pages(&[0x15, 4, 0x15, 2, 0x15, 4, 0x28, 0, 0, b'a', b'b'], "an unknown field");
}

/// The decoder keeps 16 bits of a field's number, here 2 of 2^16 + 2.
#[test]
fn fields_of_more_bits_are_refused() {
    let wide = [0x15, 4, 0x15, 2, 0x15, 4, 0x05, 0x84, 0x80, 0x08, 2, 0, b'a', b'b'];
    refused_pages(&wide, "a field's number is out of range");
}

fn refused_footer(footer: &[u8], expected: &str) {
    let (_folder, path) = place();
    let length = (footer.len() as u32).to_le_bytes();
    fs::write(&path, [b"PAR1", footer, &length, b"PAR1"].concat()).unwrap();
    let text = message(&path, None);
    assert!(text.contains(expected), "{text}");
}

/// Two thousand million flags in six bytes, hundreds of times over.
#[test]
fn lists_of_flags_in_the_footer_are_refused() {
    let lists = [0xf9, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07].repeat(300);
    refused_footer(&lists, "its footer has a list of flags");
    // Behind a structure that ends with a zero of a type only.
    refused_footer(&[&[0xfc, 0x20], &lists[..]].concat(), "its footer has a list of flags");
}

#[test]
fn footers_that_cannot_be_read_are_refused() {
    refused_footer(&[0x15, 2], "its footer ends early");
    refused_footer(&[0xf8, 9, b'x', 0], "its footer ends early");
    refused_footer(&[0xfe, 0], "its footer cannot be read");
    refused_footer(&[0xfc; 1000], "its footer cannot be read");
    refused_footer(&[&[0x15][..], &[0x80; 20]].concat(), "a number is too long");
    refused_footer(&[0xfb, 0, 0], "its footer has a map");
}

/// An element of a schema: a group of so many, a column of doubles, and the root of so many.
fn group(own: u8) -> Vec<u8> {
    vec![0x35, 0, 0x18, 0, 0x15, 2 * own, 0]
}

const COLUMN: [u8; 7] = [0x15, 0x0a, 0x25, 0, 0x18, 0, 0];

fn root(own: &[u8]) -> Vec<u8> {
    [&[0x48, 0, 0x15], own, &[0]].concat()
}

/// A footer with `count` elements, below 2^14.
fn schema(count: usize, elements: &[u8]) -> Vec<u8> {
    let count = [(count & 127) as u8 | 128, (count >> 7) as u8];
    let rest = [0x16, 0, 0x19, 0x0c, 0];
    [&[0x15, 2, 0x19, 0xfc][..], &count, elements, &rest].concat()
}

/// The decoder calls itself for every group in a group.
#[test]
fn schemas_too_deep_are_refused() {
    refused_footer(&schema(9000, &group(1).repeat(9000)), "too many groups in groups");
}

/// The decoder makes room for as many columns as a group says it has.
#[test]
fn schemas_with_missing_columns_are_refused() {
    let huge = root(&[0xfe, 0xff, 0xff, 0xff, 0x0f]);
    refused_footer(&schema(2, &[&huge[..], &COLUMN].concat()), "fewer columns than it says");
    let nested = [&root(&[4])[..], &group(2), &COLUMN, &COLUMN].concat();
    refused_footer(&schema(4, &nested), "fewer columns than it says");
    let two = [&root(&[2])[..], &COLUMN, &group(1), &COLUMN].concat();
    refused_footer(&schema(4, &two), "a second root");
    refused_footer(&schema(1, &root(&[1])), "a size is out of range");
    refused_footer(&schema(1, &root(&[0x80, 0x80, 0x80, 0x80, 0x20])), "a size is out of range");
}

/// Every column keeps the names of the groups it is in, and an element that is a byte in the file
/// takes hundreds in memory.
#[test]
fn footers_that_fill_the_memory_are_refused() {
    let groups = group(1).repeat(59);
    let last = [0x35, 0, 0x18, 0, 0x15, 0xc0, 0x3e, 0];
    let deep = [&root(&[2])[..], &groups, &last, &COLUMN.repeat(4000)].concat();
    refused_footer(&schema(4061, &deep), "more than the file can hold");
    refused_footer(&schema(16_000, &vec![0; 16_000]), "a second root");
    let one = schema(2, &[&root(&[2])[..], &COLUMN].concat());
    let list = [&[0xfc, 0xff, 0x7d][..], &[0; 16_127], &[0]].concat();
    let groups = [&one[..one.len() - 2], &list].concat();
    refused_footer(&groups, "more than the file can hold");
    let pairs = [&one[..one.len() - 1], &[0x19], &list[..]].concat();
    refused_footer(&pairs, "more than the file can hold");
}

/// The decoder takes a field for what its number says, and the last of two.
#[test]
fn fields_of_a_footer_have_their_type_and_come_once() {
    let double = [0x48, 0, 0x17, 2, 0, 0, 0, 0, 0, 0, 0, 0];
    refused_footer(&schema(2, &[&double[..], &COLUMN].concat()), "another type");
    refused_footer(&[0x15, 2, 0x19, 0x15, 2, 0], "a list of its footer has another type");
    let twice = [0x48, 0, 0x15, 2, 0x05, 10, 2, 0];
    refused_footer(&schema(2, &[&twice[..], &COLUMN].concat()), "comes twice");
}

/// Columns in groups may stand beside those that are read.
#[test]
fn groups_in_groups_are_passed_over() {
    let (_folder, path) = place();
    let (open, close) = ("optional group g { ".repeat(30), "} ".repeat(30));
    let text = format!("message t {{ {open} required double d; {close} }}");
    let schema = Arc::new(parse_message_type(&text).unwrap());
    let file = fs::File::create(&path).unwrap();
    SerializedFileWriter::new(file, schema, Arc::default()).unwrap().close().unwrap();
    assert_eq!(header(&path).unwrap(), [format!("{}d", "g.".repeat(30))]);
}

/// Thousands of columns with few numbers.
#[test]
fn wide_files_are_read() {
    let (_folder, path) = place();
    let names: String = (0..5000).map(|i| format!("required double c{i}; ")).collect();
    let schema = Arc::new(parse_message_type(&format!("message t {{ {names} }}")).unwrap());
    let file = fs::File::create(&path).unwrap();
    let mut out = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = out.next_row_group().unwrap();
    (0..5000).for_each(|_| put::<DoubleType>(&mut group, &[1.0], None));
    group.close().unwrap();
    out.close().unwrap();
    assert_eq!(Table::read(&path, None).unwrap().columns.len(), 5000);
}
