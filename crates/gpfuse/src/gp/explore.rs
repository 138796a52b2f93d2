//! The search for the best mode of the objective: several climbs, most of them on few rows.
//!
//! 1. The guesses are climbed with a common lengthscale and a part of the rows, which finds the
//!    right order of noise and smoothness without getting lost among many lengthscales.
//! 2. From the best of these ends, and from lengthscales of one standard deviation, all rows are
//!    climbed with free lengthscales. Where both end at the same mode, that is it. Very many rows
//!    skip this step.
//! 3. Else random points around the best mode so far are climbed from, each the best of several,
//!    until three climbs came to the best mode. With many rows this is done on a part of them, a
//!    factor of a quarter of the rows costs a sixty-fourth, and its end is climbed from with all.
//!
//! Where some input has few values, such as the levels of a factor, the likelihood has modes in
//! which its lengthscale is so short that each level has a function of its own, and climbs that
//! agree prove little: there, and without priors that forbid it, the third step is always taken,
//! with few rows for all the starts, and then single lengthscales of the best mode are moved for as
//! long as that finds a better one.
//!
//! Climbs go in rounds whose size does not depend on the number of threads, so neither does what
//! is known at the beginning of each, nor the result.

use super::climb::{Free, Limits, Objective, Peak};
use super::modes::Modes;
use super::settings::Checked;
use super::starts::{around, guesses, moves, plain, stretched};
use super::team::Team;
use crate::Result;

/// Up to this many rows, random points are climbed from with all rows.
const CHEAP_ROWS: usize = 320;
/// Above this many rows, only one climb is with all rows.
const COSTLY_ROWS: usize = 1000;
/// Above this many rows, that one climb ends sooner: what more steps gain is far below what rows differ by.
const VERY_COSTLY_ROWS: usize = 2000;
/// The fewest rows for a common lengthscale.
const FEWEST_ROWS: usize = 64;
/// The share of the objective that a step of the last climb must gain.
const GAIN_LAST: f64 = 1e-8;
/// The same for a climb that may be the last.
const GAIN_FINE: f64 = 1e-7;
/// The same with a part of the rows.
const GAIN_COARSE: f64 = 1e-5;
/// The same with a common lengthscale that other climbs follow.
const GAIN_ROUGH: f64 = 1e-4;
/// The length of the first step from a guess.
const STEP_FROM_GUESS: f64 = 1.0;
/// The length of the first step from the end of a climb with fewer rows.
const STEP_FROM_END: f64 = 0.1;
/// Ends whose objectives differ by less than this are the same mode.
const SAME_MODE: f64 = 0.02;
/// The same for a common lengthscale that others follow.
const SAME_COMMON: f64 = 2.0;
/// Random points of which the best is a start.
const SCREENED_POINTS: usize = 8;
/// Climbs at once from random points, and from moved lengthscales.
const CLIMBS_AT_ONCE: usize = 4;
/// Rounds of moved lengthscales, at most.
const MOST_HOPS: usize = 10;

/// How many rows to begin with.
pub(super) fn part(rows: usize, inputs: usize) -> usize {
    let least =
        if inputs == 1 { FEWEST_ROWS } else { (rows / 2).clamp(2 * FEWEST_ROWS, 4 * FEWEST_ROWS) };
    rows.min((rows / 4).max(least))
}

/// The best mode that was found with the rows of `whole`; `part`, where given, has some of them.
pub(super) fn explore<'a>(
    whole: &Team<'a>,
    part: Option<&Team<'a>>,
    settings: &Checked,
) -> Result<Option<Peak>> {
    let limits = |gain| Limits { steps: settings.steps, gain, first: STEP_FROM_GUESS };
    let gain = if whole.rows() > VERY_COSTLY_ROWS { GAIN_COARSE } else { GAIN_FINE };
    let near = Limits { first: STEP_FROM_END, ..limits(gain) };
    let (rows, single) = (whole.rows(), whole.inputs() == 1);
    let (gain, same) = match part {
        _ if !single => (GAIN_ROUGH, SAME_COMMON),
        Some(_) => (GAIN_COARSE, SAME_MODE),
        None => (GAIN_FINE, SAME_MODE),
    };
    let Some(common) = common(part.unwrap_or(whole), limits(gain), same)? else { return Ok(None) };
    if single {
        let Some(_) = part else { return Ok(Some(common)) };
        return Ok(whole.one(|rows| rows.climb(&common.q, Free::All, near, &[])));
    }
    let mut starts = vec![common.q, plain(whole.prior)];
    starts.truncate(settings.starts);
    let wary = !whole.prior.informs() && whole.raw.has_levels();

    // A part of the rows can mislead about many lengthscales, but rarely about a common one.
    let mut modes = Modes::new(SAME_MODE);
    let part = part.filter(|_| rows > CHEAP_ROWS);
    if rows <= COSTLY_ROWS {
        climb_each(whole, &mut modes, &starts, limits(GAIN_FINE))?;
        if modes.agree() && !wary {
            return Ok(modes.best().cloned());
        }
    }
    if let Some(part) = part {
        let mut some = Modes::new(SAME_MODE);
        climb_each(part, &mut some, &starts, limits(GAIN_COARSE))?;
        let most = if part.rows() > CHEAP_ROWS { CLIMBS_AT_ONCE } else { settings.starts };
        wander(part, &mut some, most, false, settings, limits(GAIN_COARSE))?;
        let first: Vec<_> = some.best().map(|peak| peak.q.clone()).into_iter().collect();
        climb_each(whole, &mut modes, &first, near)?;
    }
    if rows <= COSTLY_ROWS {
        let most =
            if rows > CHEAP_ROWS { CLIMBS_AT_ONCE.min(settings.starts) } else { settings.starts };
        wander(whole, &mut modes, most, wary && rows <= CHEAP_ROWS, settings, limits(GAIN_FINE))?;
    }
    if wary && rows <= CHEAP_ROWS {
        hop(whole, &mut modes, limits(GAIN_FINE))?;
    }
    if rows > COSTLY_ROWS {
        return Ok(modes.best().cloned());
    }
    Ok(modes.best().map(|best| finish(whole, best, Limits { gain: GAIN_LAST, ..near })))
}

