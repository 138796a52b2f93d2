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
