//! One simulation: the ranks of a truth among draws of its posterior, and how the chains went.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// What came of one simulation. All but the seconds depends on the study's settings and the
/// number alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Simulation {
    /// Which one, from 0.
    pub number: u64,
    /// For each quantity, how many of the ranked draws lie below the truth; empty where the
    /// simulation failed.
    pub ranks: Vec<usize>,
    /// The smallest bulk effective sample size of a quantity, of all draws.
    pub ess: Option<f64>,
    /// Divergences after the warm-up.
    pub divergences: usize,
    /// How long it took.
    pub seconds: f64,
    /// Why it failed; empty where it did not.
    pub error: String,
}

/// How many of `drawn` lie below `truth`. Those equal to it are put below or above at random, so
/// that a rank stays uniform where a quantity has atoms.
pub(super) fn rank(truth: f64, drawn: impl Iterator<Item = f64>, rng: &mut ChaCha8Rng) -> usize {
    let (mut below, mut equal) = (0, 0);
    for value in drawn {
        below += usize::from(value < truth);
        equal += usize::from(value == truth);
    }
    if equal == 0 { below } else { below + rng.random_range(0..=equal) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    /// Ranks of equal numbers are spread over all places.
    #[test]
    fn ties_are_broken_at_random() {
        let mut rng = stream(1, Purpose::Calibrate, 1);
        assert_eq!(rank(2.0, [1.0, 3.0, 0.0].into_iter(), &mut rng), 2);
        let mut seen = [0; 4];
        (0..400).for_each(|_| seen[rank(1.0, [1.0; 3].into_iter(), &mut rng)] += 1);
        // With this seed; a count below 60 would have a probability of 1e-6.
        assert!(seen.iter().all(|count| *count > 60), "{seen:?}");
    }
}
