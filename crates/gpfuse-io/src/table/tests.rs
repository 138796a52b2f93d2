//! Tests of reading and writing tables: every error, its place and its cure.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::{CsvSink, Table, TableError, TableSink, Texts, Wanted, header, write_table};

fn place(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn read(bytes: impl AsRef<[u8]>, wanted: Option<&[&str]>) -> Result<Table, TableError> {
    let (_folder, path) = place("t.csv", bytes);
    Table::read(&path, wanted)
}

/// The error's text, which must be one line that names the file.
fn message(bytes: impl AsRef<[u8]>, wanted: Option<&[&str]>) -> String {
    let text = read(bytes, wanted).unwrap_err().to_string();
    assert!(text.starts_with('`') && text.contains("t.csv`"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// A small generator: the tests need spread, not quality.
pub(super) fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn reads_the_wanted_columns_in_their_order() {
    let text = "\u{feff}\"name\", x ,y,z\r\nfirst, 1.5 ,-2e3,\r\n\r\n\"a,\r\nb\",.5,+4,NaN\r\n";
    let table = read(text, Some(&["y", "x"])).unwrap();
    assert_eq!(table.names, ["y", "x"]);
    assert_eq!(table.columns, [[-2e3, 4.0], [1.5, 0.5]]);
    assert_eq!((table.rows, table.column("x").unwrap()), (2, &[1.5, 0.5][..]));
    assert!(table.column("name").is_none());
    let (_folder, path) = place("t.csv", text);
    assert_eq!(header(&path).unwrap(), ["name", "x", "y", "z"]);
    let all = read("a,b\n1,2\n3,4", None).unwrap();
    assert_eq!(all.columns, [[1.0, 3.0], [2.0, 4.0]]);
    assert_eq!(read("a\r1\r2\r", None).unwrap().columns, [[1.0, 2.0]]);
    assert_eq!(read("PAR1,b\n1,2\n", None).unwrap().names, ["PAR1", "b"]);
    assert_eq!(read("0,1\n5,6\n", Some(&["1"])).unwrap().columns, [[6.0]]);
}

#[test]
fn reads_tabs_and_gzip_whatever_the_name() {
    let (_folder, path) = place("t.TSV", "a\tb\n1\t2\n");
    assert_eq!(Table::read(&path, None).unwrap().columns, [[1.0], [2.0]]);
    let mut two = gzip(b"a,b\n1,2\n");
    two.extend(gzip(b"3,4\n"));
    for name in ["t.csv.gz", "t.csv", "t"] {
        let (_folder, path) = place(name, &two);
        assert_eq!(Table::read(&path, None).unwrap().columns, [[1.0, 3.0], [2.0, 4.0]]);
        assert_eq!(header(&path).unwrap(), ["a", "b"]);
    }
}

#[test]
fn files_that_hold_no_table() {
    let missing = Table::read(Path::new("no/such.csv"), None).unwrap_err();
    assert_eq!(missing.to_string(), "`no/such.csv`: no such file: check the path");
    let missing = Table::read(Path::new("a\nb.csv"), None).unwrap_err();
    assert_eq!(missing.to_string(), r"`a\nb.csv`: no such file: check the path");
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Table::read(folder.path(), None), Err(TableError::Folder { .. })));
    assert!(message("", None).contains("is empty"));
    assert!(message("\n\n \n", None).contains("is empty"));
    assert!(message("a,b\n", None).contains("has a header but no rows"));
    assert!(message("a,b\n\n  \n", None).contains("has a header but no rows"));
    assert!(message("1.5,2\n3,4\n", None).contains("first line is all numbers (`1.5`, ...): put"));
    assert!(message("1.5,2\n3,4\n", Some(&["x"])).contains("put a header line"));
    assert!(message("a;b\n1;2\n", None).contains("the header `a;b` is not separated by commas"));
    assert!(message([0xff, 0xfe, b'a', 0, b',', 0], None).contains("header is not UTF-8"));
    let text = message(b"a\0,\0b\0\n\0", None);
    assert!(text.contains("column 1 has the control character `\\0`"), "{text}");
    assert!(text.ends_with("save the table as CSV in UTF-8"), "{text}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let text = message("PAR1\x15", None);
    assert!(text.contains("this build reads no Parquet: convert the table to CSV"), "{text}");
}

/// Names that would make another kind of file of a table when it is written.
#[test]
fn names_with_marks_and_control_characters() {
    let marks = read("\u{feff} \u{feff}a,\u{feff}b\n1,2\n", None).unwrap();
    assert_eq!(marks.names, ["a", "b"]);
    let text = message("a,\"PAR1\x15\"\n1,2\n", None);
    assert!(
        text.contains("name of column 2 has the control character `\\u{15}`: remove"),
        "{text}"
    );
    assert!(message(b"a,\xff\n1,2\n", None).contains("the header is not UTF-8 text"));
}

#[test]
fn headers_that_do_not_serve() {
    let text = message("a,b, a\n1,2,3\n", Some(&["b"]));
    assert!(text.contains("columns 1 and 3 are both named `a`: rename one"), "{text}");
    assert!(message(",b\n1,2\n", None).contains("column 1 has no name"));
    assert_eq!(read(",b\n1,2\n", Some(&["b"])).unwrap().columns, [[2.0]]);
    let text = message("temp,humidity\n1,2\n", Some(&["Temp"]));
    let expected = "no column `Temp` (did you mean `temp`?): it has `temp`, `humidity`";
    assert!(text.contains(expected), "{text}");
    let text = message("temp,humidity\n1,2\n", Some(&["humdity"]));
    assert!(text.contains("did you mean `humidity`?"), "{text}");
    let wide: Vec<String> = (0..30).map(|i| format!("col{i}")).collect();
    let text = message(wide.join(",") + "\n", Some(&["velocity"]));
    assert!(text.contains("`col9`, and 20 more") && !text.contains("did you mean"), "{text}");
}

#[test]
fn cells_that_are_no_numbers() {
    let at = |text: &str, expected: &str| {
        let text = message(text, Some(&["y"]));
        assert!(text.contains(expected), "{text}");
    };
    at("x,y\n1,2\na,b\n", ", row 2 (line 3), column `y`: `b` is not a number");
    // Empty lines and line breaks in cells count as lines, not as rows.
    at("x,y\n\n\n1,2\n\nq,b\n", "row 2 (line 6), column `y`: `b`");
    at("x,y\r\n\"1\r\n\r\n\",2\r\n3,b\r\n", "row 2 (line 5), column `y`: `b`");
    at("x,y\r1,2\r3,b", "row 2 (line 3), column `y`: `b`");
    at("x,y\n1, \n", "row 1 (line 2), column `y`: no value: fill it in");
    at("x,y\n1,nan\n", "`nan` is not a finite number");
    at("x,y\n1,-inf\n", "`-inf` is not a finite number");
    at("x,y\n1,1e999\n", "`1e999` is not a finite number");
    at("x,y\n1,\"1,5\"\n", "`1,5` is not a number");
    at(&format!("x,y\n1,\"a\nb{}\"\n", "c".repeat(90)), "`a\\nbccc");
    at("y\n1\n\n2\n", "row 2 (line 3), column `y`: no value");
    let text = message(b"x,y\n1,\xe9\n", Some(&["y"]));
    assert!(text.contains("row 1 (line 2), column `y`: not UTF-8 text: save"), "{text}");
    assert_eq!(read(b"x,y\n\xe9,2\n", Some(&["y"])).unwrap().rows, 1);
    assert!(message("x,y\n1,2\n1,a\n", None).contains("row 2 (line 3)"));
}

#[test]
fn rows_of_another_length() {
    let text = message("x,y\n1,2\n1\n", Some(&[]));
    assert!(text.contains("row 2 (line 3): 1 cells where the header has 2: add"), "{text}");
    assert!(message("x,y\n1,2,3\n", None).contains("3 cells"));
    let text = message("x,y\n1,2\n\"1,2\n3,4\n5,6\n", None);
    assert!(text.contains("row 2 (line 3): 1 cells where the header has 2: a quote"), "{text}");
}

#[test]
fn damaged_gzip() {
    let rows: String = (0..3000).map(|i| format!("{i},{}\n", (i as f64).sin())).collect();
    let whole = gzip(format!("a,b\n{rows}").as_bytes());
    for length in (2..60).chain((60..whole.len()).step_by(211)).chain([whole.len() - 1]) {
        let text = message(&whole[..length], None);
        assert!(text.contains("the gzip file ends early: copy"), "{length}: {text}");
    }
    let mut state = 5;
    for _ in 0..200 {
        let mut bytes = whole.clone();
        let at = 12 + random(&mut state) % (bytes.len() - 12);
        bytes[at] ^= 1 << (random(&mut state) % 8);
        let error = read(&bytes, None).unwrap_err();
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
    let mut bytes = whole.clone();
    let crc = bytes.len() - 6;
    bytes[crc] ^= 1;
    assert!(message(&bytes, None).contains("the gzip file is damaged"));
}

#[test]
fn no_bytes_make_the_text_reader_panic() {
    let pieces: [&[u8]; 14] = [
        b"a",
        b"b",
        b",",
        b",",
        b"\n",
        b"\n",
        b"\r",
        b"\"",
        b"1",
        b"2.5",
        b" ",
        b"\xff",
        b"\0",
        b"\xef\xbb\xbf",
    ];
    let mut state = 11;
    for _ in 0..3000 {
        let length = random(&mut state) % 40;
        let bytes: Vec<u8> =
            (0..length).flat_map(|_| pieces[random(&mut state) % 14]).copied().collect();
        if let Err(error) = read(&bytes, None) {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
}

#[test]
fn numbers_are_written_to_read_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let x = [0.1, -0.0, 1.0, 1e300, 5e-324, f64::MAX, 1.0 / 3.0, 123_456_789.0];
    let y = x.map(|value| -value);
    for name in ["t.csv", "t.csv.gz"] {
        let path = folder.path().join(name);
        write_table(Some(&path), &["x", "y, or so"], &[&x, &y]).unwrap();
        let table = Table::read(&path, None).unwrap();
        assert_eq!(table.names, ["x", "y, or so"]);
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&table.columns[0]), bits(&x));
        assert_eq!(bits(&table.columns[1]), bits(&y));
    }
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert!(text.starts_with("x,\"y, or so\"\n0.1,-0.1\n-0,0\n1,-1\n1e300,"), "{text}");
    assert!(fs::read(folder.path().join("t.csv.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
}

#[test]
fn a_sink_leaves_nothing_until_it_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let mut sink = CsvSink::create(Some(&path), &["a", "b"]).unwrap();
    for i in 0..20_000 {
        sink.row(&[f64::from(i), 0.5]).unwrap();
    }
    assert!(!path.exists());
    drop(sink);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut sink = CsvSink::create(Some(&path), &["a", "b"]).unwrap();
    sink.row(&[1.0, 2.0]).unwrap();
    sink.cells(&["x", "y"]).unwrap();
    sink.mixed(["a, b"].into_iter(), &[3.0]).unwrap();
    sink.finish().unwrap();
    let text = "a,b\n1,2\nx,y\n\"a, b\",3\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let mut sink = CsvSink::create(Some(&path), &["a", "b"]).unwrap();
    assert!(sink.row(&[1.0]).unwrap_err().to_string().contains("1 cells under a header of 2"));
    assert!(sink.finish().is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn writing_fails_with_path_and_cure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let odd = write_table(Some(&path), &["a", "b"], &[&[1.0][..], &[]]).unwrap_err();
    assert!(odd.to_string().contains("the columns differ in length"), "{odd}");
    let fail = |path: &Path| write_table(Some(path), &["a"], &[&[1.0]]).unwrap_err().to_string();
    assert!(fail(folder.path()).contains("it is a folder"));
    assert!(fail(&folder.path().join("no/t.csv")).contains("does not exist: create it first"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    #[cfg(target_os = "linux")]
    assert!(fail(Path::new("/dev/full")).contains("cannot write `/dev/full`: the disk is full"));
}

/// Thousands of columns are read, and a row that has more cells is told by its length.
#[test]
fn wide_tables_are_read() {
    let names: Vec<String> = (0..20_000).map(|i| format!("c{i}")).collect();
    let wide = format!("{}\n{}1\n", names.join(","), "1,".repeat(names.len() - 1));
    assert_eq!(read(wide, None).unwrap().columns.len(), names.len());
    let text = message(format!("a,b\n1,2\n{}\n", ",".repeat(40_000)), None);
    assert!(text.contains("row 2 (line 3)") && text.contains("40001"), "{text}");
}

/// Whichever comes first from the left.
#[test]
fn the_first_fault_of_a_header_is_told() {
    assert!(message("b,a,,a,b\n", None).contains("column 3 has no name"));
    assert!(message("b,a,a,,b\n", None).contains("columns 2 and 3 are both named `a`"));
    assert!(message("b,,a,b,a\n", Some(&["a"])).contains("columns 1 and 4 are both named `b`"));
}

/// Columns are kept as they stand, whatever they hold, also through Parquet, where they have the type that all
/// their texts have.
#[test]
fn columns_are_kept_as_they_stand() {
    let text = "id,x,name,flag,007,none\n1,0.5,\"a, b\",,007,\n2,1.5, c ,3.5,010,\n";
    let keep = ["name", "id", "flag", "007", "none"];
    let (_folder, path) = place("t.csv", text);
    let (table, kept) = Table::read_wanted(&path, &Wanted::numbers(Some(&["x"]), &keep)).unwrap();
    assert_eq!(table.columns, [[0.5, 1.5]]);
    assert_eq!(kept.names, keep);
    let cells = [["a, b", " c "], ["1", "2"], ["", "3.5"], ["007", "010"], ["", ""]];
    assert_eq!(kept.columns, cells);
    let missing = Table::read_wanted(&path, &Wanted::numbers(Some(&["x"]), &["nam"]))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("no column `nam` (did you mean `name`?)"), "{missing}");
    let names = if cfg!(feature = "parquet") { &["t2.csv", "t.parquet"][..] } else { &["t2.csv"] };
    for name in names {
        let path = path.with_file_name(name);
        let mut sink = TableSink::create(Some(&path), kept.clone(), &["m"]).unwrap();
        [0.1, -2.0].iter().for_each(|m| sink.row(&[*m]).unwrap());
        sink.finish().unwrap();
        let (table, again) =
            Table::read_wanted(&path, &Wanted::numbers(Some(&["m"]), &keep)).unwrap();
        assert_eq!(table.columns, [[0.1, -2.0]], "{name}");
        assert_eq!(again, kept, "{name}");
        // What are numbers can be read as such.
        assert_eq!(Table::read(&path, Some(&["id"])).unwrap().columns, [[1.0, 2.0]]);
    }
}

/// More rows than one group of a Parquet file has.
#[cfg(feature = "parquet")]
#[test]
fn many_rows_of_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.PARQUET");
    let x: Vec<f64> = (0..100_000).map(|i| f64::from(i) / 3.0).collect();
    write_table(Some(&path), &["x"], &[&x]).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(b"PAR1"));
    assert_eq!(Table::read(&path, None).unwrap().columns, [x]);
    let mut sink = TableSink::create(Some(&path), Texts::default(), &["x"]).unwrap();
    assert!(sink.row(&[1.0, 2.0]).unwrap_err().to_string().contains("2 cells under a header of 1"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    drop(sink);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
