//! Random Fourier features: `phi = [cos a, sin a] / sqrt(M)`, `a = x . (omega / ell)`.
//!
//! The features approximate a stationary kernel by Bochner's theorem (Rahimi and Recht, 2007):
//! with omega drawn from the spectral density of the unit-lengthscale kernel,
//! `phi(x) . phi(x')` is an unbiased estimate of `k(x, x') / var`. The scale is `sqrt(var)`.
//! The frequencies are drawn once and then fixed; `ell` stretches all of them.

use serde::{Deserialize, Serialize};

use super::frequencies::{self, Scheme};
use super::{Coefs, GpGrad, GpParams, Work};
use crate::kernel::Kernel;
use crate::math::elementary::MAX_PHASE;
use crate::math::simd::{Level, vectorised};
use crate::math::wide::{Wide, group};
use crate::math::{Lanes, Partial, ROWS, WIDTH, fma, sin_cos, total};
use crate::{Error, Result};

/// A random-feature basis: its kernel and base frequencies, shared by all GPs of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rff {
    kernel: Kernel,
    inputs: usize,
    omega: Vec<f64>,
}

impl Rff {
    /// With `m` frequencies drawn by `scheme`.
    pub fn draw(kernel: Kernel, scheme: Scheme, m: usize, inputs: usize, seed: u64) -> Result<Rff> {
        Rff::new(kernel, frequencies::draw(kernel, scheme, m, inputs, seed), inputs)
    }

    /// With given base frequencies, row-major (M, inputs), of the unit-lengthscale kernel.
    pub fn new(kernel: Kernel, omega: Vec<f64>, inputs: usize) -> Result<Rff> {
        if inputs == 0 || omega.is_empty() || !omega.len().is_multiple_of(inputs) {
            let problem = format!(
                "{} numbers do not make rows of {inputs}: give at least one frequency, \
                 with one number per input",
                omega.len()
            );
            return Err(Error::setting("frequencies", problem));
        }
        if let Some(at) = omega.iter().position(|w| !w.is_finite()) {
            let problem = format!("frequency {} is {}", at / inputs + 1, omega[at]);
            return Err(Error::setting("frequencies", problem));
        }
        Ok(Rff { kernel, inputs, omega })
    }

