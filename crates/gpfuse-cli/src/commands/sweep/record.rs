//! Finished cells on their way to the disk.

use std::collections::BTreeMap;
use std::sync::Mutex;

use anyhow::anyhow;
use gpfuse::fit::Fitted;
use gpfuse::infer::Monitor;
use gpfuse::sweep::{Cell, Finished, Sink};
use gpfuse_io::ledger::{Cells, Ledger};
use gpfuse_io::model_file::{Saved, Training};
use gpfuse_io::sweep_file::SweepFile;

use super::source::Set;
use super::watch::Watch;
use crate::progress::cancelled;

/// Records each cell before it is shown.
pub(super) struct Recorder<'a> {
    ledger: Mutex<Ledger<Cells>>,
    sets: &'a BTreeMap<String, Set>,
    watch: Watch,
}

impl<'a> Recorder<'a> {
    /// For cells that are left of so many.
    pub(super) fn new(
        ledger: Ledger<Cells>,
        file: &SweepFile,
        sets: &'a BTreeMap<String, Set>,
        left: &[Cell],
        all: usize,
    ) -> Recorder<'a> {
        Recorder { ledger: Mutex::new(ledger), sets, watch: Watch::new(file, left, all) }
    }

    /// The ledger, when all is done.
    pub(super) fn into_ledger(self) -> anyhow::Result<Ledger<Cells>> {
        self.watch.clear();
        self.ledger.into_inner().map_err(|_| anyhow!("a row could not be recorded"))
    }

    fn save(&self, ledger: &Ledger<Cells>, cell: &Cell, fitted: Fitted) -> anyhow::Result<()> {
        let Some(set) = self.sets.get(&cell.key.data) else { return Ok(()) };
        let saved = Saved { fitted, inputs: set.inputs.clone(), target: set.target.clone() };
        let (x, y) = cell.table.pick(&cell.train);
        let predictions = cell.given.as_deref().map(|given| &given.train);
        Ok(ledger.keep(&cell.key, &saved, Training { x: &x, y: &y, predictions })?)
    }
}

impl Sink for Recorder<'_> {
    type Failure = anyhow::Error;

    fn begin<'s>(&'s self, cell: &Cell) -> Box<dyn Monitor + 's> {
        Box::new(self.watch.begin(cell))
    }

    fn end(&self, cell: &Cell, finished: Finished, fitted: Option<Fitted>) -> anyhow::Result<()> {
        let mut ledger =
            self.ledger.lock().map_err(|_| anyhow!("an earlier row could not be recorded"))?;
        if let Some(fitted) = fitted {
            self.save(&ledger, cell, fitted)?;
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
