//! A folder survives what can happen to it, and says what it cannot mend.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use gpfuse::sweep::{Finished, Key};
use tempfile::TempDir;

use super::log::Log;
use super::*;
use crate::sweep_file::SweepFile;

const SETTINGS_TEXT: &str = "name = 'small'\nversion = '1.2.3'\n\
    [data.d]\nsimulate = { n = 40 }\nsplits = 3\n\
    [fit]\ndraws = 50\n\
    [[arm]]\nname = 'mix'\nmethod = 'mogpe'\n\
    [[arm]]\nname = 'one'\nmethod = 'het'\n\
    [[study]]\nname = 's'\ndata = ['d']\narms = ['mix', 'one']\nbasis = 'rff'\nsizes = [5]\n\
    experts = [2, 3]\n";

fn file() -> SweepFile {
    SweepFile::parse(SETTINGS_TEXT, Path::new("s.toml")).unwrap()
}

fn row(key: &Key) -> Finished {
    serde_json::from_value(serde_json::json!({
        "data": key.data, "arm": key.arm, "basis": key.basis, "size": key.size,
        "experts": key.experts, "split": key.split, "seed": key.seed, "method": "mogpe",
        "nlpd": 0.1 + key.split as f64, "chain_weights": "", "error": "", "version": "1.2.3",
        "fit_seconds": 1.5, "predict_seconds": 0.5,
    }))
    .unwrap()
}

/// A folder with the rows of some cells, by their places in the sorted list.
fn folder(cells: &[usize]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::open(folder.path(), Cells, &file()).unwrap();
    let keys = file().keys();
    cells.iter().for_each(|c| ledger.record(row(&keys[*c])).unwrap());
    folder
}

fn refused(outcome: Result<Ledger<Cells>, LedgerError>, parts: &[&str]) {
    let error = outcome.err().expect("an error").to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(!error.contains(char::is_control), "{error:?}");
    parts.iter().for_each(|part| assert!(error.contains(part), "{error}: no `{part}`"));
}

#[test]
fn het_runs_once_for_all_numbers_of_experts() {
    let keys = file().keys();
    assert_eq!(keys.len(), 2 * 3 + 3);
    assert!(keys.iter().all(|key| (key.arm == "one") == (key.experts == 1)));
}

#[test]
fn rows_come_back_and_the_table_is_sorted() {
    let folder = folder(&[4, 0, 2]);
    let keys = file().keys();
    let read = Folder::read(folder.path()).unwrap();
    let expected: Vec<Finished> = [0, 2, 4].map(|c| row(&keys[c])).to_vec();
    assert_eq!(read.rows, expected);
    assert_eq!((read.version.as_str(), read.missing().len()), ("1.2.3", 6));
    assert_eq!(read.file, file());
    let path = Ledger::open(folder.path(), Cells, &file()).unwrap().results().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("data,arm,basis,size,experts,split,seed,method,nlpd,"));
    assert!(!lines[0].contains("seconds") && lines.len() == 4);
    assert!(lines[1].starts_with("d,mix,rff,5,2,0,0,mogpe,0.1,,,"), "{}", lines[1]);
}

#[test]
fn a_half_written_row_is_cut_off() {
    let path = |folder: &TempDir| folder.path().join(Cells::FILE);
    for half in ["{\"data\":\"d\",\"arm\":\"m", "{\"data\":\"d\"\n", "\u{0}\u{0}\u{0}"] {
        let folder = folder(&[0, 1]);
        let before = fs::read(path(&folder)).unwrap();
        let mut file_of_rows = OpenOptions::new().append(true).open(path(&folder)).unwrap();
        file_of_rows.write_all(half.as_bytes()).unwrap();
        assert_eq!(Folder::read(folder.path()).unwrap().rows.len(), 2);
        let mut ledger = Ledger::open(folder.path(), Cells, &file()).unwrap();
        assert!(ledger.was_cut() && ledger.rows().len() == 2);
        assert_eq!(fs::read(path(&folder)).unwrap(), before);
        ledger.record(row(&file().keys()[2])).unwrap();
        drop(ledger);
        let ledger = Ledger::open(folder.path(), Cells, &file()).unwrap();
        assert!(!ledger.was_cut() && ledger.rows().len() == 3);
    }
}

