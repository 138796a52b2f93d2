//! Where chains start: prior draws, screened and improved, a different set for each chain.
//!
//! Joint posteriors have separate modes, and a chain seldom leaves the one it starts in, so
//! starts are part of the method. Each chain draws its own candidates from the prior, climbs
//! from each by L-BFGS, and begins at the best: good modes are found more often, and the
//! chains stay independent of each other.

use std::sync::atomic::{AtomicUsize, Ordering};

use rand_distr::{Distribution, StandardNormal};

use super::map::{Point, climb};
use super::{Checked, Density, Monitor, PriorDraw, Sampler, Start, parallel};
use crate::random::{Purpose, stream};
use crate::{Error, Result};

/// Prior draws tried before a start with a finite density is given up.
const TRIES: usize = 100;

/// One start per chain.
pub(super) fn find<D: Density + Sync>(
    density: &D,
    prior: PriorDraw<'_>,
    settings: &Checked,
    monitor: &dyn Monitor,
) -> Result<Vec<Point>> {
    let climbs = settings.start == Start::Map || settings.sampler == Sampler::Map;
    let each = if climbs { settings.candidates } else { 1 };
    // The mode itself wants more steps than a start.
    let steps = match (climbs, settings.sampler) {
        (false, _) => 0,
        (true, Sampler::Map) => settings.start_steps.max(2000),
        (true, _) => settings.start_steps,
    };
    let total = settings.chains * each;
    let finished = AtomicUsize::new(0);
    let points = parallel(total, settings.threads, |i| {
        let point = candidate(density, prior, settings.seed, i, steps, monitor);
        monitor.start(finished.fetch_add(1, Ordering::Relaxed) + 1, total);
        point
    })?;
    points
        .chunks(each)
        .map(|own| own.iter().max_by(|a, b| a.logp.total_cmp(&b.logp)).cloned())
        .map(|best| match best {
            Some(p) if p.logp.is_finite() => Ok(p),
            _ => Err(Error::Sampling(
                "no starting point has a finite density: look at the scale of the data, or at \
                 the prior scales"
                    .into(),
            )),
        })
        .collect()
}

fn candidate<D: Density>(
    density: &D,
    prior: PriorDraw<'_>,
    seed: u64,
    index: usize,
    steps: usize,
    monitor: &dyn Monitor,
) -> Point {
    let mut rng = stream(seed, Purpose::Start, index as u64);
    let mut normal = || StandardNormal.sample(&mut rng);
    let mut point = Point { q: Vec::new(), logp: f64::NEG_INFINITY };
    for _ in 0..TRIES {
        point = climb(density, prior(&mut normal), steps, monitor);
        if point.logp.is_finite() || monitor.cancelled() {
            break;
        }
    }
    point
}
