//! How many eigenfunctions a mean needs: as many as the evidence asks for.
//!
//! With eigenvalues `lambda_j` of the pilot's covariance of n rows, `b_j` the target along each
//! eigenvector, and the first J functions kept, the covariance of the target is about
//! `lambda_j + t` along the first and t along the others, `t = noise + sum_{j > J} lambda_j / n`: what is
//! left out counts as noise. Its log evidence is
//! `-sum_j (b_j^2 / v_j + log v_j) / 2`. J is the least for which a row loses at most
//! [`LOSS`] nats against all of them.

/// The most that leaving functions out may cost, in nats per row.
const LOSS: f64 = 0.001;
/// The fewest functions.
const FEWEST: usize = 150;
/// The most functions, where rows are few.
const MOST: usize = 600;
/// The most numbers in the matrix of functions at rows: 400 MB.
const LARGEST_MATRIX: usize = 50_000_000;

/// The most functions for `rows` rows.
pub(super) fn limit(rows: usize) -> usize {
    MOST.min(LARGEST_MATRIX / rows).max(FEWEST)
}

/// The number of functions for eigenvalues, falling, and the target along their vectors.
pub(super) fn choose(values: &[f64], along: &[f64], noise: f64) -> usize {
    let n = values.len() as f64;
    let square: Vec<f64> = along.iter().map(|b| b * b).collect();
    let mut left: f64 = values.iter().sum();
    let mut rest: f64 = square.iter().sum();
    // For each number of functions, what is left out and the squares along it.
    let mut sums = Vec::with_capacity(values.len() + 1);
    for j in 0..=values.len() {
        sums.push((left.max(0.0) / n, rest.max(0.0)));
        if j < values.len() {
            (left, rest) = (left - values[j], rest - square[j]);
        }
    }
    let evidence = |kept: usize| {
        let t = noise + sums[kept].0;
        let known: f64 =
            (0..kept).map(|j| square[j] / (values[j] + t) + (values[j] + t).ln()).sum();
        -0.5 * (known + sums[kept].1 / t + (n - kept as f64) * t.ln())
    };
    let all = evidence(values.len());
    let enough = |kept: usize| evidence(kept) >= all - LOSS * n;
    // What more functions lose is nothing, so the least is found by halving.
    let (mut low, mut high) = (FEWEST.min(values.len()), values.len());
    while low < high {
        let middle = (low + high) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    high
}
