//! The samplers through their public door: right moments, same bits on any number of threads,
//! and a clean end whatever goes wrong.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::case::{Case, Recipe, normals, rows_of};
use common::gaussian::{
    DIM, FACTOR, FATAL, Fault, Gaussian, MEAN, PANIC, bits, endless, prior, run, settings, within,
};
use common::tolerance;
use gpfuse::Error;
use gpfuse::diagnose::{ess_mean, mcse_mean};
use gpfuse::fit::{BasisChoice, FitSettings, fit};
use gpfuse::infer::{
    ChainProgress, Density, Draws, Metric, Monitor, Quiet, Sampler, Settings, Start, sample,
};
use gpfuse::model::{BankPrior, Method, Priors};

/// Mean and variance of every coordinate within 5 Monte Carlo standard errors. Ten statistics
/// in each of four runs, each failing with probability 6e-7 were it normal, are 2e-5 in all;
/// with the error of the standard errors themselves, below 1e-4.
fn check_moments(draws: &Draws) {
    let cases = (0..DIM).flat_map(|i| [(i, false), (i, true)]);
    for (i, square) in cases {
        let variance: f64 = FACTOR[i].iter().map(|v| v * v).sum();
        let expected = if square { variance } else { MEAN[i] };
        let value = |q: &[f64]| if square { (q[i] - MEAN[i]).powi(2) } else { q[i] };
        let all: Vec<f64> = draws.iter().map(value).collect();
        let chains = draws.by_chain(&all);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let (ess, mcse) = (ess_mean(&chains), mcse_mean(&chains));
        // A standard error from fewer effective draws would say little.
        assert!(ess > 200.0, "coordinate {i}: {ess} effective draws");
        let z = (mean - expected) / mcse;
        assert!(z.abs() < tolerance::Z, "coordinate {i}, square {square}: z = {z}");
    }
}

#[test]
fn nuts_has_the_right_moments() {
    for metric in [Metric::Diagonal, Metric::LowRank] {
        let draws =
            run(&Gaussian::new(), Settings { metric, draws: Some(1000), ..settings() }).unwrap();
        assert_eq!((draws.chains().len(), draws.per_chain(), draws.dim()), (4, 1000, DIM));
        assert!(!draws.interrupted());
        check_moments(&draws);
    }
}

#[test]
fn hmc_has_the_right_moments_and_trajectories_of_one_length() {
    for hmc_depth in [3, 5] {
        let asked = Settings { sampler: Sampler::Hmc, hmc_depth, draws: Some(1000), ..settings() };
        let draws = run(&Gaussian::new(), asked).unwrap();
        for stat in draws.chains().iter().flat_map(|c| &c.stats) {
            assert_eq!(stat.steps, (1 << hmc_depth) - 1);
            assert!(!stat.diverging);
        }
        check_moments(&draws);
    }
}

#[test]
fn the_log_density_of_each_draw_is_its_own() {
    let draws = run(&Gaussian::new(), Settings { draws: Some(50), ..settings() }).unwrap();
    let mut density = Gaussian::new();
    let stats = draws.chains().iter().flat_map(|c| &c.stats);
    for (q, stat) in draws.iter().zip(stats) {
        let lp = density.logp(q, &mut [0.0; DIM]).unwrap();
        common::close("lp", stat.lp, lp, tolerance::LAW);
        assert!(stat.steps >= 1 && stat.step_size > 0.0 && stat.energy.is_finite());
    }
}

#[test]
fn map_finds_the_mode() {
    let asked = Settings { sampler: Sampler::Map, ..settings() };
    let draws = run(&Gaussian::new(), asked).unwrap();
    assert_eq!(draws.len(), 1);
    for (found, mean) in draws.iter().next().unwrap().iter().zip(MEAN) {
        assert!((found - mean).abs() < tolerance::MODE, "{found} instead of {mean}");
    }
}

#[test]
fn threads_do_not_change_a_bit_and_seeds_do() {
    for metric in [Metric::Diagonal, Metric::LowRank] {
        for start in [Start::Prior, Start::Map, Start::Pilot, Start::Data] {
            let asked =
                Settings { metric, start, warmup: Some(100), draws: Some(50), ..settings() };
            let with = |threads: usize, seed: u64| {
                let asked = Settings { threads, seed, ..asked.clone() };
                bits(&run(&Gaussian::new(), asked).unwrap())
            };
            let one = with(1, 7);
            assert_eq!(one, with(2, 7));
            assert_eq!(one, with(4, 7));
            assert_ne!(one, with(2, 8));
        }
    }
}

