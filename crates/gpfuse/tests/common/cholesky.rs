//! The covariance matrix of an exact GP and its Cholesky factor, entry by entry over [`Dual`]s.

use gpfuse::kernel::Kernel;

use super::dual::{Dual, constant};

/// The covariance of two points at unit variance.
fn covariance(kernel: Kernel, ell: &[Dual], a: &[f64], b: &[f64]) -> Dual {
    let part = |i: usize| (constant(a[i] - b[i]) / ell[i]).square();
    let r2: Dual = (0..ell.len()).map(part).sum();
    // The square root has no slope there; the covariance of a point with itself has: none.
    if r2.value == 0.0 {
        return constant(1.0);
    }
    let r = r2.sqrt();
    match kernel {
        Kernel::Rbf => (-(r2 * 0.5)).exp(),
        Kernel::Matern12 => (-r).exp(),
        Kernel::Matern32 => {
            let q = r * 3.0_f64.sqrt();
            (constant(1.0) + q) * (-q).exp()
        }
        Kernel::Matern52 => {
            let q = r * 5.0_f64.sqrt();
            (constant(1.0) + q + q.square() * (1.0 / 3.0)) * (-q).exp()
        }
    }
}

/// The rows of L, `K + 1e-8 I = L L'`, zeros left out.
pub(crate) fn factor(kernel: Kernel, ell: &[Dual], x: &[Vec<f64>]) -> Vec<Vec<Dual>> {
    let mut rows: Vec<Vec<Dual>> = Vec::new();
    for i in 0..x.len() {
        let mut row: Vec<Dual> = Vec::new();
        for j in 0..i {
            let known: Dual = row.iter().zip(&rows[j]).map(|(a, b)| *a * *b).sum();
            row.push((covariance(kernel, ell, &x[i], &x[j]) - known) / rows[j][j]);
        }
        let known: Dual = row.iter().map(|a| a.square()).sum();
        row.push((constant(1.0 + 1e-8) - known).sqrt());
        rows.push(row);
    }
    rows
}
