//! Numbered jobs that go on in rounds, each on the thread that began it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use super::{Last, failure};
use crate::Result;

/// Run `jobs` numbered jobs on at most `threads` threads, round after round, until `go_on`, which is asked
/// on the caller's thread when a round has ended, says that there is no other. What a job needs from one
/// round to the next is made by `begin` and stays on one thread: it need not be `Send`. A job that panics is
/// an error, after which none begins. Where one thread is enough, it is the caller's; where the system
/// refuses a thread, those that it gave do the work.
pub(crate) fn rounds<S>(
    jobs: usize,
    threads: usize,
    begin: impl Fn() -> S + Sync,
    job: impl Fn(&mut S, usize) + Sync,
    mut go_on: impl FnMut() -> bool,
) -> Result<()> {
    let (next, gate) = (AtomicUsize::new(0), Gate::default());
    // The jobs that a thread has, and in the first round those that no other took.
    let round = |mine: &mut Vec<(usize, S)>| {
        let _last = Last(&next, jobs);
        for (i, state) in &mut *mine {
            job(state, *i);
        }
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= jobs {
                return;
            }
            let mut state = begin();
            job(&mut state, i);
            mine.push((i, state));
        }
    };
    let work = || {
        let mut mine = Vec::new();
        for number in 0.. {
            let turn = Turn(&gate);
            round(&mut mine);
            drop(turn);
            if !gate.next_round(number) {
                return;
            }
        }
    };
    let wanted = threads.min(jobs);
    let panicked = std::thread::scope(|scope| {
        let spawn = |_| Builder::new().spawn_scoped(scope, work).ok();
        let started = if wanted > 1 { wanted } else { 0 };
        let handles: Vec<_> = (0..started).map_while(spawn).collect();
        if handles.is_empty() {
            let mut mine = Vec::new();
            loop {
                // What a panicking job leaves behind is dropped here, as it is with a thread.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| round(&mut mine))) {
                    return Some(panic);
                }
                if !go_on() {
                    return None;
                }
            }
        }
        let end = End(&gate);
        while gate.round_ended(handles.len()) && go_on() {
            gate.open();
        }
        drop(end);
        // All threads are joined: a scope panics itself if a panicked thread was not.
        let panics: Vec<_> = handles.into_iter().filter_map(|h| h.join().err()).collect();
        panics.into_iter().next()
    });
    panicked.map_or(Ok(()), |panic| Err(failure(panic.as_ref())))
}

/// Where threads wait for the next round.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The present round, from 0.
    round: usize,
    /// Threads that are done with it.
    done: usize,
    panicked: bool,
    over: bool,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait(&self, ready: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let held = self.changed.wait_while(self.lock(), |state| !ready(state));
        held.unwrap_or_else(PoisonError::into_inner)
    }

    /// Wait until all threads are done with the round; whether none panicked.
    fn round_ended(&self, threads: usize) -> bool {
        !self.wait(|state| state.done == threads).panicked
    }

    /// Let the threads go on.
    fn open(&self) {
        self.change(|state| (state.round, state.done) = (state.round + 1, 0));
    }

    /// Wait for the round after `round`; whether there is one.
    fn next_round(&self, round: usize) -> bool {
        !self.wait(|state| state.over || state.round > round).over
    }
}

/// Tells, when dropped, that a thread is done with its round, by a panic too.
struct Turn<'a>(&'a Gate);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.done += 1;
            state.panicked |= std::thread::panicking();
        });
    }
}

/// Tells, when dropped, that there is no other round: by a panic of the caller too, who would
/// otherwise wait for threads that wait for it.
struct End<'a>(&'a Gate);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.over = true);
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::thread::ThreadId;

    use super::*;

    /// Each job sees all rounds, on one thread, and its state goes with it.
    #[test]
    fn jobs_stay_on_their_threads() {
        for threads in [0, 1, 2, 3, 8] {
            let seen: Vec<Mutex<Vec<(usize, ThreadId)>>> =
                (0..5).map(|_| Mutex::default()).collect();
            let mut left = 4;
            let job = |state: &mut Rc<Mutex<usize>>, i: usize| {
                *state.lock().unwrap() += 1;
                let count = *state.lock().unwrap();
                seen[i].lock().unwrap().push((count, std::thread::current().id()));
            };
            let go_on = || {
                left -= 1;
                assert!(seen.iter().all(|seen| seen.lock().unwrap().len() == 4 - left));
                left > 0
            };
            rounds(5, threads, || Rc::new(Mutex::new(0)), job, go_on).unwrap();
            for seen in seen {
                let seen = seen.into_inner().unwrap();
                assert_eq!(seen.iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
                assert!(seen.iter().all(|s| s.1 == seen[0].1));
            }
        }
        rounds(0, 4, || (), |(), _| (), || false).unwrap();
    }

    #[test]
    fn a_panic_in_any_round_ends_all() {
        for threads in [1, 2, 4] {
            for bad in [1, 3] {
                let mut asked = 0;
                let job = |round: &mut usize, i: usize| {
                    *round += 1;
                    if i == 2 && *round == bad {
                        std::panic::resume_unwind(Box::new("no more"));
                    }
                };
                let go_on = || {
                    asked += 1;
                    true
                };
                let outcome = rounds(4, threads, || 0, job, go_on);
                assert_eq!(outcome.unwrap_err().to_string(), "a worker thread failed: no more");
                assert_eq!(asked, bad - 1);
            }
        }
    }

    #[test]
    fn a_panic_of_the_caller_leaves_no_thread_waiting() {
        for threads in [1, 3] {
            let go_on = || std::panic::resume_unwind(Box::new("judge"));
            let outcome = catch_unwind(|| rounds(3, threads, || (), |(), _| (), go_on));
            assert_eq!(*outcome.unwrap_err().downcast::<&str>().unwrap(), "judge");
        }
    }
}
