//! Signals that must not end a run, settled before there is a second thread.

use nix::sys::signal::{SigSet, Signal};

/// What asks a run to stop.
const STOP: [Signal; 3] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM];

/// Block signals in this thread and in all that it starts.
///
/// SIGXFSZ would end the program in the middle of a file; without it, a file that grows beyond its
/// limit is an error of that write. What the program was told to ignore stays ignored when a handler
/// is put in place: SIGHUP under `nohup`, SIGINT in the background of a script.
pub(crate) fn settle() {
    let ignored = ignored();
    let mut blocked = SigSet::empty();
    blocked.add(Signal::SIGXFSZ);
    for signal in STOP.into_iter().filter(|s| ignored >> (*s as u32 - 1) & 1 == 1) {
        blocked.add(signal);
    }
    // A failure changes nothing: the signals then act as they did before.
    let _ = blocked.thread_block();
}

/// The signals that are ignored, a bit each; none where the system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
