//! What a person sees while a fit runs: one bar for the whole and one line per chain on a terminal, nothing
//! elsewhere; and the way to stop: Ctrl-C keeps what was drawn.

mod pace;
mod whole;

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gpfuse::infer::{ChainProgress, Forecast, Keeper, Monitor, Nothing, Phase};
use gpfuse_io::checkpoint::Checkpoint;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use pace::brief;
use whole::{STEPS, Whole};

/// Who waits less long is not told how long.
const WORTH_SAYING: f64 = 2.0;

static CANCELLED: AtomicBool = AtomicBool::new(false);

/// Whether a run has nothing yet that could be kept, so that Ctrl-C ends it at once.
static NOTHING_YET: AtomicBool = AtomicBool::new(false);

/// From now on, the first Ctrl-C (or termination signal) asks the run to stop and keep its
/// draws, and the second one ends the program.
pub(crate) fn listen() -> anyhow::Result<()> {
    listen_for("the draws so far")
}

/// The same, where the message says what is kept.
pub(crate) fn listen_for(kept: &str) -> anyhow::Result<()> {
    listen_saying(format!("stopping: keeping {kept} (Ctrl-C again to drop them)"))
}

/// The same, with a message of its own.
pub(crate) fn listen_saying(words: String) -> anyhow::Result<()> {
    static ONCE: OnceLock<Result<(), String>> = OnceLock::new();
    let outcome = ONCE.get_or_init(|| {
        ctrlc::set_handler(move || {
            // The terminal has just shown `^C` without a new line.
            let start = if std::io::stderr().is_terminal() { "\n" } else { "" };
            let again = CANCELLED.swap(true, Ordering::Relaxed);
            if NOTHING_YET.load(Ordering::Relaxed) {
                crate::print::note(&format!("{start}gpfuse: {}", Interrupted));
                std::process::exit(130);
            }
            if again {
                std::process::exit(130);
            }
            crate::print::note(&format!("{start}{words}"));
        })
        .map_err(|e| match e {
            ctrlc::Error::System(cause) => format!(
                "cannot listen for Ctrl-C ({cause}): the system gives no thread for it: raise the \
                 limits of processes and memory{}",
                if cfg!(unix) { " (see ulimit)" } else { "" }
            ),
            other => other.to_string(),
        })
    });
    outcome.clone().map_err(anyhow::Error::msg)
}

/// A run that was stopped while there was nothing to keep.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted before the warm-up ended: there are no draws to keep")
    }
}

/// Whether Ctrl-C was pressed.
pub(crate) fn cancelled() -> bool {
    CANCELLED.load(Ordering::Relaxed)
}

/// One more bar, of so many steps.
pub(crate) fn bar(bars: &MultiProgress, total: usize, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = bars.add(ProgressBar::new(total as u64));
    bar.set_style(style.progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Do something that may take a while, and say so on a terminal.
pub(crate) fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let bars = MultiProgress::new();
    let line = std::io::stderr()
        .is_terminal()
        .then(|| bar(&bars, 0, &format!("{{spinner}} {what}, {{elapsed}} so far")));
    let done = work();
    line.iter().for_each(ProgressBar::finish_and_clear);
    done
}

/// On a terminal, a bar for so many of something.
pub(crate) fn counting(total: usize, what: &str) -> Option<ProgressBar> {
    let line = format!(
        "{{spinner}} [{{bar:16}}] {{pos}}/{{len}} {what}, {{elapsed}} so far, {{eta}} left"
    );
    std::io::stderr().is_terminal().then(|| bar(&MultiProgress::new(), total, &line))
}

/// Progress bars on a terminal, and the cancel flag.
pub(crate) struct Bars<'a> {
    all: MultiProgress,
    title: String,
    /// The whole run, above the bars of the chains.
    line: OnceLock<ProgressBar>,
    begun: Instant,
    whole: Mutex<Whole>,
    count: usize,
    /// Whether nothing else is kept than what this run draws.
    alone: bool,
    chains: OnceLock<Vec<ProgressBar>>,
    visible: bool,
    keeper: Option<&'a Checkpoint>,
}

impl<'a> Bars<'a> {
    pub(crate) fn new(title: &str, chains: usize) -> Bars<'a> {
        Bars {
            all: MultiProgress::new(),
            title: title.into(),
            line: OnceLock::new(),
            begun: Instant::now(),
            whole: Mutex::new(Whole::new(chains)),
            count: chains,
            alone: false,
            chains: OnceLock::new(),
            visible: std::io::stderr().is_terminal(),
            keeper: None,
        }
    }

    /// The same for a run that is kept.
    pub(crate) fn keeping(self, checkpoint: Option<&'a Checkpoint>) -> Bars<'a> {
        Bars { keeper: checkpoint, ..self }
    }

    /// The same for a run without which there is nothing to keep: until it has draws, Ctrl-C ends the program.
    pub(crate) fn alone(self) -> Bars<'a> {
        Bars { alone: true, ..self }
    }

    /// Show where the whole run is.
    fn show(&self, whole: &mut Whole) {
        let line = self.line.get_or_init(|| {
            let line = "[{bar:16}] {elapsed} so far, {msg}";
            bar(&self.all, STEPS, &format!("{{spinner}} {} {line}", self.title))
        });
        let (position, words) = whole.at(self.now());
        line.set_position(position);
        line.set_message(words);
    }

    fn now(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn whole(&self) -> MutexGuard<'_, Whole> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what has been done in a phase is worth nothing without draws.
    fn nothing_yet(&self, nothing: bool) {
        if self.alone {
            NOTHING_YET.store(nothing, Ordering::Relaxed);
        }
    }

    /// Take the bars off the screen.
    pub(crate) fn clear(&self) {
        self.nothing_yet(false);
        let _ = self.all.clear();
    }
}

