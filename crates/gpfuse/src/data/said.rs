//! What experts made elsewhere say about rows: a mean and a standard deviation, or how probable they held the target.

use std::ops::Range;

use super::{Classes, Predictions};
use crate::math::HALF_LN_TWO_PI;
use crate::scale::Affine;
use crate::{Error, Result};

/// What K experts say about n rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// A normal density of the target.
    Normal(Predictions),
    /// The log density, or log probability, of the target alone: all that a mixture has to know.
    LogDensity(LogDensity),
    /// The probability of each class. The targets are numbers of classes.
    Classes(Classes),
}

/// Log densities of the targets of some rows, by expert and row.
#[derive(Debug, Clone, PartialEq)]
pub struct LogDensity(Vec<Vec<f64>>);

impl LogDensity {
    /// From the log density of the target for each expert and row. Minus infinity says that an expert held the
    /// target impossible.
    ///
    /// # Errors
    /// If there is no expert or no row, the lengths differ, a value is NaN or plus infinity, or every expert holds
    /// the target of some row impossible.
    pub fn new(values: Vec<Vec<f64>>) -> Result<LogDensity> {
        let rows = values.first().map_or(0, Vec::len);
        if rows == 0 || values.iter().any(|v| v.len() != rows) {
            let odd = values.iter().map(Vec::len).find(|n| *n != rows).unwrap_or(rows);
            return Err(Error::Shape {
                what: "log densities".into(),
                expected: "at least one expert, all with as many rows, at least one".into(),
                found: format!("{} experts, {rows} and {odd} rows", values.len()),
            });
        }
        for (k, all) in values.iter().enumerate() {
            if let Some(row) = all.iter().position(|v| v.is_nan() || *v > LARGEST_LOG) {
                let (place, value) = (format!("expert {}, row {}", k + 1, row + 1), all[row]);
                let need = "it must be a number up to 1e100, or -inf where the expert holds the target impossible";
                return Err(Error::Data(format!("{place}: log density is {value:?}: {need}")));
            }
        }
        if let Some(row) = (0..rows).find(|row| values.iter().all(|v| v[*row] < -LARGEST_LOG)) {
            let problem = "every expert holds the target impossible (log density -inf)";
            return Err(Error::Data(format!("row {}: {problem}: leave the row out", row + 1)));
        }
        Ok(LogDensity(values))
    }

    /// The log densities, by expert and row.
    pub fn values(&self) -> &[Vec<f64>] {
        &self.0
    }
}

/// Log densities are at most this; what is below minus this is as good as minus infinity.
const LARGEST_LOG: f64 = 1e100;

impl From<Predictions> for Said {
    fn from(all: Predictions) -> Said {
        Said::Normal(all)
    }
}

impl From<LogDensity> for Said {
    fn from(all: LogDensity) -> Said {
        Said::LogDensity(all)
    }
}

impl From<Classes> for Said {
    fn from(all: Classes) -> Said {
        Said::Classes(all)
    }
}

impl Said {
    /// The number of experts.
    pub fn experts(&self) -> usize {
        match self {
            Said::Normal(all) => all.experts(),
            Said::LogDensity(all) => all.0.len(),
            Said::Classes(all) => all.experts(),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Said::Normal(all) => all.rows(),
            Said::LogDensity(all) => all.0[0].len(),
            Said::Classes(all) => all.rows(),
        }
    }

    /// The normal densities, if that is what they said.
    pub fn normal(&self) -> Option<&Predictions> {
        match self {
            Said::Normal(all) => Some(all),
            Said::LogDensity(_) | Said::Classes(_) => None,
        }
    }

    /// The probabilities of classes, if that is what they said.
    pub fn classes(&self) -> Option<&Classes> {
        match self {
            Said::Classes(all) => Some(all),
            Said::Normal(_) | Said::LogDensity(_) => None,
        }
    }

    /// All numbers, one column for each expert and kind.
    pub fn columns(&self) -> Vec<&[f64]> {
        let all: Vec<&Vec<f64>> = match self {
            Said::Normal(all) => all.mean().iter().chain(all.sd()).collect(),
            Said::LogDensity(all) => all.0.iter().collect(),
            Said::Classes(all) => all.log_p().iter().collect(),
        };
        all.into_iter().map(Vec::as_slice).collect()
    }

