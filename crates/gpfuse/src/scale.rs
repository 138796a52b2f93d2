//! Scaling of data: inputs and target brought to a common scale, from training rows only.
//!
//! The scaler is part of the fitted model; all outputs are in the user's units.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What the inputs are brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Each input to mean 0 and standard deviation 1, the target too.
    #[default]
    Standard,
    /// Each input to the interval from 0 to 1, the target to mean 0 and standard deviation 1.
    Unit,
    /// Nothing is scaled.
    None,
}

/// `scaled = (raw - shift) / scale`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Affine {
    /// The raw value that becomes 0.
    pub shift: f64,
    /// The raw length that becomes 1; positive.
    pub scale: f64,
}

impl Affine {
    /// Leaves values as they are.
    pub const IDENTITY: Affine = Affine { shift: 0.0, scale: 1.0 };

    /// To the model's scale.
    pub fn apply(&self, raw: f64) -> f64 {
        (raw - self.shift) / self.scale
    }

    /// Back to the user's scale.
    pub fn restore(&self, scaled: f64) -> f64 {
        self.shift + self.scale * scaled
    }

    /// Mean 0, standard deviation 1; a constant column keeps its scale.
    fn standard(values: impl Iterator<Item = f64> + Clone) -> Affine {
        let n = values.clone().count();
        let shift = mean_on(0.0, values.clone(), n);
        Affine::of_moments(shift, mean_on(0.0, values.map(|v| (v - shift).powi(2)), n))
    }

    /// By the mean, and the mean square around it.
    fn of_moments(mean: f64, square: f64) -> Affine {
        Affine { shift: mean, scale: square.sqrt() }.or_identity_scale()
    }

    /// From 0 to 1; a constant column keeps its scale.
    fn unit(values: impl Iterator<Item = f64>) -> Affine {
        let range =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |a, v| (a.0.min(v), a.1.max(v)));
        Affine { shift: range.0, scale: range.1 - range.0 }.or_identity_scale()
    }

    fn or_identity_scale(self) -> Affine {
        // A spread below rounding error of the values themselves is no spread.
        let none = self.scale <= 1e-14 * self.shift.abs();
        Affine { scale: if none { 1.0 } else { self.scale }, ..self }
    }
}

/// The mean of `n` values of which some were summed before: `before` is what these gave.
pub(crate) fn mean_on(before: f64, values: impl Iterator<Item = f64>, n: usize) -> f64 {
    values.fold(before, |sum, value| sum + value / n as f64)
}

/// The scaling of all inputs and of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaler {
    /// One per input.
    pub inputs: Vec<Affine>,
    /// Of the target.
    pub target: Affine,
}

impl Scaler {
    /// From training rows: inputs row-major (n, inputs), and the target.
    pub fn fit(scaling: Scaling, x: &[f64], inputs: usize, y: &[f64]) -> Result<Scaler> {
        let column = |i: usize| x.iter().skip(i).step_by(inputs.max(1)).copied();
        let of = |i: usize| match scaling {
            Scaling::Standard => Affine::standard(column(i)),
            Scaling::Unit => Affine::unit(column(i)),
            Scaling::None => Affine::IDENTITY,
        };
        let target = match scaling {
            Scaling::None => Affine::IDENTITY,
            _ => Affine::standard(y.iter().copied()),
        };
        Scaler { inputs: (0..inputs).map(of).collect(), target }.finite()
    }

    /// To means 0 and standard deviations 1, by the mean of each input and of the target, which comes last, and
    /// their mean squares around these.
    pub fn standard(means: &[f64], squares: &[f64]) -> Result<Scaler> {
        let each =
            means.iter().zip(squares).map(|(mean, square)| Affine::of_moments(*mean, *square));
        let mut inputs: Vec<Affine> = each.collect();
        let target = inputs.pop().unwrap_or(Affine::IDENTITY);
        Scaler { inputs, target }.finite()
    }

    fn finite(self) -> Result<Scaler> {
        let finite = |a: &Affine| a.shift.is_finite() && a.scale.is_finite();
        if self.inputs.iter().chain([&self.target]).all(finite) {
            Ok(self)
        } else {
            Err(Error::Data("values are too large to scale: divide them by a constant".into()))
        }
    }

    /// Inputs to the model's scale.
    pub fn scale_inputs(&self, x: &[f64]) -> Vec<f64> {
        let d = self.inputs.len();
        x.iter().enumerate().map(|(at, v)| self.inputs[at % d].apply(*v)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_is_undone_and_constant_columns_keep_their_scale() {
        let (x, y) = ([1.0, 7.0, 3.0, 7.0, 8.0, 7.0], [2.0, 4.0, 9.0]);
        for scaling in [Scaling::Standard, Scaling::Unit, Scaling::None] {
            let scaler = Scaler::fit(scaling, &x, 2, &y).expect("a scaler");
            let back = |at: usize, v: f64| scaler.inputs[at % 2].restore(v);
            for (at, v) in scaler.scale_inputs(&x).into_iter().enumerate() {
                assert!((back(at, v) - x[at]).abs() < 1e-12);
            }
            assert_eq!(scaler.inputs[1].scale, 1.0);
        }
        let unit = Scaler::fit(Scaling::Unit, &x, 2, &y).expect("a scaler");
        assert_eq!(unit.scale_inputs(&[1.0, 7.0, 8.0, 7.0]), [0.0, 0.0, 1.0, 0.0]);
        let standard = Scaler::fit(Scaling::Standard, &x, 2, &y).expect("a scaler").target;
        let scaled: Vec<f64> = y.iter().map(|v| standard.apply(*v)).collect();
        let square: f64 = scaled.iter().map(|v| v * v).sum();
        assert!(scaled.iter().sum::<f64>().abs() < 1e-12 && (square - 3.0).abs() < 1e-12);
    }

    #[test]
    fn values_whose_spread_overflows_are_refused() {
        let x = [1e200, -1e200, 2e200];
        let error = Scaler::fit(Scaling::Standard, &x, 1, &[1.0, 2.0, 3.0]).expect_err("refused");
        assert!(error.to_string().contains("too large"), "{error}");
    }
}
