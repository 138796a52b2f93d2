//! How a run is watched, stopped and kept.

use std::fmt;

use super::{Forecast, Keeper, Nothing};

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

/// What a run is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A pilot GP is fitted, from which the basis is made.
    Pilot,
    /// Experts are trained that weights are learned for.
    Experts,
    /// A short run with so many experts, to choose their number.
    Trying(usize),
    /// Constant weights are learned, to compare with.
    Constant,
    /// Starting points are looked for.
    Starts,
    /// The chains run.
    Chains,
    /// The chains are judged and weighed.
    Judging,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Phase::Pilot => f.write_str("pilot GP"),
            Phase::Experts => f.write_str("experts"),
            Phase::Trying(1) => f.write_str("trying 1 expert"),
            Phase::Trying(experts) => write!(f, "trying {experts} experts"),
            Phase::Constant => f.write_str("constant weights"),
            Phase::Starts => f.write_str("starting points"),
            Phase::Chains => f.write_str("chains"),
            Phase::Judging => f.write_str("judging the chains"),
        }
    }
}

/// Watches a run; called from the threads that sample.
pub trait Monitor: Sync {
    /// A phase of the run begins.
    fn phase(&self, _phase: Phase) {}

    /// Whether it wants to know how long the chains will take, which costs a few gradients.
    fn wants_forecast(&self) -> bool {
        false
    }

    /// The chains are expected to take so long. It is said when the posterior is known, and again when the
    /// chains begin.
    fn expect(&self, _forecast: &Forecast) {}

    /// A part of the phase is done: `done` of `total`, such as one of several experts.
    fn part(&self, _done: usize, _total: usize) {}

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

/// Shows the chains of a run within a phase of another, of which nothing is kept.
pub(crate) struct Inner<'a>(pub(crate) &'a dyn Monitor);

impl Monitor for Inner<'_> {
    fn draw(&self, progress: &ChainProgress) {
        self.0.draw(progress);
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
