//! What a person sees while simulations run: a bar with the time left on a terminal, and elsewhere a
//! line now and then.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpfuse::calibrate::Simulation;
use gpfuse::in_one_line;
use gpfuse::infer::Monitor;
use indicatif::{MultiProgress, ProgressBar};

use crate::print;
use crate::progress::{bar, cancelled};

/// About how many lines a run prints where there is no terminal.
const LINES: usize = 10;

pub(super) struct Watch {
    bar: Option<ProgressBar>,
    done: AtomicUsize,
    all: usize,
    every: usize,
}

impl Watch {
    /// For simulations of a method of which some are `done`.
    pub(super) fn new(method: &'static str, done: usize, all: usize) -> Watch {
        let bar = (std::io::stderr().is_terminal() && done < all).then(|| {
            let line = "{prefix} [{bar:30}] {pos}/{len} simulations, {eta} left";
            let bar = bar(&MultiProgress::new(), all, line).with_prefix(method);
            bar.set_position(done as u64);
            bar.reset_eta();
            bar
        });
        Watch { bar, done: AtomicUsize::new(done), all, every: (all / LINES).max(1) }
    }

    /// A simulation is recorded.
    pub(super) fn end(&self, simulation: &Simulation) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let failed = (!simulation.error.is_empty()).then(|| {
            let error = in_one_line(&simulation.error);
            format!("simulation {}: failed: {error}", simulation.number)
        });
        match &self.bar {
            Some(bar) => {
                bar.set_position(done as u64);
                failed.iter().for_each(|line| bar.println(line));
            }
            None => {
                failed.iter().for_each(|line| print::note(line));
                if done.is_multiple_of(self.every) {
                    print::note(&format!("{done}/{} simulations", self.all));
                }
            }
        }
    }

    /// Take the bar off the screen.
    pub(super) fn clear(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Monitor for Watch {
    fn cancelled(&self) -> bool {
        cancelled()
    }
}
