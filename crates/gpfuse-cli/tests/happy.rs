//! From a simulated table to a model file, predictions and scores, in many variants.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Place, ROWS, Run, SMALL_FIT, Table, small};

/// Predictions of all kinds for the table that the model was fitted to.
fn check_predictions(table: &Table, y: &[f64], experts: usize) {
    assert_eq!(table.rows.len(), y.len());
    let (low, high) = y.iter().fold((f64::MAX, f64::MIN), |a, v| (a.0.min(*v), a.1.max(*v)));
    let range = high - low;
    for mean in table.column("mean") {
        assert!((low - range..high + range).contains(&mean), "mean {mean} of {low} to {high}");
    }
    assert!(table.column("sd").iter().all(|sd| *sd > 0.0 && *sd < 20.0 * range));
    let quantiles = ["q0.05", "q0.5", "q0.95"].map(|q| table.column(q));
    for r in 0..y.len() {
        assert!(quantiles[0][r] < quantiles[1][r] && quantiles[1][r] < quantiles[2][r]);
    }
    assert!(table.column("pit").iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(table.column("crps").iter().all(|c| *c >= 0.0));
    table.column("log_density");
    table.column("sample_2");
    for k in 1..=experts {
        let column = |what: &str| table.column(&format!("{what}_expert_{k}"));
        let (weight, low, high) = (column("weight"), column("weight_low"), column("weight_high"));
        assert!((0..y.len()).all(|r| 0.0 <= low[r] && low[r] <= high[r] && weight[r] >= 0.0));
        assert!(column("sd").iter().all(|sd| *sd > 0.0));
    }
    let absent = format!("weight_expert_{}", experts + 1);
    assert!(!table.names.contains(&absent));
}

fn check_scores(run: &Run, sampled: bool) {
    let scores = run.json();
    assert_eq!(scores["rows"], ROWS);
    for name in ["nlpd", "crps", "rmse", "mae"] {
        let score = &scores[name];
        assert!(score["value"].as_f64().unwrap().is_finite(), "{score}");
        assert!(score["se"].as_f64().unwrap() > 0.0, "{score}");
        // A single draw has no Monte Carlo error.
        assert_eq!(score["mcse"].as_f64().is_some_and(|e| e > 0.0), sampled, "{score}");
    }
    for level in ["0.5", "0.8", "0.95"] {
        let covered = scores["coverage"][level]["value"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&covered));
    }
    assert!(scores["converged"].is_boolean());
}

/// Fit `d.csv`, then use the model in every way.
fn tour(place: &Place, flags: &str, method: &str, experts: usize) -> Table {
    let y = Table::parse(&place.text("d.csv")).column("y");
    let run = place.done(&format!("fit d.csv --target y {}", small(flags)));
    assert!(run.out.starts_with(&format!("{method} with {experts} expert")), "{}", run.out);
    assert!(run.out.ends_with("wrote `d.nc`\n"), "{}", run.out);
    let table = place.done("predict d.nc d.csv --experts --density --samples 2").table();
    check_predictions(&table, &y, experts);
    let map = flags.contains("--sampler map");
    check_scores(&place.done("evaluate d.nc d.csv --json"), !map);
    let scores = place.done("evaluate d.nc d.csv").out;
    assert!(scores.contains("NLPD") && scores.contains("coverage of 95 %"), "{scores}");
    let seen = place.done("inspect d.nc").out;
    assert!(seen.starts_with(&format!("{method} with {experts} expert")), "{seen}");
    assert!(seen.contains("`y` from `x") && !seen.contains("NaN"), "{seen}");
    let json = place.done("inspect d.nc --json").json();
    assert_eq!(json["settings"]["method"], method);
    assert_eq!(json["target"], "y");
    assert_eq!(json["diagnostics"]["quantities"].as_array().unwrap().is_empty(), map);
    table
}

fn weight_sums(table: &Table) -> Vec<f64> {
    let weights = [1, 2, 3].map(|k| table.column(&format!("weight_expert_{k}")));
    (0..table.rows.len()).map(|r| weights.iter().map(|w| w[r]).sum()).collect()
}

#[test]
fn mogpe_on_both_bases() {
    let place = Place::new();
    for flags in
        ["--basis hilbert", "--basis rff --frequencies 5", "--frequencies 4 --scheme quasi"]
    {
        let table = tour(&place, &format!("--method mogpe {flags}"), "mogpe", 3);
        assert!(weight_sums(&table).iter().all(|sum| (sum - 1.0).abs() < 1e-9));
    }
}

#[test]
fn pogpe_on_both_bases() {
    let place = Place::new();
    tour(&place, "--method pogpe", "pogpe", 3);
    tour(&place, "--method pogpe --basis rff --frequencies 5 --kernel matern32", "pogpe", 3);
    let other = "--method pogpe --metric low-rank --scaling unit --start map --experts 2";
    tour(&place, other, "pogpe", 2);
    let normalised = "--method pogpe --normalise --no-scale --start prior";
    let table = tour(&place, normalised, "pogpe", 3);
    assert!(weight_sums(&table).iter().all(|sum| (sum - 1.0).abs() < 1e-9));
}

