//! Monte Carlo inference: NUTS, HMC and MAP over any [`Density`], chains in parallel.
//!
//! ```text
//! Settings -> check -> Checked -> sample(density, prior, settings, monitor) -> Draws
//! ```
//!
//! Samplers know nothing of models: they see a density and a source of prior draws.

mod chain;
mod density;
mod draws;
pub mod map;
mod monitor;
mod settings;
mod start;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use density::{Density, DensityError};
pub use draws::{ChainDraws, Draws, Stat};
pub use monitor::{ChainProgress, Monitor, Quiet};
pub use settings::{Checked, Metric, Sampler, Settings, Start};

use crate::random::{Purpose, stream};
use crate::{Error, Result};

/// A source of prior draws: given standard normal numbers, a point of the sampling space.
pub type PriorDraw<'a> = &'a (dyn Fn(&mut dyn FnMut() -> f64) -> Vec<f64> + Sync);

/// Draw from `density`. The result depends on the seed, never on the number of threads. When
/// the monitor cancels, the draws so far come back, marked as interrupted.
pub fn sample<D: Density + Sync>(
    density: &D,
    prior: PriorDraw<'_>,
    settings: &Checked,
    monitor: &dyn Monitor,
) -> Result<Draws> {
    let starts = start::find(density, prior, settings, monitor)?;
    if settings.sampler == Sampler::Map {
        return Ok(Draws::single(&map::best(&starts)?));
    }
    let jobs = settings.chains;
    let linked = Linked { monitor, failed: AtomicBool::new(false) };
    let chains = parallel(jobs, settings.threads, |c| {
        let rng = stream(settings.seed, Purpose::Chain, c as u64);
        let (warmup, draws, max_depth) = (settings.warmup, settings.draws, settings.max_depth);
        let length = chain::Length { warmup, draws, max_depth };
        let guard = Fail(&linked.failed);
        let out = chain::run(c, density.clone(), &starts[c].q, length, settings, rng, &linked);
        if out.is_ok() {
            guard.disarm();
        }
        out
    })?;
    let chains: Result<Vec<ChainDraws>> = chains.into_iter().collect();
    Draws::new(density.dim(), settings.draws, chains?)
}

/// Passes a monitor on, and cancels all chains once one has failed.
struct Linked<'a> {
    monitor: &'a dyn Monitor,
    failed: AtomicBool,
}

impl Monitor for Linked<'_> {
    fn draw(&self, progress: &ChainProgress) {
        self.monitor.draw(progress);
    }

    fn cancelled(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.monitor.cancelled()
    }
}

/// Marks the run as failed when dropped: by a chain that returns an error or panics.
struct Fail<'a>(&'a AtomicBool);

impl Fail<'_> {
    /// The chain ended well.
    fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for Fail<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Run `jobs` numbered jobs on at most `threads` threads; a job that panics is an error.
pub(crate) fn parallel<T: Send>(
    jobs: usize,
    threads: usize,
    job: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<T>>> = (0..jobs).map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = done.get(i) else { return };
            let result = job(i);
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(result);
            }
        }
    };
    let panicked = std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..threads.clamp(1, jobs.max(1))).map(|_| scope.spawn(work)).collect();
        // All are joined: a scope panics itself over a panicked thread that was not.
        let panics: Vec<_> = handles.into_iter().filter_map(|h| h.join().err()).collect();
        panics.into_iter().next()
    });
    if let Some(panic) = panicked {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        return Err(Error::Sampling(format!("a worker thread failed: {text}")));
    }
    let results: Option<Vec<T>> =
        done.into_iter().map(|slot| slot.into_inner().ok().flatten()).collect();
    results.ok_or_else(|| Error::Sampling("a worker thread left no result".into()))
}
