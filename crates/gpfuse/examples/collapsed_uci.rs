//! Whether a decomposition ever fails on UCI data: `collapsed_uci TABLE...`.
//!
//! PoGPE with two experts and 30 frequencies is fitted to at most 500 rows of each table (CSV,
//! inputs, then the target), scaled, by its collapsed density: two chains of 100 and 100 draws, depth
//! 5. A failure is a gradient that could not be had, for want of a Cholesky factor or of finite
//! numbers; they are counted in the warm-up and after it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use gpfuse::basis::frequencies::Scheme;
use gpfuse::basis::{Basis, Rff};
use gpfuse::infer::{ChainProgress, Density, DensityError, Monitor, Settings, Start, sample};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Collapsed, Method, Model, Observed, Posterior, Priors};
use gpfuse::scale::{Scaler, Scaling};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The density, with its failures counted.
#[derive(Clone)]
struct Watched(Collapsed, Arc<AtomicUsize>);

impl Density for Watched {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, h: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        let found = self.0.logp(h, grad);
        self.1.fetch_add(usize::from(found.is_err()), Relaxed);
        found
    }
}

/// Failures so far, and when the warm-up ended.
struct Halves(Arc<AtomicUsize>, AtomicUsize);

impl Monitor for Halves {
    fn draw(&self, progress: &ChainProgress) {
        if progress.warming_up {
            self.1.store(self.0.load(Relaxed), Relaxed);
        }
    }
}

/// A chain: failures in the warm-up and after it, divergences.
fn chain(posterior: &Posterior, seed: u64) -> Outcome<[usize; 3]> {
    let halves = Halves(Arc::default(), AtomicUsize::new(0));
    let watched = Watched(Collapsed::new(posterior.clone())?, halves.0.clone());
    let model = posterior.model();
    let first = |normal: &mut dyn FnMut() -> f64| watched.0.shorten(&model.prior_draw(normal));
    let (warmup, draws, max_depth, start) = (100, 100, 5, Start::Prior);
    let length = Settings { chains: 1, warmup, draws, max_depth, ..Settings::default() };
    let settings = Settings { threads: 1, seed, start, ..length }.check()?;
    let draws = sample(&watched, &first, &settings, &halves)?;
    let [all, before] = [halves.0.load(Relaxed), halves.1.load(Relaxed)];
    let diverging = draws.chains()[0].stats.iter().filter(|s| s.diverging).count();
    Ok([before, all - before, diverging])
}

fn set(path: &Path) -> Outcome<String> {
    let (begun, text) = (Instant::now(), std::fs::read_to_string(path)?);
    let line = |l: &str| l.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>();
    let table = text.lines().skip(1).map(line).collect::<Result<Vec<_>, _>>()?;
    let inputs = table[0].len() - 1;
    let x: Vec<f64> = table.iter().flat_map(|r| r[..inputs].to_vec()).collect();
    let y: Vec<f64> = table.iter().map(|r| r[inputs]).collect();
    let scaler = Scaler::fit(Scaling::Standard, &x, inputs, &y)?;
    let y: Vec<f64> = y.iter().map(|v| scaler.target.apply(*v)).collect();
    let data = Arc::new(Observed::new(&scaler.scale_inputs(&x), inputs, &y)?);
    let basis = Basis::Rff(Rff::draw(Kernel::Rbf, Scheme::Iid, 30, inputs, 0)?);
    let model = Arc::new(Model::new(Method::Pogpe, 2, basis, Priors::default())?);
    let posterior = Posterior::new(model, data)?.thinned(500)?;
    let run = |seed: u64| chain(&posterior, seed);
    let (a, b) = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(1));
        (run(0), other.join().unwrap_or_else(|_| Err("a chain panicked".into())))
    });
    let (a, b, seconds) = (a?, b?, begun.elapsed().as_secs_f64());
    let sums = [0, 1, 2].map(|i| (a[i] + b[i]).to_string()).join(",");
    Ok(format!("{},{inputs},{sums},{seconds:.1}", posterior.rows()))
}

const HEADER: &str = "set,rows,inputs,warmup_failures,failures,divergences,seconds";

fn main() -> Outcome<()> {
    println!("{HEADER}");
    for table in std::env::args().skip(1).filter(|t| !t.ends_with(".splits.csv")) {
        let path = Path::new(&table);
        let name = path.file_stem().unwrap_or_default().display();
        println!("{name},{}", set(path)?);
    }
    Ok(())
}
