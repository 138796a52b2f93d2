//! The difference of two predictions on the same rows.

use super::standard_error;
use crate::{Error, Result};

/// A mean difference over rows.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Difference {
    /// The mean of `a - b`.
    pub mean: f64,
    /// Its standard error over rows; none for a single row.
    pub se: Option<f64>,
    /// The number of rows.
    pub rows: usize,
}

/// Compare a loss or score of each row under two predictions. What makes a row hard for both
/// cancels, so that the standard error is that of the difference itself and as a rule far below
/// those of the two means.
///
/// For sums instead of means, as of leave-one-out scores, multiply mean and error by the rows.
///
/// # Errors
/// If there are no rows, their numbers differ, or a value is not finite.
///
/// ```
/// # fn main() -> gpfuse::Result<()> {
/// let difference = gpfuse::metrics::paired(&[1.0, 5.0, 9.0], &[0.5, 4.5, 8.8])?;
/// assert!((difference.mean - 0.4).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
pub fn paired(a: &[f64], b: &[f64]) -> Result<Difference> {
    if a.is_empty() || a.len() != b.len() {
        return Err(Error::Shape {
            what: "paired losses".into(),
            expected: "as many of one prediction as of the other, at least one".into(),
            found: format!("{} and {}", a.len(), b.len()),
        });
    }
    if let Some(row) = (0..a.len()).find(|i| !(a[*i] - b[*i]).is_finite()) {
        let problem = format!("{} and {} have no difference: leave the row out", a[row], b[row]);
        return Err(Error::Data(format!("paired losses of row {}: {problem}", row + 1)));
    }
    let differences = a.iter().zip(b).map(|(a, b)| a - b);
    let mean = differences.clone().sum::<f64>() / a.len() as f64;
    Ok(Difference { mean, se: standard_error(differences), rows: a.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What both have in common does not matter; exchanging them turns the sign.
    #[test]
    fn only_the_difference_matters() {
        let (a, b) = ([3.0, 1.0, 4.0, 1.5], [2.5, 1.5, 3.0, 1.5]);
        let found = paired(&a, &b).unwrap();
        assert_eq!((found.mean, found.rows), (0.25, 4));
        // The differences are 1/2, -1/2, 1 and 0: their variance is 5/12.
        assert!((found.se.unwrap() - (5.0_f64 / 12.0 / 4.0).sqrt()).abs() < 1e-15);
        let shifted: Vec<[f64; 2]> = (0..4).map(|i| [a[i] + 64.0, b[i] + 64.0]).collect();
        let pick = |side: usize| shifted.iter().map(|p| p[side]).collect::<Vec<f64>>();
        assert_eq!(paired(&pick(0), &pick(1)).unwrap(), found);
        let turned = paired(&b, &a).unwrap();
        assert_eq!((turned.mean, turned.se), (-found.mean, found.se));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        assert_eq!(paired(&[1.0], &[2.0]).unwrap().se, None);
        for (a, b) in [(&[][..], &[][..]), (&[1.0], &[1.0, 2.0]), (&[f64::INFINITY], &[1.0])] {
            assert!(paired(a, b).is_err());
        }
    }
}
