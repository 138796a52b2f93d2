//! Many simulations on several threads, each handed over as it ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Simulation, Study};
use crate::infer::Monitor;
use crate::parallel::parallel;
use crate::{Error, Result};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With all its simulations.
    Whole,
    /// Cancelled, with some of them.
    Cancelled,
}

/// Stops the chains at work once a result could not be taken.
struct Watched<'a> {
    monitor: &'a dyn Monitor,
    stop: &'a AtomicBool,
}

impl Monitor for Watched<'_> {
    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.monitor.cancelled()
    }
}

/// Run the simulations `numbers` on `threads` threads. Each is given to `take` as soon as it is
/// there, in no particular order; nothing but its seconds depends on the threads. Of the monitor only
/// its cancellation is asked for.
///
/// # Errors
/// The failure of `take`, after which no simulation goes on; or that of a worker, which is a fault
/// of the program.
pub fn run_all<E: Send>(
    study: &Study,
    numbers: &[u64],
    threads: usize,
    monitor: &dyn Monitor,
    take: impl Fn(Simulation) -> std::result::Result<(), E> + Sync,
) -> Result<std::result::Result<Ended, E>> {
    let (stop, failure) = (AtomicBool::new(false), Mutex::new(None));
    let watched = Watched { monitor, stop: &stop };
    parallel(numbers.len(), threads, |i| {
        if watched.cancelled() {
            return;
        }
        let Some(done) = study.run(numbers[i], &watched) else { return };
        if let Err(e) = take(done) {
            stop.store(true, Ordering::Relaxed);
            if let Ok(mut failure) = failure.lock() {
                failure.get_or_insert(e);
            }
        }
    })?;
    let failure = failure.into_inner().map_err(|_| Error::Worker("it left no result".into()))?;
    Ok(match failure {
        Some(e) => Err(e),
        None if monitor.cancelled() => Ok(Ended::Cancelled),
        None => Ok(Ended::Whole),
    })
}
