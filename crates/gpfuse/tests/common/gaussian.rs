//! A correlated Gaussian whose moments are known, and which fails on demand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once, mpsc};
use std::time::Duration;

use gpfuse::Result;
use gpfuse::infer::{Density, DensityError, Draws, Quiet, Settings, Start, sample};

pub(crate) const DIM: usize = 5;
pub(crate) const MEAN: [f64; DIM] = [1.0, -2.0, 0.5, 10.0, 0.0];

/// A lower-triangular factor L: the covariance is L L', with correlations up to 0.9 and
/// standard deviations from 0.1 to 4.
pub(crate) const FACTOR: [[f64; DIM]; DIM] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [1.8, 0.9, 0.0, 0.0, 0.0],
    [0.0, -0.05, 0.1, 0.0, 0.0],
    [1.0, 1.0, 1.0, 3.5, 0.0],
    [0.2, 0.0, -0.3, 0.1, 0.5],
];

/// What a density does besides being a Gaussian.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    None,
    /// Takes a while, as a real one does.
    Slow,
    Fatal,
    Panic,
    /// Panics at one evaluation and at no other.
    PanicOnce,
    /// Never has a value.
    NotFinite,
}

/// The correlated Gaussian, with a fault from evaluation number `after` on, counted over all
/// chains.
#[derive(Clone)]
pub(crate) struct Gaussian {
    fault: Fault,
    after: usize,
    evaluations: Arc<AtomicUsize>,
}

impl Gaussian {
    pub(crate) fn new() -> Gaussian {
        Gaussian::with(Fault::None, 0)
    }

    pub(crate) fn with(fault: Fault, after: usize) -> Gaussian {
        Gaussian { fault, after, evaluations: Arc::new(AtomicUsize::new(0)) }
    }
}

impl Density for Gaussian {
    fn dim(&self) -> usize {
        DIM
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        let number = self.evaluations.fetch_add(1, Ordering::Relaxed);
        if number >= self.after {
            match self.fault {
                Fault::None => {}
                Fault::PanicOnce if number > self.after => {}
                Fault::Slow => std::thread::sleep(Duration::from_micros(200)),
                Fault::Fatal => return Err(DensityError::Fatal(FATAL.into())),
                Fault::Panic | Fault::PanicOnce => std::panic::panic_any(PANIC),
                Fault::NotFinite => return Err(DensityError::NotFinite { logp: f64::NAN }),
            }
        }
        // Solve L z = q - mean; the log density is -|z|^2 / 2 and its gradient -L'^-1 z.
        let mut z = [0.0; DIM];
        for i in 0..DIM {
            let known: f64 = (0..i).map(|j| FACTOR[i][j] * z[j]).sum();
            z[i] = (q[i] - MEAN[i] - known) / FACTOR[i][i];
        }
        for i in (0..DIM).rev() {
            let known: f64 = (i + 1..DIM).map(|j| FACTOR[j][i] * grad[j]).sum();
            grad[i] = (-z[i] - known) / FACTOR[i][i];
        }
        Ok(-0.5 * z.iter().map(|z| z * z).sum::<f64>())
    }
}

/// What a density says that gives up.
pub(crate) const FATAL: &str = "the well ran dry";

/// What a panicking density says.
pub(crate) const PANIC: &str = "the bridge fell down";

/// Panics on purpose leave no trace in the output, where they would look like failures.
pub(crate) fn mute_panics_on_purpose() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() != Some(PANIC) {
                usual(info);
            }
        }));
    });
}

/// Start points three standard deviations wide, which few coordinates are.
pub(crate) fn prior(normal: &mut dyn FnMut() -> f64) -> Vec<f64> {
    (0..DIM).map(|_| 3.0 * normal()).collect()
}

/// Settings with short starts.
pub(crate) fn settings() -> Settings {
    Settings { seed: 7, threads: 2, candidates: 2, start_steps: 40, ..Settings::default() }
}

/// Chains that would draw for hours: only a run that is stopped ends in time.
pub(crate) fn endless() -> Settings {
    let (warmup, draws) = (Some(50), Some(1_000_000));
    Settings { warmup, draws, start: Start::Prior, threads: 4, ..settings() }
}

/// Sample without a monitor.
pub(crate) fn run(density: &Gaussian, settings: Settings) -> Result<Draws> {
    sample(density, &prior, &settings.check()?, &Quiet)
}

/// The bits of all draws.
pub(crate) fn bits(draws: &Draws) -> Vec<u64> {
    draws.iter().flatten().map(|v| v.to_bits()).collect()
}

/// `job` in a thread of its own, which must end within 20 seconds: a hang is a failure, not a test
/// that never ends.
pub(crate) fn within<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> T {
    mute_panics_on_purpose();
    let (tell, hear) = mpsc::channel();
    std::thread::spawn(move || tell.send(job()));
    hear.recv_timeout(Duration::from_secs(20)).unwrap()
}
