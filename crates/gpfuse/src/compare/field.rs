//! What the contestants share: the rows, one partition, one set of trained experts.

use std::time::Instant;

use super::{Contestant, Known};
use crate::baseline::Predictions;
use crate::experts;
use crate::fit::{CheckedFit, DensityChoice, FitSettings, Scaled, Trained};
use crate::model::Method;
use crate::scale::Affine;
use crate::{Error, Result};

/// The common ground of a comparison.
pub(super) struct Field<'a> {
    pub(super) train: Known<'a>,
    pub(super) test: Option<Known<'a>>,
    pub(super) inputs: usize,
    pub(super) settings: &'a CheckedFit,
    pub(super) scaled: Scaled,
    /// Without test rows, the rows that are left out in turn.
    pub(super) left_out: Vec<usize>,
    experts: Result<Shared>,
}

/// Experts that several contestants use, and what they took.
pub(super) struct Shared {
    pub(super) trained: Trained,
    /// At the stacking rows, in the user's units.
    pub(super) stacking: Predictions,
    /// At the test rows, in the user's units.
    pub(super) test: Option<Predictions>,
    pub(super) train_seconds: f64,
    pub(super) predict_seconds: f64,
}

impl<'a> Field<'a> {
    /// Check the rows and divide them.
    ///
    /// # Errors
    /// If no contestant could use the rows, or without test rows none can be left out.
    pub(super) fn new(
        train: Known<'a>,
        test: Option<Known<'a>>,
        inputs: usize,
        settings: &'a CheckedFit,
    ) -> Result<Field<'a>> {
        // The method with the fewest demands: others fail by themselves.
        let least = with(settings, |s| s.method = Method::Het)?;
        let scaled = Scaled::new(train.x, inputs, train.y, &least)?;
        if let Some(test) = test {
            test.check(inputs).map_err(in_test)?;
        }
        let left_out = match test {
            Some(_) => Vec::new(),
            None => settings.assign(&scaled.x, train.y.len())?.stacking,
        };
        let experts = Err(Error::Worker("the experts were not trained".into()));
        Ok(Field { train, test, inputs, settings, scaled, left_out, experts })
    }

    /// Train the experts. Trouble is kept for those who need them.
    pub(super) fn train_experts(&mut self) {
        self.experts = self.shared();
    }

    fn shared(&self) -> Result<Shared> {
        let (begun, threads) = (Instant::now(), self.settings.sampler.threads);
        let assignment = self.settings.assign(&self.scaled.x, self.train.y.len())?;
        let assignment = assignment.fits(self.train.y.len(), self.settings.experts)?;
        let trained = Trained::new(self.scaled.clone(), self.inputs, assignment, self.settings)?;
        let train_seconds = begun.elapsed().as_secs_f64();
        let target = self.scaled.scaler.target;
        let stacking = restore(&trained.said, target)?;
        let begun = Instant::now();
        let at = |known: Known<'_>| {
            let x = self.scaled.scaler.scale_inputs(known.x);
            restore(&experts::predict(&trained.experts, &x, self.inputs, threads)?, target)
        };
        let test = self.test.map(at).transpose()?;
        let predict_seconds = begun.elapsed().as_secs_f64();
        Ok(Shared { trained, stacking, test, train_seconds, predict_seconds })
    }

    /// The trained experts, or why there are none.
    pub(super) fn experts(&self) -> Result<&Shared> {
        self.experts.as_ref().map_err(Clone::clone)
    }

    /// The settings of a contestant that is fitted by sampling.
    pub(super) fn settings_of(&self, contestant: Contestant) -> Result<CheckedFit> {
        with(self.settings, |s| {
            (s.method, s.plain) = match contestant {
                Contestant::Method(method) => (method, false),
                _ => (Method::Pbhs, true),
            };
            // What is asked for is meant for those that have it.
            if !s.gaussian() {
                s.density = DensityChoice::Plain;
            }
        })
    }

    /// The targets of some training rows.
    pub(super) fn targets(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|r| self.train.y[*r]).collect()
    }
}

fn with(settings: &CheckedFit, change: impl FnOnce(&mut FitSettings)) -> Result<CheckedFit> {
    let mut changed = (**settings).clone();
    change(&mut changed);
    changed.check()
}

/// Predictions in the user's units.
fn restore(said: &Predictions, target: Affine) -> Result<Predictions> {
    said.on_scale(|mean| target.restore(mean), |sd| sd * target.scale)
}

/// Trouble with the test rows says so.
fn in_test(error: Error) -> Error {
    match error {
        Error::Data(problem) => Error::Data(format!("test rows: {problem}")),
        Error::Shape { what, expected, found } => {
            Error::Shape { what: format!("test rows: {what}"), expected, found }
        }
        other => other,
    }
}
