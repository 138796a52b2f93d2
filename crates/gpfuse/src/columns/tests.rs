#![allow(clippy::unwrap_used)]

use super::*;
use crate::settings::Style;

fn cells(texts: &[&str]) -> Cells {
    let mut cells = Cells::default();
    texts.iter().for_each(|text| cells.push(text));
    cells
}

fn learn(columns: &[&[&str]], missing: Missing) -> Result<(Columns, Vec<Cells>), Fault> {
    let cells: Vec<Cells> = columns.iter().map(|texts| cells(texts)).collect();
    let names: Vec<String> = ["a", "b", "c"].map(String::from)[..cells.len()].to_vec();
    Ok((Columns::learn(&names, &cells, missing)?, cells))
}

fn refused(columns: &[&[&str]], missing: Missing, purpose: Purpose) -> String {
    let found = learn(columns, missing).and_then(|(all, cells)| all.apply(&cells, purpose));
    found.unwrap_err().render(Style::Python)
}

#[test]
fn a_category_has_an_input_for_each_level_and_one_of_two_levels() {
    let (columns, cells) = learn(
        &[&["red", "blue", "red", "10"], &["no", "yes", "no", "yes"], &["1", "2", "3", "4"]],
        Missing::Refuse,
    )
    .unwrap();
    assert_eq!(columns.inputs(), ["a=10", "a=blue", "a=red", "b=yes", "c"]);
    let inputs = columns.apply(&cells, Purpose::Fit).unwrap();
    assert_eq!(inputs.x[..5], [0.0, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(inputs.x[15..], [1.0, 0.0, 0.0, 1.0, 4.0]);
    assert!(inputs.notes[1].contains("1 for `yes` and 0 for `no`"), "{:?}", inputs.notes);
    let json = serde_json::to_string(&columns).unwrap();
    assert_eq!(serde_json::from_str::<Columns>(&json).unwrap(), columns);
}

#[test]
fn levels_that_are_new_are_none_and_said() {
    let (columns, _) = learn(&[&["x", "y", "z"], &["no", "yes", "no"]], Missing::Refuse).unwrap();
    let new = [cells(&["y", "w", "w"]), cells(&["maybe", "yes", "no"])];
    let inputs = columns.apply(&new, Purpose::Ask).unwrap();
    assert_eq!(inputs.x, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(
        inputs.warnings,
        [
            "column `a`: 2 rows have a level that the fit did not see: `w` (row 2): predicted as none of its levels",
            "column `b`: 1 row has a level that the fit did not see: `maybe` (row 1): predicted as if they were `no`",
        ]
    );
}

#[test]
fn few_words_among_numbers_are_faults_and_names_of_rows_no_category() {
    let text = refused(&[&["1", "2", "abc", "x"]], Missing::Refuse, Purpose::Fit);
    assert_eq!(
        text,
        "row 3, column `a`: `abc` is not a number: correct it or leave the column out"
    );
    // Numbers in another notation, all of them.
    let text = refused(&[&["1,5", "2,5", "3,5"]], Missing::Refuse, Purpose::Fit);
    assert!(text.starts_with("row 1, column `a`: `1,5` is not a number"), "{text}");
    let all: Vec<String> = (0..60).map(|i| format!("no {}", i % 55)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for names in [&all[..20], &all[..]] {
        let text = refused(&[names], Missing::Refuse, Purpose::Fit);
        assert!(text.contains("`a` holds") && text.contains("as `no 0`"), "{text}");
        assert!(text.contains("leave the column out, join its levels, or"), "{text}");
    }
    let (columns, _) = learn(&[&["True", "false", "TRUE"]], Missing::Refuse).unwrap();
    assert!(columns.is_plain());
    let inputs = columns.apply(&[cells(&["true", "0", "False"])], Purpose::Ask).unwrap();
    assert_eq!(inputs.x, [1.0, 0.0, 0.0]);
    assert!(columns.apply(&[cells(&["maybe"])], Purpose::Ask).is_err());
}

#[test]
fn numbers_are_levels_where_that_is_said() {
    let names = ["a".to_string()];
    let codes = [Cells::numbers(vec![10.0, 9.0, 10.0, 1.5]).of_category()];
    let columns = Columns::learn(&names, &codes, Missing::Refuse).unwrap();
    assert_eq!(columns.inputs(), ["a=1.5", "a=9", "a=10"]);
    // As text they are the same.
    let inputs = columns.apply(&[cells(&["9.0", "010"])], Purpose::Ask).unwrap();
    assert_eq!(inputs.x, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn what_is_missing_is_refused_dropped_or_filled() {
    let lacks: &[&[&str]] =
        &[&["1", "", "NA", "5"], &["u", "v", "u", "nan"], &["1", "2", "3", "4"]];
    let text = refused(lacks, Missing::Refuse, Purpose::Fit);
    assert_eq!(
        text,
        "values are missing or NaN: 2 in `a`, 1 in `b`, the first in row 2: fill them in, leave these rows out \
         (missing=\"drop\"), or let means stand there (missing=\"mean\"), with inputs that say where (missing=\"indicator\")"
    );
    let text = refused(lacks, Missing::Drop, Purpose::Ask);
    assert!(
        text.contains("or fit a model that lets means stand there (missing=\"mean\")"),
        "{text}"
    );
    let apply = |missing| {
        let (columns, cells) = learn(lacks, missing).unwrap();
        (columns.inputs(), columns.apply(&cells, Purpose::Fit).unwrap())
    };
    let (_, dropped) = apply(Missing::Drop);
    assert_eq!(dropped.dropped, [1, 2, 3]);
    assert!(dropped.notes.iter().any(|note| note.ends_with("3 of 4 rows are left out")));
    let (names, mean) = apply(Missing::Mean);
    assert_eq!(names, ["a", "b=v", "c"]);
    assert_eq!(mean.x[3..6], [3.0, 1.0, 2.0]);
    assert_eq!(mean.x[10], 1.0 / 3.0);
    let (names, flagged) = apply(Missing::Indicator);
    assert_eq!(names, ["a", "a=missing", "b=v", "b=missing", "c"]);
    assert_eq!(flagged.x[..5], [1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(flagged.x[5..10], [3.0, 1.0, 1.0, 0.0, 2.0]);
    // A column that lacked nothing in the fit has its mean, too.
    let (columns, _) = learn(lacks, Missing::Indicator).unwrap();
    let new = [cells(&["1"]), cells(&["u"]), cells(&[""])];
    assert_eq!(columns.apply(&new, Purpose::Ask).unwrap().x, [1.0, 0.0, 0.0, 0.0, 2.5]);
    for missing in [Missing::Mean, Missing::Drop] {
        let text = refused(&[&["1", "2"], &["", "NA"]], missing, Purpose::Fit);
        assert!(text.contains("leave"), "{text}");
    }
}

#[test]
fn two_inputs_of_one_name_are_refused() {
    let names = ["a".to_string(), "a=x".to_string()];
    let found = [cells(&["x", "y", "z"]), cells(&["1", "2", "3"])];
    let text = Columns::learn(&names, &found, Missing::Refuse).unwrap_err().to_string();
    assert!(text.contains("two inputs would be called `a=x`"), "{text}");
}
