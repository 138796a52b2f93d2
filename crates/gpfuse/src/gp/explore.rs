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
use super::team::Team;
use crate::Result;

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
/// Climbs at once.
const ROUND: usize = 2;

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
pub(super) fn explore<'a>(
    whole: &Team<'a>,
    part: Option<&Team<'a>>,
    settings: &Checked,
) -> Result<Option<Peak>> {
    let limits = |gain| Limits { steps: settings.steps, gain, first: FAR };
    let near = Limits { first: NEAR, ..limits(FINE) };
    let last = |begin: &Peak| whole.one(|rows| rows.climb(&begin.q, Free::All, near, &[]));
    let (rows, single) = (whole.rows(), whole.inputs() == 1);
    let (gain, same) = match part {
        _ if !single => (ROUGH, ALIKE),
        Some(_) => (COARSE, SAME),
        None => (FINE, SAME),
    };
    let Some(common) = common(part.unwrap_or(whole), limits(gain), same)? else { return Ok(None) };
    let Some(part) = part else {
        return if single {
            Ok(Some(common))
        } else {
            free(whole, &[common], settings, limits(FINE))
        };
    };
    if single {
        return Ok(last(&common));
    }
    if rows <= FEW {
        return free(whole, &[common], settings, limits(FINE));
    }
    let first = free(part, std::slice::from_ref(&common), settings, limits(COARSE))?;
    let Some(first) = first else { return Ok(None) };
    if rows > MANY {
        return Ok(last(&first));
    }
    // What some rows say of many lengthscales can mislead; what they say of one rarely does.
    free(whole, &[first, common], settings, limits(FINE))
}

/// The best end with a common lengthscale.
fn common(team: &Team<'_>, limits: Limits, same: f64) -> Result<Option<Peak>> {
    let starts: Vec<Vec<f64>> = guesses(team.prior).collect();
    let climb = |rows: &mut Objective<'_>, i: usize, known: &[Peak]| {
        rows.climb(&starts[i], Free::Common, limits, known)
    };
    Ok(climbed(team, starts.len(), Modes::new(same), climb)?.peaks.into_iter().next())
}

/// The best mode with free lengthscales, from the ends of climbs before and then from random
/// points around the last of them.
fn free(
    team: &Team<'_>,
    ends: &[Peak],
    settings: &Checked,
    limits: Limits,
) -> Result<Option<Peak>> {
    let Some(base) = ends.last() else { return Ok(None) };
    let most = if team.rows() > FEW { SOME } else { settings.starts };
    let climb = |rows: &mut Objective<'_>, i: usize, known: &[Peak]| {
        let start = match ends.get(i) {
            Some(end) => end.q.clone(),
            None => screened(rows, &base.q, settings.seed, i)?,
        };
        let first = if i + 1 < ends.len() { NEAR } else { FAR };
        rows.climb(&start, Free::All, Limits { first, ..limits }, known)
    };
    let starts = settings.starts.min(most).max(ends.len());
    Ok(climbed(team, starts, Modes::new(SAME), climb)?.peaks.into_iter().next())
}

/// The modes that up to `starts` climbs came to. They go in rounds whose size does not depend on
/// the number of threads, so neither does what is known at the beginning of each.
fn climbed(
    team: &Team<'_>,
    starts: usize,
    mut modes: Modes,
    climb: impl Fn(&mut Objective<'_>, usize, &[Peak]) -> Option<Peak> + Sync,
) -> Result<Modes> {
    let mut next = 0;
    while next < starts && !modes.agree() {
        let round = ROUND.min(starts - next);
        let found = team.each(round, |rows, i| climb(rows, next + i, &modes.peaks))?;
        found.into_iter().for_each(|peak| modes.add(peak));
        next += round;
    }
    Ok(modes)
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
