//! Ctrl-C keeps the draws so far, and nothing where there are none.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Place, ROWS, Run};

/// Interrupt a run after some time, or after longer if it was not `ready` by then.
fn interrupted(place: &Place, args: &str, ready: impl Fn(&Run) -> bool) -> Run {
    for wait in [400, 1000, 3000, 10_000, 30_000] {
        let child = place.command(args).spawn().unwrap();
        sleep(Duration::from_millis(wait));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let run: Run = child.wait_with_output().unwrap().into();
        if ready(&run) {
            return run;
        }
    }
    panic!("{args}: not ready after 30 seconds");
}

#[test]
fn draws_are_kept() {
    if common::deaf(common::INT) {
        return;
    }
    let place = Place::new();
    let args = "fit d.csv --target y --warmup 10 --draws 1000000 --size 20 --max-depth 6 \
                --start prior --out m.nc --chains";
    for chains in [2, 1] {
        let run = interrupted(&place, &format!("{args} {chains}"), |run| {
            run.code.is_some() && !run.err.contains("no draws to keep")
        });
        assert_eq!(run.code, Some(130), "{}", run.err);
        assert!(run.err.starts_with("stopping: keeping the draws so far"), "{}", run.err);
        assert!(run.err.contains("\ninterrupted: kept "), "{}", run.err);
        assert!(run.out.ends_with("wrote `m.nc`\n"), "{}", run.out);
        let diagnostics = place.done("inspect m.nc --json").json()["diagnostics"].clone();
        let draws = diagnostics["draws"].as_u64().unwrap();
        assert!(draws > 0 && draws < 1_000_000);
        assert_eq!(place.done("predict m.nc d.csv").table().rows.len(), ROWS);
        assert_eq!(place.files(), ["d.csv", "m.nc"]);
    }
}

#[test]
fn nothing_is_kept_of_a_warm_up() {
    if common::deaf(common::INT) {
        return;
    }
    let place = Place::new();
    let small = "--size 8 --max-depth 4 --chains 2 --out m.nc";
    for slow in ["--warmup 10000000 --start prior", "--start-steps 1000000", "--candidates 10000"] {
        let args = format!("fit d.csv --target y --method pogpe {slow} {small}");
        let run = interrupted(&place, &args, |run| run.code.is_some());
        assert_eq!(run.code, Some(130), "{}", run.err);
        let last = run.err.lines().last().unwrap();
        assert_eq!(
            last, "gpfuse: interrupted before the warm-up ended: there are no draws to keep",
            "{slow}: {}",
            run.err
        );
        assert_eq!(run.out, "");
        assert_eq!(place.files(), ["d.csv"]);
    }
}

/// Experts of many rows take a while, in steps that are long themselves; Ctrl-C does not wait for them, in a fit and
/// in a comparison, nor for a pilot.
#[test]
fn training_is_stopped_at_once() {
    if common::deaf(common::INT) {
        return;
    }
    let place = Place::empty();
    place.done("simulate --n 2000 --inputs 4 --out d.csv");
    let cases = [
        ("fit d.csv --target y --out m.nc", 130, "gpfuse: interrupted before the warm-up ended"),
        ("fit d.csv --target y --method het --out m.nc", 130, "gpfuse: interrupted before"),
        (
            "compare d.csv --target y --methods pbhs,linear-pool",
            130,
            "stopping: keeping what is finished",
        ),
    ];
    for (args, code, words) in cases {
        let child = place.command(args).spawn().unwrap();
        sleep(Duration::from_millis(1500));
        let asked = Instant::now();
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let run: Run = child.wait_with_output().unwrap().into();
        assert!(asked.elapsed() < Duration::from_secs(5), "{args}: {:?}", asked.elapsed());
        eprintln!("{args}: {:?}", asked.elapsed());
        assert!(run.err.contains(words), "{args}: {}", run.err);
        assert_eq!(run.code, Some(code), "{args}: {}", run.err);
        assert_eq!(place.files(), ["d.csv"]);
    }
}
