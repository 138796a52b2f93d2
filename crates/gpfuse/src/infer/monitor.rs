//! How a run is watched, stopped and kept.

use super::{Keeper, Nothing};

/// Where one chain is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainProgress {
    /// The chain, from 0.
    pub chain: usize,
    /// Draws done, warm-up included.
    pub done: usize,
    /// Draws in all, warm-up included; more when the chain goes on.
    pub total: usize,
    /// Whether the chain is still warming up.
    pub warming_up: bool,
    /// Divergences after the warm-up.
    pub divergences: usize,
    /// The present step size.
    pub step_size: f64,
    /// Leapfrog steps of the last draw.
    pub steps: usize,
}

/// Watches a run; called from the threads that sample.
pub trait Monitor: Sync {
    /// A start was improved: `done` of `total`.
    fn start(&self, _done: usize, _total: usize) {}

    /// A chain made a draw.
    fn draw(&self, _progress: &ChainProgress) {}

    /// Whether the run should stop and keep what it has. Asked at every gradient.
    fn cancelled(&self) -> bool {
        false
    }

    /// What keeps finished parts of the run.
    fn keeper(&self) -> &dyn Keeper {
        &Nothing
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Monitor for Quiet {}

/// Shows and keeps nothing of a run within a run, but passes on its cancellation.
pub(crate) struct Muted<'a>(pub(crate) &'a dyn Monitor);

impl Monitor for Muted<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
