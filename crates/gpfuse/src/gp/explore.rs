//! The search for the best mode of the objective: several climbs, most of them on few rows.
//!
//! First the three guesses are climbed with a common lengthscale, which finds the right order of
//! noise and smoothness without getting lost among many lengthscales. The best of these ends is
//! the first start with all parameters free; the others are random points around it, each the
//! best of several. The search ends when two climbs have come to the best mode.
//!
//! With many rows this is done on a part of them: a factor of a quarter of the rows costs a
//! sixty-fourth. Where those climbs end, and the end of the common lengthscale, are the starts
//! with all rows.

use super::climb::{Free, Limits, Objective, Peak};
use super::settings::Checked;
use super::starts::{around, guesses};

/// Up to this many rows, all climbs are with all rows: with one input, and with several.
const FEW: [usize; 2] = [64, 256];
/// Above this many rows, only one climb is with all rows.
const MANY: usize = 1000;
/// The share of the objective that a step must gain: in a climb that may be the last one, in one
/// with a part of the rows, and in one with a common lengthscale.
const FINE: f64 = 1e-8;
const COARSE: f64 = 1e-6;
const ROUGH: f64 = 1e-4;
/// The length of the first step, from a guess and from the end of a climb with fewer rows.
const FAR: f64 = 1.0;
const NEAR: f64 = 0.1;
/// Ends whose objectives differ by less than this are the same mode.
const SAME: f64 = 0.02;
/// Random points of which the best is a start.
const SCREENED: usize = 8;

/// How many rows to begin with.
pub(super) fn part(rows: usize, inputs: usize) -> usize {
    rows.min((rows / 4).max(FEW[usize::from(inputs > 1)]))
}

/// Modes, each once, best first, and how many climbs came to the best.
#[derive(Default)]
struct Modes {
    peaks: Vec<Peak>,
    met: Vec<usize>,
}

impl Modes {
    fn add(&mut self, peak: Option<Peak>) {
        let Some(peak) = peak else { return };
        match self.peaks.iter().position(|p| (p.value - peak.value).abs() < SAME) {
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

    fn agree(&self) -> bool {
        self.met.first().is_some_and(|met| *met >= 2)
    }
}

/// The best mode that was found with the rows of `whole`; `part`, where given, has some of them.
pub(super) fn explore(
    whole: &mut Objective<'_>,
    part: Option<&mut Objective<'_>>,
    settings: &Checked,
) -> Option<Peak> {
    let limits = |gain| Limits { steps: settings.steps, gain, first: FAR };
    let Some(part) = part else {
        return search(whole, settings, limits(FINE)).1.peaks.into_iter().next();
    };
    let (common, modes) = search(part, settings, limits(COARSE));
    let inputs = whole.inputs();
    let mut starts: Vec<Vec<f64>> = modes.peaks.into_iter().map(|p| p.q).collect();
    // What some rows say of many lengthscales can mislead; what they say of one rarely does.
    if inputs > 1 {
        starts.insert(1.min(starts.len()), common?.q);
    }
    let most = match (inputs, whole.evidence.rows()) {
        (1, _) => 1,
        (_, rows) if rows > MANY => 1,
        _ => starts.len(),
    };
    let mut modes = Modes::default();
    for (number, start) in starts.into_iter().take(most).enumerate() {
        let limits = Limits { first: if number == 0 { NEAR } else { FAR }, ..limits(FINE) };
        modes.add(whole.climb(&start, Free::All, limits, &modes.peaks));
        if modes.agree() {
            break;
        }
    }
    modes.peaks.into_iter().next()
}

/// The best end with a common lengthscale, and the modes found with all parameters free.
fn search(
    objective: &mut Objective<'_>,
    settings: &Checked,
    limits: Limits,
) -> (Option<Peak>, Modes) {
    let (mut common, mut modes) = (Modes::default(), Modes::default());
    let single = objective.inputs() == 1;
    let rough = Limits { gain: if single { limits.gain } else { ROUGH }, ..limits };
    for guess in guesses(objective.prior) {
        common.add(objective.climb(&guess, Free::Common, rough, &common.peaks));
        if common.agree() {
            break;
        }
    }
    let Some(base) = common.peaks.first().cloned() else { return (None, modes) };
    if single {
        return (Some(base), common);
    }
    modes.add(objective.climb(&base.q, Free::All, limits, &[]));
    for index in 1..settings.starts {
        if modes.agree() {
            break;
        }
        let best = (0..SCREENED)
            .filter_map(|i| {
                let at = index * SCREENED + i;
                let q = around(&base.q, objective.prior, settings.seed, at);
                Some((objective.at(&q, None)?, q))
            })
            .reduce(|a, b| if b.0 > a.0 { b } else { a });
        if let Some((_, start)) = best {
            modes.add(objective.climb(&start, Free::All, limits, &modes.peaks));
        }
    }
    (Some(base), modes)
}
