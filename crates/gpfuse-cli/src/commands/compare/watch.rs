//! What a person sees while methods run: bars on a terminal, and a line for each that is done.

use std::cell::Cell;
use std::time::Instant;

use gpfuse::compare::{Audience, Contestant, Entry};
use gpfuse::infer::{ChainProgress, Forecast, Monitor, Phase};

use crate::print;
use crate::progress::{Bars, cancelled};

pub(super) struct Watch {
    contestants: usize,
    chains: usize,
    done: Cell<usize>,
    begun: Cell<Instant>,
}

impl Watch {
    pub(super) fn new(contestants: usize, chains: usize) -> Watch {
        Watch { contestants, chains, done: Cell::new(0), begun: Cell::new(Instant::now()) }
    }
}

impl Audience for Watch {
    fn training(&self, experts: usize) -> Box<dyn Monitor + '_> {
        let experts = print::count(experts, "expert");
        print::note(&format!("training {experts}, once for all that use them"));
        Box::new(Watched(Bars::new("training", self.chains)))
    }

    fn begin(&self, contestant: Contestant) -> Box<dyn Monitor + '_> {
        self.begun.set(Instant::now());
        Box::new(Watched(Bars::new(contestant.name(), self.chains)))
    }

    fn end(&self, entry: &Entry) {
        self.done.set(self.done.get() + 1);
        let seconds = self.begun.get().elapsed().as_secs_f64();
        let how = match &entry.outcome {
            Ok(_) => format!("{seconds:.1} s"),
            Err(e) => format!("failed: {e}"),
        };
        let (done, all) = (self.done.get(), self.contestants);
        print::note(&format!("{done}/{all} {}: {how}", entry.contestant));
    }
}

/// Bars that leave the screen with the method they belong to.
struct Watched(Bars<'static>);

impl Monitor for Watched {
    fn phase(&self, phase: Phase) {
        self.0.phase(phase);
    }

    fn wants_forecast(&self) -> bool {
        self.0.wants_forecast()
    }

    fn expect(&self, forecast: &Forecast) {
        self.0.expect(forecast);
    }

    fn part(&self, done: usize, total: usize) {
        self.0.part(done, total);
    }

    fn start(&self, done: usize, total: usize) {
        self.0.start(done, total);
    }

    fn draw(&self, progress: &ChainProgress) {
        self.0.draw(progress);
    }

    fn cancelled(&self) -> bool {
        cancelled()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.clear();
    }
}
