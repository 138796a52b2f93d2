//! A folder with a small table in it, and the program run there.

#![allow(dead_code)] // Each test crate uses a part of this.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A run that takes a tenth of a second.
pub(crate) const SMALL_FIT: &str =
    "--warmup 50 --draws 50 --chains 2 --size 8 --max-depth 4 --hmc-depth 3";

/// [`SMALL_FIT`] with `flags`, without its size where they ask for RFF.
pub(crate) fn small(flags: &str) -> String {
    let rff = ["rff", "frequencies", "omega"].iter().any(|word| flags.contains(word));
    let base = if rff { SMALL_FIT.replace("--size 8 ", "") } else { SMALL_FIT.to_string() };
    format!("{base} {flags}")
}

/// Rows of the table `d.csv`.
pub(crate) const ROWS: usize = 40;

/// Signals by their numbers.
pub(crate) const HUP: u32 = 1;
pub(crate) const INT: u32 = 2;

/// Whether a signal is ignored here, as Ctrl-C is in what a script starts in the background and a hangup is
/// under `nohup`: the programs of a test then ignore it too, and would never end.
pub(crate) fn deaf(signal: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signal n is bit n - 1.
    let deaf = ignored.is_some_and(|mask| mask & (1 << (signal - 1)) != 0);
    if deaf {
        eprintln!("skipped: signals: {signal} is ignored here; run the tests in the foreground");
    }
    deaf
}

pub(crate) struct Place {
    folder: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("JSON on standard output")
    }

    pub(crate) fn table(&self) -> Table {
        Table::parse(&self.out)
    }
}

impl Place {
    /// A folder with nothing in it.
    pub(crate) fn empty() -> Place {
        Place { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A folder with the table `d.csv`: columns `x` and `y`.
    pub(crate) fn new() -> Place {
        let place = Place::empty();
        place.done(&format!("simulate --n {ROWS} --out d.csv"));
        place
    }

    /// A folder with `d.csv` and the model `d.nc` fitted to it.
    pub(crate) fn fitted(flags: &str) -> Place {
        let place = Place::new();
        place.done(&format!("fit d.csv --target y {}", small(flags)));
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("a file written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file read")
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("UTF-8")
    }

    /// All names in the folder, hidden ones too.
    pub(crate) fn files(&self) -> Vec<String> {
        let all = fs::read_dir(self.folder.path()).expect("a folder");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            all.map(|entry| name(entry).into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    /// The program with arguments separated by spaces, in the folder.
    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpfuse"));
        command.args(args.split_whitespace()).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &str) -> Run {
        self.command(args).output().expect("the program starts").into()
    }

    /// Run with text on standard input.
    pub(crate) fn fed(&self, args: &str, input: &str) -> Run {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("the program reads");
        drop(stdin);
        child.wait_with_output().expect("the program ends").into()
    }

    /// Run what must succeed.
    pub(crate) fn done(&self, args: &str) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, Some(0), "{args}: {}", run.err);
        run
    }

    /// Run what must fail: one line that holds all `parts`, and no file more or less.
    pub(crate) fn refused(&self, args: &str, code: i32, parts: &[&str]) {
        let before = self.files();
        let run = self.run(args);
        check_refusal(args, &run, code, parts);
        assert_eq!(self.files(), before, "{args}");
    }
}

pub(crate) fn check_refusal(args: &str, run: &Run, code: i32, parts: &[&str]) {
    let err = &run.err;
    assert_eq!(run.code, Some(code), "{args}: {err}");
    assert!(err.starts_with("gpfuse: ") && err.ends_with('\n'), "{args}: {err}");
    assert_eq!(err.lines().count(), 1, "{args}: {err}");
    parts.iter().for_each(|part| assert!(err.contains(part), "{args}: {err}: no `{part}`"));
    assert_eq!(run.out, "", "{args}");
}

/// A table of numbers, as the program writes it.
pub(crate) struct Table {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<f64>>,
}

impl Table {
    /// Every cell must be a finite number, under a header without doubles.
    pub(crate) fn parse(text: &str) -> Table {
        let mut lines = text.lines();
        let names: Vec<String> =
            lines.next().expect("a header").split(',').map(String::from).collect();
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "two columns `{name}`");
        }
        let number = |cell: &str| -> f64 {
            let value: f64 = cell.parse().unwrap_or_else(|_| panic!("`{cell}` is no number"));
            assert!(value.is_finite(), "`{cell}`");
            value
        };
        let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(number).collect()).collect();
        rows.iter().for_each(|row| assert_eq!(row.len(), names.len()));
        Table { names, rows }
    }

    pub(crate) fn column(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|known| known == name);
        let at = at.unwrap_or_else(|| panic!("no `{name}` in {:?}", self.names));
        self.rows.iter().map(|row| row[at]).collect()
    }
}
