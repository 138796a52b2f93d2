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
