//! What a warning advises can be done, is new, and helps.
//!
//! The seeds are fixed, and so is every outcome on one instruction set; on another the digits differ.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;

use common::{Place, Run};
use serde_json::Value;

/// Flags and their values.
type Flags = BTreeMap<String, String>;

fn read(text: &str) -> Flags {
    let each = text.split("--").map(str::trim).filter(|flag| !flag.is_empty());
    each.map(|flag| {
        let (name, value) = flag.split_once(' ').unwrap_or((flag, ""));
        (name.to_string(), value.to_string())
    })
    .collect()
}

/// The flags that stand in parentheses in a warning.
fn advice(warning: &str) -> Flags {
    let parts = warning.split('(').skip(1).filter_map(|part| part.split(')').next());
    parts.filter(|part| part.starts_with("--")).flat_map(read).collect()
}

fn fit(place: &Place, flags: &Flags) -> (Run, Value) {
    let flags: Vec<String> =
        flags.iter().map(|(name, value)| format!("--{name} {value}")).collect();
    let run = place.done(&format!("fit d.csv --target y --json --out m.nc {}", flags.join(" ")));
    let json = run.json();
    (run, json)
}

/// Fit, do all that is advised by the warning with these words, and compare a figure that is better when smaller.
/// What was done is not advised again.
fn helps(place: &Place, flags: &str, words: &str, figure: impl Fn(&Value) -> f64) {
    let flags = read(flags);
    let (run, before) = fit(place, &flags);
    let warning = run.err.lines().find(|line| line.contains(words));
    let told = advice(warning.unwrap_or_else(|| panic!("no warning of `{words}`: {}", run.err)));
    assert!(!told.is_empty(), "{}", run.err);
    let mut all = flags.clone();
    all.extend(told.clone());
    assert!(told.iter().all(|(name, value)| flags.get(name) != Some(value)), "{told:?}");
    let (again, after) = fit(place, &all);
    assert!(figure(&after) < figure(&before), "{all:?}: {}, {}", figure(&before), figure(&after));
    for (name, value) in &told {
        assert_ne!(advice(&again.err).get(name), Some(value), "{}", again.err);
    }
}

/// The worst of a figure over all that is judged.
fn worst(json: &Value, key: &str) -> f64 {
    let all = json["diagnostics"]["quantities"].as_array().unwrap().iter();
    all.map(|q| q[key].as_f64().unwrap_or(f64::INFINITY)).fold(0.0, f64::max)
}

/// Draws that are lost: of all, those that the least effective sample size is short of.
fn lost(json: &Value) -> f64 {
    let all = json["diagnostics"]["quantities"].as_array().unwrap().iter();
    -all.map(|q| q["ess_bulk_min"].as_f64().unwrap_or(0.0)).fold(f64::INFINITY, f64::min)
}

fn diverged(json: &Value) -> f64 {
    let found = &json["diagnostics"];
    let draws = found["draws"].as_f64().unwrap() * found["chains"].as_f64().unwrap();
    found["divergences"].as_f64().unwrap() / draws
}

#[test]
fn more_draws_deeper_trees_and_more_functions() {
    let place = Place::new();
    let short = "--method het --size 8 --warmup 50 --draws 50 --chains 2 --max-depth 3";
    helps(&place, short, "have not mixed fully", |json| worst(json, "rhat_max"));
    helps(&place, short, "independent ones", lost);
    helps(&place, short, "cut by the depth limit", |json| {
        json["diagnostics"]["saturated"].as_f64().unwrap()
    });
    helps(&place, short, "shorter than the basis resolves", |json| {
        json["diagnostics"]["warnings"].to_string().matches("% of the lengthscales").count() as f64
    });
}

#[test]
fn smaller_steps_for_what_diverges() {
    let place = Place::new();
    for accept in ["0.8", "0.95"] {
        let flags = format!("--method het --size 8 --draws 500 --seed 1 --target-accept {accept}");
        let (run, _) = fit(&place, &read(&flags));
        if run.err.contains("diverged") {
            helps(&place, &flags, "diverged", diverged);
        } else {
            assert_eq!(accept, "0.95", "no divergence to cure");
        }
    }
}

#[test]
fn several_chains_and_a_sampler() {
    let place = Place::new();
    let few = "--method het --size 12 --draws 200 --warmup 200";
    // One chain has no R-hat, and a point no error.
    let unknown = |json: &Value| f64::from(u8::from(worst(json, "rhat_max").is_infinite()));
    helps(&place, &format!("{few} --chains 1"), "one chain cannot show", unknown);
    let (_, point) = fit(&place, &read(&format!("{few} --sampler map")));
    assert!(point["diagnostics"]["quantities"].as_array().unwrap().is_empty());
    let told = advice(fit(&place, &read(&format!("{few} --sampler map"))).0.err.as_str());
    assert_eq!(told, read("--sampler nuts"));
}

/// Chains in different modes, on a basis that has many of them.
#[test]
fn chains_that_sit_in_different_modes() {
    let place = Place::new();
    let flags = "--method mogpe --basis rff --frequencies 10 --start prior --candidates 1 --warmup 50 --draws 60 \
                 --combine equal --seed 3";
    helps(&place, flags, "the chains sit in different modes", |json| {
        let all = json["diagnostics"]["quantities"].as_array().unwrap().iter();
        all.map(|q| q["rhat_median"].as_f64().unwrap_or(f64::INFINITY)).fold(0.0, f64::max)
    });
}

/// On many inputs there is no Hilbert basis to advise, nor a number of its functions.
#[test]
fn advice_is_possible_for_many_inputs() {
    let place = Place::empty();
    place.done("simulate --n 60 --inputs 5 --out d.csv");
    let tiny = "--warmup 20 --draws 30 --chains 3 --max-depth 2";
    for method in ["het", "mogpe", "pogpe", "pbhs", "bhs"] {
        let flags = read(&format!("--method {method} {tiny}"));
        let (run, _) = fit(&place, &flags);
        let told = advice(&run.err);
        assert!(!told.is_empty() && !run.err.contains("ilbert"), "{method}: {}", run.err);
        let mut all = flags;
        all.extend(told.into_iter().filter(|(_, value)| !value.is_empty()));
        // Followed at once, and nothing of it is without effect.
        let short = [("draws", "40"), ("warmup", "40"), ("max-depth", "3")];
        all.extend(short.map(|(name, value)| (name.to_string(), value.to_string())));
        let again = fit(&place, &all).0;
        assert!(!again.err.contains("no effect"), "{method}: {}", again.err);
    }
}
