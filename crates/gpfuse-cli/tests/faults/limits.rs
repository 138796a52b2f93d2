//! Too little memory, too small files, too few open files, no threads.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use crate::common::{Place, Run, check_refusal};
use crate::shell::{ran, script, works, wrapped};
use crate::{FIT, SBC, place, skipped};

/// Seconds after which a run is taken for one that hangs.
const PATIENCE: &str = "120";

/// A command with at most so many kilobytes of memory: its exit code, or 128 and the signal.
fn with_memory(place: &Place, kilobytes: usize, command: &str) -> (i32, String) {
    let text = format!("ulimit -c 0; ulimit -v {kilobytes}; exec $G {command}");
    let output = wrapped(place, &["timeout", PATIENCE], &text).output().unwrap();
    let status = output.status;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap());
    (code, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// From what does not even start to what is enough, in small steps: each run ends with the same model,
/// or says what is wrong and leaves none or a whole one; and what is kept is good for the next one.
#[test]
fn too_little_memory_ends_with_words() {
    let place = place();
    let model = place.read("m.nc");
    let command = format!("{FIT} --threads 2 --out n.nc --checkpoint ck");
    let needed =
        (12_000..60_000).step_by(1000).find(|size| with_memory(&place, *size, "--version").0 == 0);
    let needed = needed.expect("the program starts in 60 MB");
    let (mut failed, mut done) = (0, 0);
    for size in (needed..needed + 12_000).step_by(500) {
        let (code, err) = with_memory(&place, size, &command);
        assert!(code != 124, "{size} kB: it hangs: {err}");
        // Memory may run out after the model was written: then it is whole.
        let there = place.path("n.nc").exists();
        assert!(there || code != 0, "{size} kB: {err}");
        if there {
            assert!(place.read("n.nc") == model, "{size} kB: {code}: {err}");
            std::fs::remove_file(place.path("n.nc")).unwrap();
        }
        if code == 0 {
            done += 1;
        } else {
            // The program's own words, or those of Rust or of the C library about memory.
            let told = ["gpfuse: ", "memory", "allocate", "failed to map"];
            assert!(told.iter().any(|words| err.contains(words)), "{size} kB: {code}: {err}");
            failed += 1;
        }
    }
    assert!(failed > 1 && done > 0, "{failed} failed, {done} done");
    // With what the last one left, or nothing, the same command ends in the same bytes.
    place.done(&command);
    assert!(place.read("n.nc") == model && !place.path("ck").exists());
}

#[test]
fn draws_that_do_not_fit_in_memory_are_refused() {
    let place = place();
    let command = FIT.replace("--draws 50", "--draws 100000000");
    let (code, err) = with_memory(&place, 400_000, &format!("{command} --out n.nc --start prior"));
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("do not fit in memory: use fewer draws"), "{err}");
    assert!(!place.path("n.nc").exists());
}

/// The limit sends a signal that would end the program.
#[test]
fn a_limit_of_file_sizes_is_an_error_of_the_file() {
    let place = place();
    let before = place.files();
    for (command, named) in [
        (format!("{FIT} --out n.nc"), "cannot write `n.nc`"),
        (format!("{FIT} --out n.nc --checkpoint ck"), "cannot write `"),
        ("report m.nc --out r.html".into(), "cannot write `r.html`"),
        ("simulate --n 4000 --out x.csv".into(), "cannot write `x.csv`"),
        ("sweep s.toml --out w".into(), "cannot write `w/"),
        (format!("{SBC} --out s"), "cannot write `s/"),
    ] {
        let run = ran(script(&place, &format!("ulimit -f 2; exec $G {command}")));
        let last = run.err.lines().last().unwrap_or_default();
        assert_eq!(run.code, Some(1), "{command}: {}", run.err);
        assert!(last.contains(named) && last.contains("the disk is full"), "{command}: {last}");
        for folder in ["", "ck", "w", "w/models", "s"] {
            let all = place.path(folder).read_dir().into_iter().flatten().flatten();
            let half = |name: std::ffi::OsString| name.to_string_lossy().starts_with(".gpfuse");
            assert!(!all.map(|e| e.file_name()).any(half), "{command}: `{folder}`");
        }
    }
    let files: Vec<String> = place.files();
    assert!(files.iter().all(|name| before.contains(name) || ["ck", "w", "s"].contains(&&**name)));
    place.done(&format!("{FIT} --out n.nc --checkpoint ck"));
    assert!(place.read("n.nc") == place.read("m.nc"));
    place.done("sweep s.toml --out w");
    place.done("sweep s.toml --out whole");
    assert!(place.read("w/results.csv") == place.read("whole/results.csv"));
}

#[test]
fn few_open_files_are_enough_or_named() {
    let place = place();
    place.done("report m.nc --out whole.html --figures whole");
    for files in 4..10 {
        for (command, made, same) in [
            (format!("{FIT} --out n.nc --checkpoint ck"), "n.nc", "m.nc"),
            ("report m.nc --out r.html --figures figs".into(), "r.html", "whole.html"),
        ] {
            let run = ran(script(&place, &format!("ulimit -n {files}; exec $G {command}")));
            match run.code {
                Some(0) => {
                    assert!(place.read(made) == place.read(same), "{files}: {command}");
                    std::fs::remove_file(place.path(made)).unwrap();
                }
                Some(1) => {
                    assert!(run.err.contains("Too many open files"), "{files}: {}", run.err);
                    assert!(!place.path(made).exists());
                }
                // The system's loader could not even open the libraries.
                code => assert!(run.err.contains("shared"), "{files}: {code:?}: {}", run.err),
            }
        }
    }
    place.done(&format!("{FIT} --out n.nc --checkpoint ck"));
    assert!(place.read("n.nc") == place.read("m.nc"));
}

/// Root has no such limit, and becomes somebody else.
#[test]
fn without_threads_the_work_is_done_or_refused() {
    let place = place();
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    let root = ran(script(&place, "id -u")).out.trim() == "0";
    if !works("prlimit --version") || (root && !works("setpriv --version")) {
        return skipped("no threads", "no prlimit or no setpriv (Debian package util-linux)");
    }
    let limit = ["prlimit", "--nproc=1"];
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let before: Vec<&str> = match root {
        true => nobody.into_iter().chain(limit).collect(),
        false => limit.to_vec(),
    };
    if ran(wrapped(&place, &before, "true & wait $!")).code == Some(0) {
        return skipped("no threads", "the limit of processes does not hold here");
    }
    let run =
        |command: &str| -> Run { ran(wrapped(&place, &before, &format!("exec $G {command}"))) };
    if run("--version").code != Some(0) {
        return skipped("no threads", "no way to the program for another user");
    }
    let fit = format!("{FIT} --out n.nc");
    check_refusal(&fit, &run(&fit), 1, &["cannot listen for Ctrl-C", "raise the limits"]);
    place.done("report m.nc --out whole.html --figures whole");
    place.done("predict m.nc d.csv --out whole.csv");
    for (command, made, same) in [
        ("report m.nc --out r.html --figures figs", "r.html", "whole.html"),
        ("predict m.nc d.csv --out p.csv", "p.csv", "whole.csv"),
    ] {
        let run = run(command);
        assert_eq!(run.code, Some(0), "{command}: {}", run.err);
        assert!(place.read(made) == place.read(same), "{command}");
    }
    assert!(!place.path("n.nc").exists());
}