#[test]
fn the_collapsed_density_where_there_is_one() {
    let place = Place::new();
    tour(&place, "--method pogpe --density collapsed", "pogpe", 3);
    assert!(place.done("inspect d.nc").out.contains("of the collapsed density"));
    tour(&place, "--density collapsed --method het --basis rff --frequencies 5", "het", 1);
    let refused = place.run("fit d.csv --target y --method mogpe --density collapsed");
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("setting `density`: collapsed is for"), "{}", refused.err);
}

#[test]
fn experts_first_then_weights() {
    let place = Place::new();
    let table = tour(&place, "--method bhs --experts 3 --hold-out 0.4", "bhs", 3);
    assert!(weight_sums(&table).iter().all(|sum| (sum - 1.0).abs() < 1e-9));
    tour(&place, "--method pbhs --experts 2 --expert-kernel rbf", "pbhs", 2);
    let seen = place.done("inspect d.nc").out;
    for word in ["scale of expert 2", "floor", "expert 1: rbf kernel on 16 rows"] {
        assert!(seen.contains(word), "{word}: {seen}");
    }
    tour(&place, "--method pbhs --plain --partition kernels --experts 2", "pbhs", 2);
    assert!(!place.done("inspect d.nc").out.contains("floor"));
    tour(&place, "--method pbhs --along x --experts 2 --expert-kernel matern32", "pbhs", 2);
}

/// Rows that are assigned to experts make experts with rows of their own, whatever else is asked for.
#[test]
fn assigned_rows_are_those_of_their_experts() {
    let place = Place::new();
    let rows: String = (1..=ROWS).map(|row| format!("{row},{}\n", row % 4)).collect();
    place.write("a.csv", format!("row,expert\n{rows}"));
    for more in ["", "--expert-kernel rbf", "--partition all"] {
        let run = place.done(&format!("fit d.csv --target y --assign a.csv {}", small(more)));
        assert!(run.out.starts_with("pbhs with 3 experts"), "{more}: {}", run.out);
        let seen = place.done("inspect d.nc").out;
        let kernel = |k: usize| {
            let line = seen.lines().find(|l| l.starts_with(&format!("expert {k}: "))).unwrap();
            assert!(line.contains("kernel on 10 rows"), "{line}");
            line.split(' ').nth(2).unwrap().to_string()
        };
        assert!((2..=3).all(|k| kernel(k) == kernel(1)), "{more}: {seen}");
    }
}

#[test]
fn het_has_one_expert() {
    let place = Place::new();
    tour(&place, "--method het", "het", 1);
    tour(&place, "--method het --basis rff --frequencies 6 --scheme orthogonal", "het", 1);
}

#[test]
fn hmc_and_the_mode() {
    let place = Place::new();
    tour(&place, "--sampler hmc --method mogpe", "mogpe", 3);
    tour(&place, "--sampler map --method mogpe", "mogpe", 3);
    assert!(place.done("inspect d.nc").out.contains("the posterior mode"));
}

/// Weights of chains are printed, stored and used; a chain without weight changes nothing.
#[test]
fn chains_can_be_weighed() {
    let place = Place::new();
    let fit = "fit d.csv --target y --method het --frequencies 6 --warmup 40 --draws 40 --chains 3 \
               --max-depth 4 --seed 3";
    let plain = place.done(&format!("{fit} --combine equal --json")).json();
    assert!(plain["diagnostics"]["combined"].is_null());
    let alike = place.done("evaluate d.nc d.csv --json").json();
    let out = place.done(&format!("{fit} --combine stack")).out;
    let seen = place.done("inspect d.nc");
    for text in [&out, &seen.out] {
        assert!(text.contains("below best") && text.contains("; weights "), "{text}");
    }
    let json = place.done("inspect d.nc --json").json();
    assert_eq!(json["settings"]["combine"], "stack");
    let combined = &json["diagnostics"]["combined"];
    let weight = |c: &serde_json::Value| c["weight"].as_f64().unwrap();
    let sum: f64 = combined["chains"].as_array().unwrap().iter().map(weight).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{combined}");
    let weighted = place.done("evaluate d.nc d.csv --json").json();
    assert_ne!(weighted["nlpd"]["value"], alike["nlpd"]["value"]);
    check_scores(&place.done("evaluate d.nc d.csv --json"), true);
    let table = place.done("predict d.nc d.csv --experts --density --samples 2").table();
    check_predictions(&table, &Table::parse(&place.text("d.csv")).column("y"), 1);
    place.write("s.toml", "combine = \"auto\"\n");
    let auto = place.done(&format!("{fit} --settings s.toml --json")).json();
    assert_eq!(auto["settings"]["combine"], "auto");
    assert!(auto["diagnostics"]["combined"]["words"].is_string());
    // Too few draws to weigh by, and one chain, are no error.
    for few in ["--chains 2 --draws 5", "--chains 1 --draws 20", "--sampler map"] {
        let run = place.done(&format!(
            "fit d.csv --target y --warmup 20 --size 6 --max-depth 3 --combine stack {few}"
        ));
        assert_eq!(run.err.contains("too few to weigh the chains"), few.contains("draws 5"));
        place.done("evaluate d.nc d.csv --json").json();
    }
}

