//! What a person sees while chains run: one line per chain on a terminal, nothing elsewhere;
//! and the way to stop: Ctrl-C keeps what was drawn.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gpfuse::infer::{ChainProgress, Keeper, Monitor, Nothing};
use gpfuse_io::checkpoint::Checkpoint;
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressStyle};

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

    /// Take the bars off the screen.
    pub(crate) fn clear(&self) {
        let _ = self.all.clear();
    }
}

impl Monitor for Bars<'_> {
    fn start(&self, done: usize, total: usize) {
        if !self.visible || total == 0 {
            return;
        }
        let bar = self.starts.get_or_init(|| {
            bar(
                &self.all,
                total,
                &format!("{} starting points {{pos}}/{{len}} [{{bar:20}}]", self.title),
            )
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
                let line = "[{bar:20}] {pos}/{len} {msg}";
                bar(&self.all, p.total, &format!("{} chain {} {line}", self.title, chain + 1))
            };
            (0..self.count).map(of_chain).collect()
        });
        let Some(bar) = bars.get(p.chain) else { return };
        if bar.length() != Some(p.total as u64) {
            // The chain goes on.
            bar.set_length(p.total as u64);
        }
        if p.done == 1 {
            // Its time counts from here, without the time that it waited.
            bar.reset_eta();
        }
        let phase = if p.warming_up { "warm-up" } else { "drawing" };
        bar.set_message(format!(
            "{phase}, {} divergences, step {:.3}, {} leapfrogs, {} left",
            p.divergences,
            p.step_size,
            p.steps,
            HumanDuration(bar.eta())
        ));
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
