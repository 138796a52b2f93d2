//! Data sets with fixed splits: a folder with `NAME.csv` (the inputs, then the target) and
//! `NAME.splits.csv` (a column for each split, with 1 at its test rows).

use std::path::Path;

use gpfuse::Data;

use crate::Outcome;

/// A data set and its splits.
pub struct Set {
    rows: Vec<Vec<f64>>,
    masks: Vec<Vec<f64>>,
}

impl Set {
    /// Read a set of a folder.
    ///
    /// # Errors
    /// If a file cannot be read, or the two do not belong together.
    pub fn read(folder: &Path, name: &str) -> Outcome<Set> {
        let rows = read(&folder.join(format!("{name}.csv")))?;
        let masks = read(&folder.join(format!("{name}.splits.csv")))?;
        if rows.is_empty() || rows.len() != masks.len() {
            let (n, of) = (masks.len(), rows.len());
            return Err(format!("{name}: the splits are of {n} rows, the table has {of}").into());
        }
        Ok(Set { rows, masks })
    }

    /// The number of splits.
    pub fn splits(&self) -> usize {
        self.masks[0].len()
    }

    /// The training and the test rows of a split. Inputs that are constant in the training rows say
    /// nothing and are left out.
    ///
    /// # Errors
    /// If there is no such split, or one of the two has no rows.
    pub fn split(&self, split: usize) -> Outcome<(Data, Data)> {
        if split >= self.splits() {
            return Err(format!("split {split}: there are {}", self.splits()).into());
        }
        let of = |test: f64| -> Vec<usize> {
            (0..self.rows.len()).filter(|r| self.masks[*r][split] == test).collect()
        };
        let (train, test) = (of(0.0), of(1.0));
        let last = self.rows[0].len() - 1;
        let varies = |c: &usize| train.iter().any(|r| self.rows[*r][*c] != self.rows[train[0]][*c]);
        let columns: Vec<usize> = (0..last).filter(varies).collect();
        let pick = |rows: &[usize]| -> gpfuse::Result<Data> {
            let x = rows.iter().flat_map(|r| columns.iter().map(|c| self.rows[*r][*c])).collect();
            let y = rows.iter().map(|r| self.rows[*r][last]).collect();
            Data::new(x, columns.len())?.with_target(y)
        };
        Ok((pick(&train)?, pick(&test)?))
    }
}

/// The rows of a CSV file below its header, all of one length.
fn read(path: &Path) -> Outcome<Vec<Vec<f64>>> {
    let blame = |problem: String| format!("{}: {problem}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| blame(e.to_string()))?;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1) {
        let row: Vec<f64> = line
            .split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(|e| blame(format!("line {}: {e}", at + 1)))?;
        if rows.first().is_some_and(|first| first.len() != row.len()) {
            return Err(blame(format!("line {} is of another length", at + 1)).into());
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Which test rows have a twin, with the same inputs, among the training rows.
pub fn twins(train: &Data, test: &Data) -> Vec<bool> {
    let inputs = train.inputs().len();
    test.x().chunks(inputs).map(|row| train.x().chunks(inputs).any(|other| other == row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_leaves_out_what_is_constant_in_its_training_rows() {
        let rows = [[1.0, 5.0, 2.0, 10.0], [3.0, 5.0, 2.0, 11.0], [1.0, 6.0, 2.0, 12.0]];
        let rows = rows.map(|row| row.to_vec()).to_vec();
        let set = Set { rows, masks: vec![vec![0.0, 1.0], vec![0.0, 0.0], vec![1.0, 0.0]] };
        let (train, test) = set.split(0).unwrap();
        assert_eq!((train.x(), train.y().unwrap()), (&[1.0, 3.0][..], &[10.0, 11.0][..]));
        assert_eq!((test.x(), test.y().unwrap()), (&[1.0][..], &[12.0][..]));
        assert_eq!(twins(&train, &test), [true]);
        let (train, test) = set.split(1).unwrap();
        assert_eq!((train.x(), test.x()), (&[3.0, 5.0, 1.0, 6.0][..], &[1.0, 5.0][..]));
        assert_eq!(twins(&train, &test), [false]);
        assert!(set.split(2).is_err());
    }
}
