//! Columns of words as inputs, and values that are missing.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Place, SMALL_FIT};
use gpfuse_io::table::{Table, Wanted};

const FIT: &str = "fit t.csv --target y --method het";

/// A table with two categories, flags and numbers, and a blank line, so that rows and lines differ.
fn place() -> Place {
    let place = Place::empty();
    let row = |i: usize| {
        let x = i as f64 / 7.0;
        let color = ["red", "blue", "\"light, green\""][i % 3];
        let (size, y) = (["S", "L"][i % 2], x.sin() + (i % 3) as f64);
        format!("{x},{color},{size},{},{y}\n", i.is_multiple_of(5))
    };
    let rows: String = (0..40).map(row).collect();
    place.write("t.csv", format!("x,color,size,new,y\n\n{rows}"));
    place
}

/// Fits go by the same inputs from any kind of file, and predictions show the columns as they stood.
#[test]
fn words_are_categories_in_every_command() {
    let place = place();
    let run = place.done(&format!("{FIT} {SMALL_FIT}"));
    let notes = [
        "column `color` is a category with an input for each of its 3 levels: `blue`, `light, green`, `red`",
        "column `size` is a category: its input is 1 for `S` and 0 for `L`",
    ];
    notes.iter().for_each(|note| assert!(run.err.contains(note), "{}", run.err));
    let inspected = place.done("inspect t.nc --json").json();
    let inputs = ["x", "color=blue", "color=light, green", "color=red", "size=S", "new"];
    assert_eq!(inspected["inputs"], serde_json::json!(inputs));
    let text = place.done("inspect t.nc").out;
    notes.iter().for_each(|note| assert!(text.contains(note), "{text}"));
    assert!(place.done("evaluate t.nc t.csv").out.contains("NLPD"));
    let out = place.done("predict t.nc t.csv --keep color --experts").out;
    assert!(out.starts_with("kept_color,x,color,size,new,mean,sd,q0.05"), "{out}");
    let third = out.lines().nth(3).unwrap();
    let start = "\"light, green\",0.2857142857142857,\"light, green\",S,false,";
    assert!(third.starts_with(start), "{third}");
    place.done("predict t.nc t.csv --out p.parquet");
    place.done("predict t.nc p.parquet --out q.parquet");
    let mean = |name: &str| {
        let wanted = Wanted::numbers(Some(&["mean"]), &[]);
        Table::read_wanted(&place.path(name), &wanted).unwrap().0.columns
    };
    assert_eq!(mean("p.parquet"), mean("q.parquet"));
    place.done("report t.nc --data t.csv --out r.html");
    assert!(place.text("r.html").contains("--inputs x,color,size,new"));
    // From a pipe the fit is the same.
    let from_pipe = format!("fit - --target y --method het --out v.nc {SMALL_FIT}");
    let run = place.fed(&from_pipe, &place.text("t.csv"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(place.read("t.nc"), place.read("v.nc"));
}

#[test]
fn levels_that_the_fit_did_not_see_are_a_warning() {
    let place = place();
    place.done(&format!("{FIT} {SMALL_FIT}"));
    place.write("n.csv", "x,color,size,new\n1,mauve,S,true\n1,red,M,0\n1,mauve,L,1\n");
    let run = place.done("predict t.nc n.csv");
    let parts = [
        "warning: `n.csv`: column `color`: 2 rows have a level that the fit did not see: `mauve` (row 1): predicted \
         as none of its levels",
        "column `size`: 1 row has a level that the fit did not see: `M` (row 2): predicted as if they were `L`",
    ];
    parts.iter().for_each(|part| assert!(run.err.contains(part), "{}", run.err));
    assert!(run.out.contains("1,mauve,S,true,"), "{}", run.out);
    place.write("b.csv", "x,color,size,new\n1,red,S,true\nwide,red,M,0\n");
    let parts = ["`b.csv`, row 2 (line 3), column `x`: `wide` is not a number"];
    place.refused("predict t.nc b.csv", 1, &parts);
}

#[test]
fn faults_and_names_of_rows_are_no_categories() {
    let place = place();
    let rows: String = (0..40).map(|i| format!("{i},p{i},{}\n", f64::from(i).sin())).collect();
    place.write("id.csv", format!("x,id,y\n{rows}"));
    let parts = [
        "`id.csv`: column `id` holds 40 different words in 40 rows, as `p0`, and a category has at most 50",
        "leave the column out with --exclude",
    ];
    place.refused("fit id.csv --target y", 1, &parts);
    place.write("bad.csv", format!("x,id,y\n\n1,abc,2\n{}", rows.replace('p', "")));
    let parts = ["`bad.csv`, row 1 (line 3), column `id`: `abc` is not a number: correct it"];
    place.refused("fit bad.csv --target y", 1, &parts);
}

#[test]
fn comparisons_and_lists_of_inputs_know_categories() {
    let place = place();
    let tiny = "--warmup 20 --draws 20 --chains 2 --size 4 --max-depth 3 --inputs x,size";
    let methods = "--methods gp,het";
    let run = place.done(&format!("compare t.csv t.csv --target y {methods} {tiny} --json"));
    let found = run.json();
    let failed = |method: &serde_json::Value| !method["error"].is_null();
    assert!(!found["methods"].as_array().unwrap().iter().any(failed), "{}", run.out);
    let lists = "--expert-inputs x,size --expert-inputs color --inputs x,color,size";
    let short = "--warmup 20 --draws 20 --chains 2 --gate constant";
    place.done(&format!("fit t.csv --target y --method bhs --experts 2 {lists} {short}"));
    let found = &place.done("inspect t.nc --json").json()["settings"]["expert"]["inputs"];
    assert_eq!(*found, serde_json::json!([[0, 4], [1, 2, 3]]));
}

#[test]
fn what_is_missing_is_refused_dropped_or_filled() {
    let place = place();
    let text = place.text("t.csv");
    let lacking = |(i, line): (usize, &str)| {
        let line = match i {
            4 => line.replacen("0.2857142857142857", "", 1),
            7 => line.replacen("0.7142857142857143", "NA", 1),
            9 => line.replacen(",blue,", ",nan,", 1),
            _ => line.to_string(),
        };
        line + "\n"
    };
    place.write("t.csv", text.lines().enumerate().map(lacking).collect::<String>());
    let counts = "values are missing or NaN: 2 in `x`, 1 in `color`";
    let cure = "(--missing drop), or let means stand there (--missing mean)";
    place.refused(FIT, 1, &["gpfuse: `t.csv`: ", counts, cure]);
    let fit = |missing: &str| place.done(&format!("{FIT} {SMALL_FIT} --missing {missing}")).err;
    assert!(fit("drop").contains("2 in `x`, 1 in `color`: 3 of 40 rows are left out"));
    place.refused("predict t.nc t.csv", 1, &[counts, "or fit a model that lets means stand there"]);
    assert!(fit("mean").contains("1 in `color`: the means of the fit stand for them\n"));
    let inspected = || place.done("inspect t.nc --json").json();
    assert_eq!(inspected()["inputs"].as_array().unwrap().len(), 6);
    assert!(fit("indicator").contains(", and `x=missing`, `color=missing` say where"));
    let found = inspected();
    assert_eq!(found["inputs"][1], "x=missing");
    assert_eq!(found["settings"]["missing"], "indicator");
    let text = place.done("inspect t.nc").out;
    assert!(text.contains("the mean of the column in the fit stands for them, and"), "{text}");
    let run = place.done("predict t.nc t.csv");
    assert!(run.err.contains("note: `t.csv`: values are missing: 2 in `x`"), "{}", run.err);
    let third = run.out.lines().nth(3).unwrap();
    assert!(third.starts_with(",\"light, green\",S,false,"), "{third}");
    // The means are those of the rows that have a value.
    let held = (0..40).filter(|i| ![2, 5].contains(i)).map(|i| f64::from(i) / 7.0);
    let fill = found["columns"]["columns"][0]["fill"][0].as_f64().unwrap();
    assert!((fill - held.sum::<f64>() / 38.0).abs() < 1e-12);
    // A target is never made up.
    place.write("y.csv", "x,y\n1,2\n2,\n3,4\n");
    let parts = ["row 2 (line 3), column `y`: no value"];
    place.refused("fit y.csv --target y --missing mean", 1, &parts);
}
