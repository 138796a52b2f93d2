//! Faults around a run, made to happen by the tests of the program and of the library.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use anyhow::{Context, ensure};

use crate::study::project;
use crate::{Finding, Run, Study};

pub(super) const STUDY: Study = Study {
    name: "faults",
    title: "Faults around a run",
    about: "Disks fill up, machines are switched off, folders vanish, two runs meet in one place. Each \
            fault is made to happen to the real program, which must end in the same bytes as a run that \
            was left alone, or with one message that names the file and the cause, without a file that \
            is half written, and never hang.",
    run,
};

/// A fault, what is asked of the program, and the tests of it: `binary test`, or the start of that.
struct Fault {
    claim: &'static str,
    target: &'static str,
    tests: &'static [&'static str],
}

const FAULTS: &[Fault] = &[
    Fault {
        claim: "The disk is full, or fills up",
        target: "exit code 1, file and cause named, older files untouched; with room the same bytes",
        tests: &[
            "faults disk::",
            "sweep a_full_disk_loses_no_finished_cell",
            "checkpoint damaged_files_cost_time_only",
        ],
    },
    Fault {
        claim: "A place cannot be written, is a folder, does not exist or vanishes",
        target: "refused before the work where it can be known; else named, finished work kept",
        tests: &[
            "faults read_only::",
            "checkpoint a_folder_that_cannot_be_used_is_refused_before_the_work",
        ],
    },
    Fault {
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
    Fault {
        claim: "SIGKILL at random moments of a fit, a sweep and a calibration",
        target: "resumed, the same bytes as undisturbed",
        tests: &[
            "faults signals::a_killed_study_ends_with_the_same_ranks",
            "checkpoint a_killed_fit_",
            "checkpoint weights_of_given_experts_are_kept_too",
            "sweep a_killed_sweep_ends_with_the_same_table",
        ],
    },
    Fault {
        claim: "Two processes write to one place",
        target: "one works, the other is refused; a file is one of the two, whole",
        tests: &[
            "faults writers::",
            "sweep a_running_sweep_is_alone_and_stops_at_once",
            "checkpoint another_run_is_refused_and_the_same_one_goes_on",
        ],
    },
    Fault {
        claim: "The clock is wrong or jumps; files are from 1970 or the future",
        target: "the same bytes, no negative times, resumed runs go on",
        tests: &["faults clock::"],
    },
    Fault {
        claim: "Too little memory, small files, few open files, no threads",
        target: "the same bytes or words and no model; no hang; what is kept can be resumed",
        tests: &["faults limits::"],
    },
    Fault {
        claim: "A thread panics, a density gives up, a monitor or keeper panics",
        target: "all work ends with its message, though other chains would run for hours",
        tests: &[
            "library faults ",
            "library sampling a_density_that_panics",
            "library sampling a_fatal_density",
            "library sampling a_failed_chain_stops_the_others",
        ],
    },
    Fault {
        claim: "Streams are closed, broken or full; the environment is empty or strange",
        target: "the same bytes; a full standard output is an error, a reader who left is none",
        tests: &["faults streams::"],
    },
    Fault {
        claim: "There is no network",
        target: "every command succeeds, and asks for no socket",
        tests: &["faults network::"],
    },
    Fault {
        claim: "Reading a model runs nothing",
        target: "hostile names are plain text, no plug-in is looked for, nothing is unpickled",
        tests: &["faults reading::"],
    },
];

/// The test binaries: how they are called above, their crate, and their name.
const BINARIES: [(&str, &str, &str); 7] = [
    ("faults ", "gpfuse-cli", "faults"),
    ("checkpoint ", "gpfuse-cli", "checkpoint"),
    ("interrupt ", "gpfuse-cli", "interrupt"),
    ("sweep ", "gpfuse-cli", "sweep"),
    ("sbc ", "gpfuse-cli", "sbc"),
    ("library faults ", "gpfuse", "faults"),
    ("library sampling ", "gpfuse", "sampling"),
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
    if run.short {
        return Ok(vec![named()?]);
    }
    let mut results = BTreeMap::new();
    for (prefix, package, test) in BINARIES {
        let asked = ["test", "--release", "-p", package, "--test", test, "--", "--show-output"];
        let output = cargo(&asked)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let found = read(prefix, &text);
        let why = || String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(!found.is_empty(), "`cargo test --test {test}` ran no test: {}", why());
        results.extend(found);
    }
    let mut out = Vec::new();
    for fault in FAULTS {
        out.extend(findings(fault, &results));
    }
    out.push(dependencies()?);
    Ok(out)
}

/// Run cargo in the project's folder.
fn cargo(args: &[&str]) -> anyhow::Result<Output> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    Command::new(cargo).args(args).current_dir(project()).output().context("cannot run cargo")
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq)]
enum End {
    Passed,
    Failed,
    /// It could not be made here.
    Skipped(String),
}