#[test]
fn a_single_chain_and_few_draws_can_be_read_back() {
    let place = Place::new();
    for run in ["--chains 1 --draws 20", "--chains 1 --draws 2", "--chains 3 --draws 2"] {
        place.done(&format!("fit d.csv --target y --warmup 20 --size 6 --max-depth 3 {run}"));
        place.done("inspect d.nc");
        place.done("evaluate d.nc d.csv --json").json();
        assert_eq!(place.done("predict d.nc d.csv").table().rows.len(), ROWS);
    }
}

#[test]
fn two_inputs_in_any_order_of_columns() {
    let place = Place::empty();
    place.done("simulate --n 40 --inputs 2 --out two.csv --truth truth.csv");
    assert_eq!(Table::parse(&place.text("truth.csv")).names.len(), 2 + 3 * 3);
    let small = SMALL_FIT.replace("--size 8", "--size 4");
    place.done(&format!("fit two.csv --target y {small} --out m.nc"));
    let first = place.done("predict m.nc two.csv").table();
    assert_eq!(first.names[..2], ["x1", "x2"]);
    let text = place.text("two.csv");
    let swapped: Vec<String> = text
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + ",text")
        .collect();
    place.write("swapped.csv", swapped.join("\n"));
    let second = place.done("predict m.nc swapped.csv").table();
    assert_eq!(first.rows, second.rows);
    let json = place.done("evaluate m.nc two.csv --json").json();
    assert!(json["nlpd"]["value"].is_f64());
    assert!(place.done("inspect m.nc").out.contains("`y` from `x1`, `x2`"));
}

#[test]
fn the_table_may_be_gzip_parquet_or_tabs() {
    let place = Place::empty();
    // The rows of the Parquet file.
    let rows: Vec<(f64, f64)> =
        (0..40).map(|i| (f64::from(i) / 4.0, f64::from(i * 7 % 11) / 3.0)).collect();
    let text = |separator: &str| {
        let lines = rows.iter().map(|(x, y)| format!("{x}{separator}{y}\n"));
        format!("x{separator}y\n{}", lines.collect::<String>())
    };
    place.write("a.csv", text(","));
    place.write("a.tsv", text("\t"));
    place.write("a.parquet", include_bytes!("data/small.parquet"));
    let fit = |data: &str| {
        place.done(&format!("fit {data} --target y {SMALL_FIT} --out m.nc"));
        place.read("m.nc")
    };
    let model = fit("a.csv");
    assert!(fit("a.tsv") == model);
    if cfg!(feature = "parquet") {
        assert!(fit("a.parquet") == model);
        place.done("evaluate m.nc a.parquet");
    }
    place.done("predict m.nc a.csv --out p.csv.gz --density");
    place.done("simulate --n 40 --out b.csv.gz");
    assert!(place.read("p.csv.gz").starts_with(&[0x1f, 0x8b]));
    place.done(&format!("fit b.csv.gz --target y {SMALL_FIT}"));
    assert!(place.files().contains(&"b.nc".to_string()));
    // A table of predictions is a table again.
    place.done(&format!("fit p.csv.gz --inputs x,sd --target crps {SMALL_FIT} --out q.nc"));
}

#[test]
fn a_dash_is_standard_input_or_output() {
    let place = Place::fitted("");
    let text = place.text("d.csv");
    let run = place.done(&format!("simulate --n {ROWS} --out -"));
    assert_eq!(run.out, text);
    assert!(run.err.starts_with("wrote 40 rows to standard output"), "{}", run.err);
    place.done("predict d.nc d.csv --out p.csv");
    let table = place.text("p.csv");
    assert_eq!(place.done("predict d.nc d.csv").out, table);
    assert_eq!(place.done("predict d.nc d.csv --out -").out, table);
    assert_eq!(place.fed("predict d.nc -", &text).out, table);
    let fit = format!("fit - --inputs x --target y {SMALL_FIT}");
    assert_eq!(place.fed(&fit, &text).code, Some(0));
    assert!(place.read("model.nc") == place.read("d.nc"));
    check_scores(&place.fed("evaluate model.nc - --json", &text), true);
    assert_eq!(place.files(), ["d.csv", "d.nc", "model.nc", "p.csv"]);
}

#[test]
fn awkward_names_of_columns_and_files() {
    let place = Place::new();
    let text = place.text("d.csv");
    for (input, target) in [("mean", "sd"), ("q0.5", "row"), ("a/b", "c/d"), ("\u{e9}", "chain")] {
        place.write("run.1.csv", text.replacen("x,y", &format!("{input},{target}"), 1));
        place.done(&format!("fit run.1.csv --target {target} {SMALL_FIT}"));
        let table = place.done("predict run.1.nc run.1.csv").table();
        let shown = if table.names[0] == input { input.into() } else { format!("input_{input}") };
        assert_eq!(table.names[0], shown);
        place.done("evaluate run.1.nc run.1.csv");
        assert_eq!(place.done("inspect run.1.nc --json").json()["target"], target);
    }
}
