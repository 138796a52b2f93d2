//! Stacking on UCI data: `uci DATA RECORDED RESULTS [METHOD]...`.
//!
//! DATA is a folder with `NAME.csv` (inputs, then the target) and `NAME.splits.csv` (a column per
//! split, 1 for test rows). A share of 0.05 or 0.1 of the training rows is the stacking set, the
//! rest is divided at random among K in {2, 4, 6} exact GPs. Methods are `pbhs`, `bhs` and
//! `pbhs-plain`. Each finished run is a line of RESULTS, appended as it ends; runs that it holds
//! are not run again; a run that fails is a line with its error. At the end a table of the cells
//! is printed, beside RECORDED, the better of BHS and P-BHS as the paper's authors recorded it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use gpfuse::experts;
use gpfuse::fit::{FitSettings, fit};
use gpfuse::infer;
use gpfuse::model::Method;
use gpfuse_bench::Outcome;
use gpfuse_bench::sets::Set;

const SETS: [&str; 15] = [
    "yacht",
    "servo",
    "autompg",
    "concreteslump",
    "fertility",
    "machine",
    "autos",
    "breastcancer",
    "housing",
    "forest",
    "stock",
    "pendulum",
    "energy",
    "concrete",
    "airfoil",
];
const SPLITS: usize = 10;
const HEADER: &str = "method,set,experts,hold_out,split,nlpd,mcse,crps,coverage95,rhat,\
                      divergences,seconds,error";

/// One run: method, data set, experts, hold-out, split.
type Run = (String, &'static str, usize, &'static str, usize);

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, recorded, results, methods @ ..] = args.as_slice() else {
        return Err("usage: uci DATA RECORDED RESULTS [METHOD]...".into());
    };
    let (data, results) = (Path::new(data), Path::new(results));
    let all = ["pbhs", "bhs", "pbhs-plain"].map(String::from);
    let methods = if methods.is_empty() { &all[..] } else { methods };
    let done = std::fs::read_to_string(results).unwrap_or_default();
    let runs: Vec<Run> = runs(methods)
        .into_iter()
        .filter(|run| !done.lines().any(|line| line.starts_with(&key(run))))
        .collect();
    let mut file = OpenOptions::new().create(true).append(true).open(results)?;
    if done.is_empty() {
        writeln!(file, "{HEADER}")?;
    }
    let (next, file) = (AtomicUsize::new(0), Mutex::new(file));
    let work = || {
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let line = match one(data, run) {
                Ok(line) => line,
                Err(e) => format!(",,,,,,,{}", e.to_string().replace([',', '\n'], ";")),
            };
            let Ok(mut file) = file.lock() else { return };
            if let Err(e) = writeln!(file, "{}{line}", key(run)).and_then(|()| file.sync_data()) {
                eprintln!("cannot write the results: {e}");
                return;
            }
            eprintln!("{}{line}", key(run));
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, usize::from)).for_each(|_| {
            scope.spawn(work);
        });
    });
    print_table(&std::fs::read_to_string(recorded)?, &std::fs::read_to_string(results)?)
}

/// All runs, the first method on all data before the next.
fn runs(methods: &[String]) -> Vec<Run> {
    let mut out = Vec::new();
    for method in methods {
        for (set, hold_out) in SETS.into_iter().flat_map(|s| [(s, "0.05"), (s, "0.1")]) {
            // The one cell that was not recorded.
            if (set, hold_out) == ("airfoil", "0.1") {
                continue;
            }
            for (k, split) in [2, 4, 6].into_iter().flat_map(|k| (0..SPLITS).map(move |s| (k, s))) {
                out.push((method.clone(), set, k, hold_out, split));
            }
        }
    }
    out
}

fn key((method, set, experts, hold_out, split): &Run) -> String {
    format!("{method},{set},{experts},{hold_out},{split},")
}