/// One given expert has nothing to learn: no parameters, and still draws that predict.
#[test]
fn a_density_without_parameters_can_be_sampled() {
    let case = Case::new(Recipe { experts: 1, ..Recipe::small(Method::Bhs, 3) });
    let prior = |_: &mut dyn FnMut() -> f64| Vec::new();
    for sampler in [Sampler::Nuts, Sampler::Hmc, Sampler::Map] {
        let asked = Settings { sampler, warmup: Some(20), draws: Some(10), ..settings() };
        let draws = sample(&case.posterior(), &prior, &asked.check().unwrap(), &Quiet).unwrap();
        assert_eq!(draws.iter().count(), draws.len(), "{sampler:?}");
        assert!(draws.iter().all(<[f64]>::is_empty));
    }
}

/// A small data set with a bend and a change of noise.
fn table() -> (Vec<f64>, Vec<f64>) {
    let mut normal = normals(12);
    let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 10.0).collect();
    let y = x.iter().map(|x| (2.0 * x).sin() + (0.05 + 0.1 * x) * normal()).collect();
    (x, y)
}

#[test]
fn a_fit_has_the_same_bits_on_any_number_of_threads() {
    let (x, y) = table();
    for (basis, metric) in [
        (BasisChoice::Rff, Metric::Diagonal),
        (BasisChoice::Hilbert, Metric::Diagonal),
        (BasisChoice::Hilbert, Metric::LowRank),
    ] {
        let with = |threads: usize, seed: u64| {
            let sampler = Settings {
                metric,
                threads,
                seed,
                warmup: Some(40),
                draws: Some(20),
                max_depth: 5,
                start_steps: 20,
                ..settings()
            };
            let asked = FitSettings {
                method: Method::Pogpe,
                experts: 2,
                basis,
                frequencies: 4,
                size: Some(5),
                sampler,
                ..FitSettings::default()
            };
            let data = rows_of(&x, &y);
            let fitted = fit(&data, &asked).unwrap();
            let scores = fitted.evaluate(&data).unwrap();
            (bits(&fitted.draws), scores.nlpd.value.to_bits(), format!("{:?}", fitted.diagnostics))
        };
        let one = with(1, 3);
        assert_eq!(one, with(2, 3));
        assert_eq!(one, with(4, 3));
        assert_ne!(one.0, with(2, 4).0);
    }
}

/// Cancels once `done` says so, and remembers when.
struct Canceller<F> {
    done: F,
    stop: AtomicBool,
    at: Mutex<Option<Instant>>,
}

impl<F: Fn(&ChainProgress) -> bool + Sync> Canceller<F> {
    fn new(done: F) -> Canceller<F> {
        Canceller { done, stop: AtomicBool::new(false), at: Mutex::new(None) }
    }

    /// How long ago the run was cancelled.
    fn ago(&self) -> Duration {
        self.at.lock().unwrap().unwrap().elapsed()
    }
}

