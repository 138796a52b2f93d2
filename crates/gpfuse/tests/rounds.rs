//! Chains whose number of draws is left open go on by themselves: the same chains, on any number of
//! threads, after any interruption.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::case::{normals, rows_of};
use common::gaussian::{DIM, Gaussian, bits, prior, settings};
use gpfuse::diagnose::Diagnostics;
use gpfuse::diagnose::{ess_bulk, rhat};
use gpfuse::fit::{DensityChoice, FitSettings, fit};
use gpfuse::infer::{
    ChainDraws, ChainProgress, Density, DensityError, Draws, FIRST_DRAWS, Keeper, MOST_DRAWS,
    Metric, Monitor, Quiet, Sampler, Settings, Start, sample, sample_while,
};
use gpfuse::model::Method;
use gpfuse::{Error, Result};

/// Settings that leave the number of draws open.
fn open() -> Settings {
    Settings { draws: None, chains: 3, warmup: Some(100), start: Start::Prior, ..settings() }
}

fn run(asked: &Settings, monitor: &dyn Monitor, most: usize) -> Result<Draws> {
    let judge = |draws: &Draws| Ok(draws.per_chain() < most);
    sample_while(&Gaussian::new(), &prior, &asked.clone().check()?, monitor, judge)
}

fn stats_too(draws: &Draws) -> (Vec<u64>, Vec<gpfuse::infer::Stat>) {
    (bits(draws), draws.chains().iter().flat_map(|c| c.stats.clone()).collect())
}

/// The numbers of draws are 500, 1000, 2000 and 4000, and each of them is what a run has that was
/// asked for it.
#[test]
fn a_run_that_goes_on_is_the_run_that_was_asked_for() {
    for metric in [Metric::Diagonal, Metric::LowRank] {
        let asked = Settings { metric, ..open() };
        for (most, made) in [(1, 500), (501, 1000), (2000, 2000)] {
            let given = Settings { draws: Some(made), ..asked.clone() };
            let expected = run(&given, &Quiet, usize::MAX).unwrap();
            let found = run(&asked, &Quiet, most).unwrap();
            assert_eq!((found.per_chain(), found.interrupted()), (made, false));
            assert_eq!(stats_too(&found), stats_too(&expected));
        }
    }
    assert_eq!(run(&open(), &Quiet, usize::MAX).unwrap().per_chain(), MOST_DRAWS);
    // Nobody to judge.
    let sampled = sample(&Gaussian::new(), &prior, &open().check().unwrap(), &Quiet).unwrap();
    assert_eq!(sampled.per_chain(), FIRST_DRAWS);
}

#[test]
fn threads_do_not_change_a_bit_of_a_run_that_goes_on() {
    for asked in [open(), Settings { sampler: Sampler::Hmc, hmc_depth: 3, ..open() }] {
        let with = |threads: usize| {
            let asked = Settings { threads, chains: 5, ..asked.clone() };
            stats_too(&run(&asked, &Quiet, 1000).unwrap())
        };
        let one = with(1);
        assert!([2, 3, 5, 9].iter().all(|threads| with(*threads) == one));
    }
}

/// A slow walk: a narrow long ridge that turns, on short trajectories.
#[derive(Clone)]
struct Ridge;

impl Density for Ridge {
    fn dim(&self) -> usize {
        2
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        let off = (q[1] - q[0] * q[0]) / 0.1;
        grad[0] = -q[0] + 2.0 * q[0] * off / 0.1;
        grad[1] = -off / 0.1;
        Ok(-0.5 * (q[0] * q[0] + off * off))
    }
}

/// R-hat of the slow coordinate, and its effective size.
fn judged(draws: &Draws) -> (f64, f64) {
    let all: Vec<f64> = draws.iter().map(|q| q[0]).collect();
    let chains = draws.by_chain(&all);
    (rhat(&chains), ess_bulk(&chains))
}

/// A density on which 500 draws are too few goes on until R-hat is at most 1.01, and its first 500
/// draws are those of a run that was asked for 500. Fixed seed; of 500 others none had an R-hat of 1.01
/// or less with 500 draws.
#[test]
fn a_slow_density_is_given_more_draws() {
    let asked = Settings { max_depth: 2, warmup: Some(300), ..open() }.check().unwrap();
    let start = |normal: &mut dyn FnMut() -> f64| vec![normal(), normal()];
    let mut seen = Vec::new();
    let found = sample_while(&Ridge, &start, &asked, &Quiet, |draws| {
        seen.push(judged(draws));
        Ok(judged(draws).0 > 1.01)
    });
    let found = found.unwrap();
    assert!(found.per_chain() > FIRST_DRAWS && seen[0].0 > 1.01, "{seen:?}");
    assert!(judged(&found).1 > seen[0].1, "{seen:?}");
    let first = Settings { draws: Some(FIRST_DRAWS), ..(*asked).clone() }.check().unwrap();
    let first = sample(&Ridge, &start, &first, &Quiet).unwrap();
    assert_eq!(first.per_chain(), FIRST_DRAWS);
    for (all, first) in found.chains().iter().zip(first.chains()) {
        assert_eq!(all.values[..first.values.len()], first.values);
        assert_eq!(all.stats[..FIRST_DRAWS], first.stats);
    }
}

/// What survives a run: the chains.
#[derive(Default)]
struct Memory(Mutex<HashMap<usize, ChainDraws>>);

impl Keeper for Memory {
    fn chain(&self, chain: usize) -> Option<ChainDraws> {
        self.0.lock().unwrap().get(&chain).cloned()
    }

    fn keep_chain(&self, chain: usize, draws: &ChainDraws) {
        let before = self.0.lock().unwrap().insert(chain, draws.clone());
        assert!(before.is_none_or(|before| before.stats.len() < draws.stats.len()), "shorter");
    }
}

