//! The rows of a table, checked once: inputs, and where they are known targets, names, and what
//! experts made elsewhere say.
//!
//! Everything is in the user's units. The same type is what a model is fitted to, what it
//! predicts at and what it is scored on.

mod classes;
mod notes;
mod predictions;
mod said;

pub use classes::Classes;
pub use predictions::Predictions;
pub(crate) use predictions::{check_sd, check_value};
pub use said::{LogDensity, Said};

use std::sync::Arc;

use crate::columns::Columns;
use crate::experts::Assignment;
use crate::{Error, Result};

/// Rows to learn from or to predict at.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    x: Vec<f64>,
    y: Option<Vec<f64>>,
    inputs: Vec<String>,
    target: String,
    /// What the inputs were made of, where they are not columns of numbers as they stood.
    columns: Option<Arc<Columns>>,
    experts: Vec<String>,
    predictions: Option<Said>,
    assignment: Option<Assignment>,
    /// The rows' numbers in the table that they were picked from; none for a whole table.
    numbers: Option<Vec<usize>>,
}

impl Data {
    /// Rows of `inputs` numbers each, one row after the other.
    ///
    /// # Errors
    /// If there is no row, a row is incomplete, or a number is not finite.
    pub fn new(x: Vec<f64>, inputs: usize) -> Result<Data> {
        check_inputs(&x, inputs)?;
        let inputs = match inputs {
            1 => vec!["x".into()],
            _ => (1..=inputs).map(|i| format!("x{i}")).collect(),
        };
        Ok(Data {
            x,
            y: None,
            inputs,
            target: "y".into(),
            columns: None,
            experts: Vec::new(),
            predictions: None,
            assignment: None,
            numbers: None,
        })
    }

    /// The same from columns, one for each input.
    ///
    /// # Errors
    /// As [`Data::new`], and if the columns differ in length.
    pub fn from_columns<C: AsRef<[f64]>>(columns: &[C]) -> Result<Data> {
        let rows = columns.first().map_or(0, |c| c.as_ref().len());
        if let Some(odd) = columns.iter().find(|c| c.as_ref().len() != rows) {
            return Err(Error::Shape {
                what: "inputs".into(),
                expected: format!("columns of {rows} numbers"),
                found: format!("one of {}", odd.as_ref().len()),
            });
        }
        let x = (0..rows).flat_map(|r| columns.iter().map(move |c| c.as_ref()[r])).collect();
        Data::new(x, columns.len())
    }

    /// With the target of each row.
    ///
    /// # Errors
    /// If there are more or fewer targets than rows, or one is not finite.
    pub fn with_target(self, y: Vec<f64>) -> Result<Data> {
        check_targets(&y, self.len())?;
        Ok(Data { y: Some(y), ..self })
    }

    /// With the names of the inputs and of the target, which stand in the model file, in figures
    /// and in messages; without them they are `x1`, `x2`, ... and `y`.
    ///
    /// # Errors
    /// If there is not one name for each input.
    pub fn named(self, inputs: Vec<String>, target: impl Into<String>) -> Result<Data> {
        if inputs.len() != self.inputs.len() {
            return Err(Error::Shape {
                what: "names of the inputs".into(),
                expected: self.inputs.len().to_string(),
                found: inputs.len().to_string(),
            });
        }
        Ok(Data { inputs, target: target.into(), ..self })
    }

    /// With what the inputs were made of; they get the names that go with it.
    ///
    /// # Errors
    /// If there are more or fewer inputs.
    pub fn made_of(self, columns: Columns) -> Result<Data> {
        let target = self.target.clone();
        let data = self.named(columns.inputs(), target)?;
        Ok(Data { columns: (!columns.is_plain()).then(|| Arc::new(columns)), ..data })
    }

    /// With what experts made elsewhere say about each row. No expert may have been trained on
    /// rows that weights are learned from.
    ///
    /// # Errors
    /// If there is not one name for each expert, two are called alike, or the predictions are of
    /// another number of rows.
    pub fn with_experts(self, names: Vec<String>, said: impl Into<Said>) -> Result<Data> {
        let predictions = said.into();
        if let Some(k) = (1..names.len()).find(|k| names[..*k].contains(&names[*k])) {
            return Err(Error::Data(format!("two experts are called `{}`: rename one", names[k])));
        }
        let shape = |expected: String, found: String| {
            Err(Error::Shape { what: "given experts".into(), expected, found })
        };
        if names.len() != predictions.experts() {
            let found = format!("{} names", names.len());
            return shape(format!("names of {} experts", predictions.experts()), found);
        }
        if predictions.rows() != self.len() {
            let expected = format!("predictions at {} rows", self.len());
            return shape(expected, format!("at {}", predictions.rows()));
        }
        Ok(Data { experts: names, predictions: Some(predictions), ..self })
    }

    /// With the rows that train each expert, and those that the weights are learned from, instead
    /// of rows drawn at random.
    pub fn with_assignment(self, assignment: Assignment) -> Data {
        Data { assignment: Some(assignment), ..self }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.x.len() / self.inputs.len()
    }

    /// Whether there are no rows: never.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// The inputs of all rows, one row after the other.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The inputs of row `row`.
    pub fn row(&self, row: usize) -> &[f64] {
        let d = self.inputs.len();
        &self.x[row * d..(row + 1) * d]
    }

    /// The targets.
    ///
    /// # Errors
    /// If they are not known.
    pub fn y(&self) -> Result<&[f64]> {
        self.y.as_deref().ok_or_else(|| {
            Error::Data(format!("the target `{}` is not with the rows: add it", self.target))
        })
    }

    /// The names of the inputs.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// What the inputs were made of, where that is not columns of numbers as they stood.
    pub fn columns(&self) -> Option<&Columns> {
        self.columns.as_deref()
    }

