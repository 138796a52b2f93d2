//! The predictive densities of a fitted model at some rows.

use std::ops::Range;
use std::sync::Arc;

use super::{Fitted, stacking};
use crate::data::Data;
use crate::metrics::{LogScores, Measured, Scores, evaluate};
use crate::predict::{
    Batches, Conditional, ExpertSummary, FusedBlock, Mixture, Outcomes, Predictive, Predictor,
};
use crate::random::{Purpose, stream};
use crate::{Error, Result};

/// Rows that are predicted at one time: memory does not grow with the table.
const CHUNK: usize = 8192;

/// The predictive densities at some rows, in the units of the target. Nothing is computed before
/// it is asked for, and then for some thousand rows at a time.
#[derive(Debug, Clone)]
pub struct Prediction<'a> {
    fitted: &'a Fitted,
    data: &'a Data,
    rows: Range<usize>,
    threads: usize,
    draws: Draws,
}

/// The draws behind the densities.
#[derive(Debug, Clone)]
enum Draws {
    /// Of all parameters.
    All(Arc<Predictor>),
    /// With the coefficients of the means integrated out.
    Conditional(Arc<Conditional>),
}

impl<'a> Prediction<'a> {
    pub(super) fn new(fitted: &'a Fitted, data: &'a Data) -> Result<Prediction<'a>> {
        fitted.check(data)?;
        let (threads, draws) = (fitted.settings.sampler.threads, Draws::All(fitted.predictor()));
        Ok(Prediction { fitted, data, rows: 0..data.len(), threads, draws })
    }

    /// The same on another number of threads than the fit had.
    pub fn on_threads(self, threads: usize) -> Prediction<'a> {
        Prediction { threads, ..self }
    }

    /// The same with the coefficients of the means integrated out of every draw, for less Monte
    /// Carlo noise.
    ///
    /// # Errors
    /// If the model is not Gaussian in these coefficients.
    pub fn rao_blackwell(self) -> Result<Prediction<'a>> {
        Ok(Prediction { draws: Draws::Conditional(self.fitted.conditional()?), ..self })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows: never.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The means.
    pub fn mean(&self) -> Result<Vec<f64>> {
        self.each(|_, density| density.mean())
    }

    /// The standard deviations.
    pub fn sd(&self) -> Result<Vec<f64>> {
        self.each(|_, density| density.variance().sqrt())
    }

    /// For each row, the quantiles at some probabilities: 0.05 and 0.95 are the ends of the
    /// central 90 % interval.
    ///
    /// # Errors
    /// If a probability is not above 0 and below 1.
    pub fn quantiles(&self, probabilities: &[f64]) -> Result<Vec<Vec<f64>>> {
        check_probabilities(probabilities)?;
        self.each(|_, density| density.quantiles(probabilities))
    }

    /// The log densities of the rows' targets.
    ///
    /// # Errors
    /// If the targets are not known. Where experts say how probable outcomes are, if what they say is not known.
    pub fn log_density(&self) -> Result<Vec<f64>> {
        if self.fitted.says_outcomes() {
            return Ok(self.log_scores()?.losses.iter().map(|loss| -loss).collect());
        }
        let y = self.data.y()?;
        self.each(|row, density| density.log_density(y[row]))
    }

    /// For each row, `count` samples; the same ones whenever the seed and the row are the same.
    pub fn samples(&self, count: usize, seed: u64) -> Result<Vec<Vec<f64>>> {
        self.each(|row, density| {
            density.sample_many(count, &mut stream(seed, Purpose::Predict, row as u64))
        })
    }

    /// For each row, the experts: what each says, and how much it is trusted, with central
    /// intervals of the weights that hold `level` of the draws.
    pub fn weights(&self, level: f64) -> Result<Vec<Vec<ExpertSummary>>> {
        let predictor = self.fitted.predictor();
        let mut out = Vec::with_capacity(self.len());
        for part in self.parts() {
            let at = self.fitted.locate(self.data, part)?;
            let all = predictor.experts(&at.rows, at.given.as_ref(), level, self.threads)?;
            out.extend(all.chunks(self.fitted.model.experts()).map(<[ExpertSummary]>::to_vec));
        }
        Ok(out)
    }

    /// The scores against the rows' targets.
    ///
    /// # Errors
    /// If the targets are not known.
    pub fn evaluate(&self) -> Result<Scores> {
        evaluate(self, &self.data.y()?[self.rows.clone()], self.threads)
    }

    /// How probable outcomes are, where experts say just that.
    ///
    /// # Errors
    /// If what they say at these rows is not known, or it is densities of all outcomes.
    pub fn outcomes(&self) -> Result<Outcomes> {
        let predictor = self.fitted.predictor();
        let (mut log_p, mut count) = (Vec::new(), 0);
        for part in self.parts() {
            let at = self.fitted.locate(self.data, part)?;
            let given = at.given.as_ref().filter(|given| given.outcomes() > 0);
            let given = given.ok_or_else(|| stacking::nothing_said(self.fitted))?;
            count = given.outcomes();
            log_p.extend(predictor.outcomes(&at.rows, given, self.threads)?);
        }
        let log_scale = self.fitted.scaler.target.scale.ln();
        log_p.iter_mut().for_each(|log_p| *log_p -= log_scale);
        Ok(Outcomes::new(predictor.batches().clone(), count, log_p))
    }

    /// What can be scored where experts say how probable outcomes are.
    ///
    /// # Errors
    /// As [`Prediction::outcomes`]; of classes also if the targets are not known.
    pub fn log_scores(&self) -> Result<LogScores> {
        let targets = match self.fitted.classes() {
            Some(classes) => Some(classes.targets(&self.data.y()?[self.rows.clone()])?),
            None => None,
        };
        Ok(LogScores::of(&self.outcomes()?, targets.as_deref()))
    }

    /// All that can be scored: log densities alone where experts say how probable outcomes are.
    ///
    /// # Errors
    /// As [`Prediction::evaluate`] and [`Prediction::outcomes`].
    pub fn measure(&self) -> Result<Measured> {
        Ok(match self.fitted.says_outcomes() {
            true => Measured::Log(self.log_scores()?),
            false => Measured::All(Box::new(self.evaluate()?)),
        })
    }

    /// Something about the density of each row, which is handed over with the row's number.
    pub fn each<T: Send>(&self, of: impl Fn(usize, &Mixture<'_>) -> T + Sync) -> Result<Vec<T>> {
        let blocks = self.blocks(self.threads, |block| -> Result<Vec<T>> {
            (0..block.len()).map(|r| Ok(of(block.first + r, &block.row(r)?))).collect()
        })?;
        let mut out = Vec::with_capacity(self.len());
        for block in blocks {
            out.extend(block?);
        }
        Ok(out)
    }

    /// The same rows some thousand at a time, so that results can be written, or the work
    /// stopped, before all are there.
    pub fn chunks(&self) -> impl Iterator<Item = Prediction<'a>> {
        let parts: Vec<Range<usize>> = self.parts().collect();
        parts.into_iter().map(|rows| Prediction { rows, ..self.clone() })
    }

    /// The rows' numbers.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let end = self.rows.end;
        self.rows.clone().step_by(CHUNK).map(move |first| first..end.min(first + CHUNK))
    }
}

impl Predictive for Prediction<'_> {
    fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    fn batches(&self) -> &Batches {
        match &self.draws {
            Draws::All(draws) => draws.batches(),
            Draws::Conditional(draws) => draws.batches(),
        }
    }

    fn blocks<T: Send>(
        &self,
        threads: usize,
        each: impl Fn(&FusedBlock) -> T + Sync,
    ) -> Result<Vec<T>> {
        let mut out = Vec::new();
        for part in self.parts() {
            let at = self.fitted.locate(self.data, part)?;
            out.extend(match &self.draws {
                Draws::All(draws) => draws.fused(&at.rows, at.given.as_ref(), threads, &each)?,
                Draws::Conditional(draws) => draws.at(&at.rows).blocks(threads, &each)?,
            });
        }
        Ok(out)
    }
}

/// Refuse probabilities that have no quantile.
fn check_probabilities(all: &[f64]) -> Result<()> {
    match all.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
        Some(p) => {
            let problem = format!("{p} is out of range: use numbers above 0 and below 1");
            Err(Error::setting("quantiles", problem))
        }
        None => Ok(()),
    }
}
