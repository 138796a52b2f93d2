//! A table of predictive densities that were made without Monte Carlo.

use std::ops::Range;

use super::{Batches, FusedBlock, Mixture, Predictive};
use crate::data::Predictions;
use crate::math::ROWS;
use crate::parallel::parallel;
use crate::{Error, Result};

/// The largest mean and standard deviation of a [`Mixture`].
const LARGEST_NUMBER: f64 = 1e150;
/// Its smallest standard deviation.
const SMALLEST_SD: f64 = 1e-150;

/// Gaussian mixtures of equally many components, one for each row, in the units of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    parts: usize,
    log_weight: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
    batches: Batches,
    clamped: usize,
}

impl Fused {
    /// From `parts` components per row, row after row. The weights of a row are normalised, and
    /// some of them may be 0 (a log weight of minus infinity).
    ///
    /// # Errors
    /// If there are no rows, the lengths differ, or a value is out of the range of a
    /// [`Mixture`].
    pub fn new(parts: usize, log_weight: Vec<f64>, mean: Vec<f64>, sd: Vec<f64>) -> Result<Fused> {
        let lengths = [log_weight.len(), mean.len(), sd.len()];
        let whole = parts > 0 && mean.len() >= parts && mean.len().is_multiple_of(parts);
        if !whole || lengths.iter().any(|l| *l != mean.len()) {
            let [w, m, s] = lengths;
            return Err(Error::Shape {
                what: "fused densities".into(),
                expected: format!("{parts} components for each row, at least one of both"),
                found: format!("{w} log weights, {m} means, {s} sds"),
            });
        }
        let fits = |what: &str, values: &[f64], ok: &dyn Fn(f64) -> bool, need: &str| {
            let at = values.iter().position(|v| !ok(*v));
            at.map_or(Ok(()), |at| {
                let (row, part, value) = (at / parts + 1, at % parts + 1, values[at]);
                let place = format!("fused density of row {row}, component {part}");
                Err(Error::Data(format!("{place}: {what} is {value:?}: it must be {need}")))
            })
        };
        fits("mean", &mean, &|v| v.abs() <= LARGEST_NUMBER, "within 1e150 of 0")?;
        fits(
            "sd",
            &sd,
            &|v| (SMALLEST_SD..=LARGEST_NUMBER).contains(&v),
            "within 1e-150 to 1e150",
        )?;
        fits("log weight", &log_weight, &|v| v < f64::INFINITY, "a number, not infinite")?;
        for (row, weights) in log_weight.chunks(parts).enumerate() {
            if weights.iter().all(|w| *w == f64::NEG_INFINITY) {
                let place = format!("fused density of row {}", row + 1);
                return Err(Error::Data(format!("{place}: every weight is 0: give one some")));
            }
        }
        Ok(Fused { parts, log_weight, mean, sd, batches: Batches::new(1, 1), clamped: 0 })
    }

    /// One normal density per row: the prediction of a single model.
    pub fn normal(mean: Vec<f64>, sd: Vec<f64>) -> Result<Fused> {
        Fused::new(1, vec![0.0; mean.len()], mean, sd)
    }

    /// The same densities, of which `clamped` are not what their rule says, because that was no
    /// density.
    pub(crate) fn with_clamped(self, clamped: usize) -> Fused {
        Fused { clamped, ..self }
    }

    /// At how many rows the rule's own result was no density and was replaced.
    pub fn clamped(&self) -> usize {
        self.clamped
    }

    /// The same as what one expert says, where there is one normal density per row.
    pub(crate) fn one(self) -> Result<Predictions> {
        Predictions::new(vec![self.mean], vec![self.sd])
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.mean.len() / self.parts
    }

    /// Whether there are no rows: never, as [`Fused::new`] refuses it.
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }

    /// The predictive density of row `r`.
    pub fn row(&self, r: usize) -> Result<Mixture<'_>> {
        let range = r * self.parts..(r + 1) * self.parts;
        Mixture::new(&self.log_weight[range.clone()], &self.mean[range.clone()], &self.sd[range])
    }
}

impl Predictive for Fused {
    fn rows(&self) -> Range<usize> {
        0..self.len()
    }

    fn batches(&self) -> &Batches {
        &self.batches
    }

    fn blocks<T: Send>(
        &self,
        threads: usize,
        each: impl Fn(&FusedBlock) -> T + Sync,
    ) -> Result<Vec<T>> {
        parallel(self.len().div_ceil(ROWS), threads, |b| {
            let (first, end) = (b * ROWS, self.len().min((b + 1) * ROWS));
            let range = first * self.parts..end * self.parts;
            let [log_weight, mean, sd] =
                [&self.log_weight, &self.mean, &self.sd].map(|v| v[range.clone()].to_vec());
            each(&FusedBlock::table(first, self.parts, log_weight, mean, sd))
        })
    }
}
