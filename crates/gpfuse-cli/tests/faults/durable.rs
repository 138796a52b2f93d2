//! What is on the disk when a loss of power comes, by the calls that the program makes: the power of
//! this machine cannot be cut.

use crate::common::Place;
use crate::shell::{ran, works, wrapped};
use crate::{FIT, SBC, place, skipped};

/// The calls of a command that bring bytes and names to the disk, in the order in which they begin.
fn calls(place: &Place, command: &str) -> Vec<String> {
    let trace = "strace -f -qq -y -o trace -e trace=fsync,fdatasync,rename,renameat,renameat2";
    let before: Vec<&str> = trace.split(' ').collect();
    let run = ran(wrapped(place, &before, &format!("exec $G {command}")));
    assert_eq!(run.code, Some(0), "{command}: {}", run.err);
    place.text("trace").lines().map(String::from).collect()
}

/// Whether a call syncs the file or folder whose path ends so.
fn syncs(call: &str, end: &str) -> bool {
    (call.contains("fsync(") || call.contains("fdatasync(")) && call.contains(&format!("{end}>"))
}

/// Every file with a new name was synced before it got that, and its folder after; how many there were.
fn renames(place: &Place, calls: &[String]) -> usize {
    let root = std::fs::canonicalize(place.path("")).unwrap();
    let (mut count, quoted) = (0, |call: &str, n: usize| call.split('"').nth(n).map(String::from));
    for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.contains("rename")) {
        // Calls of other threads come between the two halves of one.
        let (Some(from), Some(to)) = (quoted(call, 1), quoted(call, 3)) else { continue };
        let name = from.rsplit('/').next().unwrap();
        assert!(calls[..at].iter().any(|call| syncs(call, &format!("/{name}"))), "{call}");
        let folder = root.join(&to);
        let folder = folder.parent().unwrap().to_string_lossy();
        let folder = folder.trim_end_matches("/.");
        assert!(calls[at..].iter().any(|call| syncs(call, folder)), "{folder}: {call}");
        count += 1;
    }
    count
}

#[test]
fn files_are_synced_before_they_have_their_names() {
    if !works("strace -f -o /dev/null true") {
        return skipped("durable", "no strace (Debian package strace)");
    }
    let place = place();
    let synced = |calls: &[String], end: &str| calls.iter().filter(|c| syncs(c, end)).count();
    // The model, `run.txt` and two chains with their starting points.
    let fit = calls(&place, &format!("{FIT} --out n.nc --checkpoint new/ck"));
    assert!(renames(&place, &fit) >= 4, "{fit:?}");
    assert!(synced(&fit, "/new") >= 1, "{fit:?}");
    // Eight rows, each on the disk when it is recorded, and one model.
    let sweep = calls(&place, "sweep s.toml --out deep/w");
    assert!(renames(&place, &sweep) >= 3 && synced(&sweep, "ledger.jsonl") >= 8, "{sweep:?}");
    assert!(synced(&sweep, "/deep") >= 1 && synced(&sweep, "/w") >= 1, "{sweep:?}");
    let sbc = calls(&place, &format!("{SBC} --out s"));
    assert!(renames(&place, &sbc) >= 3 && synced(&sbc, "ranks.csv") >= 6, "{sbc:?}");
}
