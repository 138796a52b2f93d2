//! What a person sees while a sweep runs: bars with the time left on a terminal, and elsewhere a
//! line for each finished cell.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use gpfuse::in_one_line;
use gpfuse::infer::{ChainProgress, Monitor};
use gpfuse::sweep::{Cell, Finished, Key, cost};
use gpfuse_io::sweep_file::SweepFile;
use indicatif::{HumanDuration, MultiProgress, ProgressBar};

use crate::print;
use crate::progress::{bar, cancelled};

/// With less than this part of the work done, no time left is shown.
const ENOUGH_WORK: f64 = 0.003;

pub(super) struct Watch {
    bars: MultiProgress,
    overall: Option<ProgressBar>,
    begun: Instant,
    /// The cost of all that is to be done here.
    total: f64,
    /// The cost of what is done.
    spent: Mutex<f64>,
    finished: AtomicUsize,
    all: usize,
    /// Whether lines must tell the data of cells apart.
    several_data: bool,
    /// Whether lines must tell the seeds of cells apart.
    several_seeds: bool,
}

impl Watch {
    pub(super) fn new(file: &SweepFile, left: &[Cell], all: usize) -> Watch {
        let bars = MultiProgress::new();
        let done = all - left.len();
        let overall = (std::io::stderr().is_terminal() && !left.is_empty()).then(|| {
            let bar = bar(&bars, all, "{prefix} [{bar:30}] {pos}/{len} cells {msg}");
            bar.set_prefix(file.name.clone());
            bar.set_position(done as u64);
            bar
        });
        let seeds = file.study.iter().flat_map(|study| &study.seeds);
        Watch {
            bars,
            overall,
            begun: Instant::now(),
            total: left.iter().map(cost).sum(),
            spent: Mutex::new(0.0),
            finished: AtomicUsize::new(done),
            all,
            several_data: file.data.len() > 1,
            several_seeds: seeds.clone().max() != seeds.min(),
        }
    }

    /// Take the bars off the screen.
    pub(super) fn clear(&self) {
        let _ = self.bars.clear();
    }

    pub(super) fn begin(&self, cell: &Cell) -> Running<'_> {
        Running {
            watch: self,
            name: self.name(&cell.key),
            chains: cell.settings.sampler.chains,
            cost: cost(cell),
            spent: Mutex::new(0.0),
            bar: OnceLock::new(),
        }
    }

    pub(super) fn end(&self, cell: &Finished) {
        let done = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        let name = self.name(&cell.key);
        let how = match cell.scored() {
            Some(nlpd) => format!("NLPD {nlpd:.3}"),
            None => format!("failed: {}", in_one_line(&cell.error)),
        };
        let seconds = print::seconds(cell.fit_seconds + cell.predict_seconds);
        let line = format!("{done}/{} {name}: {how} ({seconds} s)", self.all);
        match &self.overall {
            None => print::note(&line),
            Some(bar) => {
                bar.set_position(done as u64);
                if cell.scored().is_none() {
                    let _ = self.bars.println(line);
                }
            }
        }
    }

    fn name(&self, key: &Key) -> String {
        let Key { data, arm, basis, size, experts, split, seed } = key;
        let data = if self.several_data { format!("{data} ") } else { String::new() };
        let seed = if self.several_seeds { format!(" seed {seed}") } else { String::new() };
        format!("{data}{arm} {basis} {size} K={experts} split {split}{seed}")
    }

    /// Some work is done.
    fn spend(&self, cost: f64) {
        let Ok(mut spent) = self.spent.lock() else { return };
        *spent += cost;
        let share = *spent / self.total.max(f64::MIN_POSITIVE);
        if let Some(bar) = self.overall.as_ref().filter(|_| share > ENOUGH_WORK) {
            let left = self.begun.elapsed().as_secs_f64() * (1.0 - share).max(0.0) / share;
            bar.set_message(format!("{} left", HumanDuration(Duration::from_secs_f64(left))));
        }
    }
}

/// A cell at work.
pub(super) struct Running<'a> {
    watch: &'a Watch,
    name: String,
    chains: usize,
    cost: f64,
    spent: Mutex<f64>,
    bar: OnceLock<ProgressBar>,
}

impl Running<'_> {
    fn bar(&self, total: usize) -> Option<&ProgressBar> {
        self.watch.overall.as_ref()?;
        Some(self.bar.get_or_init(|| {
            let bar = bar(&self.watch.bars, total, "  {prefix} [{bar:20}] {percent}% {msg}");
            bar.set_prefix(self.name.clone());
            bar
        }))
    }
}

impl Monitor for Running<'_> {
    fn draw(&self, progress: &ChainProgress) {
        let total = self.chains * progress.total;
        let part = self.cost / total.max(1) as f64;
        if let Ok(mut spent) = self.spent.lock() {
            *spent += part;
        }
        self.watch.spend(part);
        if let Some(bar) = self.bar(total) {
            bar.inc(1);
            bar.set_message(format!("{} left", HumanDuration(bar.eta())));
        }
    }

    fn cancelled(&self) -> bool {
        cancelled()
    }
}

impl Drop for Running<'_> {
    /// Count the whole cost of the cell as spent, also where it ended early.
    fn drop(&mut self) {
        let spent = self.spent.lock().map_or(0.0, |spent| *spent);
        self.watch.spend((self.cost - spent).max(0.0));
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
