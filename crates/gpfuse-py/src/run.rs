//! Long work beside Python: on a thread of its own, watched by the thread that asked for it.
//!
//! The asking thread gives up Python's lock and wakes up twenty times a second to look for
//! signals and to show progress. After Ctrl-C the work is asked to stop. Sampling does so at its next
//! gradient, and its draws are waited for; work that has none and cannot stop at once is left behind,
//! to end when it can, so that the prompt comes back within a second. A second Ctrl-C waits for
//! nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gpfuse::infer::{ChainProgress, Monitor};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Between two looks at signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
/// Between two calls of the progress function.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// How long work may take to stop before it is left behind.
const PATIENCE: Duration = Duration::from_millis(700);

/// Where a run is, and whether it should stop.
#[derive(Default)]
pub(crate) struct Watch {
    cancelled: AtomicBool,
    starts: Mutex<(usize, usize)>,
    chains: Mutex<Vec<ChainProgress>>,
}

impl Watch {
    /// Ask the work to stop.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether there are draws to wait for.
    fn has_draws(&self) -> bool {
        lock(&self.chains).iter().any(|p| !p.warming_up)
    }

    /// Tell Python where the run is: `progress((done, total), [(chain, done, total, warming_up,
    /// divergences, step_size, leapfrogs), ...])`.
    fn show(&self, py: Python<'_>, progress: &Py<PyAny>) -> PyResult<()> {
        let starts = *lock(&self.starts);
        let chains: Vec<_> = lock(&self.chains)
            .iter()
            .map(|p| (p.chain, p.done, p.total, p.warming_up, p.divergences, p.step_size, p.steps))
            .collect();
        progress.call1(py, (starts, chains)).map(|_| ())
    }
}

fn lock<T>(from: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    from.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Monitor for Watch {
    fn start(&self, done: usize, total: usize) {
        *lock(&self.starts) = (done, total);
    }

    fn draw(&self, progress: &ChainProgress) {
        let mut chains = lock(&self.chains);
        match chains.iter_mut().find(|p| p.chain == progress.chain) {
            Some(known) => *known = *progress,
            None => chains.push(*progress),
        }
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Do `work` without Python's lock. If a signal or the progress function raised, its exception
/// comes back beside what the work made of being stopped; where that is nothing, it is the error.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<(T, Option<PyErr>)> {
    let watch = Arc::new(Watch::default());
    let (done, mut wait) = channel();
    let watcher = watch.clone();
    thread::spawn(move || {
        // Nobody listens any more to work that was left behind.
        let _ = done.send(work(&watcher));
    });
    let (mut stopped, mut shown): (Option<(PyErr, Instant)>, _) = (None, Instant::now());
    loop {
        let (back, ended) = py.detach(move || {
            let ended = wait.recv_timeout(SIGNAL_INTERVAL);
            (wait, ended)
        });
        wait = back;
        match ended {
            Ok(value) => {
                if let Some(progress) = progress.filter(|_| stopped.is_none()) {
                    watch.show(py, progress)?;
                }
                return Ok((value, stopped.map(|(error, _)| error)));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a worker thread failed: see above"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let looked = py.check_signals().and_then(|()| match progress {
            Some(progress) if stopped.is_none() && shown.elapsed() >= PROGRESS_INTERVAL => {
                shown = Instant::now();
                watch.show(py, progress)
            }
            _ => Ok(()),
        });
        let late = |since: &Instant| since.elapsed() > PATIENCE && !watch.has_draws();
        match (looked, stopped.take()) {
            (Err(error), None) => {
                watch.cancel();
                stopped = Some((error, Instant::now()));
            }
            (Err(error), Some(_)) => return Err(error),
            (Ok(()), Some((error, since))) if late(&since) => return Err(error),
            (Ok(()), other) => stopped = other,
        }
    }
}

/// The same for work that is worth nothing when it was stopped.
pub(crate) fn whole<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Watch) -> gpfuse::Result<T> + Send + 'static,
) -> PyResult<T> {
    match watched(py, None, work)? {
        (_, Some(error)) => Err(error),
        (value, None) => value.map_err(crate::error::of),
    }
}
