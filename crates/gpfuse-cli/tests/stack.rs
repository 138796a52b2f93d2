//! Experts made elsewhere, and rows that are given to experts.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Place, ROWS, SMALL_FIT, Table};

/// A folder with `p.csv`: the table `d.csv` with two experts, one good and one not.
fn place() -> Place {
    let place = Place::new();
    let d = Table::parse(&place.text("d.csv"));
    let (x, y) = (d.column("x"), d.column("y"));
    let mut text = String::from("x,y,mean_good,sd_good,mean_bad,sd_bad\n");
    for r in 0..ROWS {
        let wobble = 0.2 * (7.0 * r as f64).sin();
        text += &format!("{},{},{},0.3,{},0.1\n", x[r], y[r], y[r] + wobble, y[r] + 9.0 * wobble);
    }
    place.write("p.csv", text);
    place
}

fn stack(place: &Place, flags: &str) {
    place.done(&format!("stack p.csv --target y {SMALL_FIT} {flags}"));
}

#[test]
fn weights_go_to_the_better_expert_under_its_name() {
    let place = place();
    for flags in ["--method bhs", "", "--plain", "--basis eigen", "--basis rff"] {
        let flags = if flags.contains("rff") { "--basis rff --frequencies 5" } else { flags };
        let small = if flags.contains("basis") {
            SMALL_FIT.replace("--size 8 ", "")
        } else {
            SMALL_FIT.into()
        };
        place.done(&format!("stack p.csv --target y {small} {flags}"));
        let table = place.done("predict p.nc p.csv --experts --density").table();
        let (good, bad) = (table.column("weight_good"), table.column("weight_bad"));
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        if flags.contains("bhs") {
            assert!(mean(&good) > 0.7, "{flags}: {}", mean(&good));
            assert!((0..ROWS).all(|r| (good[r] + bad[r] - 1.0).abs() < 1e-9));
        }
        // The bad expert is off by 1.2 and sure to 0.1: on its own its NLPD is above 50.
        let scores = place.done("evaluate p.nc p.csv --json").json();
        let nlpd = scores["nlpd"]["value"].as_f64().unwrap();
        assert!(nlpd < 1.5, "{flags}: {nlpd}");
        let seen = place.done("inspect p.nc").out;
        assert!(seen.contains("`good`, `bad`"), "{seen}");
    }
}

