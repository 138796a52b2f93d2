//! Tables and settings that cannot be used: one line that names the place and the cure.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Place, SMALL_FIT, check_refusal};

#[test]
fn bad_cells_and_headers() {
    let place = Place::empty();
    let cell = |row: &str| format!("x,y\n1,2\n{row}\n3,5\n");
    let cases: [(&str, &[&str]); 14] = [
        (&cell("2,abc"), &["`t.csv`, row 2 (line 3), column `y`", "`abc`", "correct it"]),
        (&cell("2,NaN"), &["`t.csv`, row 2 (line 3), column `y`", "`NaN`", "replace it"]),
        (&cell("inf,2"), &["`t.csv`, row 2 (line 3), column `x`", "`inf`", "replace it"]),
        (&cell("2,"), &["`t.csv`, row 2 (line 3), column `y`", "no value", "fill it in"]),
        (&cell("2,1e999"), &["column `y`", "`1e999` is not a finite number"]),
        (&cell("2,3,4"), &["`t.csv`, row 2 (line 3)", "3 cells where the header has 2"]),
        ("", &["`t.csv`: is empty", "write a header"]),
        ("x,y\n", &["`t.csv`", "no rows", "add at least one row"]),
        ("1,2\n3,4\n", &["`t.csv`", "all numbers", "put a header line"]),
        ("x;y\n1;2\n", &["`t.csv`", "not separated by commas", "save the table"]),
        ("x,x,y\n1,2,3\n", &["`t.csv`", "columns 1 and 2 are both named `x`", "rename one"]),
        ("y\n1\n2\n", &["`t.csv`", "no column besides the target `y`", "add an input"]),
        ("x,y\n1,2\n", &["`t.csv`", "one row", "give at least two"]),
        ("x,y\n1,2\n2,2\n3,2\n", &["`t.csv`", "the target is 2 in every row"]),
    ];
    for (text, parts) in cases {
        place.write("t.csv", text);
        place.refused(&format!("fit t.csv --target y --experts 1 {SMALL_FIT}"), 1, parts);
    }
    place.write("t.parquet", "x,y\n1,2\n");
    place.refused("fit t.parquet --target y", 1, &["`t.parquet`", "not a Parquet file"]);
}

#[test]
fn missing_files_and_columns() {
    let place = Place::new();
    place.refused("fit no.csv --target y", 1, &["`no.csv`: no such file", "check the path"]);
    place.refused("fit . --target y", 1, &["`.`: is a folder", "give a table file"]);
    place.refused("fit d.csv --target z", 1, &["`d.csv`: no column `z`: it has `x`, `y`"]);
    place.refused("fit d.csv --target Y", 1, &["no column `Y` (did you mean `y`?)"]);
    place.refused("fit d.csv --target y --inputs w", 1, &["no column `w`", "it has"]);
    place.refused("fit d.csv --target y --inputs x,y", 1, &["column `y`", "take it out"]);
    place.refused("fit d.csv --target y --inputs x,x", 1, &["column `x` stands twice"]);
    place.refused("fit d.csv --target y --inputs x,,", 1, &["--inputs has an empty name"]);
    place.refused("fit - --target y", 1, &["`standard input`: is empty"]);
    for flags in ["", " --inputs x"] {
        let run = place.fed(&format!("fit - --target y{flags}"), "x,y\n1,a\n");
        check_refusal("fit -", &run, 1, &["`standard input`, row 1 (line 2), column `y`"]);
    }
    assert_eq!(place.files(), ["d.csv"]);
}

/// Numbers are names only for who names all columns; else the header is missing.
#[test]
fn numbers_as_names() {
    let place = Place::new();
    let rows: String = (0..20).map(|i| format!("{i},{}\n", (f64::from(i) / 3.0).sin())).collect();
    place.write("n.csv", format!("1,2\n{rows}"));
    place.done(&format!("fit n.csv --target 2 --inputs 1 {SMALL_FIT}"));
    place.refused("fit n.csv --target 2 --out m.nc", 1, &["the first line is all numbers"]);
}