fn one(data: &Path, (method, set, experts, hold_out, split): &Run) -> Outcome<String> {
    let (train, test) = Set::read(data, set)?.split(*split)?;
    let settings = FitSettings {
        method: if method == "bhs" { Method::Bhs } else { Method::Pbhs },
        plain: method == "pbhs-plain",
        experts: *experts,
        expert: experts::Settings {
            partition: experts::Partition::Random,
            hold_out: Some(hold_out.parse()?),
            ..Default::default()
        },
        sampler: infer::Settings {
            warmup: Some(200),
            draws: Some(200),
            max_depth: 8,
            candidates: 1,
            seed: *split as u64,
            threads: 1,
            ..Default::default()
        },
        ..Default::default()
    };
    let begun = Instant::now();
    let fitted = fit(&train, &settings)?;
    let scores = fitted.evaluate(&test)?;
    let seconds = begun.elapsed().as_secs_f64();
    // In units of the training targets' standard deviation, as recorded.
    let nlpd = scores.nlpd.value - fitted.scaler.target.scale.ln();
    let crps = scores.crps.value / fitted.scaler.target.scale;
    let (found, mcse) = (&fitted.diagnostics, scores.nlpd.mcse.unwrap_or(f64::NAN));
    let rhat = found.quantities.first().map_or(f64::NAN, |q| q.rhat_max);
    let (coverage, bad) = (scores.coverage[2].value, found.divergences);
    Ok(format!("{nlpd:.5},{mcse:.5},{crps:.5},{coverage:.3},{rhat:.3},{bad},{seconds:.2},"))
}

/// Mean, standard error and largest of some numbers.
fn summary(v: &[f64]) -> (f64, f64, f64) {
    let n = v.len() as f64;
    let mean = v.iter().sum::<f64>() / n;
    let se = (v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0) / n).sqrt();
    (mean, se, v.iter().copied().fold(f64::MIN, f64::max))
}

fn print_table(recorded: &str, results: &str) -> Outcome<()> {
    let mut best: BTreeMap<String, (f64, String)> = BTreeMap::new();
    for line in recorded.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let key = format!("{},{},{}", cells[0], cells[2], cells[3].trim_start_matches("holdout "));
        let nlpd = -cells[5].parse::<f64>()?;
        let known = best.entry(key).or_insert((f64::INFINITY, String::new()));
        if nlpd < known.0 {
            *known = (nlpd, cells[1].into());
        }
    }
    let mut ours: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let (mut failed, mut seconds) = (BTreeMap::<String, usize>::new(), BTreeMap::new());
    for line in results.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let key = (cells[0].to_string(), cells[1..4].join(","));
        match cells[5].parse::<f64>() {
            Ok(nlpd) => {
                ours.entry(key).or_default().push(nlpd);
                *seconds.entry(cells[0].to_string()).or_insert(0.0) += cells[11].parse::<f64>()?;
            }
            Err(_) => *failed.entry(cells[0].into()).or_default() += 1,
        }
    }
    let methods: Vec<String> = seconds.keys().cloned().collect();
    println!("| set, K, hold-out | recorded | {} |", methods.join(" | "));
    println!("| --- | --- |{}", " --- |".repeat(methods.len()));
    for (cell, (nlpd, by)) in &best {
        let cells = methods.iter().map(|m| match ours.get(&(m.clone(), cell.clone())) {
            Some(v) => {
                let (mean, se, _) = summary(v);
                let mark = if mean < *nlpd { "" } else { " (lost)" };
                format!("{mean:.3} ± {se:.3}{mark}")
            }
            None => "-".into(),
        });
        println!("| {cell} | {nlpd:.3} ({by}) | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    println!();
    for method in &methods {
        let cells =
            best.iter().filter_map(|(c, r)| Some((ours.get(&(method.clone(), c.clone()))?, r)));
        let (mut won, mut close, mut lost, mut worst, mut high) = (0, 0, 0, f64::MIN, 0);
        for (v, (nlpd, _)) in cells {
            let (mean, se, largest) = summary(v);
            won += usize::from(mean < *nlpd);
            lost += usize::from(mean >= *nlpd);
            close += usize::from((mean - nlpd).abs() < se);
            worst = worst.max(largest);
            high += v.iter().filter(|v| **v > 5.0).count();
        }
        println!(
            "* {method}: {won} cells won, {lost} lost ({close} of all within one standard error); \
             worst NLPD {worst:.2}, {high} runs above 5; {} failed; {:.0} CPU seconds",
            failed.get(method).unwrap_or(&0),
            seconds[method]
        );
    }
    Ok(())
}
