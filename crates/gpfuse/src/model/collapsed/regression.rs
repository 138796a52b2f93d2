//! The regression `z = F theta + e`, `theta ~ N(0, I)`, `e ~ N(0, I)`: its evidence, the law of
//! theta given z, and the derivatives of its determinant.
//!
//! Given z, theta is normal with precision `A = I + F'F` and mean `A^-1 F'z`. With more features
//! than rows the same is had from `C = I + F F'`: `det C = det A` (Sylvester),
//! `A^-1 F' = F' C^-1` and `F A^-1 = C^-1 F`. The smaller of the two matrices is factored.
//!
//! A mean is refined once by its own residual: A is as badly conditioned as F squared, and with
//! the residual from F itself the mean is nearly as good as by orthogonal factors (Björck 1996,
//! *Numerical Methods for Least Squares Problems*, section 6.6.5).

use faer::linalg::cholesky::llt::factor::cholesky_in_place;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as matmul_structured};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::memory::Memory;
use crate::math::{Lanes, ROWS};

/// Which matrix is factored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum Form {
    /// `A = I + F'F`.
    Features,
    /// `C = I + F F'`.
    Rows,
}

/// A regression with room to solve it again and again.
#[derive(Debug, Clone)]
pub(in crate::model) struct Regression {
    form: Form,
    rows: usize,
    features: usize,
    /// Whole blocks of rows.
    stride: usize,
    /// F by column, its last rows zero.
    pub(in crate::model) columns: Vec<f64>,
    /// The targets z, the last numbers zero.
    pub(in crate::model) target: Vec<f64>,
    /// The derivatives of `-log(det A) / 2` with respect to F.
    pub(in crate::model) adjoint: Vec<f64>,
    /// The mean of theta, or a draw.
    pub(in crate::model) theta: Vec<f64>,
    /// A or C, and then its L; of either only the lower triangle.
    factor: Vec<f64>,
    /// `L^-1`.
    half: Vec<f64>,
    /// `F L^-T`.
    whitened: Vec<f64>,
    /// The target, one number per row.
    wanted: Vec<f64>,
    /// A residual, one number per row.
    residual: Vec<f64>,
    /// One number per row or column of the factor.
    step: Vec<f64>,
    solution: Vec<f64>,
    memory: Memory,
}

impl Regression {
    /// Room for a regression of `rows` rows on `features` features.
    pub(in crate::model) fn new(rows: usize, features: usize) -> Regression {
        let form = if features > rows { Form::Rows } else { Form::Features };
        Regression::with_form(rows, features, form)
    }

    pub(in crate::model) fn with_form(rows: usize, features: usize, form: Form) -> Regression {
        let stride = rows.next_multiple_of(ROWS);
        let (size, square, other) = match form {
            Form::Features => (features, features * features, features * stride),
            Form::Rows => (rows, 0, 0),
        };
        let zeros = |n: usize| vec![0.0; n];
        Regression {
            form,
            rows,
            features,
            stride,
            columns: zeros(features * stride),
            target: zeros(stride),
            adjoint: zeros(features * stride),
            theta: zeros(features),
            factor: zeros(size * size),
            half: zeros(square),
            whitened: zeros(other),
            wanted: zeros(rows),
            residual: zeros(rows),
            step: zeros(size),
            solution: zeros(size),
            memory: Memory::new(size),
        }
    }