/// The table is opened once, so that a pipe gives the same bytes as a file.
#[test]
fn a_pipe_is_as_good_as_a_file() {
    let place = place();
    stack(&place, "--out file.nc");
    let args = format!("stack - --target y {SMALL_FIT} --out pipe.nc");
    let run = place.fed(&args, &place.text("p.csv"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(place.read("pipe.nc"), place.read("file.nc"));
}

#[test]
fn equal_and_constant_experts_are_no_trouble() {
    let place = place();
    let d = Table::parse(&place.text("d.csv"));
    let (x, y) = (d.column("x"), d.column("y"));
    let mut text = String::from("x,y,mean_a,sd_a,mean_b,sd_b\n");
    (0..ROWS).for_each(|r| text += &format!("{},{},0.5,1,0.5,1\n", x[r], y[r]));
    place.write("p.csv", text);
    for method in ["bhs", "pbhs"] {
        stack(&place, &format!("--method {method}"));
        let table = place.done("predict p.nc p.csv").table();
        assert!(table.column("mean").iter().all(|m| (m - 0.5).abs() < 1e-6), "{method}");
    }
}

#[test]
fn one_expert_is_calibrated_by_pbhs_and_refused_by_bhs() {
    let place = place();
    let text: Vec<String> = (place.text("p.csv").lines())
        .map(|line| line.split(',').take(4).collect::<Vec<_>>().join(","))
        .collect();
    place.write("p.csv", text.join("\n"));
    stack(&place, "");
    place.done("evaluate p.nc p.csv");
    let bhs = format!("stack p.csv --target y --method bhs {SMALL_FIT} --out b.nc");
    place.refused(&bhs, 1, &["`experts`", "one expert has no weights to learn", "pbhs"]);
}

#[test]
fn bad_tables_are_named() {
    let place = place();
    let whole = place.text("p.csv");
    let cases: [(&str, &str, &[&str]); 6] = [
        ("mean_good", "mean_god", &["`mean_god` has no partner `sd_god`", "`p.csv`"]),
        ("sd_bad", "sd_good", &["`sd_good`", "both named"]),
        ("mean_good,sd_good,mean_bad,sd_bad", "a,b,c,d", &["has no experts", "mean_NAME"]),
        (",0.3,", ",0,", &["`p.csv`, row 1, column `sd_good`: 0", "above 0"]),
        (",0.3,", ",-0.3,", &["row 1, column `sd_good`: -0.3"]),
        (",0.3,", ",inf,", &["`p.csv`", "`sd_good`", "inf"]),
    ];
    for (from, to, words) in cases {
        place.write("p.csv", whole.replacen(from, to, 1));
        place.refused(&format!("stack p.csv --target y {SMALL_FIT}"), 1, words);
    }
    place.write("p.csv", whole.lines().take(2).collect::<Vec<_>>().join("\n"));
    place.refused(&format!("stack p.csv --target y {SMALL_FIT}"), 1, &["one row cannot be fitted"]);
    place.write("p.csv", &whole);
    place.write("s.toml", "method = 'mogpe'");
    for (flags, words) in [
        ("--settings s.toml", "learns experts of its own: use bhs or pbhs"),
        ("--experts 3", "`experts`: the experts of `stack` are those of the table"),
        ("--hold-out 0.3", "`hold-out`"),
        ("--inputs y", "both target and input"),
    ] {
        place.refused(&format!("stack p.csv --target y {flags} {SMALL_FIT}"), 1, &[words]);
    }
    stack(&place, "");
    place.refused("predict p.nc d.csv", 1, &["`mean_good`", "`d.csv`"]);
}

/// A column for each expert with its log density of the target, as R's loo and ArviZ have them.
#[test]
fn experts_may_give_their_log_densities_alone() {
    let place = place();
    let d = Table::parse(&place.text("p.csv"));
    let (x, y) = (d.column("x"), d.column("y"));
    let log = |name: &str, r: usize| {
        let (mean, sd) = (d.column(&format!("mean_{name}"))[r], d.column(&format!("sd_{name}"))[r]);
        -0.5 * ((y[r] - mean) / sd).powi(2) - sd.ln() - 0.918_938_533_204_672_7
    };
    let mut text = String::from("x,y,lpd_good,lpd_bad\n");
    (0..ROWS).for_each(|r| {
        text += &format!("{},{},{},{}\n", x[r], y[r], log("good", r), log("bad", r));
    });
    place.write("l.csv", &text);
    let nlpd = |model: &str, table: &str| {
        let scores = place.done(&format!("evaluate {model} {table} --json")).json();
        (scores["nlpd"]["value"].as_f64().unwrap(), scores["crps"].is_null())
    };
    place.done(&format!("stack p.csv --target y --method bhs {SMALL_FIT}"));
    place.done(&format!("stack l.csv --target y {SMALL_FIT}"));
    let (known, found) = (nlpd("p.nc", "p.csv"), nlpd("l.nc", "l.csv"));
    assert!((known.0 - found.0).abs() < 1e-10 && found.1 && !known.1, "{known:?}, {found:?}");
    let seen = place.done("inspect l.nc").out;
    assert!(seen.contains("bhs with 2 experts") && seen.contains("`good`, `bad`"), "{seen}");
    // Weights need no more than inputs.
    let weights = place.done("predict l.nc d.csv --experts").table();
    let known = place.done("predict p.nc p.csv --experts").table();
    for (a, b) in weights.column("weight_good").iter().zip(known.column("weight_good")) {
        assert!((a - b).abs() < 1e-10, "{a}, {b}");
    }
    assert_eq!(weights.names.len(), 7);
    let both = place.done("predict l.nc l.csv --density").table();
    assert_eq!(both.names, ["x", "log_density"]);
    place.done("report l.nc --data l.csv");
    let page = place.text("l.html");
    assert!(page.contains("NLPD") && !page.contains("CRPS"));
    place.refused("predict l.nc l.csv", 1, &["`l.nc`", "no mean, sd", "--experts", "--density"]);
    place.refused("evaluate l.nc d.csv", 1, &["`lpd_good`", "`d.csv`"]);
    let fit = format!("stack w.csv --target y {SMALL_FIT}");
    // What R writes where an expert holds a target impossible; elsewhere it is no number.
    let (bad, target) = (format!(",{}\n", log("bad", 0)), format!(",{},", y[0]));
    place.write("w.csv", text.replacen(&bad, ",-Inf\n", 1));
    place.done(&fit);
    place.write("w.csv", text.replacen(&target, ",-Inf,", 1));
    place.refused(&fit, 1, &["row 1", "column `y`", "not a finite number"]);
    for (from, to, flags, words) in [
        ("", "", "--method pbhs", "use bhs"),
        ("lpd_bad", "mean_b", "", "`mean_b` has no partner"),
        ("x,y,lpd_good,lpd_bad", "mean_b,sd_b,y,lpd_good", "", "has `mean_b` and `lpd_good`"),
    ] {
        place.write("w.csv", text.replacen(from, to, 1));
        place.refused(&format!("{fit} {flags}"), 1, &[words]);
    }
}

#[test]
fn given_rows_train_their_experts_and_overlap_is_refused() {
    let place = Place::new();
    let rows = |stacking: std::ops::RangeInclusive<usize>| {
        let mut text = String::from("row,expert\n");
        (1..=14).for_each(|row| text += &format!("{row},1\n"));
        (15..=28).for_each(|row| text += &format!("{row},2\n"));
        stacking.for_each(|row| text += &format!("{row},0\n"));
        text
    };
    let fit = format!("fit d.csv --target y --method pbhs --experts 2 --assign a.csv {SMALL_FIT}");
    place.write("a.csv", rows(29..=ROWS));
    assert!(place.done(&fit).out.contains("(12 of them for the weights)"));
    place.write("a.csv", rows(23..=ROWS));
    place.refused(&fit, 1, &["`a.csv`", "expert 2 was trained on 6 of the 18 stacking rows"]);
    place.write("a.csv", rows(29..=ROWS + 1));
    place.refused(&fit, 1, &["row 41 is assigned, but there are 40 rows"]);
    place.write("a.csv", "row,expert\n1,7\n");
    place.refused(&fit, 1, &["`expert`", "7 is not a whole number from 0 to 2"]);
    place.refused(&fit.replace("pbhs", "mogpe"), 1, &["`assign`", "is for bhs, pbhs and rules"]);
}
