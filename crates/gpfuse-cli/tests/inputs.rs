//! Every command on a model of every method, for few inputs and many, each in a process of its own.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::Place;

const ROWS: usize = 36;

/// As short as a fit can be: here it matters that commands work, not what they say.
const TINY: &str = "--warmup 10 --draws 6 --chains 2 --max-depth 3 --candidates 1";

const METHODS: [&str; 7] = ["het", "mogpe", "pogpe", "bhs", "pbhs", "pbhs --plain", "gp"];

/// Rules with constant weights, and such that make one density of all experts.
const RULES: [&str; 3] = ["stacking", "rbcm", "barycentre"];

/// Everything that can be asked of a model file.
fn asked(place: &Place, method: &str, table: &str, inputs: usize) {
    let inspected = place.done("inspect m.nc --json").json();
    assert_eq!(inspected["inputs"].as_array().map(Vec::len), Some(inputs));
    assert!(place.done("inspect m.nc").out.contains("seed 0"));
    assert!(place.done(&format!("evaluate m.nc {table}")).out.contains("NLPD"));
    let predicted =
        place.done(&format!("predict m.nc {table} --experts --density --samples 2")).table();
    assert_eq!(predicted.rows.len(), ROWS);
    // Pictures of pixels take the longest.
    let figures = if method == "pbhs" { "--figures f" } else { "" };
    for data in ["", &format!("--data {table}")] {
        place.done(&format!("report m.nc --out r.html {figures} {data}"));
        let page = place.text("r.html");
        assert!(page.contains("<svg") && page.ends_with("</html>\n"), "{method} {data}");
        assert!(!page.contains("NaN"), "{method} {data}");
    }
}

fn every_method(inputs: usize) {
    let place = Place::empty();
    place.done(&format!("simulate --n {ROWS} --inputs {inputs} --out d.csv"));
    for method in METHODS.into_iter().chain(RULES) {
        let alone = inputs > 2 || RULES.contains(&method) || method == "gp";
        let basis = if alone { "" } else { "--size 4" };
        place.done(&format!("fit d.csv --target y --method {method} {TINY} {basis} --out m.nc"));
        asked(&place, method, "d.csv", inputs);
    }
    // On the basis of the paper, and from given experts.
    place.done(&format!("fit d.csv --target y --method mogpe --frequencies 6 {TINY} --out m.nc"));
    asked(&place, "rff", "d.csv", inputs);
    let mut lines = place.text("d.csv").lines().map(String::from).collect::<Vec<String>>();
    lines[0] += ",mean_a,sd_a,mean_b,sd_b";
    lines[1..].iter_mut().for_each(|line| *line += ",0.1,1,-0.2,0.5");
    place.write("s.csv", lines.join("\n"));
    for method in ["bhs", "pbhs", "stacking", "rbcm"] {
        place.done(&format!("stack s.csv --target y --method {method} {TINY} --out m.nc"));
        asked(&place, method, "s.csv", inputs);
    }
    let compared = place.done(&format!("compare d.csv --target y {TINY} --json")).json();
    for entry in compared["methods"].as_array().unwrap() {
        assert!(entry["error"].is_null(), "{entry}");
    }
}

#[test]
fn of_one_input() {
    every_method(1);
}

#[test]
fn of_two_inputs() {
    every_method(2);
}

#[test]
fn of_three_inputs() {
    every_method(3);
}

#[test]
fn of_eight_inputs() {
    every_method(8);
}

#[test]
fn of_twenty_inputs() {
    every_method(20);
}