    /// Factor the matrix and leave the mean of theta given z in `theta`; half the log
    /// determinant, or nothing where numbers are too large for a factor.
    pub(in crate::model) fn solve(&mut self) -> Option<f64> {
        let size = self.step.len();
        let f = view(&self.columns, self.rows, self.features, self.stride);
        let (left, right) = match self.form {
            Form::Features => (f.transpose(), f),
            Form::Rows => (f, f.transpose()),
        };
        let mut factor = MatMut::from_column_major_slice_mut(&mut self.factor, size, size);
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let to = factor.as_mut();
        matmul_structured(to, lower, Accum::Replace, left, full, right, full, 1.0, Par::Seq);
        for i in 0..size {
            factor[(i, i)] += 1.0;
        }
        let (stack, usual) = (self.memory.stack(), Default::default());
        if cholesky_in_place(factor, usual, Par::Seq, stack, Default::default()).is_err() {
            self.orthogonal()?;
        }
        let diagonal = (0..size).map(|i| self.factor[i * (size + 1)]);
        let half_log_det: f64 = diagonal.map(f64::ln).sum();
        self.wanted.copy_from_slice(&self.target[..self.rows]);
        self.regress();
        let finite = half_log_det.is_finite() && self.theta.iter().all(|t| t.is_finite());
        finite.then_some(half_log_det)
    }

    /// The factor by a QR decomposition of F (or F') with ones below it, whose R'R is the matrix:
    /// where rounding leaves no Cholesky factor of it. That squares precisions and loses the ones
    /// beside 1e16; this does not.
    fn orthogonal(&mut self) -> Option<()> {
        let size = self.step.len();
        let f = view(&self.columns, self.rows, self.features, self.stride);
        let f = if self.form == Form::Features { f } else { f.transpose() };
        let tall = Mat::from_fn(f.nrows() + size, size, |i, j| match i.checked_sub(f.nrows()) {
            None => f[(i, j)],
            Some(i) => f64::from(u8::from(i == j)),
        });
        if !tall.is_all_finite() {
            return None;
        }
        let qr = tall.qr();
        let r = qr.thin_R();
        for j in 0..size {
            for i in j..size {
                self.factor[j * size + i] = r[(j, i)] * r[(j, j)].signum();
            }
        }
        Some(())
    }

    /// Leave a draw of theta given z in `theta`, from its law `u + A^-1 F'(z - F u - e)` with u
    /// and e standard normal (Matheron's rule); after [`Regression::solve`].
    pub(in crate::model) fn draw(&mut self, mut normal: impl FnMut() -> f64) -> Option<()> {
        let u: Vec<f64> = (0..self.features).map(|_| normal()).collect();
        for (wanted, z) in self.wanted.iter_mut().zip(&self.target) {
            *wanted = z - normal();
        }
        let f = view(&self.columns, self.rows, self.features, self.stride);
        multiply(&mut self.wanted, Accum::Add, f, &u, -1.0);
        self.regress();
        self.theta.iter_mut().zip(&u).for_each(|(t, u)| *t += u);
        self.theta.iter().all(|t| t.is_finite()).then_some(())
    }

    /// `theta = A^-1 F' wanted`.
    fn regress(&mut self) {
        let Regression { wanted, residual, step, solution, theta, .. } = self;
        let size = step.len();
        let f = view(&self.columns, self.rows, self.features, self.stride);
        let factor = MatRef::from_column_major_slice(&self.factor, size, size);
        solution.fill(0.0);
        theta.fill(0.0);
        for _ in 0..2 {
            residual.copy_from_slice(wanted);
            multiply(residual, Accum::Add, f, theta, -1.0);
            match self.form {
                Form::Features => multiply(step, Accum::Replace, f.transpose(), residual, 1.0),
                Form::Rows => step.copy_from_slice(residual),
            }
            step.iter_mut().zip(&*solution).for_each(|(s, known)| *s -= known);
            let mut rhs = MatMut::from_column_major_slice_mut(step, size, 1);
            solve_lower_triangular_in_place(factor, rhs.as_mut(), Par::Seq);
            solve_upper_triangular_in_place(factor.transpose(), rhs, Par::Seq);
            solution.iter_mut().zip(&*step).for_each(|(known, s)| *known += s);
            match self.form {
                Form::Features => theta.copy_from_slice(solution),
                Form::Rows => multiply(theta, Accum::Replace, f.transpose(), solution, 1.0),
            }
        }
    }

