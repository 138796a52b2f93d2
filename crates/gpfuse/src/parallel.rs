//! Numbered jobs on several threads, with results in the order of their numbers.

mod rounds;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

pub(crate) use rounds::rounds;

use crate::{Error, Result};

/// Run `jobs` numbered jobs on at most `threads` threads; a job that panics is an error, after which
/// no other begins. Where one is enough, it is the caller's; where the system refuses a thread, those
/// that it gave do the work.
pub fn parallel<T: Send>(
    jobs: usize,
    threads: usize,
    job: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    parallel_with(jobs, threads, || (), |_, i| job(i))
}

/// The same, with working memory that each thread makes once and its jobs use in turn; a
/// result must not depend on what an earlier job left there.
pub(crate) fn parallel_with<S, T: Send>(
    jobs: usize,
    threads: usize,
    room: impl Fn() -> S + Sync,
    job: impl Fn(&mut S, usize) -> T + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<T>>> = (0..jobs).map(|_| Mutex::new(None)).collect();
    let work = || {
        let _last = Last(&next, jobs);
        let mut scratch = room();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = done.get(i) else { return };
            let result = job(&mut scratch, i);
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(result);
            }
        }
    };
    let wanted = threads.min(jobs);
    let panicked = std::thread::scope(|scope| {
        let spawn = |_| Builder::new().spawn_scoped(scope, work).ok();
        // Starting a thread takes longer than many jobs do.
        let started = if wanted > 1 { wanted } else { 0 };
        let handles: Vec<_> = (0..started).map_while(spawn).collect();
        if handles.is_empty() {
            // What a panicking job leaves behind is dropped here, as it is with a thread.
            return catch_unwind(AssertUnwindSafe(work)).err();
        }
        // All threads are joined: a scope panics itself if a panicked thread was not.
        let panics: Vec<_> = handles.into_iter().filter_map(|h| h.join().err()).collect();
        panics.into_iter().next()
    });
    if let Some(panic) = panicked {
        return Err(failure(panic.as_ref()));
    }
    let results: Option<Vec<T>> =
        done.into_iter().map(|slot| slot.into_inner().ok().flatten()).collect();
    results.ok_or_else(|| Error::Worker("it left no result".into()))
}

/// A panic as an error.
fn failure(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    Error::Worker(text.into())
}

/// Moves the counter past the last job when a panic drops it.
struct Last<'a>(&'a AtomicUsize, usize);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(self.1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The job that panics is the first of a thousand, of which the other thread has at most a few
    /// done by then: it waits for that.
    #[test]
    fn after_a_panic_no_job_begins() {
        let done = AtomicUsize::new(0);
        let outcome = parallel(1000, 2, |i| {
            if i == 0 {
                std::panic::resume_unwind(Box::new("no more"));
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
            done.fetch_add(1, Ordering::Relaxed)
        });
        assert_eq!(outcome.unwrap_err().to_string(), "a worker thread failed: no more");
        assert!(done.into_inner() < 500);
    }

    #[test]
    fn one_thread_is_that_of_the_caller() {
        let caller = std::thread::current().id();
        for (jobs, threads) in [(3, 1), (3, 0), (1, 4)] {
            let found = parallel(jobs, threads, |i| (i, std::thread::current().id())).unwrap();
            let expected: Vec<_> = (0..jobs).map(|i| (i, caller)).collect();
            assert_eq!(found, expected);
        }
        assert!(parallel(0, 4, |i| i).unwrap().is_empty());
        let done = AtomicUsize::new(0);
        let outcome = parallel(3, 1, |i| {
            if i == 1 {
                std::panic::resume_unwind(Box::new("no more"));
            }
            done.fetch_add(1, Ordering::Relaxed)
        });
        assert_eq!(outcome.unwrap_err().to_string(), "a worker thread failed: no more");
        assert_eq!(done.into_inner(), 1);
    }
}
