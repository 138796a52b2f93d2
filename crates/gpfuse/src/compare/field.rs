//! What the contestants share: the rows, one partition, one set of trained experts.

use std::time::Instant;

use super::Contestant;
use crate::data::{Data, Predictions};
use crate::experts;
use crate::fit::{CheckedFit, DensityChoice, FitSettings, Scaled, Trained};
use crate::infer::Monitor;
use crate::model::Method;
use crate::scale::Affine;
use crate::{Error, Result};

/// The common ground of a comparison.
pub(super) struct Field<'a> {
    pub(super) train: &'a Data,
    pub(super) test: Option<&'a Data>,
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
        train: &'a Data,
        test: Option<&'a Data>,
        settings: &'a CheckedFit,
    ) -> Result<Field<'a>> {
        // The method with the fewest demands: others fail by themselves.
        let least = with(settings, |s| s.method = Method::Het)?;
        let scaled = Scaled::new(train, &least)?;
        if let Some(test) = test {
            check_test(train, test).map_err(in_test)?;
        }
        let left_out = match test {
            Some(_) => Vec::new(),
            None => settings.assign(&scaled.x, train.len())?.stacking,
        };
        let experts = Err(Error::Worker("the experts were not trained".into()));
        Ok(Field { train, test, settings, scaled, left_out, experts })
    }

    /// Train the experts. An error is kept for the contestants that need them.
    pub(super) fn train_experts(&mut self, monitor: &dyn Monitor) {
        self.experts = self.shared(monitor);
    }

    fn shared(&self, monitor: &dyn Monitor) -> Result<Shared> {
        let (begun, threads) = (Instant::now(), self.settings.sampler.threads);
        let settings = self.settings_of(Contestant::Method(Method::Pbhs))?;
        let assignment = settings.assign(&self.scaled.x, self.train.len())?;
        let assignment = assignment.fits(self.train.len(), settings.experts)?;
        let trained =
            Trained::new(self.train, self.scaled.clone(), assignment, &settings, monitor)?;
        let train_seconds = begun.elapsed().as_secs_f64();
        let target = self.scaled.scaler.target;
        let stacking = restore(&trained.predictions, target)?;
        let begun = Instant::now();
        let at = |data: &Data| {
            let x = self.scaled.scaler.scale_inputs(data.x());
            let inputs = data.inputs().len();
            restore(&experts::predict(&trained.experts, &x, inputs, threads)?, target)
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
            // A setting is meant for the contestants that have it.
            if !s.gaussian() {
                s.density = DensityChoice::Plain;
            }
            s.count_portfolio(self.train.len());
        })
    }

    /// The targets of some training rows.
    pub(super) fn targets(&self, rows: &[usize]) -> Result<Vec<f64>> {
        let y = self.train.y()?;
        Ok(rows.iter().map(|r| y[*r]).collect())
    }
}

fn with(settings: &CheckedFit, change: impl FnOnce(&mut FitSettings)) -> Result<CheckedFit> {
    let mut changed = (**settings).clone();
    change(&mut changed);
    changed.check()
}

/// Predictions in the user's units.
fn restore(predictions: &Predictions, target: Affine) -> Result<Predictions> {
    predictions.on_scale(|mean| target.restore(mean), |sd| sd * target.scale)
}

/// Refuse test rows of other inputs, or without targets.
fn check_test(train: &Data, test: &Data) -> Result<()> {
    let (expected, found) = (train.inputs().len(), test.inputs().len());
    if expected != found {
        return Err(Error::Shape {
            what: "inputs".into(),
            expected: format!("{expected} columns"),
            found: found.to_string(),
        });
    }
    test.y().map(|_| ())
}

/// Errors about the test rows call them so.
pub fn in_test(error: Error) -> Error {
    match error {
        Error::Data(problem) => Error::Data(format!("test rows: {problem}")),
        Error::Shape { what, expected, found } => {
            Error::Shape { what: format!("test rows: {what}"), expected, found }
        }
        other => other,
    }
}
