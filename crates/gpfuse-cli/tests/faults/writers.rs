//! Two processes that want to write the same thing at the same moment.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Place, Run, check_refusal};
use crate::{FIT, SBC, SWEEP, place};

/// Start a command twice at once: one of the two is refused while the other works on.
fn one_works(place: &Place, command: &str, folder: &str) {
    let mut both: Vec<Child> = (0..2).map(|_| place.command(command).spawn().unwrap()).collect();
    let begun = Instant::now();
    let first = loop {
        assert!(begun.elapsed() < Duration::from_secs(20), "{command}: both are at work");
        if let Some(at) = both.iter_mut().position(|child| child.try_wait().unwrap().is_some()) {
            break both.remove(at);
        }
        sleep(Duration::from_millis(5));
    };
    let run: Run = first.wait_with_output().unwrap().into();
    let words = [&format!("`{folder}`") as &str, "another gpfuse is at work in this folder"];
    check_refusal(command, &run, 1, &words);
    let mut other = both.remove(0);
    assert_eq!(other.try_wait().unwrap(), None, "{command}: the other ended too");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn of_two_in_one_folder_one_works() {
    let place = place();
    place.write("long.toml", SWEEP.replace("draws = 20", "draws = 10000000"));
    let fit = FIT.replace("--draws 50", "--draws 10000000");
    let sbc = SBC.replace("--warmup 20", "--warmup 10000000");
    for round in 0..4 {
        one_works(
            &place,
            &format!("{fit} --out n.nc --checkpoint ck{round}"),
            &format!("ck{round}"),
        );
        one_works(&place, &format!("sweep long.toml --out w{round}"), &format!("w{round}"));
        one_works(&place, &format!("{sbc} --out s{round}"), &format!("s{round}"));
    }
    assert!(!place.path("n.nc").exists());
}

/// Short runs with one checkpoint, started one upon the other: each finds the folder as the one
/// before left it, made it, or was removing it.
#[test]
fn a_folder_that_is_being_removed_belongs_to_one() {
    let place = place();
    let command = format!("{FIT} --out n.nc --checkpoint ck");
    let mut done = 0;
    for _ in 0..4 {
        let start = |_| {
            sleep(Duration::from_millis(30));
            place.command(&command).spawn().unwrap()
        };
        let all: Vec<Child> = (0..5).map(start).collect();
        for child in all {
            let run: Run = child.wait_with_output().unwrap().into();
            match run.code {
                Some(0) => done += 1,
                _ => check_refusal(&command, &run, 1, &["another gpfuse is at work"]),
            }
            assert!(!run.err.contains("warning: `ck"), "{}", run.err);
        }
        assert!(place.read("n.nc") == place.read("m.nc"));
    }
    assert!(done >= 4);
}

#[test]
fn of_two_models_in_one_file_one_is_there() {
    let place = place();
    let fit = |seed: usize, out: &str| format!("{FIT} --seed {seed} --out {out}");
    (1..=2).for_each(|seed| drop(place.done(&fit(seed, &format!("{seed}.nc")))));
    let wanted = ["1.nc", "2.nc"].map(|name| place.read(name));
    for _ in 0..6 {
        let start = |seed| place.command(&fit(seed, "both.nc")).spawn().unwrap();
        for child in [start(1), start(2)] {
            assert_eq!(Run::from(child.wait_with_output().unwrap()).code, Some(0));
        }
        assert!(wanted.contains(&place.read("both.nc")));
    }
    assert!(!place.files().iter().any(|name| name.starts_with('.')), "{:?}", place.files());
}
