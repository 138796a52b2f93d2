//! How long a fit of many rows takes, before anything of it is done.

use super::MOST_EXACT_ROWS;
use crate::gp::factor_seconds;

/// The processor time of a portfolio on many rows with its weights, in Cholesky factors of 512 rows.
const FACTORS: f64 = 190_000.0;
/// What each number of the table adds, for the trees and the search of neighbours.
const FACTORS_A_NUMBER: f64 = 0.04;

/// The seconds that the portfolio and its weights will take on so many rows, by the time of a factor on this machine,
/// within a factor of two on the tables of `bench/results/large.csv`; none where rows are so few that it is soon known.
pub fn expected_seconds(rows: usize, inputs: usize, threads: usize) -> Option<f64> {
    let factors = FACTORS + FACTORS_A_NUMBER * (rows * inputs) as f64;
    (rows > MOST_EXACT_ROWS).then(|| factors * factor_seconds() / threads.clamp(1, 4) as f64)
}
