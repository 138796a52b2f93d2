//! Work on several threads that ends with its first failure.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::infer::{ChainProgress, Forecast, Keeper, Monitor, Phase};
use crate::{Error, Result};

/// How a run of many jobs ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With all its jobs.
    Whole,
    /// Cancelled, with some of them.
    Cancelled,
}

/// The error of a run that was stopped while there was nothing to keep.
pub(crate) fn stopped() -> Error {
    Error::Sampling("stopped before the warm-up ended: there are no draws to keep".into())
}

/// Refuse to go on where a run was stopped that has no draws yet.
pub(crate) fn go_on(monitor: &dyn Monitor) -> Result<()> {
    if monitor.cancelled() { Err(stopped()) } else { Ok(()) }
}

/// Passes a monitor on, and cancels once `stop` is set.
pub(crate) struct Linked<'a> {
    pub(crate) monitor: &'a dyn Monitor,
    pub(crate) stop: &'a AtomicBool,
}

impl Monitor for Linked<'_> {
    fn phase(&self, phase: Phase) {
        self.monitor.phase(phase);
    }

    fn wants_forecast(&self) -> bool {
        self.monitor.wants_forecast()
    }

    fn expect(&self, forecast: &Forecast) {
        self.monitor.expect(forecast);
    }

    fn start(&self, done: usize, total: usize) {
        self.monitor.start(done, total);
    }

    fn part(&self, done: usize, total: usize) {
        self.monitor.part(done, total);
    }

    fn draw(&self, progress: &ChainProgress) {
        self.monitor.draw(progress);
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.monitor.cancelled()
    }

    fn keeper(&self) -> &dyn Keeper {
        self.monitor.keeper()
    }
}

/// The first failure of some jobs, after which none goes on.
pub(crate) struct Halt<E> {
    pub(crate) stop: AtomicBool,
    first: Mutex<Option<E>>,
}

impl<E> Halt<E> {
    pub(crate) fn new() -> Halt<E> {
        Halt { stop: AtomicBool::new(false), first: Mutex::new(None) }
    }

    /// Stop everything where a job has failed.
    pub(crate) fn hear(&self, outcome: std::result::Result<(), E>) {
        let Err(failure) = outcome else { return };
        self.stop.store(true, Ordering::Relaxed);
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert(failure);
        }
    }

    /// How it ended.
    pub(crate) fn end(self, cancelled: bool) -> Result<std::result::Result<Ended, E>> {
        let first = self.first.into_inner();
        Ok(match first.map_err(|_| Error::Worker("it left no result".into()))? {
            Some(failure) => Err(failure),
            None if cancelled => Ok(Ended::Cancelled),
            None => Ok(Ended::Whole),
        })
    }
}

/// Stops all jobs when dropped: by one that returns an error or panics.
pub(crate) struct Fail<'a>(pub(crate) &'a AtomicBool);

impl Fail<'_> {
    /// The job ended well.
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for Fail<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
