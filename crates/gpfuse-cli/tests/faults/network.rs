//! The program has no use for a network.

use crate::common::Place;
use crate::shell::{ran, works, wrapped};
use crate::{FIT, SBC, place, skipped};

/// The main commands, each of which must succeed.
fn commands() -> Vec<String> {
    let sweep = "sweep s.toml --out w";
    [
        "simulate --n 30 --out x.csv",
        &format!("{FIT} --out n.nc"),
        "predict n.nc d.csv --out p.csv",
        "evaluate n.nc d.csv",
        "inspect n.nc",
        "report n.nc --data d.csv --out r.html --figures figs",
        sweep,
        "report w",
        &format!("{SBC} --out s"),
    ]
    .map(String::from)
    .into()
}

fn all(place: &Place, before: &[&str]) {
    for command in commands() {
        let run = ran(wrapped(place, before, &format!("exec $G {command}")));
        assert_eq!(run.code, Some(0), "{command}: {}", run.err);
    }
}

#[test]
fn all_commands_work_without_a_network() {
    let ways: [&[&str]; 2] = [&["unshare", "-n"], &["unshare", "-Urn"]];
    let Some(way) = ways.into_iter().find(|way| works(&format!("{} true", way.join(" ")))) else {
        return skipped("no network", "unshare -n is refused");
    };
    all(&place(), way);
}

/// Not a socket is asked for, and no other program is started.
#[test]
fn no_command_opens_a_socket() {
    if !works("strace -f -o /dev/null true") {
        return skipped("sockets", "no strace (Debian package strace)");
    }
    let place = place();
    let trace = "strace -f -qq -A -o trace -e trace=network,execve";
    all(&place, &trace.split(' ').collect::<Vec<_>>());
    let text = place.text("trace");
    let calls: Vec<&str> = text.lines().filter(|line| line.contains('(')).collect();
    let started = calls.iter().filter(|line| line.contains("execve(")).count();
    // The shell and the program.
    assert_eq!(started, 2 * commands().len(), "{text}");
    let signals = calls.iter().filter(|line| !line.contains("execve(")).collect::<Vec<_>>();
    assert!(signals.is_empty(), "{signals:?}");
}