    /// Means and variances of `new theta` given z for a block of new rows, (features, [`ROWS`]);
    /// after [`Regression::solve`]. `new` is overwritten.
    ///
    /// The variance of a row f is `f'A^-1 f = |L^-1 f|^2`. From C it is not had as the difference
    /// `|f|^2 - f'F'C^-1 F f`, of which little would be left where the data say much, but as
    /// `|f - F'u|^2 + |u|^2` with `u = C^-1 F f`, because `A^-1 = A^-1 (I + F'F) A^-1` and
    /// `F A^-1 = C^-1 F`. That is never negative, and as u is where it is smallest, the rounding of
    /// u counts but squared.
    pub(super) fn predict(&self, new: &mut [f64], mean: &mut Lanes, variance: &mut Lanes) {
        let size = self.step.len();
        let factor = MatRef::from_column_major_slice(&self.factor, size, size);
        let mut part = view_mut(new, ROWS, self.features, ROWS);
        multiply(&mut mean[..], Accum::Replace, part.as_ref(), &self.theta, 1.0);
        variance.fill(0.0);
        match self.form {
            Form::Features => {
                solve_lower_triangular_in_place(factor, part.transpose_mut(), Par::Seq);
            }
            Form::Rows => {
                let f = view(&self.columns, self.rows, self.features, self.stride);
                let mut u = vec![0.0; size * ROWS];
                let mut to = view_mut(&mut u, ROWS, size, ROWS);
                matmul(to.as_mut(), Accum::Replace, part.as_ref(), f.transpose(), 1.0, Par::Seq);
                solve_lower_triangular_in_place(factor, to.as_mut().transpose_mut(), Par::Seq);
                let back = factor.transpose();
                solve_upper_triangular_in_place(back, to.as_mut().transpose_mut(), Par::Seq);
                matmul(part.as_mut(), Accum::Add, to.as_ref(), f, -1.0, Par::Seq);
                add_squares(&u, variance);
            }
        }
        add_squares(new, variance);
    }

    /// Leave the derivatives of `-log(det A) / 2` with respect to F, which are `-F A^-1`, in
    /// `adjoint`; after [`Regression::solve`]. By way of `F L^-T`, whose rows are no longer than
    /// one, and never `A^-1` itself, which would lose the digits of large precisions.
    pub(in crate::model) fn differentiate(&mut self) {
        let (size, stride) = (self.step.len(), self.stride);
        let factor = MatRef::from_column_major_slice(&self.factor, size, size);
        let f = view(&self.columns, self.rows, self.features, stride);
        match self.form {
            Form::Features => {
                let to = MatMut::from_column_major_slice_mut(&mut self.half, size, size);
                invert_lower_triangular(to, factor, Par::Seq);
                let half = MatRef::from_column_major_slice(&self.half, size, size);
                let (up, low) = (BlockStructure::TriangularUpper, BlockStructure::TriangularLower);
                let (full, set) = (BlockStructure::Rectangular, Accum::Replace);
                let mut w = view_mut(&mut self.whitened, self.rows, self.features, stride);
                let to = w.as_mut();
                matmul_structured(to, full, set, f, full, half.transpose(), up, 1.0, Par::Seq);
                let to = view_mut(&mut self.adjoint, self.rows, self.features, stride);
                matmul_structured(to, full, set, w.as_ref(), full, half, low, -1.0, Par::Seq);
            }
            Form::Rows => {
                self.adjoint.iter_mut().zip(&self.columns).for_each(|(d, f)| *d = -f);
                let mut out = view_mut(&mut self.adjoint, self.rows, self.features, stride);
                solve_lower_triangular_in_place(factor, out.as_mut(), Par::Seq);
                solve_upper_triangular_in_place(factor.transpose(), out, Par::Seq);
            }
        }
    }
}

fn view(v: &[f64], rows: usize, columns: usize, stride: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice_with_stride(v, rows, columns, stride)
}

fn view_mut(v: &mut [f64], rows: usize, columns: usize, stride: usize) -> MatMut<'_, f64> {
    MatMut::from_column_major_slice_with_stride_mut(v, rows, columns, stride)
}

