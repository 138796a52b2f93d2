//! What tells one cell of a sweep from all others.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What tells one cell of a sweep from all others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
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
    /// The seed. The fit's own is [`Key::fit_seed`].
    pub seed: u64,
}

/// Seeds of fits that belong to one seed of a sweep.
const SPLITS: u64 = 1000;

impl Key {
    /// The seed of the fit: `1000 seed + split`, so that splits differ in all that is drawn, such
    /// as frequencies and starts, and not only in their rows.
    pub fn fit_seed(&self) -> u64 {
        self.seed.wrapping_mul(SPLITS).wrapping_add(self.split as u64)
    }

    /// A name for a file about this cell, without its ending.
    pub fn slug(&self) -> String {
        let Key { data, arm, basis, size, experts, split, seed } = self;
        format!("{data}-{arm}-{basis}-{size}-K{experts}-split{split}-seed{seed}")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Key { data, arm, basis, size, experts, split, seed } = self;
        write!(f, "{data} {arm} {basis} {size}, K = {experts}, split {split}, seed {seed}")
    }
}
