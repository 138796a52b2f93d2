//! `gpfuse sbc`: what it writes, and that it goes on where it stopped.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeSet;

use common::Place;

/// A study whose simulations take a few milliseconds.
const TINY: &str = "sbc --n 6 --size 3 --warmup 20 --draws 19 --thin 1 --max-depth 3 --out s";

/// The lines of the ledger without their seconds, in the order of the simulations.
fn rows(place: &Place) -> Vec<(u64, Vec<String>)> {
    let text = place.text("s/ranks.csv");
    let row = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        cells[3].clear();
        (cells[0].parse().unwrap(), cells)
    };
    let mut rows: Vec<_> = text.lines().skip(1).map(row).collect();
    rows.sort();
    rows
}

#[test]
fn every_method_has_its_table_and_figures() {
    for flags in ["het", "bhs", "pbhs", "pbhs --plain", "mogpe --basis rff", "pogpe"] {
        let place = Place::empty();
        let run = place.done(&format!("{TINY} --sims 4 --method {flags}"));
        for part in ["quantity", "log likelihood", "fused mean at 0.1", "4 simulations of", "_ell"]
        {
            assert!(run.out.contains(part), "{flags}: {}", run.out);
        }
        assert!(place.read("s/ecdf.png").starts_with(b"\x89PNG"));
        let figure = place.text("s/ecdf.svg");
        assert!(figure.contains("log joint density") && !figure.contains("NaN"), "{flags}");
        let found = place.done(&format!("{TINY} --sims 4 --json --method {flags}")).json();
        assert_eq!(found["ran"], 0);
        assert_eq!(found["verdict"]["simulations"], 4);
        let quantities = found["verdict"]["quantities"].as_array().unwrap();
        assert_eq!(
            quantities.len() + 5,
            place.text("s/ranks.csv").lines().next().unwrap().split(',').count()
        );
        assert!(
            quantities.iter().all(|q| q["ecdf_p"].is_number() && q["chi_square_p"].is_number())
        );
    }
}

#[test]
fn a_study_goes_on_and_is_the_same() {
    let (whole, parts) = (Place::empty(), Place::empty());
    whole.done(&format!("{TINY} --sims 7 --threads 1"));
    parts.done(&format!("{TINY} --sims 3 --threads 2"));
    // Killed while it wrote a line.
    let text = parts.text("s/ranks.csv");
    parts.write("s/ranks.csv", &text[..text.len() - 4]);
    let run = parts.done(&format!("{TINY} --sims 7 --threads 2"));
    assert!(run.err.contains("was half written"), "{}", run.err);
    assert!(run.err.contains("2 of 7 simulations are there already"), "{}", run.err);
    assert!(run.out.contains("5 of them now"), "{}", run.out);
    assert_eq!(rows(&parts), rows(&whole));
    // A shorter study looks at its own simulations alone.
    let run = parts.done(&format!("{TINY} --sims 2 --json"));
    assert_eq!(run.json()["verdict"]["simulations"], 2);
}

#[test]
fn a_folder_belongs_to_one_study() {
    let place = Place::empty();
    place.done(&format!("{TINY} --sims 1"));
    place.refused(&format!("{TINY} --sims 1 --seed 1"), 1, &["`s` holds a study", "seed"]);
    for (flags, part) in [
        ("--sims 0", "setting `sims`"),
        ("--thin 30", "leaves 0 to rank among"),
        ("--n 0", "setting `n`"),
        ("--method bhs --density collapsed", "setting `density`"),
        ("--method bhs --experts 1", "setting `experts`"),
    ] {
        let args = TINY.replace("--out s", "--out t").replace("--thin 1", "");
        let args = args.replace("--n 6", if flags.contains("--n") { "" } else { "--n 6" });
        place.refused(&format!("{args} {flags}"), 1, &[part]);
    }
}

/// Ranks that are all 0 are not uniform.
#[test]
fn strict_is_strict_about_ranks() {
    let place = Place::empty();
    place.done(&format!("{TINY} --sims 1 --strict"));
    let text = place.text("s/ranks.csv");
    let (header, row) = text.split_once('\n').unwrap();
    let names = header.split(',').count() - 5;
    let start: Vec<&str> = row.trim().split(',').take(5).skip(1).collect();
    let line = |i: usize| format!("{i},{}{}\n", start.join(","), ",0".repeat(names));
    let all: String = (0..40).map(line).collect();
    place.write("s/ranks.csv", format!("{header}\n{all}"));
    for (flags, code) in [("", 0), ("--strict", 3)] {
        let run = place.run(&format!("{TINY} --sims 40 {flags}"));
        assert_eq!(run.code, Some(code), "{}", run.err);
        assert!(run.out.contains("\nNOT CALIBRATED: "), "{}", run.out);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_finished() {
    if common::deaf(common::INT) {
        return;
    }
    use std::process::Command;
    use std::thread::sleep;
    use std::time::Duration;

    let place = Place::empty();
    let child = place.command(&format!("{TINY} --sims 100000")).spawn().unwrap();
    let lines =
        || std::fs::read_to_string(place.path("s/ranks.csv")).map_or(0, |t| t.lines().count());
    for _ in 0..600 {
        if lines() > 3 {
            break;
        }
        sleep(Duration::from_millis(100));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let run: common::Run = child.wait_with_output().unwrap().into();
    assert_eq!(run.code, Some(130), "{}", run.err);
    assert!(run.err.contains("stopping: all finished simulations are kept"), "{}", run.err);
    assert!(run.err.contains("the same command goes on from there"), "{}", run.err);
    let kept: BTreeSet<u64> = rows(&place).iter().map(|row| row.0).collect();
    assert!(kept.len() >= 3);
    let more = kept.iter().max().unwrap() + 2;
    let run = place.done(&format!("{TINY} --sims {more} --json"));
    assert_eq!(run.json()["ran"], more - kept.len() as u64);
}
