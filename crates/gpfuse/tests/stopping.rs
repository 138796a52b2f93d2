//! Training is heard of part by part, and stops at the next step of a climb or round of trees.

#![allow(clippy::unwrap_used)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpfuse::fit::{FitSettings, fit_with};
use gpfuse::gp;
use gpfuse::infer::{self, Monitor, Phase, Sampler};
use gpfuse::{Data, Method};

/// Cancels when it has been asked so often, and writes down what it hears.
struct Listener {
    after: usize,
    asked: AtomicUsize,
    heard: Mutex<Vec<(Phase, usize, usize)>>,
    phase: Mutex<Option<Phase>>,
}

impl Listener {
    fn new(after: usize) -> Listener {
        let (asked, heard) = (AtomicUsize::new(0), Mutex::default());
        Listener { after, asked, heard, phase: Mutex::default() }
    }
}

impl Monitor for Listener {
    fn phase(&self, phase: Phase) {
        *self.phase.lock().unwrap() = Some(phase);
    }

    fn part(&self, done: usize, total: usize) {
        let phase = self.phase.lock().unwrap().unwrap();
        self.heard.lock().unwrap().push((phase, done, total));
    }

    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.after
    }
}

fn data(rows: usize) -> Data {
    let x = |i: usize, k: usize| ((i * (2 * k + 3)) as f64 * 0.37).sin();
    let rows: Vec<Vec<f64>> = (0..rows).map(|i| (0..3).map(|k| x(i, k)).collect()).collect();
    let y = rows.iter().map(|row| row[0] + (3.0 * row[1]).sin()).collect();
    Data::new(rows.concat(), 3).unwrap().with_target(y).unwrap()
}

fn settings(method: Method) -> FitSettings {
    let sampler = infer::Settings { sampler: Sampler::Map, threads: 2, ..Default::default() };
    FitSettings { method, sampler, ..FitSettings::default() }
}

/// Every expert of the portfolio and every kernel of a pilot is a part; one GP is one for each kernel it may have.
#[test]
fn every_part_is_heard_of() {
    for (method, phase, parts) in [
        (Method::Pbhs, Phase::Experts, 5),
        (Method::Het, Phase::Pilot, 4),
        (Method::Gp, Phase::Experts, 2),
    ] {
        let listener = Listener::new(usize::MAX);
        fit_with(&data(40), &settings(method), &listener).unwrap();
        let mut heard = listener.heard.into_inner().unwrap();
        heard.retain(|(at, ..)| *at == phase);
        heard.sort_by_key(|(_, done, _)| *done);
        let expected: Vec<_> = (0..=parts).map(|done| (phase, done, parts)).collect();
        assert_eq!(heard, expected, "{method}");
    }
}

/// Wherever it is stopped before there are draws, a fit is asked only a little more often, and says that there is
/// nothing to keep.
#[test]
fn a_fit_that_is_stopped_ends_soon() {
    for method in [Method::Pbhs, Method::Bhs, Method::Het, Method::Gp] {
        for after in [0, 3, 40, 150] {
            let listener = Listener::new(after);
            let stopped = fit_with(&data(120), &settings(method), &listener);
            let error = stopped.map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("there are no draws to keep"), "{method}, {after}: {error}");
            // A climb that ends asks a few times more: its line search, and its last looks.
            let more = listener.asked.load(Ordering::Relaxed) - after;
            assert!(more < 300, "{method}: stopped after {after}, asked {more} times more");
        }
    }
}

#[test]
fn one_gp_stops_too() {
    let (data, settings) = (data(100), gp::Settings::default().check().unwrap());
    let y = data.y().unwrap();
    let error = gp::fit_with(data.x(), 3, y, &settings, &Listener::new(5)).unwrap_err();
    assert!(error.to_string().contains("stopped"), "{error}");
    let whole = gp::fit_with(data.x(), 3, y, &settings, &Listener::new(usize::MAX)).unwrap();
    assert_eq!(whole.hyper(), gp::fit(data.x(), 3, y, &settings).unwrap().hyper());
}
