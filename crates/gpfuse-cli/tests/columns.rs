//! Which columns of a table are used, kept and pointed out.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Place, SMALL_FIT};
use gpfuse_io::table::{Table, Wanted};

/// A table with an index as pandas writes it, an id, a text and a constant.
fn place(index: &str) -> Place {
    let place = Place::empty();
    let row = |i: u32| {
        let x = f64::from(i) / 5.0;
        format!("{i},{:03},\"no {i}\",{x},{},1,{}\n", i + 7, x.cos(), x.sin())
    };
    let rows: String = (0..30).map(row).collect();
    place.write("t.csv", format!("{index},id,name,a,b,one,y\n{rows}"));
    place
}

fn inputs(place: &Place, model: &str) -> Vec<String> {
    let inputs = &place.done(&format!("inspect {model} --json")).json()["inputs"];
    inputs.as_array().unwrap().iter().map(|name| name.as_str().unwrap().into()).collect()
}

#[test]
fn an_index_is_left_out_and_columns_are_excluded() {
    for index in ["", "Unnamed: 0", "__index_level_0__"] {
        let place = place(index);
        let fit = format!("fit t.csv --target y {SMALL_FIT} --method het --exclude id,name,one");
        let run = place.done(&fit);
        assert!(run.err.starts_with("note: `t.csv`: column 1 has "), "{}", run.err);
        assert!(run.err.contains("as an index that was written with a table: it is left out\n"));
        assert_eq!(inputs(&place, "t.nc"), ["a", "b"]);
        let table = place.done("predict t.nc t.csv").table();
        assert_eq!(table.names[..3], ["a", "b", "mean"]);
    }
    let place = place("row");
    let run =
        place.done(&format!("fit t.csv --target y {SMALL_FIT} --method het --exclude id,name"));
    let note = "note: `t.csv`: input `one` is 1 in every row: nothing can be learned from it\n";
    assert!(run.err.starts_with(note), "{}", run.err);
    assert_eq!(inputs(&place, "t.nc"), ["row", "a", "b", "one"]);
    let cases: [(&str, &[&str]); 4] = [
        ("--exclude nme", &["`t.csv`: no column `nme` (did you mean `name`?)"]),
        ("--exclude y", &["column `y` is both target and excluded: take it out of --exclude"]),
        ("--exclude id,id", &["column `id` stands twice in --exclude"]),
        ("--exclude id", &["column `name` holds 30 different words in 30 rows, as `no 0`"]),
    ];
    for (flags, parts) in cases {
        place.refused(&format!("fit t.csv --target y {flags}"), 1, parts);
    }
    let both = "fit t.csv --target y --inputs a --exclude b";
    place.refused(both, 2, &["--inputs", "cannot be used with '--exclude <COLUMNS>'"]);
    place.write("u.csv", "a,,y\n1,2,3\n2,3,4\n");
    place.refused("fit u.csv --target y", 1, &["`u.csv`: column 2 has no name: name it"]);
}

/// Columns are carried over whatever they hold, and Parquet has all of them.
#[test]
fn columns_are_kept_in_predictions() {
    let place = place("");
    place.done(&format!("fit t.csv --target y --inputs a --out m.nc {SMALL_FIT} --method het"));
    let text = place.done("predict m.nc t.csv --keep id,name,y,a").out;
    assert!(text.starts_with("id,name,y,kept_a,a,mean,sd,q0.05"), "{text}");
    let first = text.lines().nth(2).unwrap();
    assert!(first.starts_with("008,no 1,0.19866933079506122,0.2,0.2,"), "{first}");
    place.done("predict m.nc t.csv --keep id,name,y --out p.csv");
    place.done("predict m.nc t.csv --keep id,name,y --out p.parquet");
    let read = |name: &str| {
        Table::read_wanted(
            &place.path(name),
            &Wanted::numbers(Some(&["mean", "q0.95"]), &["id", "name"]),
        )
        .unwrap()
    };
    let (csv, parquet) = (read("p.csv"), read("p.parquet"));
    assert_eq!(csv.0.columns, parquet.0.columns);
    assert_eq!((&csv.1, &csv.1.columns[0][0]), (&parquet.1, &"007".to_string()));
    // What was written can be read: the target is in it.
    assert!(place.done("evaluate m.nc p.parquet").out.contains("NLPD"));
    place.refused("predict m.nc t.csv --keep nam", 1, &["no column `nam` (did you mean `name`?)"]);
    place.refused("predict m.nc t.csv --keep id,id", 1, &["column `id` stands twice in --keep"]);
    place.done("simulate --n 20 --out s.parquet");
    assert!(place.read("s.parquet").starts_with(b"PAR1"));
    place.done(&format!("fit s.parquet --target y {SMALL_FIT} --method het"));
}

/// Names of methods and other words are understood as people write them.
#[test]
fn words_are_understood_in_any_case() {
    let place = Place::new();
    let fit = |flags: &str| {
        let run =
            place.done(&format!("fit d.csv --target y {SMALL_FIT} --json --out m.nc {flags}"));
        run.json()["settings"].clone()
    };
    assert_eq!(fit("--method MoGPE")["method"], "mogpe");
    let found = fit("--method Het --kernel Matern-52 --basis HILBERT");
    assert_eq!((&found["method"], &found["kernel"]), (&"het".into(), &"matern52".into()));
    place.write("s.toml", "method = \"PoGPE\"\nkernel = \"RBF\"\n");
    assert_eq!(fit("--settings s.toml")["method"], "pogpe");
    let tiny = "--warmup 20 --draws 20 --chains 2 --size 4 --max-depth 3 --expert-kernel RBF";
    let run = place.done(&format!("compare d.csv --target y --methods GP,Het {tiny} --json"));
    assert_eq!(run.json()["methods"].as_array().unwrap().len(), 2);
}

/// No score has digits that mean nothing, and no error is a row of noughts.
#[test]
fn scores_have_the_digits_that_they_support() {
    let place = Place::fitted("--method het");
    let out = place.done("evaluate d.nc d.csv").out;
    for line in out.lines().skip(1) {
        let cells: Vec<&str> = line.split_whitespace().rev().take(3).collect();
        let decimals = |cell: &str| cell.split_once('.').map_or(2, |(_, digits)| digits.len());
        assert!(decimals(cells[2]) <= decimals(cells[0]) + 1, "{out}");
        assert!(cells.iter().all(|cell| !cell.contains("0.000000")), "{out}");
    }
}