#[test]
fn settings_out_of_range() {
    let place = Place::new();
    let cases = [
        ("--chains 0", "setting `chains`: 0 is out of range: use 1 to"),
        ("--draws 0", "setting `draws`: 0 is out of range: use 1 to"),
        ("--warmup 0", "setting `warmup`: 0 is out of range: use 10 to"),
        ("--target-accept 2", "setting `target-accept`: 2 must lie between 0.1 and 0.9999"),
        ("--target-accept -1", "setting `target-accept`: -1 must lie between"),
        ("--target-accept nan", "setting `target-accept`: NaN must lie between"),
        ("--max-depth 0", "setting `max-depth`: 0 is out of range"),
        ("--hmc-depth 0", "setting `hmc-depth`: 0 is out of range"),
        ("--size 0", "setting `size`: 0 is out of range: use 1 to 10000"),
        ("--size 4294967296", "setting `size`: 4294967296 is out of range"),
        ("--box 1", "setting `box`: 1 must lie above 1"),
        ("--frequencies 0", "setting `frequencies`: 0 is out of range: use 1 to"),
        ("--experts 0", "setting `experts`: 0 is out of range: use 1 to"),
        ("--method pogpe --experts 41", "setting `experts`: 41 experts for 40 rows: use fewer"),
        ("--candidates 0", "setting `candidates`: 0 is out of range"),
        ("--threads 0", "setting `threads`: 0 is out of range"),
        ("--omega no.csv", "`no.csv`: no such file"),
    ];
    for (flags, part) in cases {
        place.refused(&format!("fit d.csv --target y {flags}"), 1, &[part]);
    }
    place.write("omega.csv", "a,b\n1,2\n3,4\n");
    let parts = ["`omega.csv`", "2 columns for 1 inputs", "one column per input"];
    place.refused("fit d.csv --target y --omega omega.csv", 1, &parts);
    place.write("four.csv", "a,b,c,d,y\n1,2,3,4,5\n2,3,4,5,7\n3,4,5,6,1\n");
    let parts = ["setting `basis`", "one to three inputs, not 4", "use `rff`"];
    place.refused("fit four.csv --target y --basis hilbert", 1, &parts);
}

#[test]
fn settings_files_that_cannot_be_used() {
    let place = Place::new();
    let cases: [(&str, &[&str]); 9] = [
        ("along = 'z'", &["setting `along`: there is no input `z`: use `x`"]),
        ("box = nan", &["`s.toml`, line 1", "setting `box`"]),
        ("seed = 1\nmethod = \"het", &["`s.toml`, line 2", "expected `\"`"]),
        ("foo = 3", &["`s.toml`, line 1", "unknown key `foo`", "`target-accept`"]),
        ("max_depth = 3", &["`s.toml`, line 1", "unknown key `max_depth`", "`max-depth`"]),
        ("\nchains = 'two'", &["`s.toml`, line 2", "setting `chains`: `two` is no whole number"]),
        ("method = 'gpe'", &["`s.toml`, line 1", "`gpe`", "`mogpe`"]),
        ("chains = 0", &["setting `chains`: 0 is out of range"]),
        ("[priors.mu]\nvar = -1.0", &["setting `priors`: mu.var = -1 must be positive"]),
    ];
    for (text, parts) in cases {
        place.write("s.toml", text);
        place.refused("fit d.csv --target y --settings s.toml", 1, parts);
    }
    let parts = ["settings file `no.toml`", "check the path"];
    place.refused("fit d.csv --target y --settings no.toml", 1, &parts);
}

#[test]
fn simulations_that_cannot_be_made() {
    let place = Place::new();
    let cases = [
        ("--out a.csv --n 0", "setting `n`: 0"),
        ("--out a.csv --experts 0", "setting `experts`: 0"),
        ("--out a.csv --low 5 --high -5", "setting `high`: -5"),
        ("--out a.csv --mean-lengthscale -1", "setting `mean-lengthscale`: -1"),
        ("--out no/a.csv", "folder `no` does not exist: create it first"),
        ("--out a.csv --truth no/b.csv", "folder `no` does not exist: create it first"),
        ("--out a.csv --truth a.csv", "give them two names"),
        ("--out - --truth -", "give them two names"),
    ];
    for (flags, part) in cases {
        place.refused(&format!("simulate {flags}"), 1, &[part]);
    }
}
