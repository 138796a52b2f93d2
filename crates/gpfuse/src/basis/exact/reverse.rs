//! The way back: from derivatives with respect to values at the anchors to those with respect
//! to a GP's parameters.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{MatMut, MatRef, Par};

use super::{Cache, Coefs, Exact, Work, gram};
use crate::basis::{Adjoints, GpGrad, GpParams};
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS, WIDTH, total};
use crate::rows::Rows;

impl Exact {
    /// Keep the derivatives with respect to the values at the anchors.
    pub(in crate::basis) fn adjoint(
        &self,
        rows: &Rows,
        b: usize,
        cache: &Cache,
        d_f: &[Lanes],
        out: &mut Adjoints,
    ) {
        let n = self.anchors();
        let places = &cache.places[b * ROWS..b * ROWS + rows.filled(b)];
        for (g, d_f) in d_f.iter().enumerate() {
            for (place, d) in places.iter().zip(d_f.iter()) {
                if let Some(a) = place {
                    out.coef[g * n + a][0] += d;
                }
            }
        }
    }

    /// With the derivatives df at the anchors and `u = L' df`: `d theta = sqrt(var) u`,
    /// `d log var = df . f / 2` and `dL = sqrt(var) df theta'` on and below the diagonal. The
    /// reverse of the Cholesky decomposition (Murray 2016, *Differentiation of the Cholesky
    /// decomposition*) is `dK = L^-T P L^-1`, where P is the lower triangle of `L' dL` with its
    /// diagonal halved. Here P is that of `sqrt(var) u theta'`, because below the diagonal
    /// `L' dL` only sums over what both triangles have: so `P L^-1` takes running sums down the
    /// columns of `L^-1` in place of a matrix product.
    ///
    /// The adjoint of K is as large as `L^-1` squared, and cancels in the sums with the slopes
    /// of k: where rows crowd within a lengthscale of a smooth kernel, and the jitter is all
    /// that keeps K regular, the derivatives with respect to ell have about five digits.
    pub(in crate::basis) fn finish(
        &self,
        level: Level,
        g: usize,
        p: GpParams<'_>,
        coefs: &Coefs,
        sums: &Adjoints,
        work: &mut Work,
        grad: GpGrad<'_>,
    ) {
        let (n, d) = (self.anchors(), self.inputs);
        let square = g * n * n..(g + 1) * n * n;
        let (gram, factor) = (&coefs.gram[square.clone()], &coefs.factor[square]);
        let (scale, inverse) = (coefs.scale[g], &coefs.inverse[g * d..(g + 1) * d]);
        let Work { factor: d_k, value: u, column, distance, moment, .. } = work;
        for (a, d_f) in sums.coef[g * n..(g + 1) * n].iter().enumerate() {
            column[a] = total(d_f);
            *grad.log_var += 0.5 * column[a] * coefs.value[g * n + a];
        }
        for j in 0..n {
            u[j] = scale * dot(&factor[j * n + j..(j + 1) * n], &column[j..]);
            grad.theta[j] += u[j];
        }
        let lower = MatRef::from_column_major_slice(factor, n, n);
        invert_lower_triangular(MatMut::from_column_major_slice_mut(d_k, n, n), lower, Par::Seq);
        for j in 0..n {
            let (above, below) = d_k[j * n..(j + 1) * n].split_at_mut(j);
            above.fill(0.0);
            let mut sum = 0.0;
            for ((v, u), theta) in below.iter_mut().zip(&u[j..]).zip(&p.theta[j..]) {
                let term = theta * *v;
                *v = u * (sum + 0.5 * term);
                sum += term;
            }
        }
        let rhs = MatMut::from_column_major_slice_mut(d_k, n, n);
        solve_upper_triangular_in_place(lower.transpose(), rhs, Par::Seq);
        moment.fill(0.0);
        for b in 1..n {
            for a in 0..b {
                column[a] = (d_k[b * n + a] + d_k[a * n + b]) * gram[b * n + a];
            }
            let (weight, r2) = (&mut column[..b], &mut distance[..b]);
            gram::stretch(level, self.kernel, self.all(), b, inverse, weight, r2, moment);
        }
        for (d, moment) in grad.log_ell.iter_mut().zip(moment.chunks(n)) {
            *d += moment.iter().sum::<f64>();
        }
    }
}

/// The sum of products, in several parts.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<WIDTH>(), b.as_chunks::<WIDTH>());
    let mut sum = [0.0; WIDTH];
    for (a, b) in a.iter().zip(b) {
        for i in 0..WIDTH {
            sum[i] += a[i] * b[i];
        }
    }
    total(&sum) + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}
