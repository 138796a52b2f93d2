//! What a run keeps of itself as it goes, so that one that was killed goes on where it stopped.
//!
//! nuts-rs gives out no state of a chain: neither its adaptation nor its generator can be saved and
//! put back. But a chain is a function of its start, its stream of random numbers, and the log
//! densities and gradients that it met. The first two follow from the settings; so it is the third
//! that is kept. A chain that is begun again meets the same points in the same order, and is told
//! what the density said there instead of asking it: all that it costs is the sampler's own
//! arithmetic, a small part of a run on many rows. After the last one kept it asks the density, in
//! exactly the state in which it was stopped.
//!
//! Improved starts and whole chains are kept as they end. Nothing that a cancelled run cut short is
//! kept, and what is kept never changes a result: it only saves the time to find it again.

use super::map::Point;
use super::{ChainDraws, DensityError};

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

    /// The draws of a whole chain, if they are kept.
    fn chain(&self, _chain: usize) -> Option<ChainDraws> {
        None
    }

    /// A chain has made all its draws.
    fn keep_chain(&self, _chain: usize, _draws: &ChainDraws) {}

    /// What a chain in `dim` dimensions met until it was stopped, open for more.
    fn met(&self, _chain: usize, _dim: usize) -> Option<Box<dyn Met>> {
        None
    }
}

/// What the density said to one chain, call after call.
pub trait Met: Send {
    /// What it said at the next call, if that is kept and was about `q`: the gradient overwrites
    /// `grad`. After the first `None` there is no more.
    fn recall(&mut self, q: &[f64], grad: &mut [f64]) -> Option<Result<f64, DensityError>>;

    /// What it said now.
    fn record(&mut self, q: &[f64], grad: &[f64], said: &Result<f64, DensityError>);
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Keeper for Nothing {}