/// The tests in what a test binary wrote, with a prefix to their names.
fn read(prefix: &str, text: &str) -> BTreeMap<String, End> {
    let mut out = BTreeMap::new();
    let mut shown = None;
    for line in text.lines() {
        if let Some((name, end)) = line.strip_prefix("test ").and_then(|l| l.rsplit_once(" ... ")) {
            match end {
                "ok" => out.insert(format!("{prefix}{name}"), End::Passed),
                "FAILED" => out.insert(format!("{prefix}{name}"), End::Failed),
                _ => None,
            };
        } else if let Some(name) = line.strip_prefix("---- ") {
            let end = name.find(" std").unwrap_or(name.len());
            shown = Some(format!("{prefix}{}", &name[..end]));
        } else if let (Some(why), Some(name)) = (line.strip_prefix("skipped: "), &shown)
            && let Some(end) = out.get_mut(name).filter(|end| **end == End::Passed)
        {
            *end = End::Skipped(why.into());
        }
    }
    out
}

/// What became of a fault: one finding, and one more for each test that could not be made.
fn findings(fault: &Fault, results: &BTreeMap<String, End>) -> Vec<Finding> {
    let own = |name: &&String| fault.tests.iter().any(|test| name.starts_with(test));
    let ends: Vec<(&String, &End)> = results.iter().filter(|(name, _)| own(name)).collect();
    let missing = fault.tests.iter().filter(|test| !results.keys().any(|n| n.starts_with(**test)));
    let missing: Vec<&str> = missing.copied().collect();
    let count = |wanted: &End| ends.iter().filter(|(_, end)| *end == wanted).count();
    let (passed, failed) = (count(&End::Passed), count(&End::Failed));
    let skipped = ends.len() - passed - failed;
    let names: Vec<&str> = ends
        .iter()
        .filter(|(_, end)| **end == End::Failed)
        .map(|(name, _)| name.as_str())
        .collect();
    let mut result = format!("{passed} tests passed, {failed} failed, {skipped} skipped");
    if !names.is_empty() || !missing.is_empty() {
        result += &format!(": {}", [names, missing.clone()].concat().join(", "));
    }
    let mut out = Vec::new();
    if passed > 0 || failed > 0 || !missing.is_empty() {
        let met = failed == 0 && missing.is_empty();
        let note = "by the real program, or the library, in a temporary folder; no test of these can \
                    fail by chance, only on a machine too slow for its waits";
        out.push(Finding::new(fault.claim, fault.target, result, met).with(note));
    }
    for (name, end) in ends {
        if let End::Skipped(why) = end {
            let claim = format!("{}: {name}", fault.claim);
            out.push(Finding::not_run(claim, fault.target, why));
        }
    }
    out
}

/// No crate that the program is built from speaks to a network.
fn dependencies() -> anyhow::Result<Finding> {
    let output = cargo(&["tree", "-p", "gpfuse-cli", "-e", "normal", "--prefix", "none"])?;
    let text = String::from_utf8(output.stdout)?;
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
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

/// That each fault has its tests, by name, in the sources.
fn named() -> anyhow::Result<Finding> {
    let mut sources = BTreeMap::new();
    for (prefix, package, test) in BINARIES {
        let folder = project().join("crates").join(package).join("tests");
        let mut text =
            std::fs::read_to_string(folder.join(format!("{test}.rs"))).unwrap_or_default();
        for file in folder.join(test).read_dir().into_iter().flatten().flatten() {
            let stem = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let own = std::fs::read_to_string(file.path()).unwrap_or_default();
            text += &own.replace("\nfn ", &format!("\nfn {stem}::"));
        }
        sources.insert(prefix, text);
    }
    let known = |test: &&&str| {
        let has = |(prefix, text): (&&str, &String)| {
            let name = test.strip_prefix(prefix);
            name.is_some_and(|name| text.contains(&format!("#[test]\nfn {name}")))
        };
        sources.iter().any(has)
    };
    let all: Vec<&str> = FAULTS.iter().flat_map(|fault| fault.tests).copied().collect();
    let unknown: Vec<&str> = all.iter().filter(|test| !known(test)).copied().collect();
    let result = match unknown.is_empty() {
        true => format!("{} faults, {} names of tests, all known", FAULTS.len(), all.len()),
        false => format!("unknown: {}", unknown.join(", ")),
    };
    let note = "the tests themselves are run by `cargo test`";
    let claim = "Every fault has its tests";
    Ok(Finding::new(claim, "no name unknown", result, unknown.is_empty()).with(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ok\n\nsuccesses:\n\n\
                        ---- a::b stdout ----\nskipped: clock: no faketime\n\nsuccesses:\n    a::b\n";

    #[test]
    fn what_cargo_says_becomes_findings() {
        let found = read("x ", TEXT);
        assert_eq!(found["x a::b"], End::Skipped("clock: no faketime".into()));
        assert_eq!((&found["x c"], &found["x d"]), (&End::Failed, &End::Passed));
        let fault = |tests| Fault { claim: "a", target: "b", tests };
        let outcomes = |tests| {
            let all = findings(&fault(tests), &found);
            all.iter().map(|f| f.outcome).collect::<Vec<_>>()
        };
        use crate::Outcome::{Met, Missed, NotRun};
        assert_eq!(outcomes(&["x d"]), [Met]);
        assert_eq!(outcomes(&["x a::"]), [NotRun]);
        assert_eq!(outcomes(&["x d", "x a::"]), [Met, NotRun]);
        assert_eq!(outcomes(&["x c", "x d"]), [Missed]);
        assert_eq!(outcomes(&["x e"]), [Missed]);
    }
}
