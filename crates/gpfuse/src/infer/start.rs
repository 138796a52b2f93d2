//! Where chains start: candidates, improved and screened, a different set for each chain.
//!
//! Joint posteriors have separate modes, and a chain seldom leaves the one it starts in, so
//! starts are part of the method. Each chain has its own candidates, drawn from the prior or made
//! from the data by whoever knows the model; it begins at the best of them, so that good modes are
//! found more often while the chains stay independent of each other. Candidates are compared after a
//! pilot, a short run of the sampler, by the log density of its last draws: that is the height of the
//! typical set, where the chain will live, and not of a mode, where it will not.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand_distr::{Distribution, StandardNormal};

use super::chain::{Length, Running};
use super::map::{Point, climb};
use super::monitor::Muted;
use super::{ChainDraws, Checked, Density, Metric, Monitor, PriorDraw, Sampler, Start};
use crate::halt::{Fail, Linked, go_on};
use crate::parallel::parallel;
use crate::random::{Purpose, stream};
use crate::{Error, Result};

/// Draws tried before a start with a finite density is given up.
const TRIES: usize = 100;

/// Pilots have short trajectories, so that they cost little beside the chains.
const PILOT_DEPTH: usize = 5;

/// L-BFGS steps for the mode itself, which wants more than a start.
const MODE_STEPS: usize = 2000;

/// One start per chain.
pub(super) fn find<D: Density + Sync>(
    density: &D,
    prior: PriorDraw<'_>,
    settings: &Checked,
    monitor: &dyn Monitor,
) -> Result<Vec<Point>> {
    let mode = settings.sampler == Sampler::Map;
    let each = if settings.start == Start::Prior && !mode { 1 } else { settings.candidates };
    let total = settings.chains * each;
    let finished = AtomicUsize::new(0);
    monitor.start(0, total);
    let failed = AtomicBool::new(false);
    let linked = Linked { monitor, stop: &failed };
    let points = parallel(total, settings.threads, |i| {
        let (monitor, guard): (&dyn Monitor, _) = (&linked, Fail(&failed));
        let density = &density.clone().with_threads(settings.threads / total);
        let climbs = match (settings.start, mode) {
            (_, true) => MODE_STEPS,
            (Start::Map, _) => settings.start_steps,
            _ => 0,
        };
        let kept = monitor.keeper().start(i).filter(|point| point.q.len() == density.dim());
        let point = if let Some(point) = kept {
            point
        } else {
            let mut point = first(density, prior, settings.seed, i, climbs, monitor)?;
            let pilots = !matches!(settings.start, Start::Prior | Start::Map);
            if pilots && !mode && each > 1 {
                point = pilot(density, point, settings, i, monitor)?;
            }
            // Asked after the work: a point that a cancelled run cut short is not kept.
            if !monitor.cancelled() {
                monitor.keeper().keep_start(i, &point);
            }
            point
        };
        monitor.start(finished.fetch_add(1, Ordering::Relaxed) + 1, total);
        guard.disarm();
        Ok(point)
    })?;
    let points = points.into_iter().collect::<Result<Vec<Point>>>()?;
    go_on(monitor)?;
    points.chunks(each).map(best).collect()
}

/// The highest of several points.
pub(super) fn best(points: &[Point]) -> Result<Point> {
    match points.iter().max_by(|a, b| a.logp.total_cmp(&b.logp)) {
        Some(p) if p.logp.is_finite() => Ok(p.clone()),
        _ => Err(Error::Sampling(
            "no starting point has a finite density: look at the scale of the data, or at the \
             prior scales"
                .into(),
        )),
    }
}

/// A candidate with a finite density, after at most `climbs` steps uphill.
fn first<D: Density>(
    density: &D,
    prior: PriorDraw<'_>,
    seed: u64,
    index: usize,
    climbs: usize,
    monitor: &dyn Monitor,
) -> Result<Point> {
    let mut rng = stream(seed, Purpose::Start, index as u64);
    let mut normal = || StandardNormal.sample(&mut rng);
    let mut point = Point { q: Vec::new(), logp: f64::NEG_INFINITY };
    for _ in 0..TRIES {
        point = climb(density, prior(&mut normal), climbs, monitor)?;
        if point.logp.is_finite() || monitor.cancelled() {
            break;
        }
    }
    Ok(point)
}

/// Where a short run from `point` ends, with the mean log density of its last quarter. A
/// pilot that fails leaves the point where it was, and loses to any that did not.
fn pilot<D: Density>(
    density: &D,
    point: Point,
    settings: &Checked,
    index: usize,
    monitor: &dyn Monitor,
) -> Result<Point> {
    let draws = (settings.start_steps / 4).max(1);
    let warmup = settings.start_steps.saturating_sub(draws).max(10);
    let mut length = Length::new(warmup, settings);
    length.max_depth = length.max_depth.min(PILOT_DEPTH);
    let rng = stream(settings.seed, Purpose::Pilot, index as u64);
    let quiet = Muted(monitor);
    // Too short to learn more than a scale per parameter.
    let settings = &settings.with_metric(Metric::Diagonal);
    let mut chain = ChainDraws::default();
    let run = Running::new(index, density.clone(), &point.q, length, settings, rng, &quiet);
    match run.and_then(|mut run| run.go_on(&mut chain, draws)) {
        Ok(()) if !chain.stats.is_empty() => {
            let count = chain.stats.len();
            Ok(Point {
                q: chain.values[(count - 1) * point.q.len()..].to_vec(),
                logp: chain.stats.iter().map(|s| s.lp).sum::<f64>() / count as f64,
            })
        }
        // With more memory the start would be another, and the result must not depend on memory.
        Err(e @ Error::Memory(_)) => Err(e),
        // Where the pilot failed, the start ranks last: a mode is higher than every typical set.
        _ => Ok(Point { logp: point.logp.min(f64::MIN), ..point }),
    }
}
