//! Where a whole fit is: its phases, and how long those to come will take.

use gpfuse::infer::Phase;

use super::pace::{Pace, brief};

/// The length of the bar.
pub(super) const STEPS: usize = 1000;

/// The share of the bar before the chains, whose time is known when the posterior is.
const BEFORE: f64 = 0.2;
/// The share of the bar up to the end of the chains.
const UP_TO_CHAINS: f64 = 0.97;

/// Where a fit is.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    phase: Option<Phase>,
    /// When the phase began.
    begun: f64,
    /// Parts of the phase that are done, and all of them.
    parts: (usize, usize),
    /// How long the chains are expected to take.
    expected: Option<f64>,
    /// When the first chains began.
    drawing: Option<f64>,
    chains: usize,
    /// The farthest that the bar was: it does not go back where an expectation was wrong.
    reached: u64,
    pub(super) pace: Pace,
}

impl Whole {
    pub(super) fn new(chains: usize) -> Whole {
        let pace = Pace::new(chains);
        Whole {
            phase: None,
            begun: 0.0,
            parts: (0, 0),
            expected: None,
            drawing: None,
            chains,
            reached: 0,
            pace,
        }
    }

    /// A phase begins.
    pub(super) fn begin(&mut self, phase: Phase, now: f64) {
        (self.phase, self.begun, self.parts) = (Some(phase), now, (0, 0));
        if matches!(phase, Phase::Constant | Phase::Chains) {
            self.pace = Pace::new(self.chains);
            self.drawing.get_or_insert(now);
        }
    }

    /// A part of the phase is done.
    pub(super) fn part(&mut self, done: usize, total: usize) {
        self.parts = (done, total);
    }

    /// The chains are expected to take so many seconds; whether that is news.
    pub(super) fn expect(&mut self, seconds: f64) -> bool {
        self.expected.replace(seconds).is_none()
    }

    /// Seconds until the end of the phase, where they can be known.
    fn of_phase(&self, now: f64) -> Option<f64> {
        let (done, total) = self.parts;
        match self.phase? {
            Phase::Chains => self.pace.all().or(self.expected),
            Phase::Constant => self.pace.all(),
            _ if done > 0 => {
                Some((now - self.begun) / done as f64 * total.saturating_sub(done) as f64)
            }
            _ => None,
        }
    }

    /// The position of the bar, and what stands beside it.
    pub(super) fn at(&mut self, now: f64) -> (u64, String) {
        let Some(phase) = self.phase else { return (0, String::new()) };
        let of_phase = self.of_phase(now);
        // Chains that come after this phase.
        let after = match phase {
            Phase::Constant | Phase::Starts => self.expected,
            _ => Some(0.0),
        };
        let left = of_phase.zip(after).map(|(a, b)| a + b);
        let (done, total) = self.parts;
        let mut words = phase.to_string();
        if total > 0 {
            words += &format!(" {done}/{total}");
        }
        let before = matches!(phase, Phase::Pilot | Phase::Experts | Phase::Trying(_));
        if let Some(left) = left {
            words += &format!(", {} left", brief(left));
        }
        if before {
            words += ", then chains";
        }
        let share = match (phase, self.drawing, left) {
            (Phase::Judging, ..) => UP_TO_CHAINS,
            (Phase::Constant | Phase::Starts | Phase::Chains, Some(since), Some(left)) => {
                let spent = now - since;
                let share = if left > 0.0 { spent / (spent + left) } else { 1.0 };
                BEFORE + (UP_TO_CHAINS - BEFORE) * share
            }
            _ if before && total > 0 => BEFORE * done as f64 / total as f64,
            _ if before => 0.0,
            _ => BEFORE,
        };
        self.reached = self.reached.max((share * STEPS as f64) as u64);
        (self.reached, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of four experts after ten seconds; then chains that are expected to take a minute, of which each
    /// has half; every line has its place beside the bar in 80 columns.
    #[test]
    fn the_whole_counts_what_has_not_begun() {
        let mut whole = Whole::new(2);
        assert_eq!(whole.at(0.0), (0, String::new()));
        whole.begin(Phase::Experts, 0.0);
        whole.part(0, 4);
        assert_eq!(whole.at(3.5), (0, "experts 0/4, then chains".into()));
        whole.part(2, 4);
        assert_eq!(whole.at(10.0), (100, "experts 2/4, 10s left, then chains".into()));
        assert!(whole.expect(60.0) && !whole.expect(60.0));
        whole.begin(Phase::Constant, 20.0);
        (1..=10).for_each(|done| {
            (0..2).for_each(|chain| whole.pace.hear(chain, done, 20, true, 20.0 + done as f64))
        });
        // Ten draws of constant weights are left, a second each, and all of the others.
        assert_eq!(whole.at(30.0), (296, "constant weights, 70s left".into()));
        whole.begin(Phase::Starts, 40.0);
        whole.part(1, 2);
        assert_eq!(whole.at(41.0).1, "starting points 1/2, 61s left");
        // What is left has grown, and the bar stays where it is.
        assert_eq!(whole.at(41.0).0, 397);
        whole.begin(Phase::Chains, 42.0);
        assert_eq!(whole.at(42.0).1, "chains, 60s left");
        whole.pace.hear(0, 1, 20, true, 43.0);
        whole.pace.hear(0, 11, 20, true, 53.0);
        // The other chain has not begun.
        assert_eq!(whole.at(53.0).1, "chains, 29s left");
        whole.begin(Phase::Judging, 70.0);
        assert_eq!(whole.at(72.0), (970, "judging the chains".into()));
        let longest = "experts 10/16, 99m left, then chains";
        assert!("- training [================] 99m so far, ".len() + longest.len() <= 80);
    }
}
