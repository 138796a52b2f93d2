//! The classical rules as methods of `fit` and `stack`: what they predict is what `compare` scores.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::Place;
use gpfuse::baseline::Rule;

/// All but `bma`, which needs marginal likelihoods, and the trees of the portfolio have none.
fn rules() -> Vec<&'static str> {
    Rule::ALL.into_iter().filter(|rule| !rule.needs_evidence()).map(Rule::name).collect()
}

/// The NLPD of a model file.
fn scored(place: &Place, table: &str) -> f64 {
    place.done(&format!("evaluate m.nc {table} --json")).json()["nlpd"]["value"].as_f64().unwrap()
}

fn same(place: &Place, flags: &str, rules: &[&str]) {
    place.done("simulate --n 60 --inputs 3 --out d.csv");
    place.done("simulate --n 30 --inputs 3 --seed 1 --out t.csv");
    let chosen = rules.join(",");
    let compared = format!("compare d.csv t.csv --target y {flags} --methods {chosen} --json");
    for entry in place.done(&compared).json()["methods"].as_array().unwrap() {
        let (rule, nlpd) = (entry["method"].as_str().unwrap(), entry["nlpd"]["value"].as_f64());
        let run =
            place.done(&format!("fit d.csv --target y --method {rule} {flags} --out m.nc --json"));
        assert_eq!(run.err, "", "{rule}");
        let (found, nlpd) = (scored(place, "t.csv"), nlpd.unwrap());
        assert!((found - nlpd).abs() < 1e-9 * (1.0 + nlpd.abs()), "{rule}: {found}, not {nlpd}");
    }
}

#[test]
fn a_fitted_rule_is_that_of_a_comparison() {
    same(&Place::empty(), "", &rules());
    same(&Place::empty(), "--partition kernels --experts 3", &["bma", "rbcm", "stacking"]);
}

/// On the user's scale, whatever the scaling, and by the experts' names.
#[test]
fn given_predictions_are_fused_by_a_rule() {
    let place = Place::empty();
    let row = |i: u32| {
        let x = f64::from(i) / 10.0;
        format!("{x},{},{},0.3,{},0.9\n", 5.0 + x.sin(), 5.2 + x.sin(), 5.0 + 0.1 * x)
    };
    let rows: String = (0..60).map(row).collect();
    place.write("s.csv", format!("x,y,mean_a,sd_a,mean_b,sd_b\n{rows}"));
    place.done("stack s.csv --target y --method best-expert --out m.nc");
    let table = place.done("predict m.nc s.csv --experts").table();
    for (name, from, by) in [("mean", "mean_a", 0.0), ("weight_a", "mean_a", 1.0)] {
        let gap = |(found, said): (&f64, &f64)| if by > 0.0 { found - by } else { found - said };
        let (found, said) = (table.column(name), table.column(from));
        assert!(found.iter().zip(&said).map(gap).all(|gap| gap.abs() < 1e-9), "{name}");
    }
    place.done("stack s.csv --target y --method poe --out m.nc");
    let table = place.done("predict m.nc s.csv").table();
    let sd = (1.0 / (1.0 / 0.09 + 1.0 / 0.81_f64)).sqrt();
    assert!(table.column("sd").iter().all(|found| (found - sd).abs() < 1e-9));
    let parts =
        ["`method`: bma needs the marginal likelihood", "pseudo-bma", "--partition kernels"];
    place.refused("stack s.csv --target y --method bma", 1, &parts);
    let parts = ["nothing of poe is sampled"];
    place.refused("sbc --method poe --out sbc", 1, &parts);
}

/// Constant weights are called so, and a rule without weights shows none.
#[test]
fn a_rule_is_inspected() {
    let place = Place::empty();
    place.done("simulate --n 60 --inputs 3 --out d.csv");
    place.done("fit d.csv --target y --method stacking --out m.nc");
    let told = place.done("inspect m.nc").out;
    assert!(told.contains("the weights are constant: no input changes them"), "{told}");
    place.done("fit d.csv --target y --method rbcm --out m.nc");
    let told = place.done("inspect m.nc").out;
    assert!(told.starts_with("rbcm with 5 experts") && !told.contains("weight"), "{told}");
    let compared = place.done("compare d.csv --target y --methods GP,rbcm").out;
    assert!(compared.contains("\nto fit "), "{compared}");
}
