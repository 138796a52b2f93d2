//! What is typed and what the help says about it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::io::{BufRead, BufReader, Read};

use common::{Place, SMALL};

/// The flags that every fitting command shares.
const SHARED: &str = "method experts partition along expert-inputs hold-out expert-kernel \
                      expert-objective plain basis frequencies scheme omega size box kernel \
                      normalise density scaling no-scale sampler metric chains warmup draws max-depth \
                      hmc-depth target-accept start candidates start-steps combine seed threads";

const FLAGS: [(&str, &str); 11] = [
    ("demo", "out seed json"),
    (
        "simulate",
        "out truth n experts inputs low high mean-lengthscale gate-lengthscale \
         log-sd-lengthscale log-sd-mean kernel seed",
    ),
    ("fit", "target inputs out assign SHARED settings checkpoint strict json"),
    ("stack", "target inputs out STACKED settings checkpoint strict json"),
    ("compare", "target inputs methods figure COMPARED settings strict json"),
    ("sweep", "out shard threads merge json"),
    ("paper", "out shard threads merge json quick frozen basis"),
    ("predict", "out quantiles experts density rao-blackwell samples seed threads"),
    ("evaluate", "rao-blackwell json strict threads"),
    ("inspect", "json strict"),
    (
        "sbc",
        "out sims method experts n plain basis frequencies size kernel normalise density metric \
         chains warmup draws thin max-depth target-accept start seed threads strict json",
    ),
];

#[test]
fn help_and_version() {
    let place = Place::empty();
    let version = concat!("gpfuse ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(place.done("-V").out, version);
    let long = place.done("--version").out;
    assert!(long.starts_with(version) && long.contains("instruction sets: scalar"), "{long}");
    for flag in ["--help", "-h", "help"] {
        let help = place.done(flag);
        assert!(help.err.is_empty() && help.out.contains("Exit codes: 0 done, 1 error"));
        FLAGS.iter().for_each(|(command, _)| assert!(help.out.contains(command)));
    }
    for (command, flags) in FLAGS {
        let help = place.done(&format!("{command} --help")).out;
        let mentioned: Vec<&str> = help
            .lines()
            .filter_map(|line| line.trim().strip_prefix("--"))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let compared = SHARED.replace("method ", "").replace("plain ", "");
        let made = "experts partition along expert-inputs hold-out expert-kernel expert-objective ";
        let flags = (flags.replace("SHARED", SHARED).replace("COMPARED", &compared))
            .replace("STACKED", &SHARED.replace(made, "").replace("density ", ""));
        assert_eq!(mentioned, flags.split_whitespace().collect::<Vec<_>>(), "{command}");
        // No flag without a word about it.
        assert!(!help.contains("\n\n\n"), "{help}");
    }
    let nothing = place.run("");
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("Usage: gpfuse"), "{}", nothing.err);
}

#[test]
fn the_settings_file_knows_the_flags_that_the_help_names() {
    let place = Place::new();
    place.write("s.toml", "nonsense = 1");
    let err = place.run("fit d.csv --target y --settings s.toml").err;
    let (_, known) = err.split_once("expected one of ").unwrap();
    let known: Vec<&str> = known.trim().split(", ").map(|key| key.trim_matches('`')).collect();
    let shared: Vec<&str> = SHARED.split_whitespace().collect();
    assert_eq!(known.split_last(), Some((&"priors", shared.as_slice())));
    assert!(place.done("fit --help").out.contains("[priors.mu]"));
}

#[test]
fn usage_errors_are_one_line() {
    let place = Place::new();
    let cases: [(&str, &[&str]); 11] = [
        ("fit d.csv --target y --method gp", &["'gp'", "--method", "bhs, pbhs, mogpe, pogpe, het"]),
        ("fit d.csv --target y --kernel cubic", &["'cubic'", "rbf, matern12, matern32"]),
        ("fit d.csv --target y --wat", &["unexpected argument '--wat'"]),
        ("fit d.csv --target y --chain 3", &["'--chain'", "similar argument exists: '--chains'"]),
        ("fit d.csv --target y --chains two", &["'two'", "--chains", "invalid digit"]),
        ("fit d.csv --target y --chains -1", &["'-1'", "--chains", "invalid digit"]),
        ("fit d.csv --target y --seed 1 --seed 2", &["--seed", "cannot be used multiple times"]),
        ("fit d.csv", &["were not provided: --target <COLUMN>"]),
        ("predict d.nc", &["were not provided: <DATA>"]),
        ("predict d.nc d.csv --quantiles half", &["'half'", "--quantiles"]),
        ("fitt d.csv", &["unrecognized subcommand 'fitt'", "'fit'"]),
    ];
    for (args, parts) in cases {
        place.refused(args, 2, &[parts, &["see --help"]].concat());
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::fitted("");
    let rows: String = (0..3000).map(|i| format!("{}\n", f64::from(i) / 1000.0)).collect();
    place.write("many.csv", format!("x\n{rows}"));
    for args in ["predict d.nc many.csv", "inspect d.nc --json", "simulate --n 500 --out -"] {
        let mut child = place.command(args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args}: {err}");
        assert!(!err.contains("gpfuse:") && !err.contains("panic"), "{args}: {err}");
    }
}

#[test]
fn strict_judges_the_diagnostics() {
    let place = Place::new();
    let fit = "fit d.csv --target y --warmup 50 --draws 10 --chains 2 --size 8 --max-depth 4";
    for (command, strict) in [
        (fit, true),
        ("inspect d.nc", true),
        ("evaluate d.nc d.csv", true),
        (fit, false),
        ("inspect d.nc", false),
        ("evaluate d.nc d.csv", false),
    ] {
        let run = place.run(&format!("{command} {}", if strict { "--strict" } else { "" }));
        assert_eq!(run.code, Some(if strict { 3 } else { 0 }), "{command}: {}", run.err);
        assert!(run.err.starts_with("warning: "), "{command}: {}", run.err);
        assert!(!run.out.is_empty());
    }
    assert_eq!(place.done("evaluate d.nc d.csv --json").json()["converged"], false);
    let json = place.done(&format!("fit d.csv --target y {SMALL} --json")).json();
    assert_eq!(json["model"], "d.nc");
    assert!(json["diagnostics"]["warnings"].as_array().is_some_and(|all| !all.is_empty()));
}
