//! The Cholesky factor of a covariance, its solves and its inverse, all in place.

use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, MatMut, MatRef, Par};

/// What is added to the diagonal, in shares of its mean: see the module's header.
pub(super) const JITTERS: [f64; 6] = [0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6];

/// A square matrix by column, of which only the lower triangle counts.
pub(super) fn view(matrix: &[f64], rows: usize, stride: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice_with_stride(matrix, rows, rows, stride)
}

/// Room that [`factor`] needs.
pub(super) fn scratch(rows: usize) -> MemBuffer {
    MemBuffer::new(cholesky_in_place_scratch::<f64>(rows, Par::Seq, Default::default()))
}

/// Turn a covariance into its Cholesky factor L. `fill` writes the covariance with the diagonal
/// it is given; it is called again for each larger jitter. The jitter that was needed, or the row
/// at which even the largest failed.
pub(super) fn factor(
    matrix: &mut [f64],
    rows: usize,
    stride: usize,
    diagonal: f64,
    scratch: &mut MemBuffer,
    mut fill: impl FnMut(&mut [f64], f64),
) -> Result<f64, usize> {
    let mut row = 0;
    for share in JITTERS {
        let jitter = share * diagonal;
        fill(matrix, diagonal + jitter);
        let view = MatMut::from_column_major_slice_with_stride_mut(matrix, rows, rows, stride);
        let stack = MemStack::new(scratch);
        let done = cholesky_in_place(view, Default::default(), Par::Seq, stack, Default::default());
        match done {
            // The factorisation lets a NaN pass as a positive pivot.
            Ok(_) if matrix[(rows - 1) * (stride + 1)] > 0.0 => return Ok(jitter),
            Ok(_) => {}
            Err(faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index }) => {
                row = index;
            }
        }
    }
    Err(row)
}

/// The seconds of a factor of 512 rows on one processor of this machine, the best of a few.
pub(crate) fn factor_seconds() -> f64 {
    const ROWS: usize = 512;
    let (mut matrix, mut scratch) = (vec![0.0; ROWS * ROWS], scratch(ROWS));
    let times = (0..5).map(|_| {
        let begun = Instant::now();
        let identity = |matrix: &mut [f64], diagonal: f64| {
            matrix.fill(0.0);
            matrix.iter_mut().step_by(ROWS + 1).for_each(|v| *v = diagonal);
        };
        let _ = factor(&mut matrix, ROWS, ROWS, 1.0, &mut scratch, identity);
        begun.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// `log det L`.
pub(super) fn half_log_det(l: &[f64], rows: usize, stride: usize) -> f64 {
    (0..rows).map(|i| l[i * (stride + 1)].ln()).sum()
}

/// `rhs := L^-1 rhs`, for right-hand sides one after another at the matrix's stride.
pub(super) fn solve_lower(l: &[f64], rows: usize, stride: usize, rhs: &mut [f64]) {
    let columns = rhs.len() / stride;
    let rhs = MatMut::from_column_major_slice_with_stride_mut(rhs, rows, columns, stride);
    solve_lower_triangular_in_place(view(l, rows, stride), rhs, Par::Seq);
}

/// `rhs := K^-1 rhs`.
pub(super) fn solve(l: &[f64], rows: usize, stride: usize, rhs: &mut [f64]) {
    solve_lower(l, rows, stride, rhs);
    let columns = rhs.len() / stride;
    let rhs = MatMut::from_column_major_slice_with_stride_mut(rhs, rows, columns, stride);
    solve_upper_triangular_in_place(view(l, rows, stride).transpose(), rhs, Par::Seq);
}

/// `L^-1`, lower triangular, into `out`.
pub(super) fn invert_factor(l: &[f64], rows: usize, stride: usize, out: &mut [f64]) {
    let to = MatMut::from_column_major_slice_with_stride_mut(out, rows, rows, stride);
    invert_lower_triangular(to, view(l, rows, stride), Par::Seq);
}

/// The lower triangle of `K^-1 = L^-T L^-1` over L itself, by way of `L^-1` in `half`.
pub(super) fn invert(l: &mut [f64], rows: usize, stride: usize, half: &mut [f64]) {
    invert_factor(l, rows, stride, half);
    let half = view(half, rows, stride);
    matmul(
        MatMut::from_column_major_slice_with_stride_mut(l, rows, rows, stride),
        BlockStructure::TriangularLower,
        Accum::Replace,
        half.transpose(),
        BlockStructure::TriangularUpper,
        half,
        BlockStructure::TriangularLower,
        1.0,
        Par::Seq,
    );
}
