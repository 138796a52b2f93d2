//! Faults around a run, made to happen by the tests of the program and of the library.

use anyhow::ensure;

use crate::command::cargo;
use crate::study::none;
use crate::suite::{self, Binary, Tested};
use crate::{Finding, Run, Study};

pub(super) const STUDY: Study = Study {
    name: "faults",
    title: "Faults around a run",
    about: "Disks fill up, machines are switched off, folders vanish, two runs meet in one place. Each \
            fault is made to happen to the real program, which must end in the same bytes as a run that \
            was left alone, or with one message that names the file and the cause, without a file that \
            is half written, and never hang.",
    run,
    figures: none,
};

const FAULTS: &[Tested] = &[
    Tested {
        claim: "The disk is full, or fills up",
        target: "exit code 1, file and cause named, older files untouched; with room the same bytes",
        tests: &[
            "faults disk::",
            "sweep a_full_disk_loses_no_finished_cell",
            "checkpoint damaged_files_cost_time_only",
        ],
    },
    Tested {
        claim: "A place cannot be written, is a folder, does not exist or vanishes",
        target: "refused before the work where it can be known; else named, finished work kept",
        tests: &[
            "faults read_only::",
            "checkpoint a_folder_that_cannot_be_used_is_refused_before_the_work",
        ],
    },
    Tested {
        claim: "SIGINT (once, twice), SIGTERM, SIGHUP, and signals under nohup",
        target: "exit code 130 within seconds, finished work kept; an ignored signal is ignored",
        tests: &[
            "faults signals::a_hangup_or_a_termination_keeps_the_draws",
            "faults signals::a_second_interrupt_ends_at_once",
            "faults signals::a_stopped_sweep_or_study_goes_on",
            "faults signals::what_was_ignored_stays_ignored",
            "interrupt ",
            "checkpoint an_interrupted_fit_says_how_to_go_on",
            "sbc ctrl_c_keeps_what_is_finished",
        ],
    },
    Tested {
        claim: "SIGKILL at random moments of a fit, a sweep and a calibration",
        target: "resumed, the same bytes as undisturbed",
        tests: &[
            "faults signals::a_killed_study_ends_with_the_same_ranks",
            "checkpoint a_killed_fit_",
            "checkpoint weights_of_given_experts_are_kept_too",
            "sweep a_killed_sweep_ends_with_the_same_table",
        ],
    },
    Tested {
        claim: "The power is lost",
        target: "a file is synced before it has its name, its folder after, a row when it is recorded",
        tests: &["faults durable::"],
    },
    Tested {
        claim: "Two processes write to one place",
        target: "one works, the other is refused; a file is one of the two, whole",
        tests: &[
            "faults writers::",
            "sweep a_running_sweep_is_alone_and_stops_at_once",
            "checkpoint another_run_is_refused_and_the_same_one_goes_on",
        ],
    },
    Tested {
        claim: "The clock is wrong or jumps; files are from 1970 or the future",
        target: "the same bytes, no negative times, resumed runs go on",
        tests: &["faults clock::"],
    },
    Tested {
        claim: "Too little memory, small files, few open files, no threads",
        target: "the same bytes or words and no model; no hang; what is kept can be resumed",
        tests: &["faults limits::"],
    },
    Tested {
        claim: "A thread panics, a density gives up, a monitor or keeper panics",
        target: "all work ends with its message, though other chains would run for hours",
        tests: &[
            "panics ",
            "sampling a_density_that_panics",
            "sampling a_fatal_density",
            "sampling a_failed_chain_stops_the_others",
        ],
    },
    Tested {
        claim: "Streams are closed, broken or full; the environment is empty or strange",
        target: "the same bytes; a full standard output is an error, a reader who left is none",
        tests: &["faults streams::"],
    },
    Tested {
        claim: "There is no network",
        target: "every command succeeds, and asks for no socket",
        tests: &["faults network::"],
    },
    Tested {
        claim: "Reading a model runs nothing",
        target: "hostile names are plain text, no plug-in is looked for, nothing is unpickled",
        tests: &["faults reading::"],
    },
    Tested {
        claim: "Settings of any kind, by property tests",
        target: "refused by name or used, and the same after they were written",
        tests: &["settings "],
    },
];

const BINARIES: &[Binary] = &[
    ("faults ", "gpfuse-cli", "faults"),
    ("checkpoint ", "gpfuse-cli", "checkpoint"),
    ("interrupt ", "gpfuse-cli", "interrupt"),
    ("sweep ", "gpfuse-cli", "sweep"),
    ("sbc ", "gpfuse-cli", "sbc"),
    ("settings ", "gpfuse", "settings"),
    ("panics ", "gpfuse", "panics"),
    ("sampling ", "gpfuse", "sampling"),
];

/// Crates that speak to a network.
const NETWORK: [&str; 17] = [
    "async-std",
    "attohttpc",
    "curl",
    "h2",
    "hyper",
    "isahc",
    "mio",
    "native-tls",
    "openssl",
    "quinn",
    "reqwest",
    "rustls",
    "smol",
    "socket2",
    "tokio",
    "tungstenite",
    "ureq",
];

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let mut out = suite::findings(FAULTS, BINARIES, run)?;
    if !run.short {
        out.push(dependencies()?);
    }
    Ok(out)
}

/// No crate that the program is built from speaks to a network.
fn dependencies() -> anyhow::Result<Finding> {
    let said = cargo(&["tree", "-p", "gpfuse-cli", "-e", "normal", "--prefix", "none"], &[])?;
    let mut names: Vec<&str> =
        said.text.lines().filter_map(|line| line.split(' ').next()).collect();
    names.sort_unstable();
    names.dedup();
    ensure!(names.contains(&"gpfuse-io"), "`cargo tree` lists no crates");
    let found: Vec<&str> = names.iter().copied().filter(|name| NETWORK.contains(name)).collect();
    let result = match found.is_empty() {
        true => format!("none among {} crates", names.len()),
        false => found.join(", "),
    };
    let note = format!("`cargo tree`, searched for {}", NETWORK.join(", "));
    let claim = "No dependency of the program is a network crate";
    Ok(Finding::new(claim, "none", result, found.is_empty()).with(note))
}
