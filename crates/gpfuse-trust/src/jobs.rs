//! Numbered jobs on several threads, with results in the order of their numbers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::anyhow;

/// Run jobs 0 to `count` - 1. A job that panics is an error; one that must not be catches it.
pub(crate) fn each<T: Send>(
    count: usize,
    threads: usize,
    job: impl Fn(usize) -> T + Sync,
) -> anyhow::Result<Vec<T>> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return;
            }
            let result = job(i);
            if let Ok(mut done) = done.lock() {
                done.push((i, result));
            }
        }
    };
    let panicked = std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..threads.clamp(1, count.max(1))).map(|_| scope.spawn(work)).collect();
        // All are joined: a scope panics itself over a panicked thread that was not.
        handles.into_iter().map(|h| h.join().is_err()).fold(false, |a, b| a | b)
    });
    let mut done = done.into_inner().map_err(|_| anyhow!("a job panicked"))?;
    anyhow::ensure!(!panicked && done.len() == count, "a job panicked");
    done.sort_by_key(|(i, _)| *i);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn results_come_in_order_and_a_panic_is_an_error() {
        assert_eq!(each(5, 3, |i| i * i).expect("results"), [0, 1, 4, 9, 16]);
        assert!(each(5, 2, |i| assert!(i < 3)).is_err());
    }
}
