//! Two processes that want to write the same thing at the same moment.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Place, check_refusal};
use crate::running::{PATIENCE, Running};
use crate::{FIT, SBC, SWEEP, place};

/// Start a command twice at once: one of the two is refused while the other works on.
fn one_works(place: &Place, command: &str, folder: &str) {
    let start = |_| Running::start(place.command(command));
    let mut both: Vec<Running> = (0..2).map(start).collect();
    let begun = Instant::now();
    let first = loop {
        assert!(begun.elapsed() < PATIENCE, "{command}: both are at work");
        if let Some(at) = both.iter_mut().position(Running::over) {
            break both.remove(at);
        }
        sleep(Duration::from_millis(5));
    };
    let run = first.ended();
    let words = [&format!("`{folder}`") as &str, "another gpfuse is at work in this folder"];
    check_refusal(command, &run, 1, &words);
    assert!(!both[0].over(), "{command}: the other ended too");
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
            Running::start(place.command(&command))
        };
        let all: Vec<Running> = (0..5).map(start).collect();
        for child in all {
            let run = child.ended();
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
        let start = |seed| Running::start(place.command(&fit(seed, "both.nc")));
        for child in [start(1), start(2)] {
            assert_eq!(child.ended().code, Some(0));
        }
        assert!(wanted.contains(&place.read("both.nc")));
    }
    assert!(!place.files().iter().any(|name| name.starts_with('.')), "{:?}", place.files());
}
