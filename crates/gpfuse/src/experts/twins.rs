//! Rows that occur more than once.
//!
//! A row that has a copy among the others is not left out by leaving it out alone. But rows with the same
//! inputs need not be copies: where inputs are levels, they are repeated measurements, which new rows will
//! have among the training rows too. So rows with the same inputs are twins only where nearly all of such
//! pairs have the same target as well. Whether they are is decided for the table, not row by row: that would
//! leave out rows by their targets.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

/// The least share of pairs with the same inputs that have the same target, where they are copies.
const COPIES: f64 = 0.9;
/// The largest share of all pairs of rows with the same target, where it is no chance if their inputs are the same too.
const CHANCE: f64 = 0.05;

/// A print of the inputs of each row, and one of its inputs and target: the same numbers have the same print, and
/// others the same one only by a chance of n^2 / 2^65 in n rows. `x` is row-major with `inputs` columns, and `y` the
/// target.
pub fn prints(x: &[f64], inputs: usize, y: &[f64]) -> (Vec<u64>, Vec<u64>) {
    let each = |(x, y): (&[f64], &f64)| {
        let mut hasher = DefaultHasher::new();
        // Adding 0 makes one number of -0 and 0.
        x.iter().for_each(|v| hasher.write_u64((v + 0.0).to_bits()));
        let of_inputs = hasher.finish();
        hasher.write_u64((y + 0.0).to_bits());
        (of_inputs, hasher.finish())
    };
    x.chunks(inputs).zip(y).map(each).unzip()
}

/// Whether rows with the same inputs are copies, by the [`prints`] of all rows.
pub fn are_copies(of_inputs: Vec<u64>, of_rows: Vec<u64>) -> bool {
    pairs(of_rows) as f64 >= COPIES * pairs(of_inputs) as f64
}

/// The number of pairs that are the same.
fn pairs(mut prints: Vec<u64>) -> usize {
    prints.sort_unstable();
    prints.chunk_by(|a, b| a == b).map(|same| same.len() * (same.len() - 1) / 2).sum()
}

/// A number for each row, the same for twins: that of the first of them, from 0. `x` is row-major with
/// `inputs` columns, and `y` the target.
pub fn twins(x: &[f64], inputs: usize, y: &[f64]) -> Vec<usize> {
    let (of_inputs, of_rows) = prints(x, inputs, y);
    if !are_copies(of_inputs.clone(), of_rows) {
        return (0..y.len()).collect();
    }
    let mut first = HashMap::new();
    let each = of_inputs.into_iter().enumerate();
    each.map(|(row, print)| *first.entry(print).or_insert(row)).collect()
}

/// How many rows are copies of an earlier one, in all inputs and the target; none where few values make equal targets
/// common, so that chance may have made them equal.
pub fn copies(x: &[f64], inputs: usize, y: &[f64]) -> usize {
    let rows = y.len() as f64;
    let targets = y.iter().map(|v| (v + 0.0).to_bits()).collect();
    if 2.0 * pairs(targets) as f64 > CHANCE * rows * (rows - 1.0) {
        return 0;
    }
    let mut seen = HashSet::new();
    prints(x, inputs, y).1.into_iter().filter(|print| !seen.insert(*print)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_twins_and_repeated_measurements_are_not() {
        let x = [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, -0.0, 0.0, 0.0, -0.0];
        assert_eq!(twins(&x, 2, &[5.0, 6.0, 5.0, 7.0, 7.0]), [0, 1, 0, 3, 3]);
        assert_eq!(twins(&x, 2, &[5.0, 6.0, 5.5, 7.0, 7.0]), [0, 1, 2, 3, 4]);
        assert_eq!(twins(&x, 5, &[5.0, 5.0]), [0, 1]);
        let x: Vec<f64> = (0..300).map(|i| f64::from(i / 3)).collect();
        let second = |i: i32| if i % 3 == 1 { i - 1 } else { i };
        let y: Vec<f64> = (0..300).map(|i| f64::from(second(i))).collect();
        assert_eq!(copies(&x, 1, &y), 100);
        assert_eq!(copies(&x, 1, &y.iter().map(|y| y % 7.0).collect::<Vec<f64>>()), 0);
    }
}
