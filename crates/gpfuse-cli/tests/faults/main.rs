//! What can happen around a run, made to happen: nothing is lost, nothing hangs, nothing is left half
//! written. A test that this machine does not allow says `skipped: ` on standard error, and why.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;

mod clock;
mod disk;
mod durable;
mod limits;
mod network;
mod read_only;
mod reading;
mod running;
mod shell;
mod signals;
mod streams;
mod writers;

use common::Place;

/// A fit that takes a tenth of a second.
const FIT: &str =
    "fit d.csv --target y --method pogpe --warmup 50 --draws 50 --chains 2 --size 8 --max-depth 4";

/// A calibration study of a few milliseconds for each simulation.
const SBC: &str = "sbc --n 6 --size 3 --warmup 20 --draws 19 --thin 1 --max-depth 3 --sims 6";

/// A sweep of eight cells, a few hundredths of a second each.
const SWEEP: &str = r#"
name = "small"
[data.mine]
table = "d.csv"
target = "y"
splits = 4
test = 0.25
[fit]
chains = 2
warmup = 20
draws = 20
max-depth = 3
start = "prior"
combine = "equal"
[[arm]]
name = "mogpe"
method = "mogpe"
[[study]]
name = "sizes"
vary = "size"
data = ["mine"]
arms = ["mogpe"]
basis = "hilbert"
sizes = [5, 8]
experts = [2]
[[keep]]
data = "mine"
arm = "mogpe"
basis = "hilbert"
size = 8
experts = 2
"#;

/// A folder with the table `d.csv`, the sweep `s.toml` and the model `m.nc`.
fn place() -> Place {
    let place = Place::new();
    place.write("s.toml", SWEEP);
    place.done(&format!("{FIT} --out m.nc"));
    place
}

/// The test cannot be made here, which is said.
fn skipped(test: &str, why: &str) {
    eprintln!("skipped: {test}: {why}");
}

/// The lines of a ledger of ranks without their seconds, in order.
fn ranks(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[3] = "";
        cells.join(",")
    };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort();
    lines
}
