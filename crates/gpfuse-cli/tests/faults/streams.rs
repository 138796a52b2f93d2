//! Streams that are closed, broken or full, and an environment that is strange.

use crate::common::Place;
use crate::shell::{ran, script};
use crate::{FIT, place};

/// A command with its streams changed: its exit code as seen by the shell.
fn code(place: &Place, command: &str, streams: &str) -> (i32, String) {
    let run = ran(script(place, &format!("$G {command} {streams}; exit $?")));
    (run.code.unwrap(), run.err)
}

#[test]
fn closed_streams_cost_no_work() {
    let place = place();
    place.done("predict m.nc d.csv --out whole.csv");
    for streams in [">&-", "2>&-", "<&-", ">&- 2>&- <&-", "2>/dev/full", "</dev/zero"] {
        assert_eq!(code(&place, &format!("{FIT} --out n.nc"), streams).0, 0, "fit {streams}");
        assert!(place.read("n.nc") == place.read("m.nc"), "{streams}");
        std::fs::remove_file(place.path("n.nc")).unwrap();
        let predict = "predict m.nc d.csv --out p.csv";
        assert_eq!(code(&place, predict, streams).0, 0, "predict {streams}");
        assert!(place.read("p.csv") == place.read("whole.csv"), "{streams}");
    }
}

#[test]
fn a_full_or_broken_pipe_is_told_apart() {
    let place = place();
    for command in ["predict m.nc d.csv", "inspect m.nc", "evaluate m.nc d.csv --json"] {
        let (full, err) = code(&place, command, "> /dev/full");
        assert_eq!(full, 1, "{command}: {err}");
        assert!(err.lines().last().unwrap().contains("standard output"), "{command}: {err}");
        // The reader has left: nothing to say.
        let text = format!("({{ $G {command}; echo $? > code; }} 2> err) | true; cat code err >&2");
        let run = ran(script(&place, &text));
        assert!(
            run.err.starts_with("0\n") && !run.err.contains("gpfuse: "),
            "{command}: {}",
            run.err
        );
    }
    // The model is there although nobody could be told so.
    let (full, err) = code(&place, &format!("{FIT} --out n.nc"), "> /dev/full");
    assert_eq!(full, 1, "{err}");
    assert!(place.read("n.nc") == place.read("m.nc"));
}

#[test]
fn the_environment_changes_no_byte() {
    let place = place();
    place.done("report m.nc --out whole.html --figures whole");
    for environment in [
        "env -i",
        "env -u HOME",
        "env HOME=/nonexistent TMPDIR=/nonexistent",
        "env LC_ALL=tr_TR.UTF-8 LANG=de_DE.UTF-8",
        "env LC_ALL=nonsense TERM=nonsense COLUMNS=-1 TZ=nonsense",
        "env LC_NUMERIC=de_DE.UTF-8 NO_COLOR=1 CLICOLOR_FORCE=1",
    ] {
        let text = format!(
            "set -e; {environment} $G {FIT} --out n.nc; {environment} $G report n.nc --out n.html
             {environment} $G report m.nc --out r.html --figures figs"
        );
        let run = ran(script(&place, &text));
        assert_eq!(run.code, Some(0), "{environment}: {}", run.err);
        assert!(!run.out.contains('\u{1b}'), "{environment}: colours in a pipe");
        assert!(place.read("n.nc") == place.read("m.nc"), "{environment}");
        assert!(place.read("r.html") == place.read("whole.html"), "{environment}");
        let figure = |folder: &str| place.read(&format!("{folder}/weights.png"));
        assert!(figure("figs") == figure("whole"), "{environment}");
    }
}
