//! gpfuse's side of `bench/versus`: one task, given as JSON, and its figures as a line of JSON.
//!
//! `versus '{"task": "gradient", "problem": {...}, "point": "q.f64", "seconds": 0.5}'`. Arrays
//! come and go as files of little-endian 64-bit numbers, which NumPy reads and writes as they
//! are. Parameters stand in the order of [`gpfuse::model::layout`].

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::infer::{ChainDraws, Density, DensityError, Draws, Quiet, Settings, Stat, sample};
use gpfuse::kernel::Kernel;
use gpfuse::math::simd::Level;
use gpfuse::model::{Method, Model, Observed, Posterior, Priors};
use gpfuse::predict::Predictor;
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;
use gpfuse::{Data, FitSettings, fit};
use serde::Deserialize;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case", deny_unknown_fields)]
enum Task {
    /// The version and the instruction set.
    About,
    /// Log density and gradient at points (count, dim); to `out`: (count, 1 + dim).
    Density { problem: Problem, points: PathBuf, out: PathBuf },
    /// The best and the median time of a gradient on one core, within some seconds.
    Gradient { problem: Problem, point: PathBuf, seconds: f64 },
    /// Chains; to `lpd`: log densities of the test rows (draws, rows), chain after chain.
    Sample {
        problem: Problem,
        test: Table,
        settings: Settings,
        lpd: PathBuf,
        draws: Option<PathBuf>,
    },
    /// What `gpfuse fit` does when it is told the method and at most the sampler.
    Fit {
        method: Method,
        experts: usize,
        train: Table,
        test: Table,
        sampler: Settings,
        lpd: PathBuf,
    },
    /// Mean, sd and quantiles of the predictive at rows; to `out`: (rows, 2 + quantiles).
    Predict {
        problem: Problem,
        draws: PathBuf,
        chains: usize,
        rows: PathBuf,
        quantiles: Vec<f64>,
        threads: usize,
        out: PathBuf,
    },
}

/// A table of one input and a target.
#[derive(Deserialize)]
struct Table {
    x: PathBuf,
    y: PathBuf,
}

/// A model and the rows it is fitted to.
#[derive(Deserialize)]
struct Problem {
    method: Method,
    experts: usize,
    basis: BasisOf,
    train: Table,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BasisOf {
    /// Base frequencies.
    Rff(PathBuf),
    /// The box and the number of functions.
    Hilbert { centre: f64, half_width: f64, size: usize },
}

fn main() -> Outcome<()> {
    let task = std::env::args().nth(1).ok_or("usage: versus JSON")?;
    let figures = match serde_json::from_str(&task)? {
        Task::About => {
            json!({ "version": env!("CARGO_PKG_VERSION"), "level": Level::detect().name() })
        }
        Task::Density { problem, points, out } => density(&problem, &points, &out)?,
        Task::Gradient { problem, point, seconds } => gradient(&problem, &point, seconds)?,
        Task::Sample { problem, test, settings, lpd, draws } => {
            chains(&problem, &test, settings, &lpd, draws.as_deref())?
        }
        Task::Fit { method, experts, train, test, sampler, lpd } => {
            let settings = FitSettings { method, experts, sampler, ..FitSettings::default() };
            by_default(settings, &train, &test, &lpd)?
        }
        Task::Predict { problem, draws, chains, rows, quantiles, threads, out } => {
            let draws = kept(&numbers(&draws)?, chains, problem.model()?.dim())?;
            predict(&problem, &draws, &numbers(&rows)?, &quantiles, threads, &out)?
        }
    };
    println!("{figures}");
    Ok(())
}

impl Table {
    fn data(&self) -> Outcome<Observed> {
        Ok(Observed::new(&numbers(&self.x)?, 1, &numbers(&self.y)?)?)
    }
}

impl Problem {
    fn model(&self) -> Outcome<Arc<Model>> {
        let basis = match &self.basis {
            BasisOf::Rff(omega) => Basis::Rff(Rff::new(Kernel::Rbf, numbers(omega)?, 1)?),
            BasisOf::Hilbert { centre, half_width, size } => Basis::Hilbert(Hilbert::new(
                Kernel::Rbf,
                vec![*centre],
                vec![*half_width],
                vec![*size],
            )?),
        };
        Ok(Arc::new(Model::new(self.method, self.experts, basis, Priors::default())?))
    }

