//! Numbered jobs on several threads, with results in the order of their numbers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::anyhow;

/// Do `count` jobs on at most `threads` threads; the first error, by number, is that of all.
pub(crate) fn jobs<T: Send>(
    count: usize,
    threads: usize,
    job: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<anyhow::Result<T>>>> =
        (0..count).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, count.max(1)) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = done.get(number) else { return };
                    let result = job(number);
                    if let Ok(mut slot) = slot.lock() {
                        *slot = Some(result);
                    }
                }
            });
        }
    });
    let result = |slot: Mutex<Option<_>>| slot.into_inner().ok().flatten();
    done.into_iter()
        .map(|slot| result(slot).ok_or_else(|| anyhow!("a job left no result"))?)
        .collect()
}
