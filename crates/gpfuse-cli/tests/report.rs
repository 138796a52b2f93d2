//! `gpfuse report`: pages of models and sweeps, and what cannot be one.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::{Place, check_refusal, small};
use gpfuse::sweep::{Finished, Key};

const BAD: &str = "<img src=x onerror=alert(1)>";

const SETTINGS: &str = r#"name = "small"
version = "0.1.0"
[data.d]
simulate = { n = 60 }
splits = 3
[[arm]]
name = "mogpe"
method = "mogpe"
label = "<img src=x onerror=alert(1)>"
[[arm]]
name = "het"
method = "het"
[[study]]
name = "experts"
data = ["d"]
arms = ["mogpe", "het"]
basis = "rff"
sizes = [10]
experts = [2, 3]
"#;

fn finished(arm: &str, experts: usize, split: usize) -> Finished {
    let (data, basis) = ("d".into(), "rff".into());
    let key = Key { data, arm: arm.into(), basis, size: 10, experts, split, seed: 0 };
    Finished {
        key,
        method: arm.into(),
        nlpd: Some(0.5 + 0.1 * split as f64 + 0.01 * experts as f64),
        nlpd_se: Some(0.04),
        nlpd_mcse: Some(0.01),
        crps: Some(0.3),
        rmse: Some(0.5),
        coverage_50: Some(0.5),
        coverage_80: Some(0.8),
        coverage_95: Some(0.9),
        passed: Some(true),
        rhat_median: Some(1.0),
        rhat_max: Some(1.005),
        ess_median: Some(800.0),
        divergences: Some(0),
        leapfrogs: Some(15.0),
        chain_weights: String::new(),
        error: String::new(),
        version: "0.1.0".into(),
        fit_seconds: 1.0,
        predict_seconds: 0.1,
    }
}

/// A folder with a sweep `s` of nine cells.
fn sweep() -> Place {
    let place = Place::empty();
    fs::create_dir(place.path("s")).unwrap();
    place.write("s/settings.toml", SETTINGS);
    let cells = [("mogpe", 2), ("mogpe", 3), ("het", 1)];
    let rows = cells.iter().flat_map(|(arm, k)| (0..3).map(|split| finished(arm, *k, split)));
    let lines: String = rows.map(|r| serde_json::to_string(&r).unwrap() + "\n").collect();
    place.write("s/ledger.jsonl", lines);
    place
}

/// A whole page: no address, no markup from names, one script and one style.
fn check_page(text: &str) {
    assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"));
    assert_eq!(text.matches("<script>").count(), 1);
    assert_eq!(text.matches("<style>").count(), 1);
    assert!(!text.contains("<img") && !text.contains("<link"));
    // The name of the SVG language is no address that is asked.
    let addresses = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http://") && !addresses.contains("https://"));
    assert!(text.contains("default-src 'none'") || text.contains("default-src &#x27;none&#x27;"));
    assert!(!text.contains("NaN"));
}

#[test]
fn a_sweep_becomes_a_page() {
    let place = sweep();
    let started = Instant::now();
    let run = place.done("report s");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(run.err.contains("wrote `s/report.html`"), "{}", run.err);
    let text = place.text("s/report.html");
    check_page(&text);
    assert!(
        text.contains("&lt;img src=x onerror=alert(1)&gt;") || text.contains("&lt;img src&#x3d;x")
    );
    assert!(text.contains("9 cells finished; none failed"), "no count");
    assert!(!text.contains("id=\"claims\"") && !text.contains("Fig. 2a"), "the paper's findings");
    // Two places for MoGPE, and het as a line.
    assert_eq!(text.matches("class=\"mark box\"").count(), 2);
    assert!(text.matches("class=\"mark line\"").count() >= 1);
    for end in ["svg", "png"] {
        assert!(place.path(&format!("s/figures/study-experts.{end}")).is_file());
    }
    // The same again, whatever was there.
    place.done("report s --out again.html --figures f");
    assert_eq!(place.text("again.html"), text);
}

/// The paper's findings and the numbers of its figures are on the page of its own sweep, and on no
/// other that has its arms.
#[test]
fn the_page_of_the_papers_sweep_has_its_findings() {
    let place = sweep();
    let arm = |name: &str| format!("[[arm]]\nname = '{name}'\nmethod = '{name}'\n");
    let arms: String = ["bhs", "pbhs", "pogpe"].map(arm).concat();
    for (name, paper) in [("paper", true), ("paper-quick", true), ("mine", false)] {
        let settings = SETTINGS.replace("\"small\"", &format!("{name:?}")) + &arms;
        place.write("s/settings.toml", settings);
        place.done("report s");
        let text = place.text("s/report.html");
        check_page(&text);
        assert_eq!(text.contains("id=\"claims\""), paper, "{name}");
        assert_eq!(text.contains("Fig. 2a, RFF"), paper, "{name}");
        assert_eq!(text.contains("not tested"), paper, "{name}");
        assert_eq!(text.matches("too few rows").count(), 2 * usize::from(name == "paper-quick"));
    }
}

