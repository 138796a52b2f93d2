//! What each lever against separate modes gives: `levers DIR RESULTS [SEEDS [CELL]...]`.
//!
//! On the paper's frozen protocol (DIR as for `protocol`), at depth 5: chains from prior draws, from
//! pilots or from pilots of points made from the data; the plain or the collapsed density; chains
//! that count alike or are stacked. Each finished run is a line of RESULTS, appended as it ends;
//! runs that it holds are not run again.
//! Chains are combined in every way after one run. With CELL, such as `rff,30,pogpe`, only cells whose
//! names begin so are run. At the end a table is printed.

mod frozen;
#[path = "frozen/ledger.rs"]
mod ledger;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use frozen::{Outcome, Paper, Table};
use gpfuse::diagnose::{Combine, combine, diagnose};
use gpfuse::fit::{DensityChoice, FitSettings, draws};
use gpfuse::infer::{self, Quiet, Start};
use gpfuse::metrics::evaluate;
use gpfuse::model::{Method, Model, Posterior, Priors};
use gpfuse::predict::Predictor;
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

/// What is run: basis, its size, method, experts, start, density.
type Cell = (&'static str, usize, Method, usize, Start, DensityChoice);

const DEPTH: usize = 5;
const SPLITS: usize = 5;
const HEADER: &str = "basis,size,method,experts,start,density,split,seed,nlpd,mcse,stacked,auto,\
                      rhat_median,ess_median,divergences,leapfrogs,seconds,weights";

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dir, results, seeds @ ..] = args.as_slice() else {
        return Err("usage: levers DIR RESULTS [SEEDS [CELL]...]".into());
    };
    let only = seeds.get(1..).unwrap_or_default();
    let seeds: u64 = seeds.first().map_or(Ok(3), |s| s.parse())?;
    let wanted = |c: &Cell| only.is_empty() || only.iter().any(|o| name(*c).starts_with(o));
    let cells: Vec<Cell> = cells().into_iter().filter(wanted).collect();
    let (paper, results) = (Paper::read(Path::new(dir))?, Path::new(results));
    for seed in 0..seeds {
        for (cell, split) in cells.iter().flat_map(|c| (0..SPLITS).map(move |s| (*c, s))) {
            let key = format!("{},{split},{seed},", name(cell));
            ledger::once(results, HEADER, &key, || run(&paper, cell, split, seed))?;
        }
    }
    print_table(&Table::read(results)?)
}

/// The cheap ones first.
fn cells() -> Vec<Cell> {
    let methods = [(Method::Het, 1), (Method::Mogpe, 3), (Method::Pogpe, 3)];
    let mut out = Vec::new();
    for density in [DensityChoice::Plain, DensityChoice::Collapsed] {
        for (basis, size) in [("hilbert", 60), ("rff", 30)] {
            for (method, experts) in methods {
                if density == DensityChoice::Collapsed && method == Method::Mogpe {
                    continue;
                }
                for start in [Start::Prior, Start::Pilot, Start::Data] {
                    out.push((basis, size, method, experts, start, density));
                }
            }
        }
    }
    out
}

fn name((basis, size, method, experts, start, density): Cell) -> String {
    let (start, density) = (format!("{start:?}"), format!("{density:?}"));
    format!("{basis},{size},{method},{experts},{start},{density}").to_lowercase()
}

/// One run: a line of the results without its key.
fn run(paper: &Paper, cell: Cell, split: usize, seed: u64) -> Outcome<String> {
    let (basis, size, method, experts, start, density) = cell;
    let basis = paper.basis(basis, size, split)?;
    let model = Arc::new(Model::new(method, experts, basis, Priors::default())?);
    let train = paper.rows(method, experts, split, false)?;
    let test = paper.rows(method, experts, split, true)?;
    let posterior = Posterior::new(model.clone(), train.data()?)?;
    let sampler = infer::Settings { max_depth: DEPTH, seed, start, ..Default::default() };
    let settings =
        FitSettings { method, experts, density, sampler, ..Default::default() }.check()?;
    let threads = settings.sampler.threads;
    let begun = Instant::now();
    let found = draws(&posterior, &settings, &Quiet)?;
    let seconds = begun.elapsed().as_secs_f64();
    let rows = Rows::new(&test.x, 1)?;
    let score = |how: Combine| -> Outcome<_> {
        let (draws, weights) = combine(&posterior, found.clone(), how, 1.0, threads)?;
        let predictor = Predictor::new(model.clone(), &draws, Affine::IDENTITY);
        Ok((evaluate(&predictor.at(&rows, None), &test.y, threads)?.nlpd, weights))
    };
    let (equal, (stacked, weights)) = (score(Combine::Equal)?.0, score(Combine::Stack)?);
    let (stacked, auto) = (stacked.value, score(Combine::Auto)?.0.value);
    let weights = weights.map_or(Vec::new(), |w| w.weights());
    let weights: Vec<String> = weights.iter().map(|w| format!("{w:.2}")).collect();
    // Convergence of the pointwise log density at the test rows.
    let went = diagnose(&Posterior::new(model, test.data()?)?, &found, threads)?;
    let (rhat, ess) = (went.quantities[0].rhat_median, went.quantities[0].ess_bulk_median);
    let (nlpd, mcse) = (equal.value, equal.mcse.unwrap_or(f64::NAN));
    let (divergences, steps, weights) = (went.divergences, went.steps, weights.join(" "));
    Ok(format!(
        "{nlpd:.5},{mcse:.5},{stacked:.5},{auto:.5},{rhat:.3},{ess:.1},{divergences},{steps:.1},\
         {seconds:.1},{weights}"
    ))
}

