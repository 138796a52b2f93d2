//! What experts say: a mean and a standard deviation for each expert and row.

use std::ops::Range;

use crate::{Error, Result};

/// Means, targets and standard deviations are at most this, so that products and ratios of
/// their squares are numbers.
const LARGEST_VALUE: f64 = 1e75;
/// Standard deviations are at least this.
const SMALLEST_SD: f64 = 1e-75;

/// Predictions of K experts at n rows, in the units of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    mean: Vec<Vec<f64>>,
    sd: Vec<Vec<f64>>,
}

impl Predictions {
    /// From a mean and a standard deviation, noise included, for each expert and row.
    ///
    /// # Errors
    /// If there is no expert or no row, the lengths differ, or a value is out of range.
    pub fn new(mean: Vec<Vec<f64>>, sd: Vec<Vec<f64>>) -> Result<Predictions> {
        let rows = mean.first().map_or(0, Vec::len);
        let lengths = mean.iter().chain(&sd).map(Vec::len);
        if rows == 0 || mean.len() != sd.len() || lengths.clone().any(|l| l != rows) {
            let odd = lengths.clone().find(|l| *l != rows).unwrap_or(rows);
            return Err(Error::Shape {
                what: "experts' predictions".into(),
                expected: "as many means as sds, all of one length, at least one".into(),
                found: format!("{} means, {} sds, {rows} and {odd} rows", mean.len(), sd.len()),
            });
        }
        for k in 0..mean.len() {
            for row in 0..rows {
                let place = || format!("expert {}, row {}", k + 1, row + 1);
                check_value(&place, "mean", mean[k][row])?;
                check_sd(&place, "sd", sd[k][row])?;
            }
        }
        Ok(Predictions { mean, sd })
    }

    /// Those at some of the rows only.
    ///
    /// # Errors
    /// If there are no such rows.
    pub fn part(&self, rows: Range<usize>) -> Result<Predictions> {
        let cut = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
            all.iter().map(|v| v.get(rows.clone()).unwrap_or_default().to_vec()).collect()
        };
        Predictions::new(cut(&self.mean), cut(&self.sd))
    }

    /// Those at the rows with these numbers, which must be there.
    pub(crate) fn pick(&self, rows: &[usize]) -> Predictions {
        let of = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
            all.iter().map(|v| rows.iter().map(|r| v[*r]).collect()).collect()
        };
        Predictions { mean: of(&self.mean), sd: of(&self.sd) }
    }

    /// The same on another scale of the target.
    ///
    /// # Errors
    /// If a value is out of range there.
    pub(crate) fn on_scale(
        &self,
        mean: impl Fn(f64) -> f64,
        sd: impl Fn(f64) -> f64,
    ) -> Result<Predictions> {
        let each = |all: &[Vec<f64>], to: &dyn Fn(f64) -> f64| -> Vec<Vec<f64>> {
            all.iter().map(|row| row.iter().map(|v| to(*v)).collect()).collect()
        };
        Predictions::new(each(&self.mean, &mean), each(&self.sd, &sd))
    }

    /// The number of experts K.
    pub fn experts(&self) -> usize {
        self.mean.len()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.mean[0].len()
    }

    /// Means by expert and row.
    pub fn mean(&self) -> &[Vec<f64>] {
        &self.mean
    }

    /// Standard deviations by expert and row.
    pub fn sd(&self) -> &[Vec<f64>] {
        &self.sd
    }
}

pub(crate) fn check_value(place: &dyn Fn() -> String, what: &str, value: f64) -> Result<()> {
    if value.abs() <= LARGEST_VALUE {
        return Ok(());
    }
    Err(Error::Data(format!("{}: {what} is {value:?}: it must be within 1e75 of 0", place())))
}

pub(crate) fn check_sd(place: &dyn Fn() -> String, what: &str, value: f64) -> Result<()> {
    if (SMALLEST_SD..=LARGEST_VALUE).contains(&value) {
        return Ok(());
    }
    let problem = format!("{what} is {value:?}: it must be positive, within 1e-75 to 1e75");
    Err(Error::Data(format!("{}: {problem}", place())))
}
