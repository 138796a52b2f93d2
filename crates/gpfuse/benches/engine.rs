//! Gradients, sampling and prediction: `cargo bench -p gpfuse`, or all of it by `make bench`.
#![allow(clippy::expect_used, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::infer::{Density, Draws, Quiet, Settings, Start, sample};
use gpfuse::kernel::Kernel;
use gpfuse::metrics::evaluate;
use gpfuse::model::{Method, Model, Observed, Posterior, Priors};
use gpfuse::predict::{FusedBlock, Predictor};
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

const METHODS: [(Method, usize); 3] = [(Method::Het, 1), (Method::Mogpe, 3), (Method::Pogpe, 3)];

fn column(n: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n).map(|i| f(-5.0 + 10.0 * i as f64 / n as f64)).collect()
}

fn rff(frequencies: usize) -> Basis {
    let omega = (0..frequencies).map(|i| 3.0 * (1.7 * i as f64).sin()).collect();
    Basis::Rff(Rff::new(Kernel::Rbf, omega, 1).expect("frequencies"))
}

fn hilbert() -> Basis {
    let basis = Hilbert::new(Kernel::Rbf, vec![0.0], vec![6.5], vec![60]);
    Basis::Hilbert(basis.expect("a box"))
}

fn posterior(method: Method, experts: usize, basis: &Basis, rows: usize) -> Posterior {
    let model = Model::new(method, experts, basis.clone(), Priors::default()).expect("a model");
    let data = Observed::new(&column(rows, |x| x), 1, &column(rows, |x| (2.0 * x).sin()));
    Posterior::new(Arc::new(model), Arc::new(data.expect("rows"))).expect("a posterior")
}

fn draws(posterior: &Posterior, warmup: usize, draws: usize) -> Draws {
    let settings = Settings {
        warmup: Some(warmup),
        draws: Some(draws),
        max_depth: 5,
        start: Start::Prior,
        ..Settings::default()
    };
    let prior = |normal: &mut dyn FnMut() -> f64| posterior.model().prior_draw(normal);
    sample(posterior, &prior, &settings.check().expect("settings"), &Quiet).expect("draws")
}

fn gradients(c: &mut Criterion) {
    for (name, basis) in [("rff 30", rff(30)), ("rff 100", rff(100)), ("hilbert 60", hilbert())] {
        let mut group = c.benchmark_group(format!("gradient, 800 rows, one core/{name}"));
        for (method, experts) in METHODS {
            let mut posterior = posterior(method, experts, &basis, 800);
            let q: Vec<f64> = (0..posterior.dim()).map(|i| 0.5 * (i as f64).sin()).collect();
            let mut grad = vec![0.0; q.len()];
            if let Basis::Rff(rff) = &basis {
                let features = 800 * posterior.model().layout().gps() * rff.frequencies();
                group.throughput(Throughput::Elements(features as u64));
            }
            group.bench_function(method.name(), |b| {
                b.iter(|| posterior.logp(&q, &mut grad).expect("a density"));
            });
        }
    }
}

fn sampling(c: &mut Criterion) {
    let mut group = c.benchmark_group("4 chains x (50 + 50), depth 5, 800 rows");
    for (method, experts) in METHODS {
        let posterior = posterior(method, experts, &hilbert(), 800);
        group.bench_function(BenchmarkId::new("hilbert 60", method), |b| {
            b.iter(|| draws(&posterior, 50, 50));
        });
    }
}

fn prediction(c: &mut Criterion) {
    let rows = Rows::new(&column(640, |x| x), 1).expect("rows");
    let y = column(640, |x| (2.0 * x).sin());
    let threads = Settings::default().threads;
    for (name, basis, method) in
        [("rff 30", rff(30), Method::Pogpe), ("hilbert 60", hilbert(), Method::Mogpe)]
    {
        let title = format!("2000 draws x 640 rows/{name}, {method}");
        let mut group = c.benchmark_group(title);
        let posterior = posterior(method, 3, &basis, 100);
        let draws = draws(&posterior, 50, 500);
        let predictor = Predictor::new(posterior.model().clone(), &draws, Affine::IDENTITY);
        let summary = |block: &FusedBlock, probabilities: &[f64]| {
            let row = |r: usize| {
                let mixture = block.row(r).expect("a density");
                let quantiles: f64 = mixture.quantiles(probabilities).iter().sum();
                mixture.mean() + mixture.variance().sqrt() + quantiles
            };
            (0..block.len()).map(row).sum::<f64>()
        };
        let ps: [(&str, &[f64]); 2] = [("mean and sd", &[]), ("quantiles too", &[0.05, 0.5, 0.95])];
        for (what, ps) in ps {
            group.bench_function(what, |b| {
                b.iter(|| predictor.fused(&rows, None, threads, |block| summary(block, ps)));
            });
        }
        group.bench_function("all scores", |b| {
            b.iter(|| evaluate(&predictor.at(&rows, None), &y, threads));
        });
    }
}

criterion_group! {
    name = engine;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = gradients, sampling, prediction
}
criterion_main!(engine);
