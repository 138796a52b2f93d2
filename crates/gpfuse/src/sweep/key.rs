//! What tells one cell of a sweep from all others.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What tells one cell of a sweep from all others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The name of the data.
    pub data: String,
    /// The name of the arm: a method with its own settings.
    pub arm: String,
    /// The basis.
    pub basis: String,
    /// Frequencies (RFF) or functions per input (Hilbert); 0 where the basis has no size.
    pub size: usize,
    /// The number of experts.
    pub experts: usize,
    /// The split of the rows into training and test rows, from 0.
    pub split: usize,
    /// The seed of the fit.
    pub seed: u64,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Key { data, arm, basis, size, experts, split, seed } = self;
        write!(f, "{data} {arm} {basis} {size}, K = {experts}, split {split}, seed {seed}")
    }
}