    fn posterior(&self) -> Outcome<Posterior> {
        Ok(Posterior::new(self.model()?, Arc::new(self.train.data()?))?)
    }
}

fn density(problem: &Problem, points: &Path, out: &Path) -> Outcome<Value> {
    let mut posterior = problem.posterior()?;
    let (dim, points) = (posterior.dim(), numbers(points)?);
    let mut grad = vec![0.0; dim];
    let mut found = Vec::with_capacity(points.len() + points.len() / dim);
    for q in points.chunks_exact(dim) {
        found.push(posterior.logp(q, &mut grad)?);
        found.extend_from_slice(&grad);
    }
    write(out, found)?;
    Ok(json!({ "dim": dim }))
}

fn gradient(problem: &Problem, point: &Path, seconds: f64) -> Outcome<Value> {
    let mut posterior = problem.posterior()?;
    let (dim, q) = (posterior.dim(), numbers(point)?);
    let mut grad = vec![0.0; dim];
    // The first evaluation warms caches and does not count.
    posterior.logp(&q, &mut grad)?;
    let begun = Instant::now();
    let mut times = Vec::new();
    while times.is_empty() || begun.elapsed().as_secs_f64() < seconds {
        let begun = Instant::now();
        posterior.logp(&q, &mut grad)?;
        times.push(begun.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let (best, median) = (times[0], times[times.len() / 2]);
    Ok(json!({ "best": best, "median": median, "count": times.len() }))
}

/// A density that counts its gradients: those of starts and of step-size searches too.
#[derive(Clone)]
struct Counted(Posterior, Arc<AtomicUsize>);

impl Density for Counted {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.logp(q, grad)
    }
}

fn chains(
    problem: &Problem,
    test: &Table,
    settings: Settings,
    lpd: &Path,
    save: Option<&Path>,
) -> Outcome<Value> {
    let (data, settings) = (Arc::new(problem.train.data()?), settings.check()?);
    let begun = Instant::now();
    let model = problem.model()?;
    let count = Arc::new(AtomicUsize::new(0));
    let density = Counted(Posterior::new(model.clone(), data)?, count.clone());
    let prior = |normal: &mut dyn FnMut() -> f64| model.prior_draw(normal);
    let draws = sample(&density, &prior, &settings, &Quiet)?;
    let seconds = begun.elapsed().as_secs_f64();
    pointwise(Posterior::new(model, Arc::new(test.data()?))?, &draws, 0.0, lpd)?;
    if let Some(path) = save {
        write(path, draws.iter().flatten().copied())?;
    }
    let mut figures = sampled(&draws, seconds);
    figures["gradients"] = json!(count.load(Ordering::Relaxed));
    Ok(figures)
}

fn by_default(settings: FitSettings, train: &Table, test: &Table, lpd: &Path) -> Outcome<Value> {
    let rows = |of: &Table| -> Outcome<Data> {
        Ok(Data::new(numbers(&of.x)?, 1)?.with_target(numbers(&of.y)?)?)
    };
    let (train, test) = (rows(train)?, rows(test)?);
    let begun = Instant::now();
    let fitted = fit(&train, &settings)?;
    let seconds = begun.elapsed().as_secs_f64();
    let data = Arc::new(fitted.observed(&test)?);
    // The density of y itself, not of the scaled y.
    let shift = -fitted.scaler.target.scale.ln();
    pointwise(Posterior::new(fitted.model.clone(), data)?, &fitted.draws, shift, lpd)?;
    Ok(sampled(&fitted.draws, seconds))
}

fn predict(
    problem: &Problem,
    draws: &Draws,
    x: &[f64],
    quantiles: &[f64],
    threads: usize,
    out: &Path,
) -> Outcome<Value> {
    let begun = Instant::now();
    let predictor = Predictor::new(problem.model()?, draws, Affine::IDENTITY);
    let blocks = predictor.fused(&Rows::new(x, 1)?, None, threads, |block| {
        let mut found = Vec::with_capacity(block.len() * (2 + quantiles.len()));
        for r in 0..block.len() {
            let density = block.row(r)?;
            found.extend([density.mean(), density.variance().sqrt()]);
            found.extend(density.quantiles(quantiles));
        }
        Ok(found)
    })?;
    let blocks: gpfuse::Result<Vec<Vec<f64>>> = blocks.into_iter().collect();
    let found = blocks?;
    let seconds = begun.elapsed().as_secs_f64();
    write(out, found.into_iter().flatten())?;
    Ok(json!({ "seconds": seconds, "peak_kib": peak_kib() }))
}

/// What there is to say of draws.
fn sampled(draws: &Draws, seconds: f64) -> Value {
    let stats = || draws.chains().iter().flat_map(|c| &c.stats);
    json!({
        "seconds": seconds,
        "kept_leapfrogs": stats().map(|s| s.steps).sum::<usize>(),
        "divergences": stats().filter(|s| s.diverging).count(),
        "saturated": stats().filter(|s| s.saturated).count() as f64 / draws.len() as f64,
    })
}

/// Write the log density of every row under every draw.
fn pointwise(mut test: Posterior, draws: &Draws, shift: f64, out: &Path) -> Outcome<()> {
    let mut found = Vec::with_capacity(draws.len() * test.rows());
    let mut lanes = vec![0.0; test.rows()];
    for q in draws.iter() {
        test.pointwise(q, &mut lanes);
        found.extend(lanes.iter().map(|v| v + shift));
    }
    write(out, found)
}

/// Draws from a flat array (chains, draws, dim).
fn kept(values: &[f64], chains: usize, dim: usize) -> Outcome<Draws> {
    let each = values.len() / chains / dim;
    let chain = |v: &[f64]| ChainDraws { values: v.to_vec(), stats: vec![Stat::default(); each] };
    Ok(Draws::new(dim, each, values.chunks_exact(each * dim).map(chain).collect())?)
}

/// The most memory that this process ever held, where the system says it.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn numbers(path: &Path) -> Outcome<Vec<f64>> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (eights, _) = bytes.as_chunks::<8>();
    Ok(eights.iter().map(|eight| f64::from_le_bytes(*eight)).collect())
}

fn write(path: &Path, values: impl IntoIterator<Item = f64>) -> Outcome<()> {
    let bytes: Vec<u8> = values.into_iter().flat_map(f64::to_le_bytes).collect();
    Ok(std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))?)
}
