//! A fit with a checkpoint ends in the same model file, however often it was killed.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Place, Run, SMALL_FIT, check_refusal};

/// Numbers that look random, the same on every run.
fn numbers(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    }
}

/// Names in a folder that begin so.
fn kept(place: &Place, folder: &str, start: &str) -> usize {
    let all = fs::read_dir(place.path(folder)).into_iter().flatten().flatten();
    all.filter(|e| e.file_name().to_string_lossy().starts_with(start)).count()
}

/// Kill a fit at random moments until it ends; its model is that of a run that was left alone, and
/// nothing else is left. Where the kills fall depends on the machine's clock; the law holds wherever
/// they fall, so that no seed can make it fail.
fn survives_kills(place: &Place, command: &str, most: usize) {
    let begun = Instant::now();
    place.done(&format!("{command} --out whole.nc"));
    let whole = begun.elapsed().as_secs_f64();
    let expected = place.read("whole.nc");
    let mut random = numbers(most as u64);
    let (mut kills, mut before) = (0, [0; 2]);
    loop {
        let mut run = place.command(&format!("{command} --checkpoint ck --out killed.nc"));
        let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        match kills < most {
            true => sleep(Duration::from_secs_f64((0.1 + 0.5 * random()) * whole)),
            false => drop(child.wait().unwrap()),
        }
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0), "{command}");
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if place.path("killed.nc").exists() {
            // The folder was being removed: the model is there already.
            assert!(place.read("killed.nc") == expected, "{command}: after {kills} kills");
            before = [0; 2];
            continue;
        }
        // What is kept stays.
        let now = ["start-", "chain-"].map(|start| kept(place, "ck", start));
        assert!(now[0] >= before[0] && now[1] >= before[1], "{command}: {before:?}, {now:?}");
        before = now;
    }
    assert!(kills > 0, "{command}: too fast to be killed");
    assert!(place.read("killed.nc") == expected, "{command}: after {kills} kills");
    assert!(!place.path("ck").exists(), "{command}");
    fs::remove_file(place.path("killed.nc")).unwrap();
}

#[test]
fn a_killed_fit_ends_in_the_same_bytes() {
    let place = Place::new();
    let small = "--chains 3 --warmup 300 --draws 400 --max-depth 6 --start-steps 60 --threads 2";
    for method in [
        "het --size 12",
        "mogpe --size 12 --experts 2",
        "pogpe --size 6 --experts 2",
        "pbhs --size 6 --experts 2 --hold-out 0.5",
        "het --frequencies 8 --sampler hmc --metric low-rank",
        "het --size 12 --density collapsed",
    ] {
        survives_kills(&place, &format!("fit d.csv --target y {small} --method {method}"), 4);
    }
}

/// With the number of draws left open: the trajectories are so short that the chains go on.
#[test]
fn a_killed_fit_that_adds_draws_ends_in_the_same_bytes() {
    let place = Place::new();
    let open = "--chains 3 --warmup 300 --max-depth 3 --start-steps 60 --threads 2";
    let fit = format!("fit d.csv --target y {open} --method het --size 12");
    survives_kills(&place, &fit, 5);
    let shown = place.done("inspect whole.nc").out;
    assert!(
        ["1000", "2000", "4000"].iter().any(|n| shown.contains(&format!("{n} draws"))),
        "{shown}"
    );
}

#[test]
fn weights_of_given_experts_are_kept_too() {
    let place = Place::new();
    let rows = (0..60).map(|i| {
        let x = f64::from(i) / 10.0;
        format!("{x},{},{},0.3,{},0.4\n", x.sin(), x.sin() + 0.1, 0.9 * x.sin())
    });
    let rows: String = rows.collect();
    place.write("p.csv", format!("x,y,mean_a,sd_a,mean_b,sd_b\n{rows}"));
    let fit = "stack p.csv --target y --chains 3 --warmup 300 --draws 500 --size 8 --max-depth 6";
    survives_kills(&place, fit, 3);
    // Other experts are another run.
    let slow = format!("{fit} --checkpoint ck").replace("--warmup 300", "--warmup 1000000");
    let child = place.command(&slow).spawn().unwrap();
    stopped_with(&place, child, "-KILL");
    place.write("q.csv", format!("x,y,mean_a,sd_a,mean_c,sd_c\n{rows}"));
    let other = slow.replace("p.csv", "q.csv");
    let words = r#"`experts` is ["a","b"] there and ["a","c"] here"#;
    place.refused(&other, 1, &["`ck` is the checkpoint of another run", words]);
}

/// Wait for a first starting point, then end the run.
fn stopped_with(place: &Place, child: std::process::Child, signal: &str) -> Run {
    let begun = Instant::now();
    while kept(place, "ck", "start-") < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(10));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    child.wait_with_output().unwrap().into()
}

