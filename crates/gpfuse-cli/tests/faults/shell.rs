//! Scripts around the program: limits of a process, and file systems of its own.

use std::process::{Command, Stdio};

use crate::common::{Place, Run};

/// A script in the folder of a place; `$G` is the program.
pub(crate) fn script(place: &Place, text: &str) -> Command {
    wrapped(place, &[], text)
}

/// The same behind another command.
pub(crate) fn wrapped(place: &Place, before: &[&str], text: &str) -> Command {
    let all: Vec<&str> = before.iter().copied().chain(["sh", "-c", text]).collect();
    let mut command = Command::new(all[0]);
    command.args(&all[1..]).current_dir(place.path(""));
    command.env("G", env!("CARGO_BIN_EXE_gpfuse")).env_remove("RUST_BACKTRACE");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// How a script ended.
pub(crate) fn ran(mut command: Command) -> Run {
    command.output().expect("a shell").into()
}

/// A command that gives a process mounts of its own, which go when it ends: as root, or as a user
/// who is root in there. None where the system refuses both.
pub(crate) fn mounts() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [&["unshare", "-m"], &["unshare", "-Urm"]];
    let test = "mount -t tmpfs -o size=64k none /mnt";
    WAYS.into_iter().find(|way| {
        let mut command = Command::new(way[0]);
        command.args(&way[1..]).args(["sh", "-c", test]).stdout(Stdio::null());
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    })
}

/// Whether a command can be run here.
pub(crate) fn works(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
