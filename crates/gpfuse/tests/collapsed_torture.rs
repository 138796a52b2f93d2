//! The density without the coefficients of the means on data that are hard on a Cholesky factor: there
//! is one wherever chains go; and a density that fails all the same is a divergence, counted and
//! told.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::case::normals;
use gpfuse::Data;
use gpfuse::basis::frequencies::Scheme;
use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::diagnose::diagnose;
use gpfuse::fit::{BasisChoice, DensityChoice, FitSettings, fit};
use gpfuse::infer::{
    ChainDraws, ChainProgress, Density, DensityError, Draws, Monitor, Settings, Start, Stat, sample,
};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Collapsed, Kind, Method, Model, Observed, Posterior, Priors, Role};

const METHODS: [(Method, usize); 3] = [(Method::Het, 1), (Method::Pogpe, 2), (Method::Pogpe, 3)];

/// Above this precision of a row, in units of the means' prior, a factor may be wanting: ones on the
/// diagonal have few digits left beside it.
const PRECISE: f64 = 1e22;

/// A table: inputs per row, inputs row by row, targets.
struct Table {
    name: &'static str,
    inputs: usize,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// A noisy wave over `rows` rows.
fn wave(name: &'static str, rows: usize) -> Table {
    let mut normal = normals(81);
    let x: Vec<f64> = (0..rows).map(|i| 4.0 * i as f64 / rows as f64 - 2.0).collect();
    let y = x.iter().map(|x| (2.0 * x).sin() + 0.1 * (3.0 + x) * normal()).collect();
    Table { name, inputs: 1, x, y }
}

/// The same with inputs and targets in other units.
fn scaled(name: &'static str, x: f64, y: f64) -> Table {
    let mut table = wave(name, 30);
    table.x.iter_mut().for_each(|v| *v *= x);
    table.y.iter_mut().for_each(|v| *v *= y);
    table
}

/// Ten times the same four inputs, and the same targets but for noise.
fn repeated(name: &'static str, noise: f64) -> Table {
    let (few, mut normal) = (wave(name, 4), normals(83));
    let y = few.y.repeat(10).iter().map(|y| y + noise * normal()).collect();
    Table { x: few.x.repeat(10), y, ..few }
}

fn tables() -> Vec<Table> {
    let mut constant = wave("a constant input", 30);
    constant.x = constant.x.iter().flat_map(|x| [*x, 3.5]).collect();
    constant.inputs = 2;
    let mut outlier = wave("an outlier", 30);
    outlier.y[11] = 1e6;
    vec![
        repeated("repeated rows", 0.1),
        constant,
        outlier,
        scaled("large inputs", 1e8, 1.0),
        scaled("small inputs", 1e-8, 1.0),
        scaled("large targets", 1.0, 1e8),
        wave("two rows", 2),
        wave("fewer rows than features", 9),
        wave("more rows than features", 80),
    ]
}

/// Tables whose noise is next to nothing, and would be nothing but for its prior.
fn noiseless() -> [Table; 2] {
    [repeated("copies", 0.0), scaled("small targets", 1.0, 1e-8)]
}

/// The density, with its failures counted.
#[derive(Clone)]
struct Watched {
    density: Collapsed,
    /// Above this first parameter the density is made to fail.
    wall: f64,
    failures: Arc<AtomicUsize>,
}

impl Density for Watched {
    fn dim(&self) -> usize {
        self.density.dim()
    }

