//! All chains of a run, in rounds: where the number of draws is left open, the same chains go on until
//! whoever asked for them is content.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::chain::{Length, Running};
use super::map::Point;
use super::{ChainDraws, Checked, Density, Draws, Monitor};
use crate::halt::{Fail, Linked};
use crate::parallel;
use crate::random::{Purpose, stream};
use crate::{Error, Result};

/// What all chains share.
struct Run<'a, D> {
    density: &'a D,
    starts: &'a [Point],
    settings: &'a Checked,
    linked: &'a Linked<'a>,
    /// Draws per chain of the present round.
    wanted: AtomicUsize,
    chains: Vec<Slot>,
}

/// Sample a chain from each start. `go_on` judges the draws of a round that was not cancelled, and
/// says whether there should be another.
pub(super) fn run<D: Density + Sync>(
    density: &D,
    starts: &[Point],
    settings: &Checked,
    monitor: &dyn Monitor,
    mut go_on: impl FnMut(&Draws) -> Result<bool>,
) -> Result<Draws> {
    let failed = AtomicBool::new(false);
    let linked = Linked { monitor, stop: &failed };
    let wanted = AtomicUsize::new(settings.first_draws());
    let chains = starts.iter().map(|_| Slot::default()).collect();
    let run = Run { density, starts, settings, linked: &linked, wanted, chains };
    let mut outcome = None;
    let next = || match run.judge(&mut go_on) {
        Ok(None) => true,
        over => {
            outcome = over.transpose();
            false
        }
    };
    let job = |running: &mut _, c| run.advance(running, c);
    parallel::rounds(starts.len(), settings.threads, || None, job, next)?;
    outcome.unwrap_or_else(|| Err(Error::Worker("it left no result".into())))
}

impl<'a, D: Density + Sync> Run<'a, D> {
    /// The draws of a round that has ended, if it was the last.
    fn judge(&self, go_on: &mut impl FnMut(&Draws) -> Result<bool>) -> Result<Option<Draws>> {
        let draws = self.wanted.load(Ordering::Relaxed);
        let chains = self.chains.iter().map(Slot::take).collect::<Result<Vec<ChainDraws>>>()?;
        let found = Draws::new(self.density.dim(), draws, chains)?;
        let found = found.aiming_at(self.settings.acceptance());
        let more = self.settings.more_draws(draws).filter(|_| !found.interrupted());
        match more {
            Some(more) if go_on(&found)? => {
                self.wanted.store(more, Ordering::Relaxed);
                let chains = self.chains.iter().zip(found.into_chains());
                chains.for_each(|(slot, chain)| slot.put(Ok(chain)));
                Ok(None)
            }
            _ => Ok(Some(found)),
        }
    }

    /// The present round of chain `c`; a failure stops the others.
    fn advance(&self, running: &mut Option<Running<'a>>, c: usize) {
        let guard = Fail(self.linked.stop);
        let drawn = self.chains[c].take().and_then(|mut out| {
            self.draw(running, c, &mut out)?;
            Ok(out)
        });
        if drawn.is_ok() {
            guard.disarm();
        }
        self.chains[c].put(drawn);
    }

    /// Chain `c` until `out` has the draws of the round: those that are kept where there are as many,
    /// or those of a chain that goes on, or of one that begins.
    fn draw(
        &self,
        running: &mut Option<Running<'a>>,
        c: usize,
        out: &mut ChainDraws,
    ) -> Result<()> {
        let draws = self.wanted.load(Ordering::Relaxed);
        let (dim, keeper) = (self.density.dim(), self.linked.keeper());
        let mut before = ChainDraws::default();
        let chain = match running {
            Some(chain) => chain,
            None => {
                if let Some(mut kept) = keeper.chain(c).filter(|kept| kept.has(draws, dim)) {
                    kept.cut(draws, dim);
                    *out = kept;
                    return Ok(());
                }
                // A chain that was kept, and whose sampler was not, begins anew.
                before = std::mem::take(out);
                running.insert(self.begin(c)?)
            }
        };
        chain.go_on(out, draws)?;
        if out.stats.len() == draws {
            keeper.keep_chain(c, out);
        } else if out.stats.len() < before.stats.len() {
            // Cancelled before it was where it had been.
            *out = before;
        }
        Ok(())
    }

    fn begin(&self, c: usize) -> Result<Running<'a>> {
        let Run { settings, linked, .. } = *self;
        let rng = stream(settings.seed, Purpose::Chain, c as u64);
        let length = Length::new(settings.warmup_draws(), settings);
        let density = self.density.clone().with_threads(settings.threads / self.starts.len());
        Running::new(c, density, &self.starts[c].q, length, settings, rng, linked)
    }
}

/// The draws of a chain between two rounds, or why there are none.
struct Slot(Mutex<Result<ChainDraws>>);

impl Default for Slot {
    fn default() -> Slot {
        Slot(Mutex::new(Ok(ChainDraws::default())))
    }
}

impl Slot {
    fn put(&self, drawn: Result<ChainDraws>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = drawn;
    }

    fn take(&self) -> Result<ChainDraws> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *slot, Ok(ChainDraws::default()))
    }
}
