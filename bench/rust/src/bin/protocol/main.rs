//! The paper's frozen protocol against NumPyro: `protocol DIR RESULTS [SEEDS]`.
//!
//! DIR holds `data.csv`, `frequencies.csv`, `numpyro_nlpd.csv` and, for stacking, the frozen
//! experts' predictions `experts_K*.csv`; RESULTS is a CSV file to
//! which each finished run is appended. Runs that it holds already are not run again. At the
//! end the comparison is printed as a Markdown table: mean test NLPD over splits and seeds,
//! and the paired difference over splits with its standard error.

mod frozen;
mod ledger;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use frozen::{Outcome, Paper, Problem, Table};
use gpfuse::diagnose::diagnose;
use gpfuse::infer::{Quiet, Settings, sample};
use gpfuse::metrics::evaluate;
use gpfuse::model::{Given, Method, Model, Posterior, Priors};
use gpfuse::predict::Predictor;
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

/// A cell of the comparison: basis, method, experts, size, depth.
type Cell = (&'static str, Method, usize, usize, usize);

const CELLS: [Cell; 19] = [
    ("hilbert", Method::Bhs, 3, 60, 5),
    ("hilbert", Method::Pbhs, 3, 60, 5),
    ("rff", Method::Bhs, 2, 30, 5),
    ("rff", Method::Bhs, 3, 30, 5),
    ("rff", Method::Bhs, 4, 30, 5),
    ("rff", Method::Bhs, 5, 30, 5),
    ("rff", Method::Pbhs, 2, 30, 5),
    ("rff", Method::Pbhs, 3, 30, 5),
    ("rff", Method::Pbhs, 4, 30, 5),
    ("rff", Method::Pbhs, 5, 30, 5),
    ("hilbert", Method::Het, 1, 60, 5),
    ("hilbert", Method::Mogpe, 3, 60, 5),
    ("hilbert", Method::Pogpe, 3, 60, 5),
    ("rff", Method::Het, 1, 30, 5),
    ("rff", Method::Mogpe, 3, 30, 5),
    ("rff", Method::Pogpe, 3, 30, 5),
    ("rff", Method::Het, 1, 30, 8),
    ("rff", Method::Mogpe, 3, 30, 8),
    ("rff", Method::Pogpe, 3, 30, 8),
];

const SPLITS: usize = 5;
const HEADER: &str = "basis,method,experts,size,max_tree_depth,split,seed,nlpd,mcse,\
                      rhat_median,ess_median,leapfrogs,seconds";

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dir, results, seeds @ ..] = args.as_slice() else {
        return Err("usage: protocol DIR RESULTS [SEEDS]".into());
    };
    let seeds: u64 = seeds.first().map_or(Ok(3), |s| s.parse())?;
    let paper = Paper::read(Path::new(dir))?;
    let results = Path::new(results);
    // The short trajectories first, and all cells once before the next seed: a run cut short
    // still compares what it has.
    for (depth, seed) in [5, 8].into_iter().flat_map(|d| (0..seeds).map(move |s| (d, s))) {
        for cell in CELLS.into_iter().filter(|cell| cell.4 == depth) {
            for split in 0..SPLITS {
                let key = format!("{},{split},{seed},", name(cell));
                ledger::once(results, HEADER, &key, || run(&paper, cell, split, seed))?;
            }
        }
    }
    print_table(&Table::read(&Path::new(dir).join("numpyro_nlpd.csv"))?, &Table::read(results)?)
}

fn name((basis, method, experts, size, depth): Cell) -> String {
    format!("{basis},{method},{experts},{size},{depth}")
}

/// What the experts of a problem say, if it has any.
fn given(of: &Problem) -> Outcome<Option<Given>> {
    Ok(match of.mean.len() {
        0 => None,
        _ => Some(Given::new(&of.mean, &of.sd)?),
    })
}

/// One run: a line of the results without its key.
fn run(paper: &Paper, cell: Cell, split: usize, seed: u64) -> Outcome<String> {
    let (basis, method, experts, size, max_depth) = cell;
    let basis = paper.basis(basis, size, split)?;
    let model = Arc::new(Model::new(method, experts, basis, Priors::default())?);
    let train = paper.rows(method, experts, split, false)?;
    let posterior = Posterior::new(model.clone(), train.data()?)?;
    let settings = Settings { max_depth, seed, draws: Some(500), ..Settings::default() }.check()?;
    let begun = Instant::now();
    let prior = |normal: &mut dyn FnMut() -> f64| model.prior_draw(normal);
    let draws = sample(&posterior, &prior, &settings, &Quiet)?;
    let seconds = begun.elapsed().as_secs_f64();
    let test = paper.rows(method, experts, split, true)?;
    let predictor = Predictor::new(model.clone(), &draws, Affine::IDENTITY);
    let threads = settings.threads;
    let (rows, given) = (Rows::new(&test.x, 1)?, given(&test)?);
    let scores = evaluate(&predictor.at(&rows, given.as_ref()), &test.y, threads)?;
    // Convergence of the pointwise log density at the test rows.
    let found = diagnose(&Posterior::new(model.clone(), test.data()?)?, &draws, threads)?;
    let (rhat, ess) = (found.quantities[0].rhat_median, found.quantities[0].ess_bulk_median);
    let (nlpd, mcse) = (scores.nlpd.value, scores.nlpd.mcse.unwrap_or(f64::NAN));
    let steps = found.steps;
    Ok(format!("{nlpd:.5},{mcse:.5},{rhat:.3},{ess:.1},{steps:.1},{seconds:.1}"))
}

/// The mean NLPD per cell and split.
fn nlpd(of: &Table) -> Outcome<BTreeMap<(String, usize), f64>> {
    let (splits, nlpd) = (of.numbers("split")?, of.numbers("nlpd")?);
    let mut sums: BTreeMap<(String, usize), (f64, f64)> = BTreeMap::new();
    for ((row, split), nlpd) in of.rows.iter().zip(splits).zip(nlpd) {
        let sum = sums.entry((row[..5].join(","), split as usize)).or_default();
        *sum = (sum.0 + nlpd, sum.1 + 1.0);
    }
    Ok(sums.into_iter().map(|(key, (sum, n))| (key, sum / n)).collect())
}

fn print_table(numpyro: &Table, ours: &Table) -> Outcome<()> {
    let (theirs, mine) = (nlpd(numpyro)?, nlpd(ours)?);
    println!("| basis, method, K, size, depth | NumPyro | gpfuse | difference | paired SE | bar |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for cell in CELLS.map(name) {
        let pairs: Vec<(f64, f64)> = (0..SPLITS)
            .filter_map(|s| {
                let key = (cell.clone(), s);
                Some((*theirs.get(&key)?, *mine.get(&key)?))
            })
            .collect();
        if pairs.len() < SPLITS {
            println!("| {cell} | - | - | not finished | | |");
            continue;
        }
        let n = pairs.len() as f64;
        let mean = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>() / n;
        let gap = mean(&|p| p.1 - p.0);
        let se = (mean(&|p| (p.1 - p.0 - gap).powi(2)) / (n - 1.0)).sqrt();
        let verdict = if gap <= 2.0 * se { "met" } else { "missed" };
        let (theirs, mine) = (mean(&|p| p.0), mean(&|p| p.1));
        println!("| {cell} | {theirs:.3} | {mine:.3} | {gap:+.3} | {se:.3} | {verdict} |");
    }
    Ok(())
}