/// The end of a climb from `start`, which is near it.
pub(super) fn refine(whole: &Team<'_>, start: &[f64], settings: &Checked) -> Option<Peak> {
    let near = Limits { steps: settings.steps, gain: GAIN_COARSE, first: STEP_FROM_END };
    whole.one(|rows| rows.climb(start, Free::All, near, &[]))
}

/// The best end with a common lengthscale.
fn common(team: &Team<'_>, limits: Limits, same: f64) -> Result<Option<Peak>> {
    let starts: Vec<Vec<f64>> = guesses(team.prior).collect();
    let mut modes = Modes::new(same);
    for round in starts.chunks(2) {
        add(team, &mut modes, round.len(), |rows, i, known| {
            rows.climb(&round[i], Free::Common, limits, known)
        })?;
        if modes.agree() {
            break;
        }
    }
    Ok(modes.best().cloned())
}

/// One round of climbs with free lengthscales from `starts`.
fn climb_each(
    team: &Team<'_>,
    modes: &mut Modes,
    starts: &[Vec<f64>],
    limits: Limits,
) -> Result<()> {
    add(team, modes, starts.len(), |rows, i, known| {
        rows.climb(&starts[i], Free::All, limits, known)
    })
}

/// Climbs from random points around the best mode so far: until climbs agree or, if `wary`, until
/// the starts are used up.
fn wander(
    team: &Team<'_>,
    modes: &mut Modes,
    most: usize,
    wary: bool,
    settings: &Checked,
    limits: Limits,
) -> Result<()> {
    let mut done = 2;
    while done < most && (wary || !modes.agree()) {
        let Some(base) = modes.best().map(|peak| peak.q.clone()) else { break };
        let round = CLIMBS_AT_ONCE.min(most - done);
        add(team, modes, round, |rows, i, known| {
            let start = screened(rows, &base, settings.seed, done + i)?;
            rows.climb(&start, Free::All, limits, known)
        })?;
        done += round;
    }
    Ok(())
}

/// Climbs from the best mode with one lengthscale moved, the likeliest such points, for as long
/// as that finds a better mode.
fn hop(team: &Team<'_>, modes: &mut Modes, limits: Limits) -> Result<()> {
    for _ in 0..MOST_HOPS {
        let Some(best) = modes.best().cloned() else { break };
        let points = moves(&best.q, team.prior);
        let values = team.each(points.len(), |rows, i| rows.at(&points[i], None))?;
        let mut likely: Vec<_> = points.into_iter().zip(values).collect();
        // Points without a likelihood come last.
        likely.sort_by(|(_, a), (_, b)| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
        let starts: Vec<_> =
            likely.into_iter().take(CLIMBS_AT_ONCE).map(|(point, _)| point).collect();
        climb_each(team, modes, &starts, limits)?;
        if modes.best().is_none_or(|now| now.value < best.value + SAME_MODE) {
            break;
        }
    }
    Ok(())
}

/// The end of a last climb, from `best` with its long lengthscales at their bounds. The likelihood
/// rises towards them, and ever more slowly: the climbs before end on the way.
fn finish(team: &Team<'_>, best: &Peak, limits: Limits) -> Peak {
    let start = stretched(&best.q, team.prior);
    if team.prior.informs() || start == best.q {
        return best.clone();
    }
    let end = team.one(|rows| rows.climb(&start, Free::All, limits, &[]));
    end.filter(|end| end.value > best.value).unwrap_or_else(|| best.clone())
}

/// One round of climbs, and where they end; each is told the modes known before the round.
fn add(
    team: &Team<'_>,
    modes: &mut Modes,
    round: usize,
    climb: impl Fn(&mut Objective<'_>, usize, &[Peak]) -> Option<Peak> + Sync,
) -> Result<()> {
    let known = modes.all();
    let found = team.each(round, |rows, i| climb(rows, i, known))?;
    found.into_iter().for_each(|peak| modes.add(peak));
    Ok(())
}

/// The best of several random points around `base`.
fn screened(
    objective: &mut Objective<'_>,
    base: &[f64],
    seed: u64,
    index: usize,
) -> Option<Vec<f64>> {
    let mut best: Option<(f64, Vec<f64>)> = None;
    for i in index * SCREENED_POINTS..(index + 1) * SCREENED_POINTS {
        let q = around(base, objective.prior, seed, i);
        let Some(value) = objective.at(&q, None) else { continue };
        if best.as_ref().is_none_or(|(b, _)| value > *b) {
            best = Some((value, q));
        }
    }
    best.map(|(_, q)| q)
}