    /// The number of frequencies M; there are 2 M features.
    pub fn frequencies(&self) -> usize {
        self.omega.len() / self.inputs
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The kernel that the features approximate.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The base frequencies, row-major (M, inputs).
    pub fn omega(&self) -> &[f64] {
        &self.omega
    }

    /// `sqrt(var / M)`: the scale with the features' own `1 / sqrt(M)`.
    fn amplitude(&self, log_var: f64) -> f64 {
        (0.5 * log_var).exp() / (self.frequencies() as f64).sqrt()
    }

    pub(super) fn prepare(&self, g: usize, p: GpParams<'_>, coefs: &mut Coefs) {
        let features = 2 * self.frequencies();
        let amplitude = self.amplitude(p.log_var);
        for (c, t) in coefs.coef[g * features..].iter_mut().zip(p.theta) {
            *c = amplitude * t;
        }
        let len = self.omega.len();
        let freq = &mut coefs.freq[g * len..(g + 1) * len];
        for i in 0..self.inputs {
            let inverse = (-p.log_ell[i]).exp();
            let own = self.omega.iter().skip(i).step_by(self.inputs);
            for (scaled, omega) in freq.iter_mut().skip(i).step_by(self.inputs).zip(own) {
                *scaled = omega * inverse;
            }
        }
    }

    pub(super) fn forward(
        &self,
        level: Level,
        x: &[Lanes],
        reach: &[f64],
        coefs: &Coefs,
        work: &mut Work,
        f: &mut [Lanes],
    ) {
        let (keep, Coefs { coef, freq, .. }) = (!work.d_coef.is_empty(), coefs);
        forward(level, x, reach, self.frequencies(), freq, coef, &mut work.trig, keep, f);
    }

    pub(super) fn adjoint(
        &self,
        level: Level,
        x: &[Lanes],
        coefs: &Coefs,
        work: &mut Work,
        d_f: &[Lanes],
    ) {
        let Work { trig, d_coef, d_freq } = work;
        adjoint(level, x, self.frequencies(), &coefs.coef, trig, d_f, d_coef, d_freq);
    }

    /// With `c = amplitude * theta`: `d theta = amplitude * dc`, `d log var = c . dc / 2`, and,
    /// since `a = sum_i x_i omega_i / ell_i`, `d log ell_i = - sum_m freq_mi * d freq_mi`.
    pub(super) fn finish(
        &self,
        g: usize,
        p: GpParams<'_>,
        coefs: &Coefs,
        work: &Work,
        grad: GpGrad<'_>,
    ) {
        let features = 2 * self.frequencies();
        let amplitude = self.amplitude(p.log_var);
        let range = g * features..(g + 1) * features;
        let mut d_log_var = 0.0;
        for ((d, c), out) in
            work.d_coef[range.clone()].iter().zip(&coefs.coef[range]).zip(grad.theta.iter_mut())
        {
            let d = total(d);
            d_log_var += c * d;
            *out += amplitude * d;
        }
        *grad.log_var += 0.5 * d_log_var;
        let range = g * self.omega.len()..(g + 1) * self.omega.len();
        for (at, (d, w)) in work.d_freq[range.clone()].iter().zip(&coefs.freq[range]).enumerate() {
            grad.log_ell[at % self.inputs] -= w * total(d);
        }
    }
}

vectorised! {
    fn forward = forward_kernel(
        x: &[Lanes], reach: &[f64], m: usize, freq: &[f64], coef: &[f64],
        trig: &mut [Lanes], keep: bool, f: &mut [Lanes],
    );
}

#[inline(always)]
fn forward_kernel<const FMA: bool>(
    x: &[Lanes],
    reach: &[f64],
    m: usize,
    freq: &[f64],
    coef: &[f64],
    trig: &mut [Lanes],
    keep: bool,
    f: &mut [Lanes],
) {
    let inputs = x.len();
    for (g, f) in f.iter_mut().enumerate() {
        *f = [0.0; ROWS];
        let (cos_coef, sin_coef) = coef[g * 2 * m..(g + 1) * 2 * m].split_at(m);
        for j in 0..m {
            let at = if keep { 2 * (g * m + j) } else { 0 };
            let [cos, sin] = &mut trig[at..at + 2] else { return };
            let w = &freq[(g * m + j) * inputs..(g * m + j + 1) * inputs];
            phases::<FMA>(x, w, cos);
            let (c, s) = (cos_coef[j], sin_coef[j]);
            let largest: f64 = reach.iter().zip(w).map(|(x, w)| x * w.abs()).sum();
            if largest <= MAX_PHASE {
                for r in 0..ROWS {
                    let (sine, cosine) = sin_cos::<FMA>(cos[r]);
                    cos[r] = cosine;
                    sin[r] = sine;
                    f[r] = fma::<FMA>(c, cosine, fma::<FMA>(s, sine, f[r]));
                }
            } else {
                for r in 0..ROWS {
                    (sin[r], cos[r]) = cos[r].sin_cos();
                    f[r] += c * cos[r] + s * sin[r];
                }
            }
        }
    }
}

/// `a = sum_i x_i w_i` for each row of the block.
#[inline(always)]
fn phases<const FMA: bool>(x: &[Lanes], w: &[f64], out: &mut Lanes) {
    for r in 0..ROWS {
        out[r] = x[0][r] * w[0];
    }
    for (x, w) in x.iter().zip(w).skip(1) {
        for r in 0..ROWS {
            out[r] = fma::<FMA>(x[r], *w, out[r]);
        }
    }
}

vectorised! {
    fn adjoint = adjoint_kernel<wide>(
        x: &[Lanes], m: usize, coef: &[f64], trig: &[Lanes], d_f: &[Lanes],
        d_coef: &mut [Partial], d_freq: &mut [Partial],
    );
}

/// With `f = sum_m c_m cos a_m + s_m sin a_m`: `dc = sum_r df cos`, `ds = sum_r df sin` and
/// `d freq_i = sum_r df (s cos - c sin) x_i`.
#[inline(always)]
fn adjoint_kernel<V: Wide>(
    x: &[Lanes],
    m: usize,
    coef: &[f64],
    trig: &[Lanes],
    d_f: &[Lanes],
    d_coef: &mut [Partial],
    d_freq: &mut [Partial],
) {
    const GROUPS: usize = ROWS / WIDTH;
    let inputs = x.len();
    for (g, df) in d_f.iter().enumerate() {
        let (cos_coef, sin_coef) = coef[g * 2 * m..(g + 1) * 2 * m].split_at(m);
        let (d_cos, d_sin) = d_coef[g * 2 * m..(g + 1) * 2 * m].split_at_mut(m);
        for j in 0..m {
            let at = g * m + j;
            let (cos, sin) = (&trig[2 * at], &trig[2 * at + 1]);
            let (c, s) = (V::splat(-cos_coef[j]), V::splat(sin_coef[j]));
            let (mut dc, mut ds) = (V::load(&d_cos[j]), V::load(&d_sin[j]));
            let mut slope = [V::splat(0.0); GROUPS];
            for i in 0..GROUPS {
                let df = V::load(group(df, i));
                let (cos, sin) = (V::load(group(cos, i)), V::load(group(sin, i)));
                dc = df.fma(cos, dc);
                ds = df.fma(sin, ds);
                slope[i] = df.mul(s.fma(cos, c.mul(sin)));
            }
            dc.store(&mut d_cos[j]);
            ds.store(&mut d_sin[j]);
            for (x, out) in x.iter().zip(&mut d_freq[at * inputs..(at + 1) * inputs]) {
                let mut sum = V::load(out);
                for i in 0..GROUPS {
                    sum = slope[i].fma(V::load(group(x, i)), sum);
                }
                sum.store(out);
            }
        }
    }
}