/// A column of the tables: its name, the start, the density, and which score is read.
type Lever = (&'static str, &'static str, &'static str, &'static str);

const LEVERS: [Lever; 8] = [
    ("plain", "prior", "plain", "nlpd"),
    ("A: collapsed", "prior", "collapsed", "nlpd"),
    ("B: pilots", "pilot", "plain", "nlpd"),
    ("B: data", "data", "plain", "nlpd"),
    ("C: stacked", "prior", "plain", "stacked"),
    ("pilots, C (auto)", "pilot", "plain", "auto"),
    ("data, C (auto)", "data", "plain", "auto"),
    ("A, pilots, C (auto)", "pilot", "collapsed", "auto"),
];

/// The mean of a column over the seeds of each split, of one method and lever.
fn by_split(results: &Table, of: &str, lever: Lever, column: &str) -> Outcome<Vec<f64>> {
    let (splits, values) = (results.numbers("split")?, results.numbers(column)?);
    let cell = format!("{of},{},{}", lever.1, lever.2);
    let mut out = Vec::new();
    for split in 0..SPLITS {
        let own: Vec<f64> = (results.rows.iter().zip(&splits).zip(&values))
            .filter(|((row, s), _)| row[..6].join(",") == cell && **s == split as f64)
            .map(|(_, value)| *value)
            .collect();
        if !own.is_empty() {
            out.push(own.iter().sum::<f64>() / own.len() as f64);
        }
    }
    Ok(out)
}

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

/// The standard error of the mean of paired differences.
fn paired_error(a: &[f64], b: &[f64]) -> f64 {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let (n, centre) = (d.len() as f64, mean(&d));
    (d.iter().map(|d| (d - centre).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
}

fn print_table(results: &Table) -> Outcome<()> {
    let mut methods: Vec<String> = cells().iter().map(|c| name(*c)).collect();
    methods.iter_mut().for_each(|m| *m = m.split(',').take(4).collect::<Vec<_>>().join(","));
    methods.sort();
    methods.dedup();
    let head = |what: &str| {
        println!("| {what} | {} |", LEVERS.map(|l| l.0).join(" | "));
        println!("|{}", " --- |".repeat(LEVERS.len() + 1));
    };
    head("NLPD (difference to plain, paired error)");
    for method in &methods {
        let plain = by_split(results, method, LEVERS[0], "nlpd")?;
        let mut line = format!("| {method} |");
        for lever in LEVERS {
            let own = by_split(results, method, lever, lever.3)?;
            line += &match (own.len() == SPLITS, plain.len() == SPLITS && lever != LEVERS[0]) {
                (false, _) => " - |".into(),
                (true, false) => format!(" {:.3} |", mean(&own)),
                (true, true) => {
                    let (gap, se) = (mean(&own) - mean(&plain), paired_error(&own, &plain));
                    format!(" {:.3} ({gap:+.3}, {se:.3}) |", mean(&own))
                }
            };
        }
        println!("{line}");
    }
    println!();
    head("R-hat; ESS a second; seconds; divergences");
    for method in &methods {
        let mut line = format!("| {method} |");
        for lever in LEVERS {
            let of = |column: &str| by_split(results, method, lever, column);
            let (ess, seconds) = (of("ess_median")?, of("seconds")?);
            line += &match ess.len() {
                0 => " - |".into(),
                _ => format!(
                    " {:.2}; {:.1}; {:.0}; {:.0} |",
                    mean(&of("rhat_median")?),
                    mean(&ess.iter().zip(&seconds).map(|(e, s)| e / s).collect::<Vec<f64>>()),
                    mean(&seconds),
                    mean(&of("divergences")?)
                ),
            };
        }
        println!("{line}");
    }
    Ok(())
}
