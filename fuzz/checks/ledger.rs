//! What gpfuse finds on the disk of its own: rows of a sweep, ranks of a calibration, and the files
//! of a checkpoint.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gpfuse::calibrate::Settings;
use gpfuse::fit::FitSettings;
use gpfuse::infer::Keeper;
use gpfuse_io::checkpoint::{Checkpoint, Run};
use gpfuse_io::ledger::{self, Folder, Ledger, Simulations};

use super::one_line;
use super::place::place;

/// The settings of the sweep whose rows are read.
const SWEEP: &str = "name = 's'\n[data.d]\nsimulate = {}\n[[arm]]\nname = 'a'\nmethod = 'pbhs'\n\
                     [[study]]\nname = 't'\ndata = ['d']\narms = ['a']\nbasis = 'rff'\nsizes = [5]\n\
                     experts = [2]\n";

/// The first byte says which file the others are: `l` the rows of a sweep, `r` ranks; of a
/// checkpoint `C` and `S` a chain and a start as they are, and `c` and `s` what lies behind head and
/// checksum.
pub fn ledger(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind {
        b'l' => rows(rest),
        b'r' => ranks(rest),
        b'C' | b'c' => chain(rest, *kind == b'C'),
        b'S' | b's' => start(rest, *kind == b'S'),
        _ => {}
    }
}

fn folder(name: &str) -> PathBuf {
    let path = place(name);
    fs::create_dir_all(&path).expect("a folder in memory");
    path
}

/// Rows are the same after they were written, each in its line.
fn rows(bytes: &[u8]) {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let path = folder("sweep");
        fs::write(path.join("settings.toml"), SWEEP).expect("a file in memory");
        path
    });
    let path = FOLDER.join("ledger.jsonl");
    fs::write(&path, bytes).expect("a file in memory");
    let found = match Folder::read(&FOLDER) {
        Ok(found) => found,
        Err(error) => return one_line(&error),
    };
    let mut text = Vec::new();
    for row in &found.rows {
        assert_eq!(found.row(&row.key), Some(row));
        text.extend(serde_json::to_vec(row).expect("a row can be written"));
        text.push(b'\n');
    }
    fs::write(&path, text).expect("a file in memory");
    assert_eq!(Folder::read(&FOLDER).expect("rows that were written").rows, found.rows);
}

/// Simulations are the same after they were written, but for the seconds' further digits.
fn ranks(bytes: &[u8]) {
    let all = Simulations(["log likelihood", "a, b"].map(String::from).to_vec());
    let path = folder("ranks");
    fs::write(path.join("ranks.csv"), bytes).expect("a file in memory");
    let found = match ledger::rows(&path, &all) {
        Ok(found) => found,
        Err(error) => return one_line(&error),
    };
    if found.is_empty() || found.len() > 50 {
        return;
    }
    let again = folder("ranks-again");
    let _ = fs::remove_file(again.join("ranks.csv"));
    let told = Simulations::settings(&Settings::default(), "1").expect("settings");
    let mut out = Ledger::open(&again, all.clone(), &told).expect("a folder");
    for row in &found {
        out.record(row.clone()).expect("a row can be written");
    }
    drop(out);
    let mut back = ledger::rows(&again, &all).expect("rows that were written");
    assert_eq!(back.len(), found.len());
    for (back, row) in back.iter_mut().zip(&found) {
        assert!((back.seconds - row.seconds).abs() <= 5.1e-4 + 1e-15 * row.seconds.abs());
        back.seconds = row.seconds;
        back.error.clone_from(&row.error.lines().next().unwrap_or_default().into());
        assert_eq!(back, row);
    }
}

/// A checkpoint that stays open, and the sign of its run.
static CHECKPOINT: LazyLock<(Checkpoint, PathBuf, [u8; 8])> = LazyLock::new(|| {
    let path = place("checkpoint");
    let _ = fs::remove_dir_all(&path);
    let kept = Checkpoint::open(&path, &Run::new(&FitSettings::default()), |warning| {
        one_line(&warning);
    });
    let kept = kept.expect("a checkpoint in memory");
    kept.keep_chain(0, &Default::default());
    let file = fs::read(path.join("chain-1.bin")).expect("a chain that was kept");
    let sign = file[8..16].try_into().expect("eight bytes");
    (kept, path, sign)
});

/// Bytes with the head and the checksum that the checkpoint expects.
fn signed(kind: &str, body: &[u8]) -> Vec<u8> {
    let mut out = head(kind);
    out.extend(&body[..body.len() / 8 * 8]);
    out.extend(u64::from(crc32fast::hash(&out)).to_le_bytes());
    out
}

fn head(kind: &str) -> Vec<u8> {
    let mut name = *b"gpf1\0\0\0\0";
    name[4..].iter_mut().zip(kind.bytes()).for_each(|(to, from)| *to = from);
    [name, CHECKPOINT.2, [0; 8]].concat()
}

fn write(path: &Path, name: &str, bytes: &[u8]) {
    fs::write(path.join(name), bytes).expect("a file in memory");
}

/// A chain that is read is the same after it was kept.
fn chain(bytes: &[u8], raw: bool) {
    let (kept, path, _) = &*CHECKPOINT;
    let file = if raw { bytes.to_vec() } else { signed("chain", bytes) };
    write(path, "chain-1.bin", &file);
    let Some(found) = kept.chain(0) else { return };
    kept.keep_chain(1, &found);
    let back = kept.chain(1).expect("a chain that was kept");
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
    assert_eq!(bits(&back.values), bits(&found.values));
    assert_eq!(format!("{:?}", back.stats), format!("{:?}", found.stats));
}

/// A start that is read is the same after it was kept.
fn start(bytes: &[u8], raw: bool) {
    let (kept, path, _) = &*CHECKPOINT;
    let file = if raw { bytes.to_vec() } else { signed("start", bytes) };
    write(path, "start-1.bin", &file);
    let Some(found) = kept.start(0) else { return };
    kept.keep_start(1, &found);
    let back = kept.start(1).expect("a start that was kept");
    assert_eq!(format!("{back:?}"), format!("{found:?}"));
}
