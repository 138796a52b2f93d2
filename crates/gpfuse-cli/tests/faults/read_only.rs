//! Places that cannot be written, and a folder that goes away.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Place, Run, check_refusal};
use crate::shell::{mounts, ran, wrapped};
use crate::{FIT, SBC, place, skipped};

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

/// Remove the folder `sub` of a run once `ready` is there, and see how the run ends.
fn vanished(place: &Place, command: &str, ready: &str) -> Run {
    let _ = fs::create_dir(place.path("sub"));
    let child = place.command(command).spawn().unwrap();
    let begun = Instant::now();
    while !place.path(ready).exists() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{command}");
        sleep(Duration::from_millis(2));
    }
    // Files may come while it is emptied.
    while fs::remove_dir_all(place.path("sub")).is_err() {}
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_folder_that_goes_away_is_named() {
    let place = place();
    let longer = FIT.replace("--draws 50", "--draws 400");
    place.done(&format!("{longer} --out whole.nc"));
    // The folder of the checkpoint: the fit goes on and says so.
    let command = format!("{longer} --out kept.nc --checkpoint sub");
    let run = vanished(&place, &command, "sub/start-1.bin");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("the fit goes on"), "{}", run.err);
    assert!(place.read("kept.nc") == place.read("whole.nc"));
    // The folder of the model, of which the checkpoint keeps the chains.
    let command = format!("{longer} --out sub/m.nc --checkpoint ck");
    let run = vanished(&place, &command, "ck/start-1.bin");
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
    assert!(place.read("sub/m.nc") == place.read("whole.nc"));
    // A sweep and a study have nothing left to go on from, and say what is missing.
    for (command, ready) in [
        ("sweep s.toml --out sub/w".to_string(), "sub/w/ledger.jsonl"),
        (format!("{} --out sub/w", SBC.replace("--sims 6", "--sims 60")), "sub/w/ranks.csv"),
    ] {
        let run = vanished(&place, &command, ready);
        let last = run.err.lines().last().unwrap();
        assert_eq!(run.code, Some(1), "{command}: {}", run.err);
        assert!(last.starts_with("gpfuse: ") && last.contains("`sub/w"), "{command}: {last}");
    }
}
