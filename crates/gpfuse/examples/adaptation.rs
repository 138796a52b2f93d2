//! What the adaptation settings are worth: `adaptation DIR [SEEDS] [BASIS] [METHOD] [SETTING]`.
//!
//! DIR holds the frozen protocol's `data.csv` and `frequencies.csv`; split 0 is used. Each
//! setting differs from the default in one thing. Printed as CSV: the effective number of draws
//! of the pointwise log density at the test rows (median and minimum over rows), per thousand
//! gradients, warm-up and starts included, and per second. Gradients do not depend on what
//! else the machine is doing; seconds do.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::diagnose::diagnose;
use gpfuse::infer::{Density, DensityError, Metric, Quiet, Settings, Start, sample};
use gpfuse::kernel::Kernel;
use gpfuse::metrics::evaluate;
use gpfuse::model::{Method, Model, Observed, Posterior, Priors};
use gpfuse::predict::Predictor;
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A posterior that counts its gradients.
#[derive(Clone)]
struct Counted {
    posterior: Posterior,
    count: Arc<AtomicU64>,
}

impl Density for Counted {
    fn dim(&self) -> usize {
        self.posterior.dim()
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.posterior.logp(q, grad)
    }
}

fn variants() -> Vec<(&'static str, Settings)> {
    let usual = Settings::default;
    vec![
        ("default", usual()),
        ("prior start", Settings { start: Start::Prior, ..usual() }),
        ("low rank", Settings { metric: Metric::LowRank, ..usual() }),
        ("low rank warmup 300", Settings { metric: Metric::LowRank, warmup: 300, ..usual() }),
        ("accept 0.65", Settings { target_accept: 0.65, ..usual() }),
        ("accept 0.9", Settings { target_accept: 0.9, ..usual() }),
        ("warmup 250", Settings { warmup: 250, ..usual() }),
        ("warmup 1000", Settings { warmup: 1000, ..usual() }),
        ("depth 5", Settings { max_depth: 5, ..usual() }),
        ("depth 7", Settings { max_depth: 7, ..usual() }),
    ]
}

/// A column of a CSV file.
fn column(path: &Path, name: &str) -> Outcome<Vec<f64>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let names = lines.next().ok_or("an empty file")?;
    let at = names.iter().position(|n| *n == name).ok_or(format!("no `{name}`"))?;
    Ok(lines.map(|row| row[at].parse()).collect::<Result<_, _>>()?)
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dir, rest @ ..] = args.as_slice() else {
        return Err("usage: adaptation DIR [SEEDS] [BASIS] [METHOD] [SETTING]".into());
    };
    let seeds: u64 = rest.first().map_or(Ok(2), |s| s.parse())?;
    let chosen_by = |at: usize, name: &str| rest.get(at).is_none_or(|only| only == name);
    let dir = Path::new(dir);
    let data = dir.join("data.csv");
    let (x, y, chosen) = (column(&data, "x")?, column(&data, "y")?, column(&data, "test0")?);
    let pick = |v: &[f64], test: f64| -> Vec<f64> {
        v.iter().zip(&chosen).filter(|(_, t)| **t == test).map(|(v, _)| *v).collect()
    };
    let train = Arc::new(Observed::new(&pick(&x, 0.0), 1, &pick(&y, 0.0))?);
    let (test_x, test_y) = (pick(&x, 1.0), pick(&y, 1.0));
    let mut omega = column(&dir.join("frequencies.csv"), "split0")?;
    omega.truncate(30);
    let hilbert = Hilbert::new(Kernel::Rbf, vec![0.0], vec![6.5], vec![60])?;
    let bases = [
        ("hilbert", Basis::Hilbert(hilbert)),
        ("rff", Basis::Rff(Rff::new(Kernel::Rbf, omega, 1)?)),
    ];
    println!(
        "basis,method,setting,seed,nlpd,rhat_median,ess_median,ess_min,gradients,seconds,\
         ess_per_1000_gradients,ess_per_second"
    );
    for (name, basis) in bases.iter().filter(|(name, _)| chosen_by(1, name)) {
        let methods = [(Method::Het, 1), (Method::Mogpe, 3), (Method::Pogpe, 3)];
        for (method, experts) in methods.into_iter().filter(|m| chosen_by(2, m.0.name())) {
            let model = Arc::new(Model::new(method, experts, basis.clone(), Priors::default())?);
            for ((setting, settings), seed) in
                variants().into_iter().flat_map(|v| (0..seeds).map(move |s| (v.clone(), s)))
            {
                if !chosen_by(3, setting) {
                    continue;
                }
                let settings = Settings { seed, ..settings }.check()?;
                let posterior = Posterior::new(model.clone(), train.clone())?;
                let counted = Counted { posterior, count: Arc::default() };
                let prior = |normal: &mut dyn FnMut() -> f64| model.prior_draw(normal);
                let begun = Instant::now();
                let draws = sample(&counted, &prior, &settings, &Quiet)?;
                let seconds = begun.elapsed().as_secs_f64();
                let predictor = Predictor::new(model.clone(), &draws, Affine::IDENTITY);
                let rows = Rows::new(&test_x, 1)?;
                let threads = settings.threads;
                let scores = evaluate(&predictor.at(&rows, None), &test_y, threads)?;
                let test = Arc::new(Observed::new(&test_x, 1, &test_y)?);
                let found = diagnose(&Posterior::new(model.clone(), test)?, &draws, threads)?;
                let density = &found.quantities[0];
                let (median, least) = (density.ess_bulk_median, density.ess_bulk_min);
                let gradients = counted.count.load(Ordering::Relaxed);
                println!(
                    "{name},{method},{setting},{seed},{:.4},{:.3},{median:.1},{least:.1},\
                     {gradients},{seconds:.2},{:.3},{:.1}",
                    scores.nlpd.value,
                    density.rhat_median,
                    1e3 * median / gradients as f64,
                    median / seconds,
                );
            }
        }
    }
    Ok(())
}