impl<F: Fn(&ChainProgress) -> bool + Sync> Monitor for Canceller<F> {
    fn draw(&self, progress: &ChainProgress) {
        if (self.done)(progress) && !self.stop.swap(true, Ordering::Relaxed) {
            *self.at.lock().unwrap() = Some(Instant::now());
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[test]
fn a_cancelled_run_keeps_its_draws() {
    let monitor = Canceller::new(|p| !p.warming_up && p.done >= 80);
    let density = Gaussian::with(Fault::Slow, 0);
    let draws = sample(&density, &prior, &endless().check().unwrap(), &monitor).unwrap();
    assert!(monitor.ago() < Duration::from_secs(1));
    assert!(draws.interrupted());
    // The chain that cancelled had 30 draws or more; the largest full array has no fewer in all.
    assert!(draws.len() >= 30 && draws.per_chain() < 1_000_000, "{}", draws.len());
    assert!(draws.iter().all(|q| q.len() == DIM && q.iter().all(|v| v.is_finite())));
    for chain in draws.chains() {
        assert_eq!(chain.stats.len(), draws.per_chain());
    }
}

/// What a cancelled run keeps is the beginning of what it would have drawn.
#[test]
fn a_cancelled_run_is_the_beginning_of_a_whole_one() {
    let asked = Settings {
        chains: 1,
        warmup: Some(50),
        draws: Some(200),
        start: Start::Prior,
        ..settings()
    };
    let whole = bits(&run(&Gaussian::new(), asked.clone()).unwrap());
    let monitor = Canceller::new(|p| p.done >= 70);
    let part = sample(&Gaussian::new(), &prior, &asked.check().unwrap(), &monitor).unwrap();
    let part = bits(&part);
    assert_eq!(part.len(), 20 * DIM);
    assert_eq!(part[..], whole[..part.len()]);
}

#[test]
fn cancelling_the_warm_up_is_an_error() {
    let monitor = Canceller::new(|p| p.done >= 20);
    let density = Gaussian::with(Fault::Slow, 0);
    let found = sample(&density, &prior, &endless().check().unwrap(), &monitor);
    assert!(monitor.ago() < Duration::from_secs(1));
    let message = found.unwrap_err().to_string();
    assert!(message.contains("warm-up"), "{message}");
}

/// Cancels when it has been asked so many times, whatever is running then.
struct Countdown(AtomicUsize);

impl Monitor for Countdown {
    fn cancelled(&self) -> bool {
        let step = |left: usize| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).is_err()
    }
}

/// Before the first gradient, or within starts, pilots and climbs. What cannot be had is an
/// error that says so, and what comes back (a mode not yet reached) is marked.
#[test]
fn cancelling_the_starts_is_an_error_or_marked() {
    let kinds = [
        (Sampler::Nuts, Start::Prior),
        (Sampler::Nuts, Start::Map),
        (Sampler::Nuts, Start::Pilot),
        (Sampler::Nuts, Start::Data),
        (Sampler::Hmc, Start::Pilot),
        (Sampler::Map, Start::Prior),
    ];
    for (sampler, start) in kinds {
        for asked in [0, 1, 7, 20] {
            let settings = Settings { sampler, start, ..endless() };
            let began = Instant::now();
            let monitor = Countdown(AtomicUsize::new(asked));
            let density = Gaussian::with(Fault::Slow, 0);
            let found = sample(&density, &prior, &settings.check().unwrap(), &monitor);
            assert!(began.elapsed() < Duration::from_secs(1));
            let what = format!("{sampler:?} {start:?}, cancelled after {asked}");
            match found {
                Ok(draws) => assert!(draws.interrupted(), "{what}: not marked"),
                Err(e) => assert!(e.to_string().contains("stopped"), "{what}: {e}"),
            }
        }
    }
}

/// A fault's message reaches the caller, whenever the fault comes: in a chain, in a pilot, or
/// at the very first evaluation.
fn fails_with(fault: Fault, after: usize, start: Start, sampler: Sampler, message: &'static str) {
    for threads in [1, 4] {
        let asked = Settings { start, sampler, threads, ..settings() };
        let found = within(move || run(&Gaussian::with(fault, after), asked));
        let found = found.map(|d| d.len()).unwrap_err().to_string();
        assert!(found.contains(message), "{start:?}, after {after}, {threads} threads: {found}");
    }
}

#[test]
fn a_fatal_density_fails_with_its_message() {
    fails_with(Fault::Fatal, 500, Start::Prior, Sampler::Nuts, FATAL);
    fails_with(Fault::Fatal, 500, Start::Prior, Sampler::Hmc, FATAL);
}

#[test]
fn a_fatal_density_fails_with_its_message_from_the_start() {
    for start in [Start::Prior, Start::Map, Start::Pilot, Start::Data] {
        fails_with(Fault::Fatal, 0, start, Sampler::Nuts, FATAL);
    }
    fails_with(Fault::Fatal, 0, Start::Prior, Sampler::Map, FATAL);
    // Within a pilot.
    fails_with(Fault::Fatal, 50, Start::Pilot, Sampler::Nuts, FATAL);
}

#[test]
fn a_density_that_panics_in_one_chain_fails_with_its_message() {
    for (start, after) in [(Start::Prior, 500), (Start::Pilot, 50), (Start::Pilot, 0)] {
        fails_with(Fault::PanicOnce, after, start, Sampler::Nuts, PANIC);
    }
    fails_with(Fault::PanicOnce, 0, Start::Prior, Sampler::Map, PANIC);
}

#[test]
fn a_density_that_panics_in_all_chains_fails_with_its_message() {
    for (start, after) in [(Start::Prior, 500), (Start::Pilot, 50), (Start::Pilot, 0)] {
        fails_with(Fault::Panic, after, start, Sampler::Nuts, PANIC);
    }
    fails_with(Fault::Panic, 0, Start::Prior, Sampler::Map, PANIC);
}

/// A run that has failed in one chain has failed: the others do not draw on for hours first.
#[test]
fn a_failed_chain_stops_the_others() {
    let found = within(|| run(&Gaussian::with(Fault::PanicOnce, 500), endless()));
    let message = found.map(|d| d.len()).unwrap_err().to_string();
    assert!(message.contains(PANIC), "{message}");
}

#[test]
fn a_density_without_a_value_has_no_start() {
    for sampler in [Sampler::Nuts, Sampler::Map] {
        for start in [Start::Prior, Start::Map, Start::Pilot, Start::Data] {
            fails_with(Fault::NotFinite, 0, start, sampler, "finite density");
        }
    }
}

#[test]
fn every_bad_setting_is_refused_by_name() {
    let good = settings();
    let bad = [
        ("chains", Settings { chains: 0, ..good.clone() }),
        ("chains", Settings { chains: 10_001, ..good.clone() }),
        ("warmup", Settings { warmup: Some(0), ..good.clone() }),
        ("warmup", Settings { warmup: Some(9), ..good.clone() }),
        ("draws", Settings { draws: Some(0), ..good.clone() }),
        ("max_depth", Settings { max_depth: 0, ..good.clone() }),
        ("max_depth", Settings { max_depth: 21, ..good.clone() }),
        ("hmc_depth", Settings { hmc_depth: 0, ..good.clone() }),
        ("hmc_depth", Settings { hmc_depth: 21, ..good.clone() }),
        ("candidates", Settings { candidates: 0, ..good.clone() }),
        ("start_steps", Settings { start_steps: 1_000_001, ..good.clone() }),
        ("threads", Settings { threads: 0, ..good.clone() }),
        ("target_accept", Settings { target_accept: Some(0.0), ..good.clone() }),
        ("target_accept", Settings { target_accept: Some(1.0), ..good.clone() }),
        ("target_accept", Settings { target_accept: Some(f64::NAN), ..good.clone() }),
    ];
    for (name, settings) in bad {
        let shown = format!("{settings:?}");
        // Alone and as part of a fit's settings.
        let fit = FitSettings { sampler: settings.clone(), ..FitSettings::default() };
        for found in [settings.check().err(), fit.check().err()] {
            assert!(
                matches!(&found, Some(Error::Setting { name: n, .. }) if *n == name),
                "{shown}"
            );
            assert!(found.unwrap().to_string().contains(name));
        }
    }
    good.check().unwrap();
}

#[test]
fn every_bad_setting_of_a_fit_is_refused_by_name() {
    let good = FitSettings::default;
    let prior = |var: f64, ell: f64| Priors { gate: BankPrior { var, ell }, ..Priors::default() };
    let bad = [
        ("experts", FitSettings { experts: 0, ..good() }),
        ("experts", FitSettings { experts: 1001, ..good() }),
        ("frequencies", FitSettings { frequencies: 0, ..good() }),
        ("frequencies", FitSettings { frequencies: 100_001, ..good() }),
        ("size", FitSettings { size: Some(0), ..good() }),
        ("priors", FitSettings { priors: prior(0.0, 1.0), ..good() }),
        ("priors", FitSettings { priors: prior(1.0, f64::INFINITY), ..good() }),
        ("priors", FitSettings { priors: prior(f64::NAN, 1.0), ..good() }),
    ];
    for (name, settings) in bad {
        let shown = format!("{settings:?}");
        let found = settings.check().err();
        assert!(matches!(&found, Some(Error::Setting { name: n, .. }) if *n == name), "{shown}");
    }
    good().check().unwrap();
}
