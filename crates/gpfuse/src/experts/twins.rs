//! Rows that occur more than once.
//!
//! A row that has a copy among the others is not left out by leaving it out alone. But rows with the same
//! inputs need not be copies: where inputs are levels, they are repeated measurements, which new rows will
//! have among the training rows too. So rows with the same inputs are twins only where nearly all of such
//! pairs have the same target as well. Whether they are is decided for the table, not row by row: that would
//! leave out rows by their targets.

use std::collections::{HashMap, HashSet};

/// The least share of pairs with the same inputs that have the same target, where they are copies.
const COPIES: f64 = 0.9;
/// The largest share of all pairs of rows with the same target, where it is no chance if their inputs are the same too.
const CHANCE: f64 = 0.05;

/// A number for each row, the same for twins: that of the first of them, from 0. `x` is row-major with
/// `inputs` columns, and `y` the target.
pub fn twins(x: &[f64], inputs: usize, y: &[f64]) -> Vec<usize> {
    let mut groups: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    for (row, values) in x.chunks(inputs).enumerate() {
        // Adding 0 makes one number of -0 and 0.
        let key = values.iter().map(|v| (v + 0.0).to_bits()).collect();
        groups.entry(key).or_default().push(row);
    }
    let (mut pairs, mut same) = (0_usize, 0_usize);
    for rows in groups.values() {
        pairs += rows.len() * (rows.len() - 1) / 2;
        let mut targets: HashMap<u64, usize> = HashMap::new();
        rows.iter().for_each(|r| *targets.entry((y[*r] + 0.0).to_bits()).or_default() += 1);
        same += targets.values().map(|n| n * (n - 1) / 2).sum::<usize>();
    }
    let mut out: Vec<usize> = (0..y.len()).collect();
    if same as f64 >= COPIES * pairs as f64 {
        for rows in groups.values() {
            rows.iter().for_each(|r| out[*r] = rows[0]);
        }
    }
    out
}

/// How many rows are copies of an earlier one, in all inputs and the target; none where few values make equal targets
/// common, so that chance may have made them equal.
pub fn copies(x: &[f64], inputs: usize, y: &[f64]) -> usize {
    let bits =
        |values: &[f64]| -> Vec<u64> { values.iter().map(|v| (v + 0.0).to_bits()).collect() };
    let mut times: HashMap<u64, f64> = HashMap::new();
    bits(y).into_iter().for_each(|y| *times.entry(y).or_default() += 1.0);
    let rows = y.len() as f64;
    if times.values().map(|n| n * (n - 1.0)).sum::<f64>() > CHANCE * rows * (rows - 1.0) {
        return 0;
    }
    let mut seen = HashSet::new();
    let both = x.chunks(inputs).zip(y.chunks(1));
    both.filter(|(x, y)| !seen.insert((bits(x), bits(y)))).count()
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
