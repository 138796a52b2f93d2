//! Numbered jobs that may fail.

use gpfuse::parallel::parallel;

/// Do `count` jobs on at most `threads` threads; the first error, by number, is that of all.
pub(crate) fn jobs<T: Send>(
    count: usize,
    threads: usize,
    job: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    parallel(count, threads, job)?.into_iter().collect()
}
