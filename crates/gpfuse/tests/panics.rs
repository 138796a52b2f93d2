//! A fault in one thread ends all work with its message, however long the other threads would go on.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::gaussian::{Fault, Gaussian, PANIC, endless, prior, within};
use gpfuse::Data;
use gpfuse::calibrate::{self, Study};
use gpfuse::fit::{FitSettings, Fitted};
use gpfuse::infer::map::Point;
use gpfuse::infer::{ChainProgress, Keeper, Monitor, Quiet, Sampler, Settings, Start, sample};
use gpfuse::model::Method;
use gpfuse::sweep::{self, Cell, Finished, Key, Sink};

fn panic_on_purpose() {
    std::panic::panic_any(PANIC);
}

/// What panics in whoever watches or keeps.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    Start,
    Draw,
    KeptStart,
    FirstChain,
}

struct Watcher(Where);

impl Monitor for Watcher {
    fn start(&self, done: usize, _: usize) {
        if self.0 == Where::Start && done == 1 {
            panic_on_purpose();
        }
    }

    fn draw(&self, progress: &ChainProgress) {
        if self.0 == Where::Draw && progress.chain == 1 && progress.done == 60 {
            panic_on_purpose();
        }
    }

    fn keeper(&self) -> &dyn Keeper {
        self
    }
}

impl Keeper for Watcher {
    fn keep_start(&self, index: usize, _: &Point) {
        if self.0 == Where::KeptStart && index == 1 {
            panic_on_purpose();
        }
    }

    fn chain(&self, chain: usize) -> Option<gpfuse::infer::ChainDraws> {
        if self.0 == Where::FirstChain && chain == 0 {
            panic_on_purpose();
        }
        None
    }
}

#[test]
fn a_monitor_or_keeper_that_panics_fails_the_run() {
    for place in [Where::Start, Where::Draw, Where::KeptStart, Where::FirstChain] {
        let found = within(move || {
            let density = Gaussian::with(Fault::Slow, 0);
            sample(&density, &prior, &endless().check().unwrap(), &Watcher(place))
        });
        let message = found.map(|draws| draws.len()).unwrap_err().to_string();
        assert!(message.contains(PANIC), "{message}");
    }
}

/// The others would be at their starts for hours.
#[test]
fn a_start_that_fails_stops_the_others() {
    for fault in [Fault::PanicOnce, Fault::Panic] {
        for start in [Start::Map, Start::Pilot] {
            let asked = Settings { start, start_steps: 1_000_000, candidates: 3, ..endless() };
            let found = within(move || {
                let density = Gaussian::with(fault, 30);
                sample(&density, &prior, &asked.check().unwrap(), &Quiet)
            });
            let message = found.map(|draws| draws.len()).unwrap_err().to_string();
            assert!(message.contains(PANIC), "{message}");
        }
    }
}

/// A hundred thousand simulations are left when the first is taken.
#[test]
fn a_panic_over_one_simulation_ends_the_study() {
    let mut asked = calibrate::Settings { rows: 6, thin: 1, ..calibrate::Settings::default() };
    (asked.fit.size, asked.fit.method) = (Some(3), Method::Het);
    asked.fit.experts = 1;
    let short = &mut asked.fit.sampler;
    (short.warmup, short.draws, short.max_depth) = (Some(20), Some(19), 3);
    let study = Study::new(asked.check().unwrap()).unwrap();
    let taken = Arc::new(AtomicUsize::new(0));
    let count = taken.clone();
    let found = within(move || {
        let numbers: Vec<u64> = (0..100_000).collect();
        calibrate::run_all(&study, &numbers, 3, &Quiet, |_| -> Result<(), ()> {
            if count.fetch_add(1, Ordering::Relaxed) == 0 {
                panic_on_purpose();
            }
            Ok(())
        })
    });
    assert!(found.unwrap_err().to_string().contains(PANIC));
    assert!(taken.load(Ordering::Relaxed) < 1000);
}

struct Broken;

impl Sink for Broken {
    type Failure = String;

    fn begin<'a>(&'a self, _: &Cell) -> Box<dyn Monitor + 'a> {
        Box::new(Quiet)
    }

    fn end(&self, _: &Cell, _: Finished, _: Option<Fitted>) -> Result<(), String> {
        panic_on_purpose();
        Ok(())
    }
}

/// Two cells that would take hours, and one that ends soon and cannot be taken.
#[test]
fn a_panic_over_one_cell_ends_the_sweep() {
    let x: Vec<f64> = (0..20).map(|i| f64::from(i) / 10.0).collect();
    let y = x.iter().map(|x| x.sin()).collect();
    let table = Arc::new(Data::new(x, 1).unwrap().with_target(y).unwrap());
    let (train, test) = (Arc::new((0..15).collect()), Arc::new((15..20).collect()));
    let cell = |split: usize| {
        let sampler = if split == 2 { Sampler::Map } else { Sampler::Nuts };
        let sampler = Settings { sampler, ..endless() };
        let fit = FitSettings {
            method: Method::Het,
            experts: 1,
            size: Some(5),
            sampler,
            ..Default::default()
        };
        Cell {
            key: Key {
                data: "a".into(),
                arm: "het".into(),
                basis: "hilbert".into(),
                size: 5,
                experts: 1,
                split,
                seed: 0,
            },
            settings: fit.check().unwrap(),
            table: table.clone(),
            train: Arc::clone(&train),
            test: Arc::clone(&test),
            given: None,
            keep: false,
        }
    };
    let cells: Vec<Cell> = (0..3).map(cell).collect();
    let found = within(move || sweep::run_all(cells, 3, &Broken));
    assert!(found.unwrap_err().to_string().contains(PANIC));
}
