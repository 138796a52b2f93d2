//! `--rao-blackwell`: what it changes, and for which models it is refused.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Place, Run};

/// The score and its Monte Carlo error.
fn score(run: &Run, name: &str) -> [f64; 2] {
    ["value", "mcse"].map(|part| run.json()[name][part].as_f64().unwrap())
}

/// On a saved model the scores are those of the draws within 5 combined Monte Carlo errors, and not
/// the same; the draws are the same, so that chance has little part in it. Threads do not show.
#[test]
fn it_works_on_a_saved_model() {
    for flags in ["--method pogpe", "--method het --frequencies 5", "--method mogpe --experts 1"] {
        let place = Place::fitted(flags);
        let evaluate = |more: &str| place.done(&format!("evaluate d.nc d.csv --json {more}"));
        let (plain, smooth) = (evaluate(""), evaluate("--rao-blackwell"));
        for name in ["nlpd", "crps", "rmse", "mae"] {
            let ([a, error_a], [b, error_b]) = (score(&plain, name), score(&smooth, name));
            assert!(a != b && (a - b).abs() < 5.0 * error_a.hypot(error_b), "{flags}: {a} {b}");
        }
        let predict = |more: &str| {
            place.done(&format!("predict d.nc d.csv --density --experts --samples 2 {more}"))
        };
        let (plain, smooth) = (predict("").table(), predict("--rao-blackwell").table());
        assert_eq!(plain.names, smooth.names);
        assert_ne!(plain.column("mean"), smooth.column("mean"));
        assert_eq!(plain.column("weight_expert_1"), smooth.column("weight_expert_1"));
        let one = predict("--rao-blackwell --threads 1").out;
        assert_eq!(predict("--rao-blackwell --threads 3").out, one);
    }
}

#[test]
fn it_is_refused_where_the_model_does_not_allow_it() {
    for (flags, need) in [
        ("--method mogpe", "pogpe, or a single expert"),
        ("--method bhs", "experts that are learned with the weights"),
        ("--method pbhs", "experts that are learned with the weights"),
    ] {
        let place = Place::fitted(flags);
        let parts = ["setting `rao-blackwell`: it needs", need, "predict without it"];
        place.refused("predict d.nc d.csv --rao-blackwell --out p.csv", 1, &parts);
        place.refused("evaluate d.nc d.csv --rao-blackwell", 1, &parts);
    }
    let place = Place::new();
    let eigen = "--basis eigen --warmup 20 --draws 10 --chains 2 --max-depth 3";
    place.done(&format!("fit d.csv --target y --method het {eigen}"));
    place.refused("evaluate d.nc d.csv --rao-blackwell", 1, &["the rff or hilbert basis"]);
}
