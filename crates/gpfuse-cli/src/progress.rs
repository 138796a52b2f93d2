//! What a person sees while chains run: one line per chain on a terminal, nothing elsewhere;
//! and the way to stop: Ctrl-C keeps what was drawn.

mod pace;

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gpfuse::infer::{ChainProgress, Forecast, Keeper, Monitor, Nothing, Phase};
use gpfuse_io::checkpoint::Checkpoint;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use pace::{Pace, brief};

/// Who waits less long is not told how long.
const WORTH_SAYING: f64 = 2.0;

static CANCELLED: AtomicBool = AtomicBool::new(false);

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
            if CANCELLED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            // The terminal has just shown `^C` without a new line.
            let start = if std::io::stderr().is_terminal() { "\n" } else { "" };
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

/// Progress bars on a terminal, and the cancel flag.
pub(crate) struct Bars<'a> {
    all: MultiProgress,
    title: String,
    /// What the run is at, above the bars of the chains.
    phase: OnceLock<ProgressBar>,
    begun: Instant,
    pace: Mutex<Pace>,
    starts: OnceLock<ProgressBar>,
    count: usize,
    chains: OnceLock<Vec<ProgressBar>>,
    visible: bool,
    keeper: Option<&'a Checkpoint>,
}

impl<'a> Bars<'a> {
    pub(crate) fn new(title: &str, chains: usize) -> Bars<'a> {
        Bars {
            all: MultiProgress::new(),
            title: title.into(),
            phase: OnceLock::new(),
            begun: Instant::now(),
            pace: Mutex::new(Pace::new(chains)),
            starts: OnceLock::new(),
            count: chains,
            chains: OnceLock::new(),
            visible: std::io::stderr().is_terminal(),
            keeper: None,
        }
    }

    /// The same for a run that is kept.
    pub(crate) fn keeping(self, checkpoint: Option<&'a Checkpoint>) -> Bars<'a> {
        Bars { keeper: checkpoint, ..self }
    }

    /// The line of the phase.
    fn line(&self) -> &ProgressBar {
        self.phase
            .get_or_init(|| bar(&self.all, 0, &format!("{{spinner}} {}: {{msg}}", self.title)))
    }

    /// Take the bars off the screen.
    pub(crate) fn clear(&self) {
        let _ = self.all.clear();
    }
}

impl Monitor for Bars<'_> {
    fn phase(&self, phase: Phase) {
        if self.visible {
            self.line().set_message(phase.to_string());
        }
    }

    fn wants_forecast(&self) -> bool {
        self.visible
    }

    fn expect(&self, forecast: &Forecast) {
        if self.visible && forecast.seconds > WORTH_SAYING {
            // Where the terminal is gone, so is its reader.
            let _ = self.all.println(foretold(forecast));
        }
    }

    fn start(&self, done: usize, total: usize) {
        if !self.visible || total == 0 {
            return;
        }
        let bar = self.starts.get_or_init(|| {
            let title = &self.title;
            bar(&self.all, total, &format!("{title}: starting points {{pos}}/{{len}} [{{bar:12}}]"))
        });
        bar.set_position(done as u64);
        if done == total {
            bar.finish_and_clear();
        }
    }

    fn draw(&self, p: &ChainProgress) {
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
        let now = self.begun.elapsed().as_secs_f64();
        let (own, all) = {
            let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
            pace.hear(p.chain, p.done, p.total, p.warming_up, now);
            (pace.chain(p.chain), pace.all())
        };
        let left = |seconds: Option<f64>| seconds.map_or("? left".into(), |s| brief(s) + " left");
        bar.set_message(message(p, &left(own)));
        self.line().set_message(format!("chains, {}", left(all)));
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

/// How long the chains are expected to take.
fn foretold(forecast: &Forecast) -> String {
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
    format!("about {time}: {chains} chains x ({warmup} + {draws}) draws of {parameters} parameters")
}

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
        assert_eq!(foretold(&forecast), words);
        let fixed = Forecast { most_draws: 500, seconds: 600.0, ..forecast };
        assert_eq!(
            foretold(&fixed),
            "about 10 min: 4 chains x (500 + 500) draws of 612 parameters"
        );
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
