//! What is typed and what the help says about it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::io::{BufRead, BufReader, Read};

use common::{Place, SMALL_FIT};

/// The flags that every fitting command shares, under their headings.
const SCALED: &str = "scaling no-scale missing";
const MADE: &str = "experts partition along hold-out expert-kernel expert-objective expert-inputs";
const SHARED: &str = "basis frequencies scheme omega size box functions kernel \
                      sampler metric chains warmup draws max-depth hmc-depth target-accept start \
                      candidates start-steps seed threads";

const FLAGS: [(&str, &str); 13] = [
    ("demo", "out seed json"),
    (
        "simulate",
        "out truth n experts inputs low high mean-lengthscale gate-lengthscale \
         log-sd-lengthscale log-sd-mean kernel seed",
    ),
    (
        "fit",
        "target inputs exclude assign settings SCALED method MADE gate plain normalise SHARED density combine \
         out checkpoint strict json",
    ),
    (
        "stack",
        "target inputs exclude settings SCALED method gate plain normalise STACKED combine out checkpoint \
         strict json",
    ),
    (
        "compare",
        "target inputs exclude settings SCALED methods MADE gate normalise SHARED density combine figure strict \
         json",
    ),
    ("sweep", "out shard threads merge json"),
    ("paper", "out shard threads merge json quick frozen basis"),
    ("predict", "out keep quantiles experts density rao-blackwell samples seed threads"),
    ("evaluate", "rao-blackwell json strict threads"),
    ("inspect", "json strict"),
    ("completions", ""),
    ("man", "out"),
    (
        "sbc",
        "out sims n thin strict json method experts plain normalise basis frequencies size kernel \
         metric chains warmup draws max-depth target-accept start seed threads density",
    ),
];

/// Flags with the shared ones in their places.
fn spelt(flags: &str) -> Vec<String> {
    let stacked = SHARED.replace("functions ", "");
    let flags = flags
        .replace("STACKED", &stacked)
        .replace("SCALED", SCALED)
        .replace("MADE", MADE)
        .replace("SHARED", SHARED);
    flags.split_whitespace().map(String::from).collect()
}

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
            // Words about a flag stand further in.
            .filter_map(|line| line.strip_prefix("      --"))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(mentioned, spelt(flags), "{command}");
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
    let shared = spelt("SCALED method MADE gate plain normalise SHARED density priors combine");
    assert_eq!(known, shared);
    assert!(place.done("fit --help").out.contains("[priors.mu]"));
}

/// The short help is one screen, and the long one has all that it leaves out.
#[test]
fn help_has_headings_and_a_short_form() {
    let place = Place::empty();
    for command in ["fit", "stack", "compare"] {
        let (short, long) = (
            place.done(&format!("{command} -h")).out,
            place.done(&format!("{command} --help")).out,
        );
        assert!(short.lines().count() <= 40, "{command}: {}", short.lines().count());
        for heading in ["Data:", "Experts:", "Basis:", "Sampling:", "Output:"] {
            for help in [&short, &long] {
                assert!(help.lines().any(|line| line == heading), "{command}: {heading}\n{help}");
            }
        }
        assert!(long.contains("--start-steps") && !short.contains("--start-steps"));
    }
}

/// A setting for another basis or method is told from one that works, and the fit goes on.
#[test]
fn settings_without_effect_are_warned_about() {
    let place = Place::new();
    place.write("three.csv", "a,b,c,y\n1,2,3,4\n2,3,1,7\n3,1,2,1\n4,4,4,2\n");
    place.write("four.csv", "a,b,c,d,y\n1,2,3,4,5\n2,3,4,5,7\n3,4,5,6,1\n4,1,2,2,3\n");
    let tiny = "--target y --chains 1 --warmup 10 --draws 4 --max-depth 2 --start prior --method pogpe \
                --experts 2";
    let cases = [
        ("d.csv", "--basis rff --size 8", "rff", "`size`: is for the hilbert basis, not for rff"),
        ("d.csv", "--scheme quasi --size 8", "rff", "`size`: is for the hilbert basis"),
        (
            "d.csv",
            "--basis hilbert --frequencies 8",
            "hilbert",
            "`frequencies`: is for the rff basis",
        ),
        ("three.csv", "--size 3", "hilbert", ""),
        ("three.csv", "--box 3", "auto", "`box`: is for the hilbert basis"),
        ("four.csv", "--size 3", "auto", "`size`: is for the hilbert basis, not for eigen"),
        ("d.csv", "--hold-out 0.3", "auto", "`hold-out`: is not for pogpe"),
        ("d.csv", "--plain", "auto", "`plain`: is not for pogpe"),
        ("d.csv", "--plain false --box 2", "auto", ""),
    ];
    for (table, flags, basis, words) in cases {
        let run = place.done(&format!("fit {table} {tiny} {flags} --json --out m.nc"));
        assert_eq!(run.json()["settings"]["basis"], basis, "{flags}");
        let unused = run.err.lines().filter(|line| line.contains("no effect")).collect::<Vec<_>>();
        assert_eq!(unused.len(), usize::from(!words.is_empty()), "{flags}: {}", run.err);
        assert!(unused.iter().all(|line| line.contains(words)), "{flags}: {}", run.err);
    }
}

#[test]
fn usage_errors_are_one_line() {
    let place = Place::new();
    let cases: [(&str, &[&str]); 11] = [
        (
            "fit d.csv --target y --method gpe",
            &["'gpe'", "--method", "bhs, pbhs, mogpe, pogpe, het"],
        ),
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
    let json = place.done(&format!("fit d.csv --target y {SMALL_FIT} --json")).json();
    assert_eq!(json["model"], "d.nc");
    assert!(json["diagnostics"]["warnings"].as_array().is_some_and(|all| !all.is_empty()));
}

/// Completions and man pages come from the declaration of the help: they know every flag and value of it, and no
/// other.
#[test]
fn shells_and_man_know_what_the_help_says() {
    let place = Place::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = place.done(&format!("completions {shell}")).out;
        for word in ["target-accept", "pogpe", "exclude", "completions"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    place.refused("completions tcsh", 2, &["'tcsh'", "bash, elvish, fish, powershell, zsh"]);
    place.done("man --out pages");
    for (command, flags) in FLAGS {
        let page = place.text(&format!("pages/gpfuse-{command}.1")).replace("\\-", "-");
        assert!(spelt(flags).iter().all(|flag| page.contains(&format!("--{flag}"))), "{command}");
    }
    assert!(!place.text("pages/gpfuse-stack.1").contains("hold"), "what stack does not take");
    assert!(place.text("pages/gpfuse.1").replace("\\-", "-").contains("gpfuse-fit"));
}

/// Methods that learn experts of their own are none of `stack`, and its help does not offer them.
#[test]
fn stack_offers_what_it_takes() {
    let place = Place::empty();
    let help = place.done("stack --help").out;
    assert!(
        help.contains("Method. [default: pbhs] [possible values: bhs, pbhs, linear-pool"),
        "{help}"
    );
    place.refused("stack s.csv --target y --method mogpe", 2, &["'mogpe'", "bhs, pbhs"]);
}
