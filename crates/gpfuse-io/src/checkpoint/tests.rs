use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use gpfuse::fit::FitSettings;
use gpfuse::infer::map::Point;
use gpfuse::infer::{ChainDraws, Keeper, Stat};

use super::{Checkpoint, Run};

type Heard = Arc<Mutex<Vec<String>>>;

fn open(folder: &Path, run: &Run) -> (Checkpoint, Heard) {
    let heard = Heard::default();
    let ear = heard.clone();
    let warn = move |words: &str| ear.lock().unwrap().push(words.to_owned());
    (Checkpoint::open(folder, run, warn).unwrap(), heard)
}

fn refused(folder: &Path, run: &Run) -> String {
    Checkpoint::open(folder, run, |_| ()).map(|_| ()).unwrap_err().to_string()
}

fn run() -> Run {
    Run::new(&FitSettings::default()).with("data", &"1234")
}

fn point() -> Point {
    Point { q: vec![1.5, -0.0, f64::MIN_POSITIVE], logp: f64::NEG_INFINITY }
}

fn chain() -> ChainDraws {
    let stat = |i: usize| Stat {
        lp: -1.0 / (i + 1) as f64,
        energy: 0.1,
        accept: 0.9,
        step_size: 0.3,
        depth: i,
        steps: 2 * i,
        diverging: i.is_multiple_of(2),
        saturated: i.is_multiple_of(3),
    };
    let values = (0..20).map(|i| (i as f64).sin()).collect();
    ChainDraws { values, stats: (0..10).map(stat).collect() }
}

fn same(a: &ChainDraws, b: &ChainDraws) -> bool {
    a.stats == b.stats
        && a.values.iter().map(|v| v.to_bits()).eq(b.values.iter().map(|v| v.to_bits()))
}

#[test]
fn what_is_kept_comes_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    let (kept, heard) = open(&path, &run());
    assert_eq!((kept.start(3), kept.found()), (None, [0; 2]));
    kept.keep_start(3, &point());
    kept.keep_chain(0, &chain());
    drop(kept);
    let (kept, _) = open(&path, &run());
    let found = kept.start(3).unwrap();
    assert_eq!(found.q.map_bits(), point().q.map_bits());
    assert_eq!(found.logp, point().logp);
    assert!(same(&kept.chain(0).unwrap(), &chain()));
    assert!(kept.start(0).is_none() && kept.chain(3).is_none());
    assert_eq!(kept.found(), [1, 1]);
    kept.remove();
    assert!(!path.exists());
    assert!(heard.lock().unwrap().is_empty());
}

trait Bits {
    fn map_bits(&self) -> Vec<u64>;
}

impl Bits for Vec<f64> {
    fn map_bits(&self) -> Vec<u64> {
        self.iter().map(|v| v.to_bits()).collect()
    }
}

/// Whatever byte is changed and wherever the file is cut, the chain is as it was or not there.
#[test]
fn a_damaged_file_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, heard) = open(folder.path(), &run());
    kept.keep_chain(0, &chain());
    let path = folder.path().join("chain-1.bin");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut altered = whole.clone();
        altered[at] ^= 0x10;
        fs::write(&path, &altered).unwrap();
        assert!(kept.chain(0).is_none(), "byte {at}");
        fs::write(&path, &whole[..at]).unwrap();
        assert!(kept.chain(0).is_none(), "cut at {at}");
    }
    assert_eq!(heard.lock().unwrap().len(), 2 * whole.len());
    assert!(heard.lock().unwrap()[0].contains("chain-1.bin` is damaged: that part is done again"));
    fs::write(&path, &whole).unwrap();
    assert!(same(&kept.chain(0).unwrap(), &chain()));
    // The file of another chain, of a start, or of another run.
    fs::copy(&path, folder.path().join("chain-2.bin")).unwrap();
    fs::copy(&path, folder.path().join("start-1.bin")).unwrap();
    assert!(kept.chain(1).is_none() && kept.start(0).is_none());
    let other = tempfile::tempdir().unwrap();
    let (strange, _) = open(other.path(), &run().with("rows", &4));
    fs::copy(&path, other.path().join("chain-1.bin")).unwrap();
    assert!(strange.chain(0).is_none());
}

#[test]
fn another_run_is_refused_by_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (kept, _) = open(path, &run());
    assert!(refused(path, &run()).contains("another gpfuse is at work"));
    drop(kept);
    let mut settings = FitSettings::default();
    settings.sampler.seed = u64::MAX;
    let seed = Run::new(&settings).with("data", &"1234");
    assert!(
        refused(path, &seed).contains(&format!("`sampler.seed` is 0 there and {} here", u64::MAX))
    );
    let cases = [
        (seed.clone().with("data", &"5678"), "`data` is \"1234\" there and \"5678\" here"),
        (seed.clone().with("machine", &"abacus"), "`machine` is "),
        (seed.with("version", &"9.9.9"), "there and \"9.9.9\" here"),
        (run().with("assignment", &"1"), "`assignment` is not given there and \"1\" here"),
    ];
    for (other, words) in cases {
        let error = refused(path, &other);
        assert!(
            error.contains("the checkpoint of another run") && error.contains(words),
            "{error}"
        );
    }
    let text = fs::read_to_string(path.join("run.txt")).unwrap();
    fs::write(path.join("run.txt"), text.clone() + "a\u{1b} = b\rc\n").unwrap();
    let error = refused(path, &run());
    assert!(error.contains(r"`a\u{1b}` is b\rc there and not given here"), "{error}");
    fs::write(path.join("run.txt"), text).unwrap();
    // Threads are no part of a run.
    settings = FitSettings::default();
    settings.sampler.threads = 77;
    open(path, &Run::new(&settings).with("data", &"1234"));
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.txt"), "").unwrap();
    assert!(refused(folder.path(), &run()).contains("holds files but no checkpoint"));
    assert_eq!(super::names(folder.path()), ["thesis.txt"]);
    assert!(refused(&folder.path().join("thesis.txt"), &run()).contains("cannot make the folder"));
    // What comes later stays as well.
    let path = folder.path().join("new");
    let (kept, _) = open(&path, &run());
    kept.keep_start(0, &point());
    fs::write(path.join("notes.txt"), "").unwrap();
    kept.remove();
    assert_eq!(super::names(&path), ["notes.txt"]);
    // Left by a run that was killed as it began or ended.
    fs::rename(path.join("notes.txt"), path.join(".gpfuse-x.tmp")).unwrap();
    fs::write(path.join("lock"), "").unwrap();
    open(&path, &run()).0.remove();
    assert!(!path.exists());
}

#[test]
fn a_lost_folder_is_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone");
    let (kept, heard) = open(&path, &run());
    fs::remove_dir_all(&path).unwrap();
    kept.keep_start(0, &point());
    kept.keep_chain(0, &chain());
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 1);
    assert!(
        heard[0].contains("does not exist") && heard[0].contains("the fit goes on"),
        "{heard:?}"
    );
}
