//! Finished cells on their way to the disk.

use std::sync::Mutex;

use anyhow::anyhow;
use gpfuse::fit::Fitted;
use gpfuse::infer::Monitor;
use gpfuse::sweep::{Cell, Finished, Sink};
use gpfuse_io::ledger::{Cells, Ledger};
use gpfuse_io::sweep_file::SweepFile;

use super::watch::Watch;
use crate::progress::cancelled;

/// Records each cell before it is shown.
pub(super) struct Recorder {
    ledger: Mutex<Ledger<Cells>>,
    watch: Watch,
}

impl Recorder {
    /// For the cells that are left, `all` being the number of all cells.
    pub(super) fn new(
        ledger: Ledger<Cells>,
        file: &SweepFile,
        left: &[Cell],
        all: usize,
    ) -> Recorder {
        Recorder { ledger: Mutex::new(ledger), watch: Watch::new(file, left, all) }
    }

    /// The ledger, when all is done.
    pub(super) fn into_ledger(self) -> anyhow::Result<Ledger<Cells>> {
        self.watch.clear();
        self.ledger.into_inner().map_err(|_| anyhow!("a row could not be recorded"))
    }
}

impl Sink for Recorder {
    type Failure = anyhow::Error;

    fn begin<'s>(&'s self, cell: &Cell) -> Box<dyn Monitor + 's> {
        Box::new(self.watch.begin(cell))
    }

    fn end(&self, cell: &Cell, finished: Finished, fitted: Option<Fitted>) -> anyhow::Result<()> {
        let mut ledger =
            self.ledger.lock().map_err(|_| anyhow!("an earlier row could not be recorded"))?;
        if let Some(fitted) = fitted {
            ledger.keep(&cell.key, &fitted)?;
        }
        ledger.record(finished.clone())?;
        drop(ledger);
        self.watch.end(&finished);
        Ok(())
    }

    fn cancelled(&self) -> bool {
        cancelled()
    }
}
