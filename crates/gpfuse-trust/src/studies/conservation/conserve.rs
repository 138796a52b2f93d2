//! Many starts, one transition each, and the distances of distribution functions afterwards.

use anyhow::anyhow;
use gpfuse::infer::{Density, DensityError, Stat};
use gpfuse::random::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use super::case::Case;
use crate::dkwm::{between, distance, reach};
use crate::jobs::jobs;

/// A sound transition fails with at most this probability, in all that is tested of a case; a
/// difference that is said to be seen is missed with at most this one.
pub(super) const RATE: f64 = 1e-6;

/// Starts of one job.
const CHUNK: usize = 1000;

/// The distance that is largest beside its bound.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Worst {
    pub(super) name: String,
    pub(super) distance: f64,
    pub(super) bound: f64,
}

/// What was found of a case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conserved {
    pub(super) worst: Worst,
    /// How many exact laws were compared.
    pub(super) laws: usize,
    /// The smallest difference from an exact law that is seen.
    pub(super) sees: f64,
    /// The smallest difference of the log density that is seen.
    pub(super) sees_drawn: f64,
    /// The share of starts that moved.
    pub(super) moved: f64,
    /// Root mean square distance from the start.
    pub(super) jump: f64,
    /// Mean acceptance.
    pub(super) acceptance: f64,
}

/// What the transitions of some starts gave.
struct Ends {
    /// For each view, then for the log density.
    values: Vec<Vec<f64>>,
    moved: usize,
    squares: f64,
    accepted: f64,
}

/// The log densities of `count` exact draws, none of which is a start.
pub(super) fn reference<D: Density>(
    case: &Case<D>,
    count: usize,
    threads: usize,
    seed: u64,
) -> anyhow::Result<Vec<f64>> {
    let chunks = jobs(count.div_ceil(CHUNK), threads, |c| {
        let one = |i: usize| {
            let (q, mut density) = (case.start)(&mut stream(seed, Purpose::Start, i as u64))?;
            log_density(&mut density, &q)
        };
        (c * CHUNK..count.min((c + 1) * CHUNK)).map(one).collect::<anyhow::Result<Vec<f64>>>()
    })?;
    Ok(chunks.concat())
}

/// Make one transition from each of `starts` exact draws; the log density afterwards is compared
/// with those of other draws.
pub(super) fn conserve<D: Density>(
    case: &Case<D>,
    transition: impl Fn(&mut D, &[f64], &mut ChaCha8Rng) -> anyhow::Result<(Vec<f64>, Stat)> + Sync,
    starts: usize,
    others: &[f64],
    threads: usize,
    seed: u64,
) -> anyhow::Result<Conserved> {
    let laws = case.views.len();
    let chunks = jobs(starts.div_ceil(CHUNK), threads, |c| {
        let mut ends =
            Ends { values: vec![Vec::new(); laws + 1], moved: 0, squares: 0.0, accepted: 0.0 };
        for i in c * CHUNK..starts.min((c + 1) * CHUNK) {
            let mut rng = stream(seed, Purpose::Chain, i as u64);
            let (q, mut density) = (case.start)(&mut rng)?;
            let (end, stat) = transition(&mut density, &q, &mut rng)?;
            let seen = case.views.iter().map(|view| (view.of)(&end));
            ends.values.iter_mut().zip(seen).for_each(|(values, value)| values.push(value));
            ends.values[laws].push(log_density(&mut density, &end)?);
            ends.moved += usize::from(end != q);
            ends.squares += end.iter().zip(&q).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            ends.accepted += stat.accept;
        }
        Ok(ends)
    })?;
    let rate = RATE / (laws + 1) as f64;
    // Half the rate for each of two sets of draws.
    let apart = |rate: f64| reach(starts, 0.5 * rate) + reach(others.len(), 0.5 * rate);
    let gather = |v: usize| -> Vec<f64> {
        chunks.iter().flat_map(|ends| ends.values[v].iter().copied()).collect()
    };
    let exact = jobs(laws, threads, |v| {
        let view = &case.views[v];
        let distance = distance(&mut gather(v), |x| view.law.cdf(x));
        Ok(Worst { name: view.name.clone(), distance, bound: reach(starts, rate) })
    })?;
    let distance = between(&mut gather(laws), &mut others.to_vec());
    let density = Worst { name: "log density".into(), distance, bound: apart(rate) };
    let beside = |worst: &Worst| worst.distance / worst.bound;
    let all = exact.into_iter().chain([density]);
    let worst = all.max_by(|a, b| beside(a).total_cmp(&beside(b)));
    let total = starts as f64;
    Ok(Conserved {
        worst: worst.ok_or_else(|| anyhow!("nothing was compared"))?,
        laws,
        sees: reach(starts, rate) + reach(starts, RATE),
        sees_drawn: apart(rate) + apart(RATE),
        moved: chunks.iter().map(|ends| ends.moved).sum::<usize>() as f64 / total,
        jump: (chunks.iter().map(|ends| ends.squares).sum::<f64>() / total).sqrt(),
        acceptance: chunks.iter().map(|ends| ends.accepted).sum::<f64>() / total,
    })
}

fn log_density<D: Density>(density: &mut D, q: &[f64]) -> anyhow::Result<f64> {
    match density.logp(q, &mut vec![0.0; q.len()]) {
        Ok(logp) | Err(DensityError::NotFinite { logp }) => Ok(logp),
        Err(e) => Err(e.into()),
    }
}
