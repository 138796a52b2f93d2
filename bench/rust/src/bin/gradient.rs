//! The time of one gradient, for each instruction set of this machine, and where there is one
//! that of the collapsed density.
//!
//! `gradient [ROWS] [FREQUENCIES] [THREADS]`: the best of many single evaluations, in
//! milliseconds and, for RFF, in nanoseconds per feature (a row, a GP, a frequency); by default
//! with 800 rows, 30 frequencies and one thread. Then of eigenfunctions, for a thousand rows of 8 inputs.
//!
//! `gradient shapes`: what a gradient of the collapsed density costs beside one of the plain density,
//! for many shapes, as a CSV table (microseconds, on one thread).

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use gpfuse::basis::eigen::{Decomposition, Pilot};
use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::infer::Density;
use gpfuse::kernel::Kernel;
use gpfuse::math::simd::Level;
use gpfuse::model::{Bases, Collapsed, Method, Model, Observed, Posterior, Priors};

const FUNCTIONS: usize = 60;
/// Seconds spent on each figure.
const PATIENCE: f64 = 0.3;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("shapes") {
        return shapes();
    }
    let number =
        |at: usize, usual: usize| std::env::args().nth(at).map_or(Ok(usual), |n| n.parse());
    let (rows, frequencies, threads) = (number(1, 800)?, number(2, 30)?, number(3, 1)?);
    let x: Vec<f64> = (0..rows).map(|i| -5.0 + 10.0 * i as f64 / rows as f64).collect();
    let y: Vec<f64> = x.iter().map(|v| v.sin()).collect();
    let data = Arc::new(Observed::new(&x, 1, &y)?);
    let omega = (0..frequencies).map(|i| 0.1 * i as f64 - 1.4).collect();
    let rff = Basis::Rff(Rff::new(Kernel::Rbf, omega, 1)?);
    let hilbert = Hilbert::new(Kernel::Rbf, vec![0.0], vec![6.5], vec![FUNCTIONS])?;
    for level in Level::available() {
        for basis in [rff.clone(), Basis::Hilbert(hilbert.clone())] {
            for (method, experts) in [(Method::Mogpe, 3), (Method::Pogpe, 3), (Method::Het, 1)] {
                let model =
                    Arc::new(Model::new(method, experts, basis.clone(), Priors::default())?);
                let posterior = Posterior::new(model.clone(), data.clone())?.at_level(level);
                let seconds = time(posterior.with_threads(threads))?;
                let features = (rows * frequencies * model.layout().gps()) as f64;
                let (name, each) = match basis {
                    Basis::Rff(_) => {
                        ("rff", format!("{:.2} ns a feature", seconds * 1e9 / features))
                    }
                    Basis::Hilbert(_) => ("hilbert", String::new()),
                    Basis::Eigen(_) => ("eigen", String::new()),
                };
                println!("{:7} {name:8} {method:6} {:.4} ms  {each}", level.name(), seconds * 1e3);
                let posterior = Posterior::new(model, data.clone())?.at_level(level);
                if let Ok(collapsed) = Collapsed::new(posterior) {
                    let ms = time(collapsed.with_threads(threads))? * 1e3;
                    println!("{:7} {name:8} {method:6} {ms:.4} ms  collapsed", level.name());
                }
            }
        }
    }
    eigen()
}

/// Eigenfunctions: 100 for the shared mean of a thousand rows with 8 inputs, 40 for all else.
fn eigen() -> Result<(), Box<dyn Error>> {
    const SHAPE: [usize; 2] = [1000, 8];
    let x: Vec<f64> = (0..SHAPE[0] * SHAPE[1]).map(|i| (i as f64 * 0.7).sin()).collect();
    let y: Vec<f64> = x.chunks(SHAPE[1]).map(|row| row.iter().sum::<f64>().sin()).collect();
    let data = Arc::new(Observed::new(&x, SHAPE[1], &y)?);
    let made = |functions: usize, ell: f64| -> gpfuse::Result<Basis> {
        let pilot = Pilot { kernel: Kernel::Matern32, var: 1.0, ell: vec![ell; SHAPE[1]] };
        let all: Vec<usize> = (0..SHAPE[0]).collect();
        let basis = Decomposition::new(pilot, &data.rows, &all)?.leading(functions, 0.0);
        let at = basis.at(&data.rows).0;
        Ok(Basis::Eigen(basis.orthogonal(&at, &vec![1.0; SHAPE[0]])?.0))
    };
    let bases = Bases { common: Some(made(100, 2.0)?), others: made(40, 4.0)? };
    for level in Level::available() {
        for (method, experts) in [(Method::Mogpe, 3), (Method::Pogpe, 3), (Method::Het, 1)] {
            let model = Arc::new(Model::new(method, experts, bases.clone(), Priors::default())?);
            let seconds = time(Posterior::new(model, data.clone())?.at_level(level))?;
            println!("{:7} eigen    {method:6} {:.4} ms", level.name(), seconds * 1e3);
        }
    }
    Ok(())
}

/// Plain and collapsed gradients of many shapes.
fn shapes() -> Result<(), Box<dyn Error>> {
    println!("basis,size,method,experts,rows,plain,collapsed,ratio");
    for rows in [50, 133, 400, 800, 2000] {
        let x: Vec<f64> = (0..rows).map(|i| -5.0 + 10.0 * i as f64 / rows as f64).collect();
        let y: Vec<f64> = x.iter().map(|v| v.sin()).collect();
        let data = Arc::new(Observed::new(&x, 1, &y)?);
        for size in [5, 10, 20, 30, 60] {
            let omega = (0..size).map(|i| 0.1 * i as f64 - 1.4).collect();
            let rff = Basis::Rff(Rff::new(Kernel::Rbf, omega, 1)?);
            let hilbert = Hilbert::new(Kernel::Rbf, vec![0.0], vec![6.5], vec![2 * size])?;
            let hilbert = Basis::Hilbert(hilbert);
            for (name, functions, basis) in [("rff", size, rff), ("hilbert", 2 * size, hilbert)] {
                for (method, experts) in [(Method::Het, 1), (Method::Pogpe, 2), (Method::Pogpe, 4)]
                {
                    let model =
                        Arc::new(Model::new(method, experts, basis.clone(), Priors::default())?);
                    let posterior = Posterior::new(model.clone(), data.clone())?;
                    let plain = time(posterior.clone())?;
                    let collapsed = time(Collapsed::new(posterior)?)?;
                    println!(
                        "{name},{functions},{method},{experts},{rows},{:.1},{:.1},{:.1}",
                        plain * 1e6,
                        collapsed * 1e6,
                        collapsed / plain
                    );
                }
            }
        }
    }
    Ok(())
}

/// The best of many evaluations.
fn time(mut posterior: impl Density) -> Result<f64, Box<dyn Error>> {
    let dim = posterior.dim();
    let q: Vec<f64> = (0..dim).map(|i| (i * 37 % 101) as f64 / 101.0 - 0.5).collect();
    let mut grad = vec![0.0; dim];
    let mut best = f64::INFINITY;
    let all = Instant::now();
    while all.elapsed().as_secs_f64() < PATIENCE {
        let begun = Instant::now();
        posterior.logp(&q, &mut grad)?;
        best = best.min(begun.elapsed().as_secs_f64());
    }
    Ok(best)
}
