//! What a run keeps of itself as it goes, so that one that was killed need not begin anew.
//!
//! Improved starts are kept as they end, and chains when a round of draws ends: the only one where the
//! number of draws is given, else each of those that double it. A chain is a function of its start, its
//! stream of random numbers and the density, so one that was not finished begins anew and ends as it would
//! have; and so does one that must go on beyond what is kept of it.
//! Nothing that a cancelled run cut short is kept, and what is kept never changes a result: it only saves
//! the time to find it again.

use super::ChainDraws;
use super::map::Point;

/// Keeps what is finished, and gives it back to a later run of the same settings on the same data;
/// called from the threads that sample. Whoever implements it answers for the two runs being the
/// same. The default keeps nothing.
pub trait Keeper: Sync {
    /// Where start number `index` ended, if that is kept.
    fn start(&self, _index: usize) -> Option<Point> {
        None
    }

    /// Start number `index` ended.
    fn keep_start(&self, _index: usize, _point: &Point) {}

    /// The draws of a chain, if they are kept. They serve a round that asks for as many or fewer, of
    /// which they have the first; there may be such a round for each doubling.
    fn chain(&self, _chain: usize) -> Option<ChainDraws> {
        None
    }

    /// A chain has made all draws of a round. These take the place of what was kept of the chain
    /// before, of which they have the draws and more.
    fn keep_chain(&self, _chain: usize, _draws: &ChainDraws) {}
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Keeper for Nothing {}
