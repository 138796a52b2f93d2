//! Numbered jobs on several threads, with results in the order of their numbers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

use crate::{Error, Result};

/// Run `jobs` numbered jobs on at most `threads` threads; a job that panics is an error. Where
/// the system refuses a thread, those that it gave do the work.
pub(crate) fn parallel<T: Send>(
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
        let mut own = room();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = done.get(i) else { return };
            let result = job(&mut own, i);
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(result);
            }
        }
    };
    let panicked = std::thread::scope(|scope| {
        let wanted = threads.clamp(1, jobs.max(1));
        let spawn = |_| Builder::new().spawn_scoped(scope, work).ok();
        let handles: Vec<_> = (0..wanted).map_while(spawn).collect();
        if handles.is_empty() {
            work();
        }
        // All are joined: a scope panics itself over a panicked thread that was not.
        let panics: Vec<_> = handles.into_iter().filter_map(|h| h.join().err()).collect();
        panics.into_iter().next()
    });
    if let Some(panic) = panicked {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        return Err(Error::Worker(text.into()));
    }
    let results: Option<Vec<T>> =
        done.into_iter().map(|slot| slot.into_inner().ok().flatten()).collect();
    results.ok_or_else(|| Error::Worker("it left no result".into()))
}