/// Cancelled once it has asked so often whether it is.
struct Stopped<'a> {
    memory: &'a Memory,
    limit: usize,
    asked: AtomicUsize,
}

impl Monitor for Stopped<'_> {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.limit
    }

    fn keeper(&self) -> &dyn Keeper {
        self.memory
    }
}

/// Stopped at any gradient of any round and begun again, a run ends in the same draws; and what a
/// stopped run has is the beginning of them.
#[test]
fn a_stopped_run_that_goes_on_ends_in_the_same_draws() {
    let asked = Settings { chains: 2, ..open() };
    let expected = stats_too(&run(&asked, &Quiet, 2000).unwrap());
    let (memory, mut stops) = (Memory::default(), 0);
    let found = loop {
        let limit = 1 + 1997 * stops;
        let monitor = Stopped { memory: &memory, limit, asked: AtomicUsize::new(0) };
        match run(&asked, &monitor, 2000) {
            Ok(draws) if !draws.interrupted() => break draws,
            Ok(part) => {
                let size = part.per_chain() * DIM;
                assert!(part.per_chain() < 2000 || part.chains().len() < 2);
                if part.chains().len() == 2 {
                    let starts = bits(&part);
                    assert_eq!(starts[..size], expected.0[..size]);
                    assert_eq!(starts[size..], expected.0[2000 * DIM..][..size]);
                }
                stops += 1;
            }
            Err(_) => stops += 1,
        }
    };
    assert!(stops > 3, "{stops} stops");
    assert_eq!(stats_too(&found), expected);
    let kept = memory.0.into_inner().unwrap();
    assert!(kept.values().all(|chain| chain.stats.len() == 2000));
    // From chains that got as far as different rounds.
    let mut mixed = kept;
    let chain = mixed.get_mut(&1).unwrap();
    chain.stats.truncate(FIRST_DRAWS);
    chain.values.truncate(FIRST_DRAWS * DIM);
    let memory = Memory(Mutex::new(mixed));
    let monitor = Stopped { memory: &memory, limit: usize::MAX, asked: AtomicUsize::new(0) };
    assert_eq!(stats_too(&run(&asked, &monitor, 2000).unwrap()), expected);
    // And where fewer draws are enough than are kept.
    let short = run(&asked, &monitor, 500).unwrap();
    assert_eq!(stats_too(&short), stats_too(&run(&asked, &Quiet, 500).unwrap()));
}

/// What each chain said last.
#[derive(Default)]
struct Heard(Mutex<HashMap<usize, Vec<ChainProgress>>>);

impl Monitor for Heard {
    fn draw(&self, progress: &ChainProgress) {
        self.0.lock().unwrap().entry(progress.chain).or_default().push(*progress);
    }
}

#[test]
fn progress_has_a_total_that_grows() {
    let heard = Heard::default();
    run(&open(), &heard, 1000).unwrap();
    for said in heard.0.into_inner().unwrap().into_values() {
        assert_eq!(said.len(), 100 + 1000);
        for (i, p) in said.iter().enumerate() {
            let total = if i < 600 { 600 } else { 1100 };
            assert_eq!((p.done, p.total, p.warming_up), (i + 1, total, i < 100));
        }
    }
}

/// An error of whoever judges is that of the run.
#[test]
fn a_judge_can_fail() {
    for threads in [1, 3] {
        let asked = Settings { threads, ..open() }.check().unwrap();
        let judge = |_: &Draws| Err(Error::Data("no judgement".into()));
        let found = sample_while(&Gaussian::new(), &prior, &asked, &Quiet, judge);
        assert_eq!(found.unwrap_err(), Error::Data("no judgement".into()));
    }
}

/// A fit goes on by its diagnostics, by either density, and is the fit that was asked for that many
/// draws but for this setting. The trajectories are so short that 500 draws are worth too few, or the chains look as if
/// they sat in different modes: of 60 seeds, 0 and 12 stopped there, and of six seeds the first is taken that does not.
/// None is left once in 10,000 times.
#[test]
fn a_fit_goes_on_by_its_diagnostics() {
    let mut normal = normals(12);
    let x: Vec<f64> = (0..25).map(|i| f64::from(i) / 6.0).collect();
    let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin() + 0.2 * normal()).collect();
    let data = rows_of(&x, &y);
    for (density, chains, max_depth, size) in
        [(DensityChoice::Plain, 4, 3, 12), (DensityChoice::Collapsed, 2, 1, 6)]
    {
        let of = |seed: u64, draws: Option<usize>, threads: usize| {
            let sampler = Settings { draws, threads, chains, max_depth, seed, ..settings() };
            let (method, size) = (Method::Het, Some(size));
            fit(&data, &FitSettings { method, size, density, sampler, ..Default::default() })
        };
        let all = (0..6).map(|seed| (seed, of(seed, None, 2).unwrap()));
        let (seed, found) =
            { all }.find(|(_, found)| found.draws.per_chain() > FIRST_DRAWS).unwrap();
        let with = |draws: Option<usize>, threads: usize| of(seed, draws, threads);
        let made = found.draws.per_chain();
        assert!(made <= MOST_DRAWS, "{made}");
        assert_eq!(found.settings.sampler.draws, None);
        for other in [with(Some(made), 1).unwrap(), with(None, 1).unwrap()] {
            assert_eq!(bits(&found.draws), bits(&other.draws));
            // Advice is for what was set.
            let warnings = found.diagnostics.warnings.clone();
            assert_eq!(found.diagnostics, Diagnostics { warnings, ..other.diagnostics });
        }
        let short = with(Some(FIRST_DRAWS), 2).unwrap();
        assert!(short.diagnostics.quantities.iter().any(|q| !q.settled()));
    }
}