    /// The name of the target.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The names of experts made elsewhere.
    pub fn experts(&self) -> &[String] {
        &self.experts
    }

    /// What experts made elsewhere say.
    pub fn predictions(&self) -> Option<&Said> {
        self.predictions.as_ref()
    }

    /// Which rows train which expert, where that is given.
    pub fn assignment(&self) -> Option<&Assignment> {
        self.assignment.as_ref()
    }

    /// The number of row `row`, from 0, in the table that the rows were picked from.
    pub fn number(&self, row: usize) -> usize {
        self.numbers.as_ref().map_or(row, |numbers| numbers[row])
    }

    /// The rows with these numbers, in their order; an assignment of rows is not kept.
    ///
    /// # Errors
    /// If no row is named, or one that there is not.
    pub fn pick(&self, rows: &[usize]) -> Result<Data> {
        if let Some(row) = rows.iter().find(|row| **row >= self.len()) {
            let problem = format!("there is no row {}: there are {}", row + 1, self.len());
            return Err(Error::Data(problem));
        }
        if rows.is_empty() {
            return Err(Error::Data("no row is left: name at least one".into()));
        }
        Ok(Data {
            x: rows.iter().flat_map(|r| self.row(*r)).copied().collect(),
            y: self.y.as_ref().map(|y| rows.iter().map(|r| y[*r]).collect()),
            inputs: self.inputs.clone(),
            target: self.target.clone(),
            columns: self.columns.clone(),
            experts: self.experts.clone(),
            predictions: self.predictions.as_ref().map(|all| all.pick(rows)),
            assignment: None,
            numbers: Some(rows.iter().map(|r| self.number(*r)).collect()),
        })
    }
}

/// Refuse inputs that are no table of finite numbers.
pub(crate) fn check_inputs(x: &[f64], inputs: usize) -> Result<()> {
    if inputs == 0 || x.is_empty() || !x.len().is_multiple_of(inputs) {
        return Err(Error::Shape {
            what: "inputs".into(),
            expected: format!("a multiple of {inputs} numbers, at least one row"),
            found: format!("{} numbers", x.len()),
        });
    }
    match x.iter().position(|v| !v.is_finite()) {
        Some(at) => {
            let (row, input) = (at / inputs + 1, at % inputs + 1);
            Err(Error::Data(format!("row {row}, input {input} is {}: remove it", x[at])))
        }
        None => Ok(()),
    }
}

/// Refuse targets that are not one finite number for each row.
pub(crate) fn check_targets(y: &[f64], rows: usize) -> Result<()> {
    if y.len() != rows {
        return Err(Error::Shape {
            what: "targets".into(),
            expected: format!("{rows} numbers, one per row"),
            found: y.len().to_string(),
        });
    }
    match y.iter().position(|v| !v.is_finite()) {
        Some(row) => Err(Error::Data(format!("target of row {} is {}", row + 1, y[row]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn rows_are_checked_when_they_are_made() {
        let wrong = |data: Result<Data>| data.unwrap_err().to_string();
        assert!(wrong(Data::new(vec![1.0, 2.0, 3.0], 2)).contains("multiple of 2"));
        assert!(wrong(Data::new(vec![], 1)).contains("at least one row"));
        assert!(wrong(Data::new(vec![1.0, f64::NAN], 2)).contains("row 1, input 2 is NaN"));
        assert!(wrong(Data::from_columns(&[vec![1.0], vec![]])).contains("columns of 1"));
        let two = || Data::new(vec![1.0, 2.0], 1).unwrap();
        assert!(wrong(two().with_target(vec![1.0])).contains("2 numbers, one per row"));
        assert!(wrong(two().with_target(vec![1.0, f64::INFINITY])).contains("row 2 is inf"));
        assert!(wrong(two().named(vec![], "y")).contains("names of the inputs"));
        let predictions =
            |rows: usize| Predictions::new(vec![vec![0.0; rows]; 2], vec![vec![1.0; rows]; 2]);
        let names = |a: &str, b: &str| vec![a.to_string(), b.to_string()];
        let with = |a, b, rows| wrong(two().with_experts(names(a, b), predictions(rows).unwrap()));
        assert!(with("a", "a", 2).contains("two experts are called `a`"));
        assert!(with("a", "b", 3).contains("predictions at 2 rows"));
        let one = vec!["a".to_string()];
        assert!(wrong(two().with_experts(one, predictions(2).unwrap())).contains("2 experts"));
        assert!(two().y().unwrap_err().to_string().contains("target `y`"));
    }

    #[test]
    fn picked_rows_keep_all_that_is_known_and_their_numbers() {
        let columns = [vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0]];
        let predictions =
            Predictions::new(vec![vec![0.1, 0.2, 0.3, 0.4]], vec![vec![1.0; 4]]).unwrap();
        let all = Data::from_columns(&columns).unwrap().with_target(vec![0.0, 1.0, 2.0, 3.0]);
        let all = all.unwrap().with_experts(vec!["a".into()], predictions).unwrap();
        let part = all.pick(&[3, 1]).unwrap();
        assert_eq!(part.x(), [4.0, 8.0, 2.0, 6.0]);
        assert_eq!(part.y().unwrap(), [3.0, 1.0]);
        assert_eq!(part.predictions().unwrap().columns(), [[0.4, 0.2], [1.0, 1.0]]);
        assert_eq!(part.inputs(), ["x1", "x2"]);
        let again = part.pick(&[1]).unwrap();
        assert_eq!((again.number(0), again.row(0)), (1, &[2.0, 6.0][..]));
        assert!(part.pick(&[2]).is_err() && part.pick(&[]).is_err());
    }
}
