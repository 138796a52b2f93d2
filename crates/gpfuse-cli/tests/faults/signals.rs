//! Signals: one asks a run to stop, a second ends it, and those that are ignored are ignored.

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Place, Run};
use crate::shell::script;
use crate::{SBC, SWEEP, place, ranks};

/// A fit that takes ages to draw.
const AGES: &str = "fit d.csv --target y --warmup 20 --draws 10000000 --chains 2 --size 8 \
                    --max-depth 4 --start prior --out n.nc";

fn send(child: &Child, signal: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
}

/// Wait until a file is there, and a moment more.
fn ready(place: &Place, file: &str) {
    let begun = Instant::now();
    while !place.path(file).exists() {
        assert!(begun.elapsed() < Duration::from_secs(20), "no `{file}`");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(20));
}

/// How a run ends, which it must within some seconds.
fn ended(mut child: Child) -> Run {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("it did not end");
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_hangup_or_a_termination_keeps_the_draws() {
    let place = place();
    for signal in ["-TERM", "-HUP"] {
        // Longer where the machine is busy and the warm-up not over.
        let after = |wait: u64| {
            let child = place.command(AGES).spawn().unwrap();
            sleep(Duration::from_millis(wait));
            send(&child, signal);
            Some(ended(child)).filter(|run| run.code.is_some() && !run.err.contains("no draws"))
        };
        let run = [300, 2000, 8000].into_iter().find_map(after).expect("draws after 8 s");
        assert_eq!(run.code, Some(130), "{signal}: {}", run.err);
        assert!(run.err.contains("interrupted: kept "), "{signal}: {}", run.err);
        place.done("inspect n.nc");
        assert_eq!(place.files(), ["d.csv", "m.nc", "n.nc", "s.toml"]);
    }
}

/// The second may come while the first is being served, or when the model is written already.
#[test]
fn a_second_interrupt_ends_at_once() {
    let place = place();
    for pause in [0, 1, 5] {
        let child = place.command(AGES).spawn().unwrap();
        sleep(Duration::from_millis(300));
        send(&child, "-INT");
        sleep(Duration::from_millis(pause));
        let begun = Instant::now();
        // It may have ended in between.
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).output();
        let run = ended(child);
        // 1 where the machine was so busy that there were no draws.
        let early = run.err.contains("no draws to keep");
        assert_eq!(run.code, Some(if early { 1 } else { 130 }), "{}", run.err);
        assert!(begun.elapsed() < Duration::from_secs(5));
        if place.path("n.nc").exists() {
            place.done("inspect n.nc");
        }
    }
}

#[test]
fn a_stopped_sweep_or_study_goes_on() {
    let place = place();
    let slow = SWEEP.split("[[keep]]").next().unwrap();
    place.write(
        "s.toml",
        slow.replace("draws = 20", "draws = 300").replace("depth = 3", "depth = 5"),
    );
    let long = SBC.replace("--sims 6", "--sims 400");
    let commands = [("sweep s.toml", "ledger.jsonl"), (long.as_str(), "ranks.csv")];
    for (command, file) in commands {
        place.done(&format!("{command} --out whole"));
        for signal in ["-TERM", "-HUP"] {
            let child = place.command(&format!("{command} --out part")).spawn().unwrap();
            ready(&place, &format!("part/{file}"));
            send(&child, signal);
            let run = ended(child);
            assert_eq!(run.code, Some(130), "{command}: {}", run.err);
            assert!(run.err.contains("the same command goes on from there"), "{}", run.err);
            place.done(&format!("{command} --out part"));
            if file == "ranks.csv" {
                let rows = |folder| ranks(&place.text(&format!("{folder}/ranks.csv")));
                assert_eq!(rows("part"), rows("whole"));
            } else {
                assert!(place.read("part/results.csv") == place.read("whole/results.csv"));
            }
            std::fs::remove_dir_all(place.path("part")).unwrap();
        }
        std::fs::remove_dir_all(place.path("whole")).unwrap();
    }
}

/// As `nohup` and shells in the background start programs.
#[test]
fn what_was_ignored_stays_ignored() {
    let place = place();
    let text = format!("trap '' HUP INT; exec $G {AGES} --checkpoint ck");
    let mut child = script(&place, &text).spawn().unwrap();
    ready(&place, "ck/run.txt");
    sleep(Duration::from_millis(200));
    for signal in ["-HUP", "-INT", "-HUP"] {
        send(&child, signal);
    }
    sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "a signal that is ignored ended the run");
    send(&child, "-TERM");
    let run = ended(child);
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
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = (state >> 33) as f64 / (1_u64 << 31) as f64;
        match kills < 8 {
            true => sleep(Duration::from_secs_f64(0.3 * share * whole)),
            false => drop(child.wait().unwrap()),
        }
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0));
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(kills > 0, "too fast to be killed");
    let rows = |folder| ranks(&place.text(&format!("{folder}/ranks.csv")));
    assert_eq!(rows("part"), rows("whole"));
    assert!(place.read("part/ecdf.svg") == place.read("whole/ecdf.svg"));
}
