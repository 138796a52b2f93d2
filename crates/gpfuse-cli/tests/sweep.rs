//! A sweep ends with the same table whatever happens on the way.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::HashSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Place, check_refusal};
use serde_json::Value;

/// Cells of [`place`]: two splits of four arms with K = 2 and 3 on two sizes, one of which has
/// one expert.
const CELLS: usize = 2 * 2 * (3 * 2 + 1);

const SWEEP: &str = r#"
name = "small"
[data.mine]
table = "d.csv"
target = "y"
splits = 2
test = 0.25
[fit]
chains = 2
warmup = 20
draws = 20
max-depth = 3
start = "prior"
combine = "equal"
hold-out = 0.5
expert-kernel = "rbf"
[[arm]]
name = "bhs"
method = "bhs"
[[arm]]
name = "plain"
method = "pbhs"
plain = true
[[arm]]
name = "mogpe"
method = "mogpe"
label = "MoGPE"
[[arm]]
name = "het"
method = "het"
[[study]]
name = "sizes"
vary = "size"
data = ["mine"]
arms = ["bhs", "plain", "mogpe", "het"]
basis = "hilbert"
sizes = [5, 8]
experts = [2, 3]
[[keep]]
data = "mine"
arm = "mogpe"
basis = "hilbert"
size = 8
experts = 3
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("s.toml", SWEEP);
    place
}

