//! A run that was stopped at any gradient and begun again makes the same draws, and asks the density
//! nothing twice.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::gaussian::{DIM, Gaussian, prior, settings};
use gpfuse::infer::map::Point;
use gpfuse::infer::{
    ChainDraws, DensityError, Draws, Keeper, Met, Metric, Monitor, Sampler, Settings, sample,
};

type Call = (Vec<f64>, Vec<f64>, Result<f64, DensityError>);

/// What survives a run.
#[derive(Default)]
struct Memory {
    starts: Mutex<HashMap<usize, Point>>,
    chains: Mutex<HashMap<usize, ChainDraws>>,
    calls: Mutex<HashMap<usize, Arc<Mutex<Vec<Call>>>>>,
    /// Times that a chain asked the density.
    asked: Arc<AtomicUsize>,
}

/// A run that stops once its chains have asked so often.
struct Stopped<'a>(&'a Memory, usize);

struct Calls {
    calls: Arc<Mutex<Vec<Call>>>,
    next: usize,
    asked: Arc<AtomicUsize>,
}

impl Met for Calls {
    fn recall(&mut self, q: &[f64], grad: &mut [f64]) -> Option<Result<f64, DensityError>> {
        let calls = self.calls.lock().unwrap();
        let (about, kept, said) = calls.get(self.next)?;
        assert_eq!(about, q, "another point than before");
        grad.copy_from_slice(kept);
        self.next += 1;
        Some(said.clone())
    }

    fn record(&mut self, q: &[f64], grad: &[f64], said: &Result<f64, DensityError>) {
        let mut calls = self.calls.lock().unwrap();
        calls.push((q.to_vec(), grad.to_vec(), said.clone()));
        self.next = calls.len();
        self.asked.fetch_add(1, Ordering::Relaxed);
    }
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

    fn met(&self, chain: usize, dim: usize) -> Option<Box<dyn Met>> {
        assert_eq!(dim, DIM);
        let calls = self.calls.lock().unwrap().entry(chain).or_default().clone();
        Some(Box::new(Calls { calls, next: 0, asked: self.asked.clone() }))
    }
}

impl Monitor for Stopped<'_> {
    fn cancelled(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed) >= self.1
    }

    fn keeper(&self) -> &dyn Keeper {
        self.0
    }
}

fn run(memory: &Memory, settings: &Settings, stop: usize) -> gpfuse::Result<Draws> {
    let settings = settings.clone().check().unwrap();
    sample(&Gaussian::new(), &prior, &settings, &Stopped(memory, stop))
}

fn bits(draws: &Draws) -> Vec<u64> {
    draws.iter().flatten().map(|v| v.to_bits()).collect()
}

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let short = Settings { chains: 3, warmup: 60, draws: 40, ..settings() };
    let cases = [
        short.clone(),
        Settings { metric: Metric::LowRank, ..short.clone() },
        Settings { sampler: Sampler::Hmc, hmc_depth: 3, threads: 3, ..short.clone() },
    ];
    for settings in cases {
        let whole = Memory::default();
        let expected = run(&whole, &settings, usize::MAX).unwrap();
        let all = whole.asked.load(Ordering::Relaxed);
        assert!(all > 500 && whole.chains.lock().unwrap().len() == 3);
        // Steps that have nothing to do with the lengths of trajectories.
        let memory = Memory::default();
        let mut stops = 0;
        for stop in (1..all - 10).step_by(197) {
            let part = run(&memory, &settings, stop);
            assert!(part.is_err() || part.unwrap().interrupted(), "not stopped at {stop}");
            stops += 1;
        }
        let found = run(&memory, &settings, usize::MAX).unwrap();
        assert_eq!(bits(&found), bits(&expected), "after {stops} stops");
        assert!(!found.interrupted());
        for (a, b) in found.chains().iter().zip(expected.chains()) {
            assert_eq!(a.stats, b.stats);
        }
        assert_eq!(memory.asked.load(Ordering::Relaxed), all, "the density was asked twice");
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
    let short = Settings { chains: 2, warmup: 30, draws: 10, ..settings() };
    let memory = Memory::default();
    let expected = run(&memory, &short, usize::MAX).unwrap();
    let mut chains = memory.chains.lock().unwrap().clone();
    chains.values_mut().for_each(|chain| chain.values.truncate(3));
    let settings = short.check().unwrap();
    let found = sample(&Gaussian::new(), &prior, &settings, &Strange(chains)).unwrap();
    assert_eq!(bits(&found), bits(&expected));
}
