//! A run that was stopped at any gradient and begun again makes the same draws, and what was finished
//! is not done again.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::gaussian::{DIM, Gaussian, bits, prior, settings};
use gpfuse::infer::map::Point;
use gpfuse::infer::{ChainDraws, Draws, Keeper, Metric, Monitor, Sampler, Settings, sample};

/// What survives a run.
#[derive(Default)]
struct Memory {
    starts: Mutex<HashMap<usize, Point>>,
    chains: Mutex<HashMap<usize, ChainDraws>>,
}

impl Keeper for Memory {
    fn start(&self, index: usize) -> Option<Point> {
        self.starts.lock().unwrap().get(&index).cloned()
    }

    fn keep_start(&self, index: usize, point: &Point) {
        assert!(self.starts.lock().unwrap().insert(index, point.clone()).is_none(), "found twice");
    }

    fn chain(&self, chain: usize) -> Option<ChainDraws> {
        self.chains.lock().unwrap().get(&chain).cloned()
    }

    fn keep_chain(&self, chain: usize, draws: &ChainDraws) {
        assert!(self.chains.lock().unwrap().insert(chain, draws.clone()).is_none(), "made twice");
    }
}

/// A run that is cancelled once it has asked so often whether it is, which it does at every gradient.
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

/// The outcome, and how often the run asked.
fn run(memory: &Memory, settings: &Settings, limit: usize) -> (gpfuse::Result<Draws>, usize) {
    let settings = settings.clone().check().unwrap();
    let monitor = Stopped { memory, limit, asked: AtomicUsize::new(0) };
    let draws = sample(&Gaussian::new(), &prior, &settings, &monitor);
    (draws, monitor.asked.into_inner())
}

#[test]
fn a_stopped_run_ends_in_the_same_draws() {
    let short = Settings { chains: 3, warmup: Some(60), draws: Some(40), ..settings() };
    let cases = [
        short.clone(),
        Settings { metric: Metric::LowRank, ..short.clone() },
        Settings { sampler: Sampler::Hmc, hmc_depth: 3, threads: 3, ..short.clone() },
    ];
    for settings in cases {
        let (expected, all) = run(&Memory::default(), &settings, usize::MAX);
        let expected = expected.unwrap();
        let (memory, mut stops) = (Memory::default(), 0);
        // Steps that have nothing to do with the lengths of trajectories; each run asks less than one
        // that was left alone.
        let found = loop {
            let (part, asked) = run(&memory, &settings, 1 + 197 * stops);
            match part {
                Ok(draws) if !draws.interrupted() => {
                    assert!(asked < all, "what was finished is done again");
                    break draws;
                }
                _ => stops += 1,
            }
        };
        assert!(stops > 2 && memory.chains.lock().unwrap().len() == 3, "{stops} stops of {all}");
        assert_eq!(bits(&found), bits(&expected), "after {stops} stops");
        for (a, b) in found.chains().iter().zip(expected.chains()) {
            assert_eq!(a.stats, b.stats);
        }
    }
}

/// Has starts and chains of another shape.
struct Strange(HashMap<usize, ChainDraws>);

impl Keeper for Strange {
    fn start(&self, _: usize) -> Option<Point> {
        Some(Point { q: vec![0.0; DIM + 1], logp: 0.0 })
    }

    fn chain(&self, chain: usize) -> Option<ChainDraws> {
        self.0.get(&chain).cloned()
    }
}

impl Monitor for Strange {
    fn keeper(&self) -> &dyn Keeper {
        self
    }
}

/// Kept parts of another shape are not used.
#[test]
fn what_does_not_fit_is_made_again() {
    let short = Settings { chains: 2, warmup: Some(30), draws: Some(10), ..settings() };
    let memory = Memory::default();
    let expected = run(&memory, &short, usize::MAX).0.unwrap();
    let mut chains = memory.chains.lock().unwrap().clone();
    chains.values_mut().for_each(|chain| chain.values.truncate(3));
    let settings = short.check().unwrap();
    let found = sample(&Gaussian::new(), &prior, &settings, &Strange(chains)).unwrap();
    assert_eq!(bits(&found), bits(&expected));
}
