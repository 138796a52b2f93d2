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

/// A column of equal numbers takes no room, so that rows are believed only in proportion to the file.
#[test]
fn rows_beyond_belief_are_refused() {
    let (_folder, path) = place();
    write(&path, 60_000, 1.0, None, Compression::SNAPPY);
    assert_eq!(Table::read(&path, Some(&["d"])).unwrap().rows, 120_000);
    let schema = Arc::new(parse_message_type("message t { required double d; }").unwrap());
    let file = fs::File::create(&path).unwrap();
    let mut out = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let values = vec![1.0; 1_000_000];
    let mut group = out.next_row_group().unwrap();
    put::<DoubleType>(&mut group, &values, None);
    group.close().unwrap();
    out.close().unwrap();
    let text = message(&path, None);
    assert!(text.contains("1000000 rows of 1 columns in"), "{text}");
}

/// What the header of a page promises is looked at before it is allocated.
#[test]
fn pages_beyond_belief_are_refused() {
    let (_folder, path) = place();
    let check = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let file = fs::File::open(&path).unwrap();
        super::pages::check(&file, 0..bytes.len() as u64, 1024, 1 << 20)
    };
    // Type 0, 5 bytes unpacked, 2 in the file; a structure with a text, a number and a flag.
    let header = [0x15, 0, 0x15, 10, 0x15, 4, 0x2c, 0x18, 1, b'x', 0x15, 8, 0x11, 0, 0];
    let two = [&header[..], b"ab", &header[..], b"cd"].concat();
    check(&two).unwrap();
    assert!(check(&two[..20]).is_err());
    let large = [0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 4, 0, b'a', b'b'];
    let error = check(&large).unwrap_err().to_string();
    assert!(error.contains("a page of 2 bytes claims 2147483647 when unpacked"), "{error}");
    let negative = [0x15, 0, 0x15, 10, 0x15, 5, 0];
    assert!(check(&negative).unwrap_err().to_string().contains("negative size"));
    let entries = [0x15, 4, 0x15, 10, 0x15, 4, 0x4c, 0x15, 100, 0, 0, b'a', b'b'];
    assert!(check(&entries).unwrap_err().to_string().contains("more entries than bytes"));
    let deep = [0x1c; 100_000];
    assert!(check(&deep).is_err());
}

/// Two thousand million flags in six bytes, hundreds of times over.
#[test]
fn lists_of_flags_in_the_footer_are_refused() {
    let (_folder, path) = place();
    let field = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];
    let footer: Vec<u8> = field.repeat(300);
    let length = (footer.len() as u32).to_le_bytes();
    fs::write(&path, [b"PAR1", footer.as_slice(), &length, b"PAR1"].concat()).unwrap();
    assert!(message(&path, None).contains("its footer has a list of flags"));
}
