//! The program has no use for a network.

use crate::common::Place;
use crate::shell::{ran, works, wrapped};
use crate::{FIT, SBC, place, skipped};

/// The commands, each of which must succeed; `demo` and `paper` do what these do, for longer.
fn commands() -> Vec<String> {
    let sweep = "sweep s.toml --out w";
    [
        "simulate --n 30 --out x.csv",
        &format!("{FIT} --out n.nc"),
        "predict n.nc d.csv --out p.csv",
        "evaluate n.nc d.csv",
        "inspect n.nc",
        &format!("stack e.csv --target y --inputs x0 {SHORT_RUN} --out e.nc"),
        &format!("compare d.csv --target y --methods bhs,poe {SHORT_RUN} --figure c.svg"),
        "report n.nc --data d.csv --out r.html --figures figs",
        sweep,
        "report w",
        &format!("{SBC} --out s"),
    ]
    .map(String::from)
    .into()
}

/// Settings of a fit that takes no time.
const SHORT_RUN: &str = "--warmup 20 --draws 20 --chains 2 --size 5 --max-depth 3";

fn all(place: &Place, before: &[&str]) {
    place.write("e.csv", experts());
    for command in commands() {
        let run = ran(wrapped(place, before, &format!("exec $G {command}")));
        assert_eq!(run.code, Some(0), "{command}: {}", run.err);
    }
}

/// A table with the predictions of two experts.
fn experts() -> String {
    let row = |i: i32| {
        let x = f64::from(i) / 10.0;
        format!("{x},{},{},0.3,{},0.5\n", x.sin(), x.sin() + 0.1, 0.9 * x)
    };
    let head = "x0,y,mean_a,sd_a,mean_b,sd_b\n".to_owned();
    head + &(0..30).map(row).collect::<String>()
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