/// Add the squares of some numbers of each row of a block, (numbers, [`ROWS`]).
fn add_squares(numbers: &[f64], sum: &mut Lanes) {
    for column in numbers.as_chunks::<ROWS>().0 {
        for (sum, v) in sum.iter_mut().zip(column) {
            *sum += v * v;
        }
    }
}

/// `out = factor m x`, or the same added to `out`.
fn multiply(out: &mut [f64], accum: Accum, m: MatRef<'_, f64>, x: &[f64], factor: f64) {
    let rows = out.len();
    let out = MatMut::from_column_major_slice_mut(out, rows, 1);
    let x = MatRef::from_column_major_slice(x, x.len(), 1);
    matmul(out, accum, m, x, factor, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    /// The factor by QR is that by Cholesky, where there is one.
    #[test]
    fn both_factors_agree() {
        for (form, (rows, features)) in [Form::Features, Form::Rows]
            .into_iter()
            .flat_map(|form| [(1, 1), (5, 3), (3, 5), (70, 9)].map(|shape| (form, shape)))
        {
            let mut r = Regression::with_form(rows, features, form);
            let mut rng = stream(4, Purpose::Simulate, (rows * features) as u64);
            let stride = r.stride;
            for at in (0..features).flat_map(|j| (0..rows).map(move |i| j * stride + i)) {
                r.columns[at] = 2.0 * rng.random::<f64>() - 1.0;
            }
            r.solve().unwrap();
            let (size, cholesky) = (r.step.len(), r.factor.clone());
            r.orthogonal().unwrap();
            for (i, j) in (0..size).flat_map(|j| (j..size).map(move |i| (i, j))) {
                let (a, b) = (cholesky[j * size + i], r.factor[j * size + i]);
                assert!((a - b).abs() < 1e-12 * a.abs().max(1.0), "{i}, {j}: {a}, {b}");
            }
        }
    }

    /// Both forms of one regression have the same determinant, mean, derivatives, predictions and,
    /// from the same normal numbers, draws.
    #[test]
    fn both_forms_agree() {
        for (rows, features) in [(1, 1), (1, 5), (5, 1), (70, 9), (9, 70), (64, 64), (130, 40)] {
            let mut rng = stream(3, Purpose::Simulate, (rows * features) as u64);
            let mut number = || 2.0 * rng.random::<f64>() - 1.0;
            let mut forms = [Form::Features, Form::Rows]
                .map(|form| Regression::with_form(rows, features, form));
            let stride = forms[0].stride;
            for row in 0..rows {
                let z = number();
                forms.iter_mut().for_each(|r| r.target[row] = z);
                for j in 0..features {
                    let f = number();
                    forms.iter_mut().for_each(|r| r.columns[j * stride + row] = f);
                }
            }
            let normals: Vec<f64> = (0..rows + features).map(|_| number()).collect();
            let [a, b] = forms.map(|mut r| {
                let half_log_det = r.solve().unwrap();
                r.differentiate();
                let mut all = vec![half_log_det];
                all.extend_from_slice(&r.theta);
                let mut normal = normals.iter();
                let (mut mean, mut variance) = (Lanes::splat(0.0), Lanes::splat(0.0));
                let mut new: Vec<f64> = (0..features * ROWS).map(|i| (i as f64).sin()).collect();
                r.predict(&mut new, &mut mean, &mut variance);
                all.extend_from_slice(&mean[..]);
                all.extend_from_slice(&variance[..]);
                r.draw(|| *normal.next().unwrap()).unwrap();
                assert!(normal.next().is_none());
                [all, r.theta, r.adjoint].concat()
            });
            assert!(a.iter().any(|v| *v != 0.0));
            for (i, (a, b)) in a.iter().zip(&b).enumerate() {
                assert!((a - b).abs() < 1e-12, "{rows} x {features}, {i}: {a} {b}");
            }
        }
    }
}
