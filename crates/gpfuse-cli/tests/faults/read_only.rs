//! Places that cannot be written, and a folder that goes away.

use std::fs;
use std::io::ErrorKind;
use std::time::Instant;

use crate::common::{Place, Run, check_refusal};
use crate::running::{PATIENCE, Running};
use crate::shell::{mounts, ran, wrapped};
use crate::{FIT, SBC, SWEEP, place, skipped};

#[test]
fn a_read_only_place_is_refused_before_the_work() {
    let place = place();
    let Some(way) = mounts() else {
        return skipped("read-only place", "no mounts for this user");
    };
    let ages = FIT.replace("--draws 50", "--draws 10000000");
    for (command, named) in [
        (format!("{ages} --out t/m.nc"), "cannot write `t/m.nc`"),
        (format!("{ages} --out t/new.nc"), "cannot write `t/new.nc`"),
        (format!("{FIT} --out n.nc --checkpoint t/ck"), "cannot make the folder `t/ck`"),
        (format!("{FIT} --out n.nc --checkpoint t/empty"), "cannot write `t/empty/lock`"),
        ("sweep s.toml --out t/runs".into(), "cannot make the folder `t/runs`"),
        (format!("{SBC} --out t/s"), "cannot make the folder `t/s`"),
        ("report m.nc --out t/r.html".into(), "cannot write `t/r.html`"),
        ("report m.nc --out r.html --figures t/figs".into(), "cannot write `t/figs`"),
        ("predict m.nc d.csv --out t/p.csv".into(), "cannot write `t/p.csv`"),
        ("demo --out t/demo".into(), "cannot make the folder `t/demo`"),
    ] {
        let text = format!(
            "set -e; mkdir -p t; mount -t tmpfs none t; echo old > t/m.nc; mkdir t/empty
             mount -o remount,ro t; code=0; $G {command} || code=$?
             [ \"$(ls -A t t/empty | tr '\\n' ' ')\" = 't: empty m.nc  t/empty: ' ]
             [ $(cat t/m.nc) = old ]; exit $code"
        );
        let run = ran(wrapped(&place, way, &text));
        check_refusal(&command, &run, 1, &[named, "ead-only file system"]);
    }
    assert!(!place.path("r.html").exists() && !place.path("n.nc").exists());
}

#[test]
fn folders_and_missing_parents_are_refused_before_the_work() {
    let place = place();
    fs::create_dir(place.path("sub")).unwrap();
    for (command, out) in [
        (FIT, "--out"),
        ("predict m.nc d.csv", "--out"),
        ("report m.nc", "--out"),
        ("simulate --n 5", "--out"),
    ] {
        place.refused(&format!("{command} {out} sub"), 1, &["cannot write `sub`: it is a folder"]);
        let words = ["cannot write `no/f`", "folder `no` does not exist: create it first"];
        place.refused(&format!("{command} {out} no/f"), 1, &words);
    }
    assert_eq!(place.path("sub").read_dir().unwrap().count(), 0);
}

/// Remove the folder `sub` of a run once `ready` is there, and see how the run ends. None where it
/// ended before that was seen.
fn vanished(place: &Place, command: &str, ready: &str) -> Option<Run> {
    let _ = fs::create_dir(place.path("sub"));
    let mut child = Running::start(place.command(command));
    let seen = child.until(|| place.path(ready).exists());
    let begun = Instant::now();
    // Files may come while it is emptied.
    while let Err(e) = fs::remove_dir_all(place.path("sub")) {
        if e.kind() == ErrorKind::NotFound {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{command}: {e}");
    }
    Some(child.ended()).filter(|_| seen)
}

/// The first outcome of a run that is made longer until it has one: where the machine is busy, a run
/// ends before its folder is removed.
fn longer<T>(run: impl Fn(usize) -> Option<T>) -> T {
    [1, 5, 25, 125].into_iter().find_map(run).expect("a run that is slow enough")
}

/// A fit, and the model that it makes where nothing happens.
fn whole(place: &Place, times: usize) -> (String, Vec<u8>) {
    let fit = FIT.replace("--draws 50", &format!("--draws {}", 400 * times));
    place.done(&format!("{fit} --out whole.nc"));
    (fit, place.read("whole.nc"))
}

/// The fit goes on and says so.
#[test]
fn a_checkpoint_that_goes_away_is_named() {
    let place = place();
    longer(|times| {
        let (fit, model) = whole(&place, times);
        let command = format!("{fit} --out kept.nc --checkpoint sub");
        let run = vanished(&place, &command, "sub/start-1.bin")?;
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(place.read("kept.nc") == model);
        run.err.contains("the fit goes on").then_some(())
    });
}

/// The checkpoint keeps the chains.
#[test]
fn a_folder_of_a_model_that_goes_away_is_named() {
    let place = place();
    let (command, model, run) = longer(|times| {
        let (fit, model) = whole(&place, times);
        let command = format!("{fit} --out sub/m.nc --checkpoint ck");
        let run = vanished(&place, &command, "ck/start-1.bin")?;
        (run.code != Some(0)).then_some((command, model, run))
    });
    assert_eq!(run.code, Some(1), "{}", run.err);
    let last = run.err.lines().last().unwrap();
    assert!(last.contains("folder `sub` does not exist: create it first"), "{last}");
    fs::create_dir(place.path("sub")).unwrap();
    let run = place.done(&command);
    assert!(
        run.err.contains("going on from `ck`") && run.err.contains("2 of 2 chains"),
        "{}",
        run.err
    );
    assert!(place.read("sub/m.nc") == model);
}

/// A sweep and a study have nothing left to go on from: they stop at their next row, long before
/// their end, and say what is missing.
#[test]
fn a_ledger_that_goes_away_is_named() {
    let place = place();
    let slow = SWEEP.split("[[keep]]").next().unwrap();
    for ledger in ["ledger.jsonl", "ranks.csv"] {
        let run = longer(|times| {
            let command = match ledger {
                "ranks.csv" => SBC.replace("--sims 6", &format!("--sims {}", 60 * times)),
                _ => {
                    let splits = format!("splits = {}", 20 * times);
                    place.write("long.toml", slow.replace("splits = 4", &splits));
                    "sweep long.toml".into()
                }
            };
            let run =
                vanished(&place, &format!("{command} --out sub/w"), &format!("sub/w/{ledger}"))?;
            (run.code != Some(0)).then_some(run)
        });
        let last = run.err.lines().last().unwrap();
        assert_eq!(run.code, Some(1), "{ledger}: {}", run.err);
        // By the ledger, or by another file of the folder that was to be written just then.
        assert!(last.starts_with("gpfuse: ") && last.contains("`sub/w"), "{ledger}: {last}");
    }
}
