//! Many simulations on several threads, each handed over as it ends.

use super::{Simulation, Study};
use crate::Result;
use crate::halt::{Ended, Fail, Halt, Linked};
use crate::infer::{Monitor, Muted};
use crate::parallel::parallel;

/// Run the simulations `numbers` on `threads` threads. Each is given to `take` as soon as it is
/// there, in no particular order; nothing but its seconds depends on the threads. Of the monitor only
/// its cancellation is asked for: starts and chains have the same numbers in every simulation.
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
    let halt = Halt::new();
    let linked = Linked { monitor: &Muted(monitor), stop: &halt.stop };
    parallel(numbers.len(), threads, |i| {
        if linked.cancelled() {
            return;
        }
        let guard = Fail(&halt.stop);
        if let Some(done) = study.run(numbers[i], &linked) {
            halt.hear(take(done));
        }
        guard.disarm();
    })?;
    halt.end(monitor.cancelled())
}
