//! A target given its neighbours, in each of eight GPs: mean, variance and the adjoints of both.
//!
//! With the covariance K of m rows (noise included), their covariances k with one more row, their
//! targets y (less the prior mean) and the variance `v` of the one row: `mean = k'K^-1 y` and
//! `var = v - k'K^-1 k`. With `K = LL'` both are products of `L^-1 k` and `L^-1 y`.
//!
//! **Adjoints.** Let `a = K^-1 k` and `b = K^-1 y`, which two more triangular solves give. Then
//! `d mean = b'dk + a'dy - a'dK b` and `d var = dv - 2 a'dk + a'dK a`. A scalar f with
//! `g = df/d mean` and `h = df/d var` therefore has, with `c = h a - g b`,
//!
//! * `df/dK = (ac' + ca') / 2`, as `dK` is symmetric: two vectors instead of an inverse;
//! * `df/dk = g b - 2 h a = -(c + h a)`, `df/dy = g a`, `df/dv = h`.
//!
//! Where `K = s R + (noise + jitter) I`, `k = s r` and `v = s` (plus the noise), with
//! `tr(K df/dK) = k'c` the sum of all but the noise is `df/d log s = k'c - (noise + jitter) a'c -
//! k'(c + h a) + h s = h (s - k'a) - (noise + jitter) a'c`, in which `s - k'a` is the variance
//! without noise. The noise of the m rows has `df/d noise = a'c`.

use crate::math::batched::{Each, Pair, ZERO};
use crate::math::simd::vectorised;
use crate::math::wide::Wide;

vectorised! {
    /// `k'K^-1 y` and `k'K^-1 k`, of sides `k` and `y` after [`forward`](crate::math::batched::forward).
    pub(super) fn moments = moments_kernel<wide>(sides: &[Pair]) -> Pair;
}

#[inline(always)]
fn moments_kernel<V: Wide>(sides: &[Pair]) -> Pair {
    let (mut mean, mut explained) = (V::splat(0.0), V::splat(0.0));
    for [k, y] in sides {
        let k = V::load(k);
        mean = k.fma(V::load(y), mean);
        explained = k.fma(k, explained);
    }
    let mut both = [ZERO; 2];
    mean.store(&mut both[0]);
    explained.store(&mut both[1]);
    both
}

vectorised! {
    /// The adjoints of K and k, given those of mean and variance (`g` and `h` in the module's header).
    /// `sides` are `a` and `b`, which is what [`backward`](crate::math::batched::backward) leaves, and become `a`
    /// and `c`. `cross` receives `df/dk`. The result is `a'c`, the derivative in the noise.
    pub(super) fn adjoint = adjoint_kernel<wide>(
        sides: &mut [Pair], mean: &Each, var: &Each, cross: &mut [Each],
    ) -> Each;
}

#[inline(always)]
fn adjoint_kernel<V: Wide>(
    sides: &mut [Pair],
    mean: &Each,
    var: &Each,
    cross: &mut [Each],
) -> Each {
    let (g, h, minus) = (V::load(mean), V::load(var), V::splat(-1.0));
    let mut product = V::splat(0.0);
    for ([a, b], cross) in sides.iter_mut().zip(cross) {
        let a = V::load(a);
        let share = h.mul(a);
        let c = share.sub(g.mul(V::load(b)));
        c.store(b);
        c.add(share).mul(minus).store(cross);
        product = a.fma(c, product);
    }
    let mut total = ZERO;
    product.store(&mut total);
    total
}
