//! Random features weighted by row, and the way back to the hyperparameters.

use super::{Coefs, Rff};
use crate::basis::weighted::{Weighted, scaled};
use crate::basis::{GpGrad, GpParams};
use crate::math::simd::{Level, vectorised};
use crate::math::wide::{Wide, group};
use crate::math::{Lanes, Partial, ROWS, WIDTH, total};
use crate::rows::Rows;

impl Rff {
    pub(in crate::basis) fn weighted(
        &self,
        level: Level,
        g: usize,
        b: usize,
        blocks: usize,
        coefs: &Coefs,
        trig: &[Lanes],
        weight: &Lanes,
        out: &mut [[f64; ROWS]],
    ) {
        let m = self.frequencies();
        let pairs = &trig.as_chunks::<2>().0[g * m..(g + 1) * m];
        for (j, [cos, sin]) in pairs.iter().enumerate() {
            let amplitude = coefs.amplitude[g * m + j];
            scaled(level, cos, amplitude, weight, &mut out[j * blocks + b]);
            scaled(level, sin, amplitude, weight, &mut out[(m + j) * blocks + b]);
        }
    }

    /// For columns C and S of weighted cosines and sines with derivatives dC and dS: the
    /// derivative with respect to the angle `a = sum_i x_i omega_i / ell_i` is `C dS - S dC`, so
    /// `d log ell_i = -sum_m (omega_i / ell_i) sum_n x_i (C dS - S dC)`. All scales are
    /// `sqrt(var / M)`, so `d log var` is half the sum over the features.
    pub(in crate::basis) fn weighted_adjoint(
        &self,
        level: Level,
        p: GpParams<'_>,
        rows: &Rows,
        columns: Weighted<'_>,
        grad: GpGrad<'_>,
    ) {
        let (m, inputs, blocks) = (self.frequencies(), self.inputs, rows.blocks());
        *grad.log_var += 0.5 * columns.by_feature.iter().sum::<f64>();
        let (cos, sin) = columns.value.split_at(m * blocks);
        let (d_cos, d_sin) = columns.adjoint.split_at(m * blocks);
        for (i, d_log_ell) in grad.log_ell.iter_mut().enumerate() {
            let inverse = (-p.log_ell[i]).exp();
            for j in 0..m {
                let mut sum = [0.0; WIDTH];
                for b in 0..blocks {
                    let (at, x) = (j * blocks + b, &rows.block(b)[i]);
                    turn(level, x, &cos[at], &sin[at], &d_cos[at], &d_sin[at], &mut sum);
                }
                *d_log_ell -= self.omega[j * inputs + i] * inverse * total(&sum);
            }
        }
    }
}

vectorised! {
    /// Add `x (cos d_sin - sin d_cos)` of a block's rows.
    fn turn = turn_kernel<wide>(
        x: &Lanes, cos: &[f64; ROWS], sin: &[f64; ROWS], d_cos: &[f64; ROWS],
        d_sin: &[f64; ROWS], sum: &mut Partial,
    );
}

#[inline(always)]
fn turn_kernel<V: Wide>(
    x: &Lanes,
    cos: &[f64; ROWS],
    sin: &[f64; ROWS],
    d_cos: &[f64; ROWS],
    d_sin: &[f64; ROWS],
    sum: &mut Partial,
) {
    let (cos, sin) = (cos.as_chunks::<WIDTH>().0, sin.as_chunks::<WIDTH>().0);
    let (d_cos, d_sin) = (d_cos.as_chunks::<WIDTH>().0, d_sin.as_chunks::<WIDTH>().0);
    let mut all = V::load(sum);
    for i in 0..ROWS / WIDTH {
        let back = V::load(&sin[i]).mul(V::load(&d_cos[i]));
        let ahead = V::load(&cos[i]).mul(V::load(&d_sin[i]));
        all = V::load(group(x, i)).fma(ahead.sub(back), all);
    }
    all.store(sum);
}
