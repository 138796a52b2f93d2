//! The rows of a fit for several threads at once, each with its own room to compute in.

use std::sync::Mutex;

use super::climb::Objective;
use super::evidence::{Centre, Evidence};
use super::inputs::Inputs;
use super::prior::Prior;
use crate::Result;
use crate::infer::Monitor;
use crate::kernel::Kernel;
use crate::parallel::parallel;

/// Rows, and the room that jobs on them have made so far.
pub(super) struct Team<'a> {
    pub(super) kernel: Kernel,
    pub(super) raw: Inputs,
    pub(super) y: Vec<f64>,
    /// The noise of each row in units of the noise; empty where all have the same.
    pub(super) relative: Vec<f64>,
    pub(super) centre: Centre,
    pub(super) prior: &'a Prior,
    pub(super) monitor: &'a dyn Monitor,
    pub(super) threads: usize,
    /// Made when first needed: the matrices of many rows are large.
    pub(super) spare: Mutex<Vec<Objective<'a>>>,
}

impl<'a> Team<'a> {
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.raw.rows()
    }

    /// The number of inputs.
    pub(super) fn inputs(&self) -> usize {
        self.raw.count()
    }

    /// The result of one job.
    pub(super) fn one<T>(&self, job: impl FnOnce(&mut Objective<'a>) -> T) -> T {
        let mut objective = self.take();
        let result = job(&mut objective);
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(objective);
        }
        result
    }

    /// The results of several numbered jobs, in the order of their numbers.
    pub(super) fn each<T: Send>(
        &self,
        jobs: usize,
        job: impl Fn(&mut Objective<'a>, usize) -> T + Sync,
    ) -> Result<Vec<T>> {
        if jobs < 2 || self.threads < 2 {
            return Ok((0..jobs).map(|i| self.one(|objective| job(objective, i))).collect());
        }
        parallel(jobs, self.threads, |i| self.one(|objective| job(objective, i)))
    }

    fn take(&self) -> Objective<'a> {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_else(|| {
            let (raw, y, relative) = (self.raw.clone(), self.y.clone(), self.relative.clone());
            Objective {
                evidence: Evidence::new(self.kernel, raw, y, relative, self.centre),
                prior: self.prior,
                monitor: self.monitor,
            }
        })
    }
}