impl Monitor for Bars<'_> {
    fn phase(&self, phase: Phase) {
        let before = matches!(phase, Phase::Pilot | Phase::Experts | Phase::Trying(_));
        let undrawn = matches!(phase, Phase::Constant | Phase::Starts | Phase::Chains);
        self.nothing_yet(before || undrawn && self.keeper.is_none());
        if self.visible {
            let mut whole = self.whole();
            whole.begin(phase, self.now());
            self.show(&mut whole);
        }
    }

    fn part(&self, done: usize, total: usize) {
        if self.visible {
            let mut whole = self.whole();
            whole.part(done, total);
            self.show(&mut whole);
        }
    }

    fn wants_forecast(&self) -> bool {
        self.visible
    }

    fn expect(&self, forecast: &Forecast) {
        if !self.visible {
            return;
        }
        if self.whole().expect(forecast.seconds) && forecast.seconds > WORTH_SAYING {
            // Where the terminal is gone, so is its reader.
            foretold(forecast).iter().for_each(|line| drop(self.all.println(line)));
        }
    }

    fn start(&self, done: usize, total: usize) {
        self.part(done, total);
    }

    fn draw(&self, p: &ChainProgress) {
        if !p.warming_up {
            self.nothing_yet(false);
        }
        if !self.visible {
            return;
        }
        // All bars are made at once, so that they stand in order; a waiting chain shows no draws.
        let bars = self.chains.get_or_init(|| {
            let of_chain = |chain: usize| {
                let line = "[{bar:12}] {pos}/{len} {wide_msg}";
                bar(&self.all, p.total, &format!("chain {} {line}", chain + 1))
            };
            (0..self.count).map(of_chain).collect()
        });
        let Some(bar) = bars.get(p.chain) else { return };
        if bar.length() != Some(p.total as u64) {
            // The chain goes on.
            bar.set_length(p.total as u64);
        }
        let own = {
            let mut whole = self.whole();
            whole.pace.hear(p.chain, p.done, p.total, p.warming_up, self.now());
            self.show(&mut whole);
            whole.pace.chain(p.chain)
        };
        let left = own.map_or("? left".into(), |s| brief(s) + " left");
        bar.set_message(message(p, &left));
        // A bar that is full is not finished: its chain may go on.
        bar.set_position(p.done as u64);
    }

    fn cancelled(&self) -> bool {
        cancelled()
    }

    fn keeper(&self) -> &dyn Keeper {
        self.keeper.map_or(&Nothing, |keeper| keeper)
    }
}

/// What stands beside the bar of a chain, in a line of 80 columns.
fn message(p: &ChainProgress, left: &str) -> String {
    let phase = if p.warming_up { "warm-up" } else { "drawing" };
    format!("{phase}, {} divergences, {} steps, {left}", p.divergences, p.steps)
}

/// Who waits longer is told what would be quicker.
const LONG: f64 = 60.0;

/// How long the chains are expected to take, and what would be quicker.
fn foretold(forecast: &Forecast) -> Vec<String> {
    let Forecast { seconds, chains, warmup, draws, most_draws, parameters } = forecast;
    let time = match *seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    };
    let draws = match draws == most_draws {
        true => draws.to_string(),
        false => format!("{draws} to {most_draws}"),
    };
    let mut lines = vec![format!(
        "about {time}: {chains} chains x ({warmup} + {draws}) draws of {parameters} parameters"
    )];
    if *seconds > LONG && *warmup >= LEAST_WARMUP {
        let (warmup, draws) = (warmup / 2, forecast.draws / 2);
        lines.push(format!(
            "in half the time, with errors 1.4 times as large: --warmup {warmup} --draws {draws}"
        ));
    }
    lines
}

/// A shorter warm-up is not halved.
const LEAST_WARMUP: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_is_one_line() {
        let forecast = Forecast {
            seconds: 12.3,
            chains: 4,
            warmup: 500,
            draws: 500,
            most_draws: 4000,
            parameters: 612,
        };
        let words = "about 12 s: 4 chains x (500 + 500 to 4000) draws of 612 parameters";
        assert_eq!(foretold(&forecast), [words]);
        let fixed = Forecast { most_draws: 500, seconds: 600.0, ..forecast };
        let words = [
            "about 10 min: 4 chains x (500 + 500) draws of 612 parameters",
            "in half the time, with errors 1.4 times as large: --warmup 250 --draws 250",
        ];
        assert_eq!(foretold(&fixed), words);
        assert!(words.iter().all(|line| line.len() <= 80));
    }

    /// With the bar and four figures of everything, a line has 80 columns.
    #[test]
    fn a_line_of_a_chain_fits() {
        let p = ChainProgress {
            chain: 0,
            done: 4500,
            total: 4500,
            warming_up: true,
            divergences: 100,
            step_size: 0.1,
            steps: 1023,
        };
        let bar = "chain 1 [============] 4500/4500 ";
        assert!(bar.len() + message(&p, "99s left").len() <= 80);
    }
}