    /// What it is, in words.
    pub fn words(&self) -> &'static str {
        match self {
            Said::Normal(_) => "a mean and an sd",
            Said::LogDensity(_) => "a log density",
            Said::Classes(_) => "a probability of each class",
        }
    }

    /// Whether the other is of the same kind.
    pub(crate) fn is_like(&self, other: &Said) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// That at some of the rows only.
    ///
    /// # Errors
    /// If there are no such rows.
    pub(crate) fn part(&self, rows: Range<usize>) -> Result<Said> {
        match self {
            Said::Normal(all) => all.part(rows).map(Said::Normal),
            Said::LogDensity(_) | Said::Classes(_) => Ok(self.pick(&rows.collect::<Vec<usize>>())),
        }
    }

    /// That at the rows with these numbers, which must be there.
    pub(crate) fn pick(&self, rows: &[usize]) -> Said {
        let of = |v: &Vec<f64>| rows.iter().map(|r| v[*r]).collect();
        match self {
            Said::Normal(all) => Said::Normal(all.pick(rows)),
            Said::LogDensity(all) => Said::LogDensity(LogDensity(all.0.iter().map(of).collect())),
            Said::Classes(all) => Said::Classes(all.pick(rows)),
        }
    }

    /// The same on the scale of a model.
    ///
    /// # Errors
    /// If a value is out of range there.
    pub(crate) fn scaled(&self, target: Affine) -> Result<Said> {
        let log_scale = target.scale.ln();
        let of = |v: &Vec<f64>| v.iter().map(|log| log + log_scale).collect();
        Ok(match self {
            Said::Normal(all) => {
                Said::Normal(all.on_scale(|mean| target.apply(mean), |sd| sd / target.scale)?)
            }
            Said::LogDensity(all) => Said::LogDensity(LogDensity(all.0.iter().map(of).collect())),
            Said::Classes(all) => Said::Classes(all.clone()),
        })
    }

    /// The log densities of the targets `y`, by expert and row, all on the scale of a model that divides by `scale`;
    /// `rounding` is the variance of the target's rounding there.
    pub(crate) fn log_density(&self, y: &[f64], rounding: f64, scale: f64) -> Vec<Vec<f64>> {
        let log_scale = scale.ln();
        let coarse = |log: f64| coarse(log - log_scale) + log_scale;
        let log = |y: f64, mean: f64, sd: f64| {
            let var = sd * sd + rounding;
            let z = ((y - mean) / var.sqrt()).clamp(-FARTHEST_Z, FARTHEST_Z);
            coarse(-0.5 * (z * z + var.ln()) - HALF_LN_TWO_PI)
        };
        match self {
            Said::Normal(all) => {
                let one = |(mean, sd): (&Vec<f64>, &Vec<f64>)| {
                    let each = y.iter().zip(mean.iter().zip(sd));
                    each.map(|(y, (mean, sd))| log(*y, *mean, *sd)).collect()
                };
                all.mean().iter().zip(all.sd()).map(one).collect()
            }
            Said::LogDensity(all) => {
                all.0.iter().map(|v| v.iter().map(|log| coarse(*log)).collect()).collect()
            }
            Said::Classes(all) => {
                let of = |own: &[Vec<f64>]| -> Vec<f64> {
                    let at = y.iter().enumerate().map(|(row, class)| own[*class as usize][row]);
                    at.map(coarse).collect()
                };
                all.log_p().chunks(all.names().len()).map(of).collect()
            }
        }
    }
}

/// Beyond this many standard deviations a log density stays where it is.
const FARTHEST_Z: f64 = 1e150;

/// A log density without its last bits, which differ with who computes it, and chains that begin alike would part
/// by them. What is taken away is at most 2^-33.
fn coarse(log_density: f64) -> f64 {
    const STEPS: f64 = (1_u64 << 32) as f64;
    let coarse = (log_density * STEPS).round() / STEPS;
    if coarse.is_finite() { coarse } else { log_density }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn log_densities_are_checked_when_they_are_made() {
        let none = f64::NEG_INFINITY;
        let made = LogDensity::new(vec![vec![-1.0, none], vec![none, 700.0]]).unwrap();
        assert_eq!(Said::from(made).pick(&[1]).columns(), [[none], [700.0]]);
        for (values, words) in [
            (vec![vec![-1.0, f64::NAN], vec![0.0; 2]], "expert 1, row 2: log density is NaN"),
            (vec![vec![-1.0; 2], vec![f64::INFINITY, 0.0]], "expert 2, row 1: log density is inf"),
            (vec![vec![-1.0, none], vec![0.0, none]], "row 2: every expert holds"),
            (vec![vec![-1.0; 2], vec![0.0]], "2 and 1 rows"),
            (vec![vec![]], "at least one"),
            (vec![], "at least one"),
        ] {
            let found = LogDensity::new(values).unwrap_err().to_string();
            assert!(found.contains(words), "{found}");
        }
    }
}
