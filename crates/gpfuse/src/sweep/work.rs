//! Many cells on several threads, without more chains at work than threads.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::cost::longest_first;
use super::{Cell, Finished, run_cell};
use crate::Result;
use crate::fit::Fitted;
use crate::halt::{Ended, Fail, Halt, Linked};
use crate::infer::Monitor;
use crate::parallel::parallel;

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
    let halt = Halt::new();
    let take = || {
        let mut queue = queue.lock().ok()?;
        let left = cells.len() - queue.next;
        if left == 0 || halt.stop.load(Ordering::Relaxed) || sink.cancelled() {
            return None;
        }
        let threads_taken = (queue.free / left).max(1);
        queue.next += 1;
        queue.free = queue.free.saturating_sub(threads_taken);
        Some((&cells[queue.next - 1], threads_taken))
    };
    let give_back = |count: usize| {
        if let Ok(mut queue) = queue.lock() {
            queue.free += count;
        }
    };
    parallel(threads.min(cells.len().max(1)), threads, |_| {
        while let Some((cell, threads_taken)) = take() {
            let guard = Fail(&halt.stop);
            let monitor = sink.begin(cell);
            let linked = Linked { monitor: monitor.as_ref(), stop: &halt.stop };
            let outcome = run_cell(cell, threads_taken, &linked);
            drop(monitor);
            give_back(threads_taken);
            if let Some((finished, fitted)) = outcome {
                halt.hear(sink.end(cell, finished, fitted));
            }
            guard.disarm();
        }
    })?;
    halt.end(sink.cancelled())
}
