//! A disk that is full, and one that fills up step by step.

use crate::common::Place;
use crate::shell::{mounts, ran, wrapped};
use crate::{FIT, SBC, place, ranks, skipped};

/// Run `command`, which writes below `t`, on a full disk and again with room. `kept` is a file that
/// was there before. The files `made` come back as `made-I`.
fn filled(place: &Place, command: &str, kept: &str, made: &[&str], cause: &str) -> bool {
    let Some(way) = mounts() else { return false };
    let copies: Vec<String> =
        made.iter().enumerate().map(|(i, from)| format!("cp {from} made-{i}")).collect();
    let text = format!(
        "set -e; mkdir -p t; mount -t tmpfs -o size=4m none t; mkdir -p $(dirname {kept})
         echo old > {kept}
         cat /dev/zero > t/ballast 2>/dev/null || true
         ls -A t > before
         code=0; $G {command} > said 2> told || code=$?
         echo $code > code; cat {kept} > old; find t -name '.gpfuse*' > half; ls -A t > after
         rm t/ballast; rm {kept}
         $G {command} > /dev/null
         find t -name '.gpfuse*' >> half
         {}",
        copies.join("; ")
    );
    let run = ran(wrapped(place, way, &text));
    assert_eq!(run.code, Some(0), "{command}: {}", run.err);
    let told = place.text("told");
    let last = told.lines().last().unwrap_or_default();
    assert_eq!(place.text("code"), "1\n", "{command}: {told}");
    assert!(last.starts_with("gpfuse: ") && last.contains(cause), "{command}: {told}");
    assert!(last.contains("the disk is full"), "{command}: {told}");
    assert_eq!(told.lines().filter(|line| line.starts_with("gpfuse: ")).count(), 1, "{told}");
    assert_eq!(
        (place.text("old"), place.text("half")),
        ("old\n".into(), String::new()),
        "{command}"
    );
    true
}

#[test]
fn a_full_disk_is_named_and_leaves_what_was_there() {
    let place = place();
    place.done("predict m.nc d.csv --out p.csv");
    place.done("report m.nc --out r.html --figures figs");
    let model = place.read("m.nc");
    let fit = format!("{FIT} --out t/m.nc");
    if !filled(&place, &fit, "t/m.nc", &["t/m.nc"], "cannot write `t/m.nc`") {
        return skipped("full disk", "no mounts for this user");
    }
    assert!(place.read("made-0") == model);
    let fit = format!("{FIT} --out again.nc --checkpoint t/ck");
    filled(&place, &fit, "t/other", &["again.nc"], "cannot write `t/ck/run.txt`");
    assert!(place.read("made-0") == model);
    let predict = "predict m.nc d.csv --out t/p.csv";
    filled(&place, predict, "t/p.csv", &["t/p.csv"], "cannot write `t/p.csv`");
    assert!(place.read("made-0") == place.read("p.csv"));
    let report = "report m.nc --out t/r.html --figures t/figs";
    let made = ["t/r.html", "t/figs/weights.png", "t/figs/weights.svg"];
    filled(&place, report, "t/r.html", &made, "cannot write `t/figs/");
    assert!(place.read("made-0") == place.read("r.html"));
    assert!(place.read("made-1") == place.read("figs/weights.png"));
    let page = "report m.nc --out t/r.html";
    filled(&place, page, "t/r.html", &["t/r.html"], "cannot write `t/r.html`");
    assert!(place.read("made-0") == place.read("r.html"));
}

#[test]
fn a_sweep_and_a_study_wait_for_room() {
    let place = place();
    place.done("sweep s.toml --out whole");
    let sweep = "sweep s.toml --out t/runs";
    if !filled(&place, sweep, "t/other", &["t/runs/results.csv"], "cannot write `t/runs/") {
        return skipped("full disk of a sweep", "no mounts for this user");
    }
    assert!(place.read("made-0") == place.read("whole/results.csv"));
    place.done(&format!("{SBC} --out s"));
    let made = ["t/s/ranks.csv", "t/s/ecdf.svg", "t/s/ecdf.png"];
    filled(&place, &format!("{SBC} --out t/s"), "t/other", &made, "cannot write `t/s/");
    assert_eq!(ranks(&place.text("made-0")), ranks(&place.text("s/ranks.csv")));
    assert!(place.read("made-1") == place.read("s/ecdf.svg"));
    assert!(place.read("made-2") == place.read("s/ecdf.png"));
}

/// The disk grows by a page or a few each time: it is full at every moment of the work.
#[test]
fn a_disk_that_grows_in_steps_ends_with_the_same_bytes() {
    let place = place();
    let Some(way) = mounts() else {
        return skipped("growing disk", "no mounts for this user");
    };
    place.done("sweep s.toml --out whole");
    place.done(&format!("{SBC} --out s"));
    for (command, step, made) in [
        ("sweep s.toml --out t/w".to_string(), 8, "t/w/results.csv"),
        (format!("{SBC} --out t/w"), 12, "t/w/ranks.csv"),
        (format!("{FIT} --checkpoint t/ck --out t/m.nc"), 8, "t/m.nc"),
    ] {
        let text = format!(
            "set -e; mkdir -p t; mount -t tmpfs -o size=4k none t; size=4; runs=0; code=1
             while [ $code != 0 ]; do
               code=0; $G {command} > /dev/null 2> told || code=$?
               runs=$((runs + 1)); size=$((size + {step}))
               [ $code = 0 ] || {{ [ $code = 1 ] && tail -n 1 told | grep -q 'the disk is full'; }}
               [ -z \"$(find t -name '.gpfuse*')\" ]
               [ $size -lt 4000 ]
               mount -o remount,size=${{size}}k t
             done
             cp {made} made; echo $runs"
        );
        let run = ran(wrapped(&place, way, &text));
        let told = || place.text("told");
        assert_eq!(run.code, Some(0), "{command}: {} {}", run.err, told());
        let runs: usize = run.out.trim().parse().unwrap();
        assert!(runs >= 3, "{command}: only {runs} runs");
        match made {
            "t/m.nc" => assert!(place.read("made") == place.read("m.nc")),
            "t/w/results.csv" => assert!(place.read("made") == place.read("whole/results.csv")),
            _ => assert_eq!(ranks(&place.text("made")), ranks(&place.text("s/ranks.csv"))),
        }
    }
}
