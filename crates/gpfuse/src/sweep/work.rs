//! Many cells on several threads, without more chains at work than threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cost::longest_first;
use super::{Cell, Finished, run_cell};
use crate::fit::Fitted;
use crate::infer::{ChainProgress, Monitor};
use crate::parallel::parallel;
use crate::{Error, Result};

/// Takes what a sweep has finished; called from the threads that run cells.
pub trait Sink: Sync {
    /// Why a finished cell could not be taken.
    type Failure: Send;

    /// A cell begins; what is returned watches its chains.
    fn begin<'a>(&'a self, cell: &Cell) -> Box<dyn Monitor + 'a>;

    /// A cell is finished, and here is its model if it was to be kept. A failure stops the sweep.
    fn end(
        &self,
        cell: &Cell,
        finished: Finished,
        fitted: Option<Fitted>,
    ) -> std::result::Result<(), Self::Failure>;

    /// Whether the sweep should stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// How a sweep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With all its cells.
    Whole,
    /// Cancelled, with some of them.
    Cancelled,
}

/// What the workers share: the next cell, and threads that no cell has.
struct Queue {
    next: usize,
    free: usize,
}

/// Run cells, the longest first. Each has one thread while at least as many cells wait as there
/// are threads; the last ones share the threads that are free.
///
/// # Errors
/// The sink's failure, after which no cell goes on; or that of a worker, which is a fault of the
/// program.
pub fn run_all<S: Sink>(
    mut cells: Vec<Cell>,
    threads: usize,
    sink: &S,
) -> Result<std::result::Result<Ended, S::Failure>> {
    longest_first(&mut cells);
    let threads = threads.max(1);
    let queue = Mutex::new(Queue { next: 0, free: threads });
    let stop = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let take = || {
        let mut queue = queue.lock().ok()?;
        let left = cells.len() - queue.next;
        if left == 0 || stop.load(Ordering::Relaxed) || sink.cancelled() {
            return None;
        }
        let own = (queue.free / left).max(1);
        queue.next += 1;
        queue.free = queue.free.saturating_sub(own);
        Some((&cells[queue.next - 1], own))
    };
    let give_back = |own: usize| {
        if let Ok(mut queue) = queue.lock() {
            queue.free += own;
        }
    };
    parallel(threads.min(cells.len().max(1)), threads, |_| {
        while let Some((cell, own)) = take() {
            let monitor = sink.begin(cell);
            let watched = Watched { monitor: monitor.as_ref(), stop: &stop };
            let outcome = run_cell(cell, own, &watched);
            drop(monitor);
            give_back(own);
            let Some((finished, fitted)) = outcome else { continue };
            if let Err(e) = sink.end(cell, finished, fitted) {
                stop.store(true, Ordering::Relaxed);
                if let Ok(mut failure) = failure.lock() {
                    failure.get_or_insert(e);
                }
            }
        }
    })?;
    let failure = failure.into_inner().map_err(|_| Error::Worker("it left no result".into()))?;
    Ok(match failure {
        Some(e) => Err(e),
        None if sink.cancelled() => Ok(Ended::Cancelled),
        None => Ok(Ended::Whole),
    })
}

/// The sink's monitor, and the end of all cells once the sink has failed.
struct Watched<'a> {
    monitor: &'a dyn Monitor,
    stop: &'a AtomicBool,
}

impl Monitor for Watched<'_> {
    fn start(&self, done: usize, total: usize) {
        self.monitor.start(done, total);
    }

    fn draw(&self, progress: &ChainProgress) {
        self.monitor.draw(progress);
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.monitor.cancelled()
    }
}
