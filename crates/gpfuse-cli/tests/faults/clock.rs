//! Clocks that are wrong, and clocks that jump: no result depends on them.

use std::fs::{self, File};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use crate::common::{Place, Run};
use crate::running::{PATIENCE, Running};
use crate::shell::{ran, script, works};
use crate::{FIT, SBC, place, ranks, skipped};

/// What no run says, whatever the clock.
fn sound(run: &Run) {
    assert_eq!(run.code, Some(0), "{}", run.err);
    for text in [&run.out, &run.err] {
        assert!(!text.contains("panicked") && !text.contains("NaN"), "{text}");
        let negative = |word: &str| {
            word.starts_with('-') && word[1..].starts_with(|c: char| c.is_ascii_digit())
        };
        let times = text.lines().filter(|line| line.trim_end().ends_with(" s"));
        assert!(!times.flat_map(str::split_whitespace).any(negative), "{text}");
    }
}

/// Words of a shell after which the clock is moved by `shift`. Not by `faketime` itself, which stands
/// between a program and the signals for it.
fn moved(shift: &str) -> String {
    format!("export LD_PRELOAD=$(faketime -f +0 printenv LD_PRELOAD) FAKETIME='{shift}';")
}

/// Stop a fit with the checkpoint `ck` after its first starting point.
fn begun(place: &Place, before: &str, command: &str) {
    let mut command = script(place, &format!("{before} exec $G {command}"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // Killed at the end of this.
    Running::start(command).until(|| place.path("ck/start-1.bin").exists());
}

#[test]
fn a_wrong_clock_changes_no_byte() {
    if !works("faketime -f +1d true") {
        return skipped("wrong clock", "no faketime (Debian package faketime)");
    }
    let place = place();
    place.done(&format!("{SBC} --out s"));
    place.done("sweep s.toml --out whole");
    for (i, shift) in ["+60y", "-50y", "+0 x1000"].into_iter().enumerate() {
        let fake = moved(shift);
        let run = |text: &str| ran(script(&place, &format!("{fake} exec $G {text}")));
        sound(&run(&format!("{FIT} --out n.nc")));
        assert!(place.read("n.nc") == place.read("m.nc"), "{shift}");
        // Begun with a wrong clock and ended with a right one, and the other way round.
        for [first, second] in [[&fake as &str, ""], ["", &fake]] {
            let command = format!("{FIT} --out r.nc --checkpoint ck");
            begun(&place, first, &command);
            sound(&ran(script(&place, &format!("{second} exec $G {command}"))));
            assert!(place.read("r.nc") == place.read("m.nc"), "{shift}");
        }
        sound(&run(&format!("{SBC} --out s{i}")));
        let rows = |folder: &str| ranks(&place.text(&format!("{folder}/ranks.csv")));
        assert_eq!(rows(&format!("s{i}")), rows("s"));
        sound(&run(&format!("sweep s.toml --out w{i}")));
        let table = |folder: &str| place.read(&format!("{folder}/results.csv"));
        assert!(table(&format!("w{i}")) == table("whole"), "{shift}");
    }
}

/// The clock, and that of the system since its start with it, jumps by years while a fit shows its
/// progress on a terminal.
#[test]
fn a_clock_that_jumps_changes_no_byte() {
    if !works("faketime -f +1d true") || !works("script -qec true /dev/null") {
        return skipped("jumping clock", "no faketime (Debian package faketime) or no script");
    }
    let place = place();
    let fit = FIT.replace("--draws 50", "--draws 3000");
    place.done(&format!("{fit} --out whole.nc"));
    let clock = place.path("clock");
    fs::write(&clock, "+0").unwrap();
    let text = format!(
        "export FAKETIME_TIMESTAMP_FILE={} FAKETIME_NO_CACHE=1
         export LD_PRELOAD=$(faketime -f +0 printenv LD_PRELOAD)
         unset FAKETIME; exec $G {fit} --out n.nc",
        clock.display()
    );
    let command = script(&place, &format!("exec script -qec '{text}' /dev/null > shown"));
    let mut child = Running::start(command);
    let begun = Instant::now();
    let mut jumps = ["-20y", "+20y", "+0", "-40y"].iter().cycle();
    let mut count = 0;
    while !child.over() {
        assert!(begun.elapsed() < PATIENCE, "it hangs");
        sleep(Duration::from_millis(40));
        fs::write(&clock, jumps.next().unwrap()).unwrap();
        count += 1;
    }
    let (run, shown) = (child.ended(), place.read("shown"));
    let shown = String::from_utf8_lossy(&shown);
    assert!(count > 2, "too fast to see a jump");
    assert_eq!(run.code, Some(0), "{shown}");
    assert!(!shown.contains("panicked") && shown.contains("wrote `n.nc`"), "{shown}");
    assert!(place.read("n.nc") == place.read("whole.nc"));
}

#[test]
fn files_from_the_past_and_the_future_are_files() {
    let place = place();
    let fit = FIT.replace("--draws 50", "--draws 300");
    place.done(&format!("{fit} --out whole.nc"));
    place.done("sweep s.toml --out whole");
    let stamp = |folder: &str, time: SystemTime| {
        let files = place.path(folder).read_dir().into_iter().flatten().flatten();
        for file in files.filter(|file| file.path().is_file()) {
            File::options().append(true).open(file.path()).unwrap().set_modified(time).unwrap();
        }
    };
    let future = SystemTime::now() + Duration::from_secs(60 * 365 * 86_400);
    for (i, time) in [SystemTime::UNIX_EPOCH, future].into_iter().enumerate() {
        begun(&place, "", &format!("{fit} --out n.nc --checkpoint ck"));
        stamp("", time);
        stamp("ck", time);
        place.done(&format!("{fit} --out n.nc --checkpoint ck"));
        assert!(place.read("n.nc") == place.read("whole.nc"));
        let folder = format!("w{i}");
        place.done(&format!("sweep s.toml --out {folder} --shard 1/2"));
        stamp(&folder, time);
        place.done(&format!("sweep s.toml --out {folder}"));
        let table = |folder: &str| place.read(&format!("{folder}/results.csv"));
        assert!(table(&folder) == table("whole"));
    }
}
