//! Random splits of rows into training and test rows.

use rand::seq::SliceRandom;

use crate::random::{Purpose, stream};
use crate::{Error, Result};

/// The test rows of a split of `n` rows, in ascending order: a random `share` of them.
///
/// # Errors
/// If no row would be left to test or fewer than two to train.
pub fn test_rows(n: usize, share: f64, seed: u64, split: usize) -> Result<Vec<usize>> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::setting("test", format!("{share} must lie between 0 and 1")));
    }
    let count = (share * n as f64).round() as usize;
    if count == 0 || count + 2 > n {
        let problem = format!("{share} of {n} rows are {count}: both parts need some rows");
        return Err(Error::setting("test", problem));
    }
    let mut rows: Vec<usize> = (0..n).collect();
    rows.shuffle(&mut stream(seed, Purpose::Split, split as u64));
    rows.truncate(count);
    rows.sort_unstable();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_repeat_differ_and_have_their_share() {
        let rows = |seed, split| test_rows(50, 0.2, seed, split).unwrap();
        assert_eq!(rows(3, 1), rows(3, 1));
        assert_ne!(rows(3, 1), rows(3, 2));
        assert_ne!(rows(3, 1), rows(4, 1));
        let picked = rows(3, 1);
        assert!(picked.len() == 10 && picked.is_sorted_by(|a, b| a < b) && picked[9] < 50);
    }

    #[test]
    fn a_part_without_rows_is_refused() {
        for (n, share) in [(50, 0.0), (50, 1.0), (50, f64::NAN), (2, 0.1), (3, 0.9), (0, 0.5)] {
            assert!(test_rows(n, share, 0, 0).is_err(), "{n} {share}");
        }
    }
}