#[test]
fn a_model_becomes_a_page() {
    let place = Place::new();
    let named = place.text("d.csv").replacen("x,y", &format!("\"{BAD}\",y"), 1);
    place.write("d.csv", named);
    place.done(&format!("fit d.csv --target y {}", small("--method mogpe --experts 2")));
    let started = Instant::now();
    place.done("report d.nc");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let text = place.text("d.html");
    check_page(&text);
    assert!(!text.contains("id=\"scores\""));
    for figure in ["experts", "draws", "predictive", "weights", "trace", "rank"] {
        assert!(text.contains(&format!("<figure id=\"{figure}\">")), "no {figure}");
    }
    place.done("report d.nc --data d.csv --out e.html --figures f");
    let text = place.text("e.html");
    check_page(&text);
    assert!(text.contains("id=\"scores\"") && text.contains("<figure id=\"calibration\">"));
    assert!(place.path("f/calibration.png").is_file() && place.path("f/predictive.svg").is_file());
}

/// The settings that a page shows fit the same model again.
#[test]
fn a_page_says_how_to_fit_again() {
    for flags in ["--method pbhs --experts 2", "--method het --frequencies 9", "--method mogpe"] {
        let place = Place::fitted(flags);
        place.done("report d.nc");
        let text = place.text("d.html");
        let from = text.find("aria-label=\"Settings file\"").expect("settings");
        let code = &text[from + text[from..].find("<code>").unwrap() + 6..];
        let code = &code[..code.find("</code>").unwrap()];
        place.write("settings.toml", code.replace("&quot;", "\"").replace("&amp;", "&"));
        place.done("fit d.csv --target y --inputs x --settings settings.toml --out again.nc");
        let told = |name: &str| place.done(&format!("inspect {name} --json")).json();
        assert_eq!(told("again.nc"), told("d.nc"), "{flags}");
    }
}

#[test]
fn what_cannot_be_a_page() {
    let place = sweep();
    place.refused("report no", 1, &["`no`: no such folder or file", "give the folder of a sweep"]);
    fs::create_dir(place.path("empty")).unwrap();
    let parts = ["`empty`: is not the folder of a sweep: it has no `settings.toml`"];
    place.refused("report empty", 1, &parts);
    place.refused("report s --data d.csv", 1, &["`s` is a sweep: --data is for a model"]);
    place.refused("report s --out no/a.html", 1, &["folder `no` does not exist: create it first"]);
    place.refused("report s --out s", 1, &["`s`: it is a folder: give a file name"]);
    let ledger = place.text("s/ledger.jsonl");
    for name in ["ledger.jsonl", "settings.toml"] {
        let parts = [&format!("`s/{name}` would be written over"), "give --out another name"];
        place.refused(&format!("report s --out s/{name}"), 1, &parts);
    }
    assert_eq!(place.text("s/ledger.jsonl"), ledger);
    place.write("x.nc", "x,y\n1,2\n");
    place.refused("report x.nc", 1, &["`x.nc`", "not a gpfuse model file"]);
    place.refused("report x.nc --threads 0", 1, &["setting `threads`: 0"]);
    fs::remove_file(place.path("s/ledger.jsonl")).unwrap();
    let parts = ["`s`: no cell is finished yet: run gpfuse sweep s/settings.toml --out s"];
    place.refused("report s", 1, &parts);
    place.write("s/ledger.jsonl", "");
    place.refused("report s", 1, &parts);
    assert!(!place.path("s/report.html").exists() && !place.path("s/figures").exists());
}

/// A page that cannot be written leaves the old one as it was, and no half one beside it.
#[test]
fn an_old_page_stays_until_the_new_one_is_whole() {
    let place = sweep();
    place.write("s/report.html", "old");
    place.write("s/figures", "a file in the place of the folder");
    place.refused("report s", 1, &["s/figures"]);
    assert_eq!(place.text("s/report.html"), "old");
    let names = fs::read_dir(place.path("s")).unwrap().count();
    assert_eq!(names, 4);
    #[cfg(target_os = "linux")]
    {
        let args = "report s --figures f --out /dev/full";
        check_refusal(args, &place.run(args), 1, &["`/dev/full`: the disk is full"]);
    }
}

/// A model that was kept but cannot be read takes its figure away, not the page.
#[test]
fn a_kept_model_that_is_broken() {
    let place = sweep();
    let keep = "[[keep]]\ndata = 'd'\narm = 'het'\nbasis = 'rff'\nsize = 10\nexperts = 1\n";
    place.write("s/settings.toml", format!("{SETTINGS}{keep}"));
    fs::create_dir(place.path("s/models")).unwrap();
    place.write("s/models/d-het-rff-10-K1-split0-seed0.nc", "no model");
    let run = place.done("report s");
    assert!(run.err.starts_with("warning: "), "{}", run.err);
    check_page(&place.text("s/report.html"));
}