/// A fit that takes ages once its starting points are found.
const AGES: &str = "fit d.csv --target y --method het --size 8 --chains 2 --draws 10 --max-depth 5 \
                    --start-steps 20 --out m.nc --checkpoint ck --warmup 10000000";

#[test]
fn an_interrupted_fit_says_how_to_go_on() {
    if common::deaf(common::INT) {
        return;
    }
    let place = Place::new();
    for signal in ["-INT", "-TERM"] {
        let run = stopped_with(&place, place.command(AGES).spawn().unwrap(), signal);
        assert_eq!(run.code, Some(130), "{}", run.err);
        assert!(run.err.contains("stopping: the checkpoint keeps what is done"), "{}", run.err);
        assert!(run.err.ends_with("the same command goes on from `ck`\n"), "{}", run.err);
        assert_eq!(
            (place.files(), run.out),
            (vec!["ck".into(), "d.csv".to_string()], String::new())
        );
        // And it does.
        let mut child = place.command(AGES).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(line.starts_with("going on from `ck`: "), "{line}");
        fs::remove_dir_all(place.path("ck")).unwrap();
    }
}

#[test]
fn another_run_is_refused_and_the_same_one_goes_on() {
    let place = Place::new();
    let child = place.command(AGES).spawn().unwrap();
    let begun = Instant::now();
    while kept(&place, "ck", "start-") < 8 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(10));
    }
    place.refused(AGES, 1, &["`ck`: another gpfuse is at work in this folder"]);
    stopped_with(&place, child, "-KILL");
    let differs = |from: &str, to: &str, words: &str| {
        let other = AGES.replace(from, to);
        place.refused(&other, 1, &["`ck` is the checkpoint of another run", words]);
    };
    differs("--draws 10", "--draws 11", "`sampler.draws` is 10 there and 11 here");
    differs("--method het", "--seed 3 --method het", "`sampler.seed` is 0 there and 3 here");
    differs("--target y", "--target x --inputs y", "`data` is ");
    let text = place.text("d.csv");
    place.write("d.csv", text.replacen(",-", ",-1", 1).replacen(",0", ",1", 1));
    place.refused(AGES, 1, &["another run: `data` is "]);
    place.write("d.csv", &text);
    let run = place.command(AGES).env("GPFUSE_SIMD", "scalar").output().unwrap().into();
    check_refusal("scalar", &run, 1, &["`machine` is ", "scalar\" here"]);
    place.write("ck/run.txt", place.text("ck/run.txt").replace("version = \"", "version = \"0."));
    place.refused(AGES, 1, &["`version` is \"0."]);
}

#[test]
fn damaged_files_cost_time_only() {
    let place = Place::new();
    let fit = format!("fit d.csv --target y --method het {SMALL_FIT}");
    place.done(&format!("{fit} --out whole.nc"));
    // The model cannot be written: all chains stay.
    let broken = format!("{fit} --checkpoint ck --out m.nc");
    let limited = |blocks: usize| -> Run {
        let program = env!("CARGO_BIN_EXE_gpfuse");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} {broken}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(place.path(""));
        shell.output().unwrap().into()
    };
    // Not a byte can be written: known before the work.
    check_refusal("full", &limited(0), 1, &["cannot write `ck/run.txt`: the disk is full"]);
    // Starts can be written, chains and the model cannot: the fit goes on to its end.
    let run = limited(16);
    assert_eq!(run.code, Some(1));
    let told = ["warning: cannot write `ck/chain-", "cannot write `m.nc`: the disk is full"];
    told.iter().for_each(|words| assert!(run.err.contains(words), "{}", run.err));
    assert_eq!(kept(&place, "ck", "start-"), 8);
    let start = place.read("ck/start-1.bin");
    place.write("ck/start-1.bin", &start[..start.len() - 3]);
    let mut other = place.read("ck/start-2.bin");
    other[40] ^= 1;
    place.write("ck/start-2.bin", other);
    let run = place.done(&broken);
    for words in ["`ck/start-1.bin` is cut short", "`ck/start-2.bin` is damaged"] {
        assert!(run.err.contains(words), "{}", run.err);
    }
    assert!(place.read("m.nc") == place.read("whole.nc"));
    assert!(!place.path("ck").exists());
}

#[test]
fn a_folder_that_cannot_be_used_is_refused_before_the_work() {
    let place = Place::new();
    let at =
        |folder: &str| format!("{} --checkpoint {folder}", AGES.replace(" --checkpoint ck", ""));
    place.refused(&at("."), 1, &["`.`: holds files but no checkpoint"]);
    place.refused(&at("d.csv"), 1, &["cannot make the folder `d.csv`"]);
    place.refused(&at("d.csv/ck"), 1, &["cannot make the folder `d.csv/ck`"]);
    #[cfg(target_os = "linux")]
    place.refused(&at("/proc/ck"), 1, &["cannot make the folder `/proc/ck`"]);
}
