//! The examples run: each is its own program, and what it prints makes sense.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// What an example prints; examples are built beside the tests.
fn run(name: &str, args: &[&Path]) -> String {
    let tests = std::env::current_exe().unwrap();
    let built: PathBuf = tests.parent().unwrap().parent().unwrap().join("examples").join(name);
    let output = Command::new(&built).args(args).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn numbers(line: &str) -> Vec<f64> {
    let words = line.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Reads a CSV with the csv crate, fits, and prints mean and 90 % interval at new rows: in twelve
/// lines.
#[test]
fn fit_and_predict_is_short_and_prints_intervals() {
    let source = include_str!("../examples/fit_and_predict.rs");
    let code = |line: &&str| !line.trim().is_empty() && !line.starts_with("//");
    assert!(source.lines().filter(code).count() <= 12);
    let folder = std::env::temp_dir().join(format!("gpfuse-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (train, new) = (folder.join("train.csv"), folder.join("new.csv"));
    let row = |i: i32| {
        let x = f64::from(i) / 10.0;
        format!("{x},{}\n", x.sin() + 0.1 * (1.7 * f64::from(i * i)).cos())
    };
    std::fs::write(&train, format!("x,y\n{}", (0..40).map(row).collect::<String>())).unwrap();
    std::fs::write(&new, "x\n1.05\n2.55\n").unwrap();
    let printed = run("fit_and_predict", &[&train, &new]);
    std::fs::remove_dir_all(&folder).unwrap();
    let lines: Vec<Vec<f64>> = printed.lines().map(numbers).collect();
    assert_eq!(lines.len(), 2, "{printed}");
    for (line, truth) in lines.iter().zip([1.05_f64.sin(), 2.55_f64.sin()]) {
        let [mean, _, low, high] = line[..] else { panic!("{printed}") };
        assert!(low < mean && mean < high && (mean - truth).abs() < 0.2, "{printed}");
    }
}

#[test]
fn each_expert_is_trusted_where_it_is_right() {
    let printed = run("fuse_predictions", &[]);
    let weight = |name: &str| -> Vec<f64> {
        let lines = printed.lines().filter(|line| line.trim().starts_with(name));
        lines.map(|line| numbers(line)[0]).collect()
    };
    let (left, right) = (weight("left"), weight("right"));
    assert!(left[0] > 0.8 && right[2] > 0.8, "{printed}");
}

#[test]
fn methods_are_ranked() {
    let printed = run("choose_method", &[]);
    let nlpd: Vec<f64> = printed.lines().map(|line| numbers(&line[14..])[0]).collect();
    assert!(nlpd.len() == 6 && nlpd.is_sorted(), "{printed}");
}
