//! The search for the best mode of the objective: several climbs, most of them on few rows.
//!
//! 1. The three guesses are climbed with a common lengthscale and a part of the rows, which finds
//!    the right order of noise and smoothness without getting lost among many lengthscales.
//! 2. The best of these ends is the first start with all lengthscales free; the others are random
//!    points around it, each the best of several. With many rows this, too, is done on a part of
//!    them: a factor of a quarter of the rows costs a sixty-fourth.
//! 3. Where those climbs end, and the end of the first stage, are the starts with all rows.
//!
//! A stage ends when its first two climbs agree, or else when three have come to the best mode.

use super::climb::{Free, Limits, Objective, Peak};
use super::settings::Checked;
use super::starts::{around, guesses};

/// Up to this many rows, free lengthscales are climbed with all rows only.
const FEW: usize = 256;
/// Above this many rows, only one climb is with all rows.
const MANY: usize = 1000;
/// Up to that many, but above [`FEW`], the climbs with all rows are at most this many.
const SOME: usize = 5;
/// The fewest rows for a common lengthscale.
const PART: usize = 64;
/// The share of the objective that a step must gain: in a climb that may be the last one, in one
/// with a part of the rows, and in one with a common lengthscale that others follow.
const FINE: f64 = 1e-7;
const COARSE: f64 = 1e-5;
const ROUGH: f64 = 1e-4;
/// The length of the first step, from a guess and from the end of a climb with fewer rows.
const FAR: f64 = 1.0;
const NEAR: f64 = 0.1;
/// Ends whose objectives differ by less than this are the same mode.
const SAME: f64 = 0.02;
/// The same for a common lengthscale that others follow.
const ALIKE: f64 = 2.0;
/// Random points of which the best is a start.
const SCREENED: usize = 8;

/// How many rows to begin with.
pub(super) fn part(rows: usize, inputs: usize) -> usize {
    let least = match inputs {
        1 => PART,
        _ if rows <= FEW => 2 * PART,
        _ => FEW,
    };
    rows.min((rows / 4).max(least))
}

/// Modes, each once, best first, and how many climbs came to each.
struct Modes {
    same: f64,
    peaks: Vec<Peak>,
    met: Vec<usize>,
}

impl Modes {
    fn new(same: f64) -> Modes {
        Modes { same, peaks: Vec::new(), met: Vec::new() }
    }

    fn add(&mut self, peak: Option<Peak>) {
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

    fn agree(&self) -> bool {
        let enough = if self.peaks.len() == 1 { 2 } else { 3 };
        self.met.first().is_some_and(|met| *met >= enough)
    }
}

/// The best mode that was found with the rows of `whole`; `part`, where given, has some of them.
pub(super) fn explore(
    whole: &mut Objective<'_>,
    part: Option<&mut Objective<'_>>,
    settings: &Checked,
) -> Option<Peak> {
    let limits = |gain| Limits { steps: settings.steps, gain, first: FAR };
    let (rows, single) = (whole.evidence.rows(), whole.inputs() == 1);
    let Some(part) = part else {
        let (gain, same) = if single { (FINE, SAME) } else { (ROUGH, ALIKE) };
        let common = common(whole, limits(gain), same)?;
        return if single { Some(common) } else { free(whole, &[common], settings, limits(FINE)) };
    };
    if single {
        let begin = common(part, limits(COARSE), SAME)?;
        let limits = Limits { first: NEAR, ..limits(FINE) };
        return whole.climb(&begin.q, Free::All, limits, &[]);
    }
    let common = common(part, limits(ROUGH), ALIKE)?;
    if rows <= FEW {
        return free(whole, &[common], settings, limits(FINE));
    }
    let first = free(part, std::slice::from_ref(&common), settings, limits(COARSE))?;
    if rows > MANY {
        let limits = Limits { first: NEAR, ..limits(FINE) };
        return whole.climb(&first.q, Free::All, limits, &[]);
    }
    // What some rows say of many lengthscales can mislead; what they say of one rarely does.
    free(whole, &[first, common], settings, limits(FINE))
}

/// The best end with a common lengthscale.
fn common(objective: &mut Objective<'_>, limits: Limits, same: f64) -> Option<Peak> {
    let mut modes = Modes::new(same);
    for guess in guesses(objective.prior) {
        modes.add(objective.climb(&guess, Free::Common, limits, &modes.peaks));
        if modes.agree() {
            break;
        }
    }
    modes.peaks.into_iter().next()
}

/// The best mode with free lengthscales, from the ends of climbs before and then from random
/// points around the last of them.
fn free(
    objective: &mut Objective<'_>,
    ends: &[Peak],
    settings: &Checked,
    limits: Limits,
) -> Option<Peak> {
    let base = &ends.last()?.q;
    let mut modes = Modes::new(SAME);
    let most = if objective.evidence.rows() > FEW { SOME } else { settings.starts };
    for index in 0..settings.starts.min(most).max(ends.len()) {
        let start = match ends.get(index) {
            Some(end) => Some(end.q.clone()),
            None => screened(objective, base, settings.seed, index),
        };
        let Some(start) = start else { continue };
        let first = if index + 1 < ends.len() { NEAR } else { FAR };
        let limits = Limits { first, ..limits };
        modes.add(objective.climb(&start, Free::All, limits, &modes.peaks));
        if modes.agree() {
            break;
        }
    }
    modes.peaks.into_iter().next()
}

/// The best of several random points around `base`.
fn screened(
    objective: &mut Objective<'_>,
    base: &[f64],
    seed: u64,
    index: usize,
) -> Option<Vec<f64>> {
    let mut best: Option<(f64, Vec<f64>)> = None;
    for i in index * SCREENED..(index + 1) * SCREENED {
        let q = around(base, objective.prior, seed, i);
        let Some(value) = objective.at(&q, None) else { continue };
        if best.as_ref().is_none_or(|(b, _)| value > *b) {
            best = Some((value, q));
        }
    }
    best.map(|(_, q)| q)
}
