//! The modes that climbs came to, each once.

use super::climb::Peak;

/// Modes, best first, and how many climbs came to each.
pub(super) struct Modes {
    same: f64,
    peaks: Vec<Peak>,
    met: Vec<usize>,
}

impl Modes {
    /// None yet; ends whose objectives differ by less than `same` are one mode.
    pub(super) fn new(same: f64) -> Modes {
        Modes { same, peaks: Vec::new(), met: Vec::new() }
    }

    /// The end of one more climb.
    pub(super) fn add(&mut self, peak: Option<Peak>) {
        let Some(peak) = peak else { return };
        match self.peaks.iter().position(|p| (p.value - peak.value).abs() < self.same) {
            Some(at) => {
                self.met[at] += 1;
                if peak.value > self.peaks[at].value {
                    self.peaks[at] = peak;
                }
            }
            None => {
                let at = self.peaks.partition_point(|p| p.value > peak.value);
                self.peaks.insert(at, peak);
                self.met.insert(at, 1);
            }
        }
    }

    /// Whether the first two climbs, or three of more, came to the best mode.
    pub(super) fn agree(&self) -> bool {
        let enough = if self.peaks.len() == 1 { 2 } else { 3 };
        self.met.first().is_some_and(|met| *met >= enough)
    }

    /// All of them, best first.
    pub(super) fn all(&self) -> &[Peak] {
        &self.peaks
    }

    /// The best.
    pub(super) fn best(&self) -> Option<&Peak> {
        self.peaks.first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_climbs_agree_at_once_and_three_after_another_mode() {
        let peak = |value| Some(Peak { q: vec![value], mean: 0.0, value });
        let mut modes = Modes::new(0.02);
        modes.add(peak(1.0));
        assert!(!modes.agree());
        modes.add(peak(1.01));
        assert!(modes.agree());
        modes.add(peak(3.0));
        modes.add(None);
        modes.add(peak(3.0));
        assert!(!modes.agree());
        modes.add(peak(2.99));
        assert!(modes.agree());
        assert_eq!(modes.best().map(|best| best.value), Some(3.0));
        assert_eq!(modes.all().len(), 2);
        assert_eq!(modes.all()[1].value, 1.01);
    }
}
