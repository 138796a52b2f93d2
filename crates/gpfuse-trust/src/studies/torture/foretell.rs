//! The predictions of one hard model, at rows of its table and far from them.

use gpfuse::Error;
use gpfuse::fit::Fitted;
use gpfuse::predict::{Predictive, Predictor};
use rand_chacha::ChaCha8Rng;

use super::case::Case;
use super::laws::broken;
use super::numbers::normal;
use super::trial::{Law, Trial};

/// Rows at which a model predicts, at most, half of them as in the table.
const ROWS: usize = 8;

/// Words of errors about numbers too large or too small to be computed with: a mean, a standard
/// deviation or an expert's input out of its range.
const RANGE: [&str; 2] = ["within 1e", "is too large"];

/// Where a model predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At rows that it was fitted to, or that its experts were: these it cannot refuse.
    Table,
    /// At inputs that may be too far away to be numbers, or for an expert.
    Away,
}

impl Trial {
    /// Predict at some rows of the table, and on their own at inputs far from it.
    pub(super) fn predict(
        &mut self,
        case: &Case,
        fitted: &Fitted,
        by: &[Predictor],
        rng: &mut ChaCha8Rng,
    ) -> gpfuse::Result<()> {
        let n = case.y.len();
        let table: Vec<usize> = (0..n.min(ROWS / 2)).collect();
        let x = &case.x[..table.len() * case.inputs];
        self.predict_at(Place::Table, case, fitted, by, &table, x)?;
        let (mut away, mut x) = (Vec::new(), Vec::new());
        for i in table.len()..ROWS.min(2 * n) {
            let (r, far) = (i % n, 10_f64.powi(2 * i as i32 - 8));
            let row = &case.x[r * case.inputs..(r + 1) * case.inputs];
            let scales = fitted.scaler.inputs.iter();
            x.extend(row.iter().zip(scales).map(|(v, s)| v + far * s.scale * normal(rng)));
            away.push(r);
        }
        self.predict_at(Place::Away, case, fitted, by, &away, &x)
    }

    /// Predict at the inputs `x`, where experts made elsewhere say what they say at rows `chosen`.
    fn predict_at(
        &mut self,
        place: Place,
        case: &Case,
        fitted: &Fitted,
        by: &[Predictor],
        chosen: &[usize],
        x: &[f64],
    ) -> gpfuse::Result<()> {
        let located = case.at(x.to_vec(), chosen).and_then(|at| fitted.locate(&at, 0..at.len()));
        let at = match located {
            Ok(at) => at,
            Err(e) => return self.refused_at(place, e, chosen.len() * by.len()),
        };
        for predictor in by {
            let blocks = predictor.at(&at.rows, at.given.as_ref()).blocks(1, |block| {
                let each = (0..block.len()).map(|r| match block.row(r) {
                    Ok(mixture) => Ok(broken(&mixture, fitted.scaler.target.scale)),
                    Err(e) => Err(e),
                });
                each.collect::<Vec<_>>()
            })?;
            for (row, found) in blocks.into_iter().flatten().enumerate() {
                match found {
                    Ok(None) => self.predicted += 1,
                    Ok(Some(what)) => {
                        self.breaks(Law::Predictive, format!("{place:?}, row {row}: {what}"));
                    }
                    Err(e) => self.refused_at(place, e, 1)?,
                }
            }
        }
        Ok(())
    }

    /// Take in that `count` predictions were refused.
    fn refused_at(&mut self, place: Place, error: Error, count: usize) -> gpfuse::Result<()> {
        let Error::Data(text) = error else { return Err(error) };
        match place {
            Place::Away => self.unpredicted += count,
            Place::Table if RANGE.iter().any(|words| text.contains(words)) => {
                self.out_of_range += count;
                self.range.get_or_insert(text);
            }
            Place::Table => {
                self.breaks(Law::Predictive, format!("a row of the table is refused: {text}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What may be refused far away may not be at the table, but for numbers out of range.
    #[test]
    fn refusals_at_the_table_break_the_law() {
        let mut trial = Trial::default();
        let refuse = |trial: &mut Trial, place, text: &str| {
            trial.refused_at(place, Error::Data(text.into()), 2).expect("an error of data");
        };
        refuse(&mut trial, Place::Away, "row 1, input 1 is inf: remove it");
        assert_eq!((trial.unpredicted, trial.broken.len()), (2, 0));
        refuse(&mut trial, Place::Table, "mixture: a mean is not within 1e150 of 0");
        assert_eq!((trial.out_of_range, trial.broken.len()), (2, 0));
        refuse(&mut trial, Place::Table, "row 1, input 1 is inf: remove it");
        assert_eq!((trial.unpredicted, trial.out_of_range), (2, 2));
        assert!(matches!(trial.broken[..], [(Law::Predictive, _)]));
        assert!(trial.refused_at(Place::Away, Error::Sampling("no".into()), 1).is_err());
    }
}