/// The rows of a ledger.
fn rows(place: &Place, folder: &str) -> Vec<Value> {
    let text = place.text(&format!("{folder}/ledger.jsonl"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn cell(row: &Value) -> String {
    let names = ["data", "arm", "basis", "size", "experts", "split", "seed"];
    names.map(|name| row[name].to_string()).join(" ")
}

fn assert_whole(place: &Place, folder: &str) {
    let rows = rows(place, folder);
    let cells: HashSet<String> = rows.iter().map(cell).collect();
    assert_eq!((rows.len(), cells.len()), (CELLS, CELLS), "{folder}");
}

/// Numbers that look random, the same on every run.
fn numbers(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    }
}

/// Killed 20 times at random moments, on as many fresh folders as that takes.
///
/// Where the kills fall depends on the machine's clock; the law holds wherever they fall, so that
/// no seed can make it fail.
fn survives_kills(place: &Place, command: &str) {
    let begun = Instant::now();
    place.done(&format!("{command} --out whole"));
    let whole = begun.elapsed().as_secs_f64();
    let expected = place.read("whole/results.csv");
    let kept = |folder: &str| place.path(&format!("{folder}/models")).read_dir().unwrap().count();
    let cells = |folder: &str| rows(place, folder).iter().map(cell).collect::<HashSet<String>>();
    assert_eq!(cells("whole").len(), rows(place, "whole").len());
    let (mut kills, mut random) = (0, numbers(20));
    for folder in (0..).map(|i| format!("killed{i}")) {
        let ledger = format!("{folder}/ledger.jsonl");
        let mut recorded = Vec::new();
        loop {
            let mut command = place.command(&format!("{command} --out {folder}"));
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            if kills < 20 {
                sleep(Duration::from_secs_f64(random() * 0.3 * whole));
            } else {
                child.wait().unwrap();
            }
            let ended = child.try_wait().unwrap();
            if ended.is_none() {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
            }
            // What was recorded stays, and is not run again: its seconds are the same.
            let now = fs::read(place.path(&ledger)).unwrap_or_default();
            assert!(now.starts_with(&recorded), "{folder}");
            let lines = now.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            recorded = now[..lines].to_vec();
            if let Some(status) = ended {
                assert_eq!(status.code(), Some(0));
                break;
            }
        }
        assert_eq!(rows(place, &folder).len(), rows(place, "whole").len(), "{folder}");
        assert!(cells(&folder) == cells("whole"), "{folder}");
        assert!(place.read(&format!("{folder}/results.csv")) == expected, "{folder}");
        assert_eq!(kept(&folder), kept("whole"));
        let hidden = place.path(&folder).read_dir().unwrap().flatten();
        assert!(!hidden.into_iter().any(|e| e.file_name().to_string_lossy().starts_with('.')));
        if kills >= 20 {
            return;
        }
    }
}

#[test]
fn a_killed_sweep_ends_with_the_same_table() {
    let place = place();
    // Long enough for a kill to fall into any part of it.
    let longer = SWEEP.replace("warmup = 20", "warmup = 100").replace("draws = 20", "draws = 150");
    place.write("s.toml", longer.replace("max-depth = 3", "max-depth = 5"));
    survives_kills(&place, "sweep s.toml");
    assert_whole(&place, "whole");
}

/// The same with the paper's small sweep.
#[test]
#[ignore = "takes ten minutes: make kill"]
fn the_killed_paper_ends_with_the_same_table() {
    survives_kills(&place(), "paper --quick");
}

#[test]
fn shares_and_threads_do_not_change_the_table() {
    let place = place();
    place.done("sweep s.toml --out whole --threads 1");
    let expected = place.read("whole/results.csv");
    // More threads than cells are left at the end: the last ones have several.
    place.done("sweep s.toml --out many --threads 5");
    assert!(place.read("many/results.csv") == expected);
    for i in 1..=3 {
        let json = place.done(&format!("sweep s.toml --out part{i} --shard {i}/3 --json")).json();
        assert_eq!(json["finished"].as_u64().unwrap() / 9, 1, "{json}");
        assert_eq!(json["missing"].as_u64().unwrap(), CELLS as u64 - json["ran"].as_u64().unwrap());
    }
    let json = place.done("sweep --merge part1 part2 --out joined --json").json();
    assert_eq!(json["failed"], Value::Array(vec![]));
    assert!(json["missing"].as_u64().unwrap() > 0);
    place.done("paper --merge part3 joined --out joined");
    assert!(place.read("joined/results.csv") == expected);
    assert_whole(&place, "joined");
    let model = "mine-mogpe-hilbert-8-K3-split0-seed0.nc";
    assert!(
        place.read(&format!("joined/models/{model}"))
            == place.read(&format!("many/models/{model}"))
    );
    assert_eq!(place.read("joined/data/mine.csv"), place.read("whole/data/mine.csv"));
    // The settings beside the results are a sweep file, and all of its cells are there.
    let json = place.done("sweep joined/settings.toml --out joined --json").json();
    assert_eq!((json["ran"].as_u64(), json["missing"].as_u64()), (Some(0), Some(0)));
    place.write("t.toml", SWEEP.replace("draws = 20", "draws = 21"));
    place.done("sweep t.toml --out other --shard 28/28");
    let run = place.run("sweep --merge part1 other --out mixed");
    let words = ["`part1` and `other`", "`fit.draws` is 20 there and 21 here"];
    check_refusal("merge", &run, 1, &words);
    assert!(!place.path("mixed").exists());
}

#[test]
fn folders_of_others_are_refused_and_left_alone() {
    let place = place();
    place.done("sweep s.toml --out runs/a --shard 28/28");
    let before = place.read("runs/a/ledger.jsonl");
    let refused = |args: &str, parts: &[&str]| {
        check_refusal(args, &place.run(args), 1, parts);
        assert!(place.read("runs/a/ledger.jsonl") == before, "{args}");
    };
    place.write("t.toml", SWEEP.replace("max-depth = 3", "max-depth = 4"));
    refused(
        "sweep t.toml --out runs/a",
        &[
            "other settings: `fit.max-depth` is 3 there and 4 here",
            "gpfuse sweep runs/a/settings.toml",
        ],
    );
    let rows = place.text("d.csv");
    place.write("d.csv", rows.replacen("\n-", "\n-0", 1).replacen('4', "3", 1));
    refused("sweep s.toml --out runs/a", &["`data.mine.digest` is"]);
    refused("sweep runs/a/settings.toml --out runs/a", &["holds other rows", "`digest`"]);
    place.write("d.csv", rows);
    let settings = place.text("runs/a/settings.toml");
    let version = env!("CARGO_PKG_VERSION");
    assert!(settings.contains(&format!("version = \"{version}\"")), "{settings}");
    place.write("runs/a/settings.toml", settings.replace(version, "0.0.9"));
    refused("sweep s.toml --out runs/a", &["results of gpfuse 0.0.9", version, "another folder"]);
    place.write("runs/a/settings.toml", settings);
    refused("sweep s.toml --out d.csv", &["cannot make the folder `d.csv`"]);
    refused("sweep s.toml --out /proc/here", &["cannot make the folder `/proc/here`"]);
    // A half-written row is taken out; its cell runs again.
    place.write("runs/a/ledger.jsonl", [&before[..], &before[..40]].concat());
    let run = place.done("sweep s.toml --out runs/a --shard 28/28");
    assert!(run.err.contains("half written"), "{}", run.err);
    assert!(place.read("runs/a/ledger.jsonl") == before);
    place.write("runs/a/ledger.jsonl", [&b"nonsense\n"[..], &before[..]].concat());
    let run = place.run("sweep s.toml --out runs/a");
    check_refusal("damage", &run, 1, &["ledger.jsonl`, line 1", "take the line out"]);
}

/// A process that does not outlive its test.
struct Guard(Option<Child>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Interrupt or look on while a sweep of many draws runs, which would take minutes.
#[test]
fn a_running_sweep_is_alone_and_stops_at_once() {
    if common::deaf(common::INT) {
        return;
    }
    let place = place();
    let slow = SWEEP.split("[[keep]]").next().unwrap();
    let slow = slow.replace("draws = 20", "draws = 40000").replace("[2, 3]", "[2]");
    // One cell is finished soon.
    let quick = "name = \"het\"\nmethod = \"het\"\nsampler = \"map\"";
    place.write("slow.toml", slow.replace("name = \"het\"\nmethod = \"het\"", quick));
    // A thread for each cell, so that those that end soon need not wait for the others.
    let mut child = Guard(place.command("sweep slow.toml --out runs --threads 16").spawn().ok());
    let recorded = || fs::read_to_string(place.path("runs/ledger.jsonl")).unwrap_or_default();
    let begun = Instant::now();
    while recorded().lines().count() < 1 {
        assert_eq!(child.0.as_mut().unwrap().try_wait().unwrap(), None);
        assert!(begun.elapsed() < Duration::from_secs(60), "no cell after a minute");
        sleep(Duration::from_millis(20));
    }
    let run = place.run("sweep slow.toml --out runs");
    check_refusal("second", &run, 1, &["`runs`", "another gpfuse is at work"]);
    let child = child.0.take().unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("stopping: all finished cells are kept"), "{err}");
    let kept = recorded().lines().count();
    assert!(err.contains(&format!("stopped: {kept} of 16 cells are in `runs`")), "{err}");
    assert!(!place.path("runs/results.csv").exists());
}

#[test]
fn a_full_disk_loses_no_finished_cell() {
    let place = place();
    place.done("sweep s.toml --out whole");
    // No file may grow beyond 8 kB (or 16, where the shell counts so).
    let program = env!("CARGO_BIN_EXE_gpfuse");
    let script = format!("trap '' XFSZ; ulimit -f 16; exec '{program}' sweep s.toml --out full");
    // A model file would be the first to meet that.
    place.write("s.toml", SWEEP.split("[[keep]]").next().unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(place.path(""));
    let run: common::Run = command.output().unwrap().into();
    assert_eq!(run.code, Some(1), "{}", run.err);
    let last = run.err.lines().last().unwrap();
    assert!(last.contains("ledger.jsonl`: the disk is full"), "{last}");
    assert!(last.contains("the same command goes on"), "{last}");
    let before = place.text("full/ledger.jsonl");
    assert!(before.ends_with('\n') && before.lines().count() > 5);
    place.done("sweep s.toml --out full");
    assert!(place.text("full/ledger.jsonl").starts_with(&before));
    assert!(place.read("full/results.csv") == place.read("whole/results.csv"));
}

#[test]
fn a_failed_cell_is_a_row_with_its_error() {
    let place = place();
    // With 15 stacking rows there are 15 rows for 14 experts, too few for a GP each.
    let text = SWEEP.split("[[keep]]").next().unwrap().replace("[2, 3]", "[2, 14]");
    place.write("s.toml", text.replace("[5, 8]", "[5]"));
    let run = place.run("sweep s.toml --out runs --json");
    assert_eq!(run.code, Some(1), "{}", run.err);
    let json = run.json();
    let failed = json["failed"].as_array().unwrap();
    assert!(!failed.is_empty() && json["missing"] == 0, "{json}");
    assert!(failed.iter().all(|f| f["cell"]["experts"] == 14 && f["error"] != ""), "{json}");
    let last = run.err.lines().last().unwrap();
    assert!(last.starts_with(&format!("gpfuse: {} of 14 cells failed", failed.len())), "{last}");
    let rows = rows(&place, "runs");
    assert_eq!(rows.len(), 14);
    for row in &rows {
        assert_eq!(row["nlpd"].is_null(), row["error"] != "", "{row}");
    }
    // It is recorded, and does not run again.
    let again = place.run("sweep s.toml --out runs --json");
    assert_eq!((again.code, &again.json()["ran"]), (Some(1), &Value::from(0)));
    assert!(!place.text("runs/results.csv").contains("NaN"));
}

#[test]
fn errors_of_a_sweep_file_name_the_line() {
    let place = place();
    let cases: [(&str, &str, &[&str]); 6] = [
        ("plain = true", "plan = true", &["line 20: arm `plain`: unknown key `plan`"]),
        ("plain = true", "draws = 0", &["arm `plain`: setting `draws`: 0 is out of range"]),
        ("chains = 2", "seed = 2", &["setting `seed`: does not belong here: give `seeds`"]),
        ("chains = 2", "threads = 2", &["use the flag --threads"]),
        ("d.csv", "e.csv", &["data `mine`", "e.csv`: no such file"]),
        ("method = \"het\"", "method = \"hat\"", &["line 30: unknown variant `hat`"]),
    ];
    for (from, to, parts) in cases {
        place.write("bad.toml", SWEEP.replacen(from, to, 1));
        place.refused("sweep bad.toml --out runs", 1, parts);
    }
    for shard in ["0/3", "4/3", "1", "a/b"] {
        let args = format!("sweep s.toml --out runs --shard {shard}");
        place.refused(&args, 2, &["I/N", "see --help"]);
    }
    place.refused("sweep --out runs", 2, &["<CONFIG>"]);
}