    fn logp(&mut self, h: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
        let found = match h[0] > self.wall {
            true => Err(DensityError::NotFinite { logp: f64::NAN }),
            false => self.density.logp(h, grad),
        };
        match &found {
            Ok(logp) => assert!(logp.is_finite() && grad.iter().all(|g| g.is_finite())),
            Err(e) => {
                assert!(e.is_recoverable(), "{e}");
                self.failures.fetch_add(1, Ordering::Relaxed);
            }
        }
        found
    }
}

/// The failures that each kept draw of one chain met.
struct Log {
    failures: Arc<AtomicUsize>,
    kept: Mutex<Vec<usize>>,
}

impl Monitor for Log {
    fn draw(&self, progress: &ChainProgress) {
        let met = self.failures.swap(0, Ordering::Relaxed);
        if !progress.warming_up {
            self.kept.lock().unwrap().push(met);
        }
    }
}

fn short(draws: usize) -> Settings {
    Settings {
        chains: 1,
        warmup: Some(40),
        draws: Some(draws),
        max_depth: 3,
        candidates: 1,
        threads: 1,
        start: Start::Prior,
        seed: 82,
        ..Settings::default()
    }
}

fn posterior(table: &Table, (method, experts): (Method, usize), hilbert: bool) -> Posterior {
    let basis = if hilbert {
        Basis::Hilbert(
            Hilbert::for_data(Kernel::Rbf, &table.x, table.inputs, Some(6), 1.5).unwrap(),
        )
    } else {
        Basis::Rff(Rff::draw(Kernel::Rbf, Scheme::Iid, 10, table.inputs, 3).unwrap())
    };
    let model = Model::new(method, experts, basis, Priors::default()).unwrap();
    let data = Observed::new(&table.x, table.inputs, &table.y).unwrap();
    Posterior::new(Arc::new(model), Arc::new(data)).unwrap()
}

/// A chain of completed draws, all finite as its log densities are; and each draw's failures.
fn chain(posterior: &Posterior, wall: f64, settings: Settings) -> (Draws, Vec<usize>) {
    let (failures, model) = (Arc::new(AtomicUsize::new(0)), posterior.model().clone());
    let mut density = Collapsed::new(posterior.clone()).unwrap();
    let watched = Watched { density: density.clone(), wall, failures: failures.clone() };
    let log = Log { failures, kept: Mutex::default() };
    let first =
        |normal: &mut dyn FnMut() -> f64| watched.density.shorten(&model.prior_draw(normal));
    let draws = sample(&watched, &first, &settings.check().unwrap(), &log).unwrap();
    let mut normal = normals(84);
    let full = draws.iter().flat_map(|h| density.complete(h, &mut normal).unwrap());
    let chain = ChainDraws { values: full.collect(), stats: draws.chains()[0].stats.clone() };
    assert!(chain.values.iter().all(|v| v.is_finite()));
    assert!(chain.stats.iter().all(|s| s.lp.is_finite() && s.energy.is_finite()));
    let draws = Draws::new(model.dim(), draws.len(), vec![chain]).unwrap();
    (draws, log.kept.into_inner().unwrap())
}

fn stats(draws: &Draws) -> &[Stat] {
    &draws.chains()[0].stats
}

/// On raw data, whatever their units, no kept draw meets a failure. The first steps of a warm-up
/// may: they are as long as it takes to find out how long is too long. Of 12 other seeds none
/// failed, here or in the tests below.
#[test]
fn no_draw_wants_a_factor() {
    for table in tables().into_iter().chain(noiseless()) {
        for (method, hilbert) in METHODS.into_iter().flat_map(|m| [(m, true), (m, false)]) {
            let (draws, failures) =
                chain(&posterior(&table, method, hilbert), f64::INFINITY, short(20));
            assert_eq!(failures.len(), draws.len());
            assert_eq!(failures.iter().sum::<usize>(), 0, "{}, {method:?}, {hilbert}", table.name);
        }
    }
}

/// By way of a fit, which scales the data, all draws are finite too, and the diagnostics count all
/// that diverged.
#[test]
fn a_fit_of_any_table_is_finite() {
    for table in tables().into_iter().chain(noiseless()) {
        for (method, experts) in METHODS {
            // As many experts as rows, and no more, can be fitted.
            let experts = experts.min(table.y.len());
            for basis in [BasisChoice::Hilbert, BasisChoice::Rff] {
                let settings = FitSettings {
                    method,
                    experts,
                    basis,
                    frequencies: 10,
                    size: Some(6),
                    density: DensityChoice::Collapsed,
                    sampler: short(10),
                    ..FitSettings::default()
                };
                let data = Data::new(table.x.clone(), table.inputs).unwrap();
                let fitted = fit(&data.with_target(table.y.clone()).unwrap(), &settings).unwrap();
                assert!(fitted.draws.iter().flatten().all(|v| v.is_finite()));
                assert!(stats(&fitted.draws).iter().all(|s| s.lp.is_finite()));
                let diverging = stats(&fitted.draws).iter().filter(|s| s.diverging).count();
                assert_eq!(fitted.diagnostics.divergences, diverging);
            }
        }
    }
}

/// A density that fails beyond a wall, which the chain cannot pass: each draw that meets it
/// diverges, and the diagnostics count it.
#[test]
fn a_density_that_fails_is_a_divergence() {
    let mut met = 0;
    for (method, hilbert) in METHODS.into_iter().flat_map(|m| [(m, true), (m, false)]) {
        let posterior = posterior(&wave("a wall", 30), method, hilbert);
        let (free, _) = chain(&posterior, f64::INFINITY, short(60));
        let mut first: Vec<f64> = free.iter().map(|q| q[0]).collect();
        first.sort_by(f64::total_cmp);
        // Half of what it would draw is behind the wall.
        let wall = first[30];
        let (draws, failures) = chain(&posterior, wall, short(60));
        assert!(draws.iter().all(|q| q[0] <= wall));
        met += counted(&posterior, &draws, &failures);
    }
    assert!(met > 0, "no chain met the wall");
}

/// Asserts that draws which met a failure diverged, and that the diagnostics say how many; how
/// many failed.
fn counted(posterior: &Posterior, draws: &Draws, failures: &[usize]) -> usize {
    let met = failures.iter().zip(stats(draws)).filter(|(met, _)| **met > 0);
    assert!(met.clone().all(|(_, stat)| stat.diverging));
    let (met, found) = (met.count(), diagnose(posterior, draws, 1).unwrap());
    assert_eq!(found.divergences, stats(draws).iter().filter(|s| s.diverging).count());
    assert!(found.divergences >= met);
    let told = found.warnings.iter().any(|w| w.text.contains("diverged after the warm-up"));
    // So few draws that one is too many.
    assert_eq!(told, found.divergences > 0, "{:?}", found.warnings);
    met
}

/// At points far out of the prior: a finite density, or none because a precision is beyond
/// [`PRECISE`]; both are met. What fails does not spoil what comes next.
#[test]
fn a_factor_is_wanting_only_where_precisions_are_huge() {
    let (mut found, mut wanting, mut least) = (0, 0, f64::INFINITY);
    for table in tables().into_iter().chain(noiseless()) {
        for (method, hilbert) in METHODS.into_iter().flat_map(|m| [(m, true), (m, false)]) {
            let posterior = posterior(&table, method, hilbert);
            let model = posterior.model().clone();
            let mut density = Collapsed::new(posterior).unwrap();
            let mut normal = normals(85);
            for factor in [1.0, 3.0, 10.0].repeat(10) {
                let q: Vec<f64> =
                    model.prior_draw(&mut normal).iter().map(|v| factor * v).collect();
                let h = density.shorten(&q);
                let mut grad = vec![f64::NAN; h.len()];
                match density.logp(&h, &mut grad) {
                    Ok(logp) => {
                        assert!(logp.is_finite() && grad.iter().all(|g| g.is_finite()));
                        found += 1;
                    }
                    Err(e) => {
                        assert!(e.is_recoverable(), "{e}");
                        let most = log_precision(&table, &model, &q);
                        least = most.min(least);
                        wanting += 1;
                    }
                }
            }
        }
    }
    println!(
        "{found} densities, {wanting} wanting, the least precision 1e{:.1}",
        least / 10_f64.ln()
    );
    assert!(found > 0 && wanting > 0);
    assert!(least > PRECISE.ln(), "{least}");
}

/// The logarithm of the largest precision of a row times the largest variance of a mean: with all
/// targets and means zero, a row's log density is that of its precision.
fn log_precision(table: &Table, model: &Arc<Model>, q: &[f64]) -> f64 {
    let mut q = q.to_vec();
    let parts = model.layout().parts.iter().filter(|p| p.role == Some(Role::Mu));
    let mut log_var = f64::NEG_INFINITY;
    for part in parts {
        let range = part.offset..part.offset + part.count * part.width;
        match part.kind {
            Kind::Var => log_var = q[range].iter().copied().fold(log_var, f64::max),
            Kind::Theta => q[range].fill(0.0),
            _ => {}
        }
    }
    let mut rows = vec![0.0; table.y.len()];
    let zeros = Observed::new(&table.x, table.inputs, &rows).unwrap();
    Posterior::new(model.clone(), Arc::new(zeros)).unwrap().pointwise(&q, &mut rows);
    let most = rows.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    2.0 * most + (2.0 * std::f64::consts::PI).ln() + log_var
}