#[test]
fn other_damage_is_named_and_left_as_it_is() {
    let folder = folder(&[0, 1, 2]);
    let path = folder.path().join(Cells::FILE);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let bad = format!("{}\nnonsense\n{}\n", lines[0], lines[2]);
    fs::write(&path, &bad).unwrap();
    refused(
        Ledger::open(folder.path(), Cells, &file()),
        &["ledger.jsonl`, line 2", "take the line out"],
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    fs::write(&path, format!("{text}{}\n", lines[1])).unwrap();
    refused(Ledger::open(folder.path(), Cells, &file()), &["line 4", "second row", "split 1"]);
    fs::remove_file(folder.path().join(SETTINGS)).unwrap();
    refused(Ledger::open(folder.path(), Cells, &file()), &["no `settings.toml`"]);
}

/// Whatever is written in the files, an error about them is a line and moves no cursor.
#[test]
fn errors_spell_control_characters_out() {
    let folder = folder(&[0]);
    let parse = |text: &str| SweepFile::parse(text, Path::new("s.toml")).unwrap();
    let cases = [
        ("[fit]\n", "[fit]\n\"a\\n\\u001Bb\" = 1\n", r"`fit.a\n\u{1b}b` is not given there and 1"),
        ("data = ['d']", "title = \"a\\nb\"\ndata = ['d']", r"a\nb"),
        ("'1.2.3'", "\"1\\n\\u001B2\"", r"and this is 1\n\u{1b}2:"),
    ];
    for (from, to, words) in cases {
        refused(
            Ledger::open(folder.path(), Cells, &parse(&SETTINGS_TEXT.replacen(from, to, 1))),
            &[words],
        );
    }
    let other = tempfile::tempdir().unwrap();
    let text = SETTINGS_TEXT.replacen("'1.2.3'", "\"1\\n2\"", 1);
    Ledger::open(other.path(), Cells, &parse(&text)).unwrap();
    let parts = [folder.path(), other.path()].map(Path::to_path_buf);
    refused(merge(&parts, folder.path()), &[r#"`version` is "1.2.3" there and "1\n2" here"#]);
    let mut key = file().keys()[0].clone();
    key.data = "a\n\u{9b}b".into();
    let line = |row: &Finished| serde_json::to_string(row).unwrap() + "\n";
    fs::write(folder.path().join(Cells::FILE), line(&row(&key)).repeat(2)).unwrap();
    refused(
        Ledger::open(folder.path(), Cells, &file()),
        &[r"second row of the cell a\n\u{9b}b mix"],
    );
    fs::write(folder.path().join(Cells::FILE), line(&row(&key))).unwrap();
    let last = Finished { error: "\u{9b}".into(), ..row(&key) };
    fs::write(other.path().join(SETTINGS), SETTINGS_TEXT).unwrap();
    fs::write(other.path().join(Cells::FILE), line(&last)).unwrap();
    let words = [r"the cell a\n\u{9b}b mix", r#"`error` is "" and "\u{9b}""#];
    refused(merge(&parts, &folder.path().join("out")), &words);
}

#[test]
fn one_writer_at_a_time_and_readers_at_any() {
    let folder = folder(&[0]);
    let ledger = Ledger::open(folder.path(), Cells, &file()).unwrap();
    refused(Ledger::open(folder.path(), Cells, &file()), &["another gpfuse is at work"]);
    assert_eq!(Folder::read(folder.path()).unwrap().rows.len(), 1);
    drop(ledger);
    assert!(Ledger::open(folder.path(), Cells, &file()).is_ok());
}

#[test]
fn other_settings_and_versions_are_refused() {
    let folder = folder(&[0]);
    let parse = |text: String| SweepFile::parse(&text, Path::new("s.toml")).unwrap();
    let cases = [
        ("draws = 50", "draws = 60", "`fit.draws` is 50 there and 60 here"),
        ("n = 40", "n = 41", "`data.d.simulate.n` is 40 there and 41 here"),
        ("'het'", "'het'\nplain = true", "`arm one.plain` is not given there and true here"),
        ("[2, 3]", "[2]", "`study s.experts` is [2, 3] there and [2] here"),
    ];
    for (from, to, words) in cases {
        let other = parse(SETTINGS_TEXT.replace(from, to));
        refused(
            Ledger::open(folder.path(), Cells, &other),
            &["other settings", words, "gpfuse sweep"],
        );
    }
    let newer = parse(SETTINGS_TEXT.replace("1.2.3", "1.3.0"));
    let words = ["results of gpfuse 1.2.3", "this is 1.3.0", "another folder"];
    refused(Ledger::open(folder.path(), Cells, &newer), &words);
    assert_eq!(Folder::read(folder.path()).unwrap().rows.len(), 1);
}

#[test]
fn a_place_that_cannot_be_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "text").unwrap();
    refused(
        Ledger::open(&path, Cells, &file()),
        &["cannot make the folder", "choose another place"],
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    let error = Folder::read(&path).unwrap_err().to_string();
    assert!(error.contains("is not the folder of a sweep"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_the_row() {
    let mut log = Log::open(Path::new("/dev/full"), 0, false).unwrap();
    let error = log.append(&Cells.write(&row(&file().keys()[0]))).unwrap_err().to_string();
    assert!(error.contains("/dev/full") && error.contains("the disk is full"), "{error}");
}

/// As by somebody who tidies up while a sweep runs.
#[cfg(unix)]
#[test]
fn a_ledger_that_goes_away_is_an_error_of_the_row() {
    let keys = file().keys();
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("runs");
    for replaced in [false, true] {
        let mut ledger = Ledger::open(&path, Cells, &file()).unwrap();
        ledger.record(row(&keys[0])).unwrap();
        fs::remove_dir_all(&path).unwrap();
        if replaced {
            drop(Ledger::open(&path, Cells, &file()).unwrap());
        }
        let error = ledger.record(row(&keys[1])).unwrap_err().to_string();
        let named = format!("`{}`: its file `ledger.jsonl` was removed", path.display());
        assert!(error.starts_with(&named), "{error}");
        assert_eq!(ledger.rows().len(), 1);
    }
}

#[test]
fn parts_are_joined_once_each() {
    let parts = [folder(&[0, 3, 1]), folder(&[2, 3])];
    let paths = parts.each_ref().map(|part| part.path().to_path_buf());
    let out = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let ledger = merge(&paths, out.path()).unwrap();
        assert_eq!(ledger.rows().len(), 4);
    }
    assert_eq!(Folder::read(out.path()).unwrap().missing().len(), 5);
    let path = paths[1].join(Cells::FILE);
    let slower = fs::read_to_string(&path).unwrap().replace("1.5", "2.5");
    fs::write(&path, &slower).unwrap();
    assert_eq!(merge(&paths, out.path()).unwrap().rows().len(), 4);
    fs::write(&path, slower.replace("\"nlpd\":0.1", "\"nlpd\":0.2")).unwrap();
    refused(merge(&paths, out.path()), &["disagree", "`nlpd` is 0.1 and 0.2"]);
    fs::write(&path, slower).unwrap();
    let path = paths[1].join(SETTINGS);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("draws = 50", "draws = 51")).unwrap();
    let words = ["parts of different sweeps", "`fit.draws` is 50 there and 51 here"];
    refused(merge(&paths, out.path()), &words);
}
