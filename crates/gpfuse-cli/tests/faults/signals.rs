//! Signals: one asks a run to stop, a second ends it, and those that are ignored are ignored.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{HUP, INT, Place, Run, deaf};
use crate::running::{Running, WAITS};
use crate::shell::script;
use crate::{SBC, SWEEP, place, ranks};

/// A fit that takes ages to draw.
const AGES: &str = "fit d.csv --target y --warmup 20 --draws 10000000 --chains 2 --size 8 \
                    --max-depth 4 --start prior --out n.nc";

/// A run that was drawing when its signal came; none where it was not.
fn drawn(run: Run) -> Option<Run> {
    // Without a code where the signal came before there was somebody to hear it.
    Some(run).filter(|run| run.code.is_some() && !run.err.contains("no draws"))
}

#[test]
fn a_hangup_or_a_termination_keeps_the_draws() {
    if deaf(HUP) {
        return;
    }
    let place = place();
    for signal in ["-TERM", "-HUP"] {
        let after = |wait| {
            let mut child = Running::start(place.command(AGES));
            sleep(wait);
            child.send(signal);
            drawn(child.ended())
        };
        let run = WAITS.into_iter().find_map(after).expect("draws after 8 s");
        assert_eq!(run.code, Some(130), "{signal}: {}", run.err);
        assert!(run.err.contains("interrupted: kept "), "{signal}: {}", run.err);
        place.done("inspect n.nc");
        assert_eq!(place.files(), ["d.csv", "m.nc", "n.nc", "s.toml"]);
    }
}

/// The second may come while the first is being served, or when the model is written already.
#[test]
fn a_second_interrupt_ends_at_once() {
    if deaf(INT) {
        return;
    }
    let place = place();
    for pause in [0, 1, 5] {
        let after = |wait| {
            let mut child = Running::start(place.command(AGES));
            sleep(wait);
            child.send("-INT");
            sleep(Duration::from_millis(pause));
            let begun = Instant::now();
            child.send("-INT");
            let run = child.ended();
            assert!(begun.elapsed() < Duration::from_secs(30));
            drawn(run)
        };
        let run = WAITS.into_iter().find_map(after).expect("draws after 8 s");
        assert_eq!(run.code, Some(130), "{}", run.err);
        if place.path("n.nc").exists() {
            place.done("inspect n.nc");
        }
    }
}

/// Stop what writes `file` with a signal, and go on. None where it ended before the signal, or was
/// ended by it before it listened.
fn stopped(place: &Place, command: &str, file: &str, signal: &str, wait: Duration) -> Option<()> {
    for folder in ["part", "whole"] {
        let _ = std::fs::remove_dir_all(place.path(folder));
    }
    let mut child = Running::start(place.command(&format!("{command} --out part")));
    assert!(child.until(|| place.path(&format!("part/{file}")).exists()), "{command}");
    sleep(wait);
    child.send(signal);
    let run = child.ended();
    if run.code.is_none() || run.code == Some(0) {
        return None;
    }
    assert_eq!(run.code, Some(130), "{command}: {}", run.err);
    assert!(run.err.contains("the same command goes on from there"), "{}", run.err);
    place.done(&format!("{command} --out part"));
    place.done(&format!("{command} --out whole"));
    if file == "ranks.csv" {
        let rows = |folder| ranks(&place.text(&format!("{folder}/ranks.csv")));
        assert_eq!(rows("part"), rows("whole"));
    } else {
        assert!(place.read("part/results.csv") == place.read("whole/results.csv"));
    }
    Some(())
}

/// Longer, and with the signal later, where the machine is busy.
#[test]
fn a_stopped_sweep_or_study_goes_on() {
    if deaf(HUP) {
        return;
    }
    let place = place();
    let slow = SWEEP.split("[[keep]]").next().unwrap().replace("depth = 3", "depth = 5");
    let lengths = [(1, 20), (4, 20), (4, 200), (16, 200), (16, 2000)];
    for signal in ["-TERM", "-HUP"] {
        let sweep = |(times, wait): (usize, u64)| {
            let draws = format!("draws = {}", 300 * times);
            place.write("s.toml", slow.replace("draws = 20", &draws));
            let wait = Duration::from_millis(wait);
            stopped(&place, "sweep s.toml", "ledger.jsonl", signal, wait)
        };
        lengths.into_iter().find_map(sweep).expect("a sweep that is slow enough");
        let study = |(times, wait): (usize, u64)| {
            let long = SBC.replace("--sims 6", &format!("--sims {}", 400 * times));
            stopped(&place, &long, "ranks.csv", signal, Duration::from_millis(wait))
        };
        lengths.into_iter().find_map(study).expect("a study that is slow enough");
    }
}

/// As `nohup` and shells in the background start programs.
#[test]
fn what_was_ignored_stays_ignored() {
    let place = place();
    let text = format!("trap '' HUP INT; exec $G {AGES} --checkpoint ck");
    let after = |wait| {
        let mut child = Running::start(script(&place, &text));
        assert!(child.until(|| place.path("ck/run.txt").exists()));
        sleep(wait);
        for signal in ["-HUP", "-INT", "-HUP"] {
            child.send(signal);
        }
        sleep(wait);
        assert!(!child.over(), "a signal that is ignored ended the run");
        child.send("-TERM");
        Some(child.ended()).filter(|run| run.code.is_some())
    };
    let run = WAITS.into_iter().find_map(after).expect("a run that listens after 8 s");
    assert_eq!(run.code, Some(130), "{}", run.err);
    assert_eq!(run.err.matches("stopping: ").count(), 1, "{}", run.err);
}

/// Where the kills fall depends on the machine's clock; the law holds wherever they fall, so that
/// no seed can make it fail.
#[test]
fn a_killed_study_ends_with_the_same_ranks() {
    let place = place();
    let study = SBC.replace("--sims 6", "--sims 300");
    let begun = Instant::now();
    place.done(&format!("{study} --out whole"));
    let whole = begun.elapsed().as_secs_f64();
    let (mut kills, mut state) = (0, 20_u64);
    loop {
        let mut command = place.command(&format!("{study} --out part"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = Running::start(command);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = (state >> 33) as f64 / (1_u64 << 31) as f64;
        if kills < 8 {
            sleep(Duration::from_secs_f64(0.3 * share * whole));
        }
        if kills == 8 || child.over() {
            assert_eq!(child.ended().code, Some(0));
            break;
        }
        drop(child);
        kills += 1;
    }
    assert!(kills > 0, "too fast to be killed");
    let rows = |folder| ranks(&place.text(&format!("{folder}/ranks.csv")));
    assert_eq!(rows("part"), rows("whole"));
    assert!(place.read("part/ecdf.svg") == place.read("whole/ecdf.svg"));
}
