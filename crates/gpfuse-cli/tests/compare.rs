//! `gpfuse compare`: all methods on one small table, what is printed, and the figure.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Place, ROWS, SMALL_FIT};
use serde_json::Value;

const ALL: [&str; 20] = [
    "het",
    "mogpe",
    "pogpe",
    "bhs",
    "pbhs",
    "pbhs-plain",
    "gp",
    "linear-pool",
    "poe",
    "gpoe-uniform",
    "gpoe-entropy",
    "gpoe-softmax",
    "bcm",
    "rbcm",
    "barycentre",
    "stacking",
    "pseudo-bma",
    "pseudo-bma-plus",
    "bma",
    "best-expert",
];

/// A folder with `d.csv` and other rows of the same law in `t.csv`.
fn place() -> Place {
    let place = Place::new();
    let text = place.text("d.csv");
    let turned: Vec<&str> = text.lines().skip(1).step_by(2).collect();
    place.write("t.csv", format!("x,y\n{}\n", turned.join("\n")));
    place
}

fn methods(json: &Value) -> Vec<&Value> {
    json["methods"].as_array().unwrap().iter().collect()
}

fn name(entry: &Value) -> &str {
    entry["method"].as_str().unwrap()
}

/// Best first, the same keys for each, the first of them the mark for the others.
fn check(json: &Value, rows: usize, left_out: bool) {
    assert_eq!(json["rows"], rows);
    assert_eq!(json["scored"], if left_out { "leave-one-out" } else { "test" });
    let all = methods(json);
    let mut names: Vec<&str> = all.iter().map(|m| name(m)).collect();
    let nlpd: Vec<f64> = all.iter().map(|m| m["nlpd"]["value"].as_f64().unwrap()).collect();
    assert!(nlpd.is_sorted(), "{nlpd:?}");
    for (m, nlpd_of) in all.iter().zip(&nlpd) {
        assert_eq!(m.as_object().unwrap().len(), 15, "{m}");
        assert!(m["error"].is_null(), "{m}");
        let gap = m["difference"]["mean"].as_f64().unwrap();
        assert!((gap - (nlpd_of - nlpd[0])).abs() < 1e-9, "{m}");
        assert_eq!(m["difference"]["rows"], rows);
        assert!(m["fit_seconds"].as_f64().unwrap() >= 0.0 && m["predict_seconds"].is_f64());
        assert_eq!(m["crps"].is_null(), left_out, "{m}");
        assert_eq!(m["coverage"]["0.95"]["value"].is_f64(), !left_out, "{m}");
        let sampled = ["het", "mogpe", "pogpe", "bhs", "pbhs", "pbhs-plain"].contains(&name(m));
        assert_eq!(m["converged"].is_boolean(), sampled, "{m}");
        assert_eq!(m["khat"]["bad_rows"].is_u64(), sampled && left_out, "{m}");
    }
    names.sort_unstable();
    let mut expected = ALL.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn all_methods_with_test_rows_and_without() {
    let place = place();
    let run = place.done(&format!(
        "compare d.csv t.csv --target y --experts 3 --json --figure f.svg {SMALL_FIT}"
    ));
    check(&run.json(), ROWS / 2, false);
    let json = run.json();
    let bma = methods(&json).into_iter().find(|m| name(m) == "bma").unwrap();
    assert!(bma["notes"][0].as_str().unwrap().contains("different rows"), "{bma}");
    for (done, name) in ALL.iter().enumerate() {
        assert!(run.err.contains(&format!("{}/20 {name}: ", done + 1)), "{}", run.err);
    }
    let svg = place.text("f.svg");
    assert!(svg.starts_with("<svg") && svg.contains("nats per row"), "{svg}");
    assert!(svg.contains("NLPD on 20 test rows"), "{svg}");
    // A star before the name of what is not to be trusted.
    let named =
        |name: &str| svg.contains(&format!(">{name}<")) || svg.contains(&format!("* {name}<"));
    ALL.iter().for_each(|name| assert!(named(name), "{name}"));
    let run = place.done(&format!(
        "compare d.csv --target y --experts 3 --json --figure f.png --hold-out 0.5 {SMALL_FIT}"
    ));
    check(&run.json(), ROWS / 2, true);
    assert!(place.read("f.png").starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(place.files(), ["d.csv", "f.png", "f.svg", "t.csv"]);
}

/// Only those asked for, best first, with the numbers that they have in any company.
#[test]
fn some_methods_as_a_table() {
    let place = place();
    let run = |methods: &str| {
        place.done(&format!("compare d.csv t.csv --target y --methods {methods} {SMALL_FIT}"))
    };
    let few = run("poe,gp,pbhs").out;
    let lines: Vec<&str> = few.lines().take_while(|l| !l.is_empty()).collect();
    assert!(lines[0].starts_with("method") && lines.len() == 4, "{few}");
    let nlpd = |line: &str| line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap();
    assert!(lines[1..].windows(2).all(|w| nlpd(w[0]) <= nlpd(w[1])), "{few}");
    assert!(few.contains("20 rows of the test table") && !few.contains("NaN"), "{few}");
    let one = run("poe").out;
    let found = |text: &str| nlpd(text.lines().find(|l| l.starts_with("poe ")).unwrap());
    assert!((found(&one) - found(&few)).abs() < 0.1, "{one}{few}");
    assert!(!one.contains("NaN"), "{one}");
}

#[test]
fn what_fails_is_a_line() {
    let place = place();
    let args = format!("compare d.csv t.csv --target y --experts 1 {SMALL_FIT}");
    let run = place.done(&format!("{args} --methods bhs,poe --figure f.svg"));
    assert!(run.out.contains("bhs failed: setting `experts`: one expert"), "{}", run.out);
    assert!(run.out.contains("\npoe ") && run.err.contains("1/2 bhs: failed"), "{}", run.err);
    assert!(place.text("f.svg").contains(">failed<"));
    let json = place.done(&format!("{args} --methods bhs,poe --json")).json();
    let last = methods(&json)[1].clone();
    assert!(name(&last) == "bhs" && last["nlpd"].is_null(), "{last}");
    assert!(last["error"].as_str().unwrap().contains("one expert"), "{last}");
    let strict = place.run(&format!("{args} --methods bhs,poe --strict"));
    assert_eq!(strict.code, Some(3), "{}", strict.err);
    let none = place.run(&format!("{args} --methods bhs"));
    assert_eq!(none.code, Some(1));
    assert!(
        none.err.ends_with("gpfuse: every method failed: the table says why\n"),
        "{}",
        none.err
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = place();
    let refused = |args: &str, parts: &[&str]| {
        place.refused(&format!("compare {args}"), 1, parts);
    };
    refused("d.csv --target y --method pogpe", &["setting `method`", "--methods"]);
    refused("d.csv --target y --plain", &["setting `plain`", "--methods"]);
    refused("d.csv --target z", &["`d.csv`", "`z`"]);
    refused("d.csv none.csv --target y", &["none.csv"]);
    refused("d.csv --target y --figure f.pdf", &["`f.pdf`", ".svg or .png"]);
    refused("d.csv --target y --figure no/f.svg", &["folder `no` does not exist"]);
    refused("- - --inputs x --target y", &["standard input"]);
    refused("d.csv --target y --methods poe,poe", &["`poe` stands twice"]);
    place.refused("compare d.csv --target y --methods hat", 2, &["'hat'", "pbhs-plain"]);
    place.write("w.csv", "x,z\n1,2\n");
    refused("d.csv w.csv --target y", &["`w.csv`", "`y`"]);
    let help = place.done("compare --help").out;
    assert!(help.contains("--methods") && !help.contains("--method "), "{help}");
    // A settings file written for `fit` serves as it is.
    place.write("s.toml", "method = \"het\"\nwarmup = 20\ndraws = 20\n");
    place.done("compare d.csv --target y --methods poe --settings s.toml");
}

/// Stopped in the second of three: the first is shown, the others say that they did not run.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_finished() {
    if common::deaf(common::INT) {
        return;
    }
    use std::io::{BufRead, BufReader, Read};
    let place = place();
    let args = "compare d.csv t.csv --target y --json --methods poe,pogpe,bcm --size 8 \
                --max-depth 4 --start prior --draws 10000000";
    let mut child = place.command(args).spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("1/3 poe: ") {
        line.clear();
        assert!(err.read_line(&mut line).unwrap() > 0, "it ended early");
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    let run = common::Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(130), "{rest}");
    assert!(rest.contains("stopping: keeping what is finished"), "{rest}");
    let json = run.json();
    assert_eq!(json["interrupted"], true);
    let all = methods(&json);
    assert_eq!(all.iter().map(|m| name(m)).collect::<Vec<_>>(), ["poe", "pogpe", "bcm"]);
    assert!(all[0]["nlpd"]["value"].is_f64());
    for entry in &all[1..] {
        assert!(entry["error"].as_str().unwrap().contains("stopped before"), "{entry}");
    }
}
