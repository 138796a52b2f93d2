//! Random Fourier features: `phi = [cos a, sin a] / sqrt(M)`, `a = x . (omega / ell)`.
//!
//! The features approximate a stationary kernel by Bochner's theorem (Rahimi and Recht, 2007):
//! with omega drawn from the spectral density of the unit-lengthscale kernel,
//! `phi(x) . phi(x')` is an unbiased estimate of `k(x, x') / var`. The scale is `sqrt(var)`.
//! The frequencies are drawn once and then fixed; `ell` stretches all of them.
//!
//! A pair of coefficients is used as an amplitude and a phase: with
//! `(c, s) = sqrt(var / M) (theta_cos, theta_sin) = A (cos p, sin p)`,
//! `c cos a + s sin a = A cos(a - p)`: one product per feature instead of two, and as few in the
//! reverse pass. Angles are in quarter turns, which need no reduction by pi.

mod weighted;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::frequencies::{self, Scheme};
use super::{Adjoints, GpGrad, GpParams};
use crate::kernel::Kernel;
use crate::math::simd::{Level, vectorised};
use crate::math::turns::{cos, polar, sin_cos, sin_cos_far};
use crate::math::wide::{Wide, group, group_mut};
use crate::math::{Lanes, ROWS, Sums, WIDTH, total};
use crate::rows::Rows;
use crate::{Error, Result};

/// The largest input, on the model's scale, that a model is fitted to.
const LARGEST_INPUT: f64 = 1e12;

/// A random-feature basis: its kernel and base frequencies, shared by all GPs of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rff {
    kernel: Kernel,
    inputs: usize,
    omega: Vec<f64>,
}

/// The parameters of `count` GPs as amplitudes, phases and stretched frequencies.
#[derive(Debug, Clone, Default)]
pub(super) struct Coefs {
    /// (count, frequencies).
    amplitude: Vec<f64>,
    /// In quarter turns, (count, frequencies).
    phase: Vec<f64>,
    /// `2 / (pi ell)`, which makes base frequencies quarter turns, (count, inputs).
    inverse: Vec<f64>,
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

    /// Refuse inputs whose phases would have no digits left: an angle `omega x / ell` is known to
    /// `2^-53` of itself, and a lengthscale may be far below 1.
    pub(super) fn check(&self, rows: &Rows) -> Result<()> {
        for row in 0..rows.len() {
            if let Some((i, x)) = rows.row(row).enumerate().find(|(_, x)| x.abs() > LARGEST_INPUT) {
                return Err(Error::Data(format!(
                    "row {}, input {} is {x:e} on the model's scale: random features know no angle of a \
                     number beyond {LARGEST_INPUT:e}. Let the fit scale the inputs, or divide them by a \
                     constant",
                    rows.origin() + row + 1,
                    i + 1
                )));
            }
        }
        Ok(())
    }

    /// `sqrt(var / M)`: the scale with the features' own `1 / sqrt(M)`.
    fn amplitude(&self, log_var: f64) -> f64 {
        (0.5 * log_var).exp() / (self.frequencies() as f64).sqrt()
    }

    /// Room for the coefficients of `count` GPs.
    pub(super) fn coefs(&self, count: usize) -> Coefs {
        let zeros = |n: usize| vec![0.0; count * n];
        let (amplitude, phase) = (zeros(self.frequencies()), zeros(self.frequencies()));
        Coefs { amplitude, phase, inverse: zeros(self.inputs) }
    }

    pub(super) fn prepare(&self, level: Level, g: usize, p: GpParams<'_>, coefs: &mut Coefs) {
        let m = self.frequencies();
        let Coefs { amplitude, phase, inverse } = coefs;
        let (amplitude, phase) = (&mut amplitude[g * m..][..m], &mut phase[g * m..][..m]);
        let (cos, sin) = p.theta.split_at(m);
        to_polar(level, self.amplitude(p.log_var), cos, sin, amplitude, phase);
        let inverse = &mut inverse[g * self.inputs..(g + 1) * self.inputs];
        for (inverse, log_ell) in inverse.iter_mut().zip(p.log_ell) {
            *inverse = std::f64::consts::FRAC_2_PI * (-log_ell).exp();
        }
    }

    pub(super) fn forward(
        &self,
        level: Level,
        x: &[Lanes],
        reach: &[f64],
        coefs: &Coefs,
        trig: &mut [Lanes],
        f: &mut [Lanes],
    ) {
        let Coefs { amplitude, phase, inverse } = coefs;
        forward(level, x, reach, &self.omega, inverse, phase, amplitude, trig, f);
    }

    pub(super) fn adjoint(
        &self,
        level: Level,
        x: &[Lanes],
        trig: &[Lanes],
        d_f: &[Lanes],
        out: &mut Adjoints,
    ) {
        adjoint(level, x, self.frequencies(), trig, d_f, &mut out.coef, &mut out.freq);
    }

    /// With the sums `U = sum_r df cos(a - p)`, `V = sum_r df sin(a - p)` and
    /// `W_i = sum_r df sin(a - p) x_i` per frequency: since
    /// `cos a = cos(a - p) cos p - sin(a - p) sin p`, `d theta_cos = k (U cos p - V sin p)` and
    /// likewise `d theta_sin = k (V cos p + U sin p)` with `k = sqrt(var / M)`;
    /// `d log var = sum_m A U / 2`; and, since `a = sum_i x_i omega_i / ell_i`,
    /// `d log ell_i = sum_m A (omega_i / ell_i) W_i`.
    pub(super) fn finish(
        &self,
        g: usize,
        p: GpParams<'_>,
        coefs: &Coefs,
        sums: &Adjoints,
        grad: GpGrad<'_>,
    ) {
        let (m, inputs) = (self.frequencies(), self.inputs);
        let amplitude = self.amplitude(p.log_var);
        let inverse = &coefs.inverse[g * inputs..(g + 1) * inputs];
        let (cos, sin) = p.theta.split_at(m);
        let (d_cos, d_sin) = grad.theta.split_at_mut(m);
        for j in 0..m {
            let at = g * m + j;
            let (u, v) = (total(&sums.coef[2 * at]), total(&sums.coef[2 * at + 1]));
            let length = cos[j].hypot(sin[j]);
            let (c, s) = if length > 0.0 { (cos[j] / length, sin[j] / length) } else { (1.0, 0.0) };
            d_cos[j] += amplitude * (u * c - v * s);
            d_sin[j] += amplitude * (v * c + u * s);
            *grad.log_var += 0.5 * coefs.amplitude[at] * u;
            for i in 0..inputs {
                let freq = std::f64::consts::FRAC_PI_2 * self.omega[j * inputs + i] * inverse[i];
                grad.log_ell[i] += coefs.amplitude[at] * freq * total(&sums.freq[at * inputs + i]);
            }
        }
    }
}

vectorised! {
    fn to_polar = to_polar_kernel(
        scale: f64, cos: &[f64], sin: &[f64], amplitude: &mut [f64], phase: &mut [f64],
    );
}

#[inline(always)]
fn to_polar_kernel<const FMA: bool>(
    scale: f64,
    cos: &[f64],
    sin: &[f64],
    amplitude: &mut [f64],
    phase: &mut [f64],
) {
    for ((c, s), (a, p)) in cos.iter().zip(sin).zip(amplitude.iter_mut().zip(phase)) {
        let (length, angle) = polar::<FMA>(*c, *s);
        (*a, *p) = (scale * length, angle);
    }
}

/// The largest angle, in quarter turns, of the fast path: 1e5 in radians. Beyond it the rounding
/// of the angle shows, and with it whether products and sums are fused; all instruction sets
/// take the same slow path there.
const MAX_TURN: f64 = 1e5 * std::f64::consts::FRAC_2_PI;

/// Groups of rows in flight at once.
const TILE: usize = 2;

vectorised! {
    fn forward = forward_kernel<wide>(
        x: &[Lanes], reach: &[f64], omega: &[f64], inverse: &[f64], phase: &[f64],
        amplitude: &[f64], trig: &mut [Lanes], f: &mut [Lanes],
    );
}

/// `f = sum_m A_m cos(a_m - p_m)`; the cosines and sines are left in `trig` where it has room.
#[inline(always)]
fn forward_kernel<V: Wide>(
    x: &[Lanes],
    reach: &[f64],
    omega: &[f64],
    inverse: &[f64],
    phase: &[f64],
    amplitude: &[f64],
    trig: &mut [Lanes],
    f: &mut [Lanes],
) {
    let inputs = x.len();
    let m = omega.len() / inputs;
    let mut pairs = trig.as_chunks_mut::<2>().0;
    for (g, f) in f.iter_mut().enumerate() {
        let gp = g * m..(g + 1) * m;
        let (phase, amplitude) = (&phase[gp.clone()], &amplitude[gp]);
        let inverse = &inverse[g * inputs..(g + 1) * inputs];
        let (kept, rest) = pairs.split_at_mut(m.min(pairs.len()));
        pairs = rest;
        let mut farthest = 0.0;
        for i in 0..inputs {
            farthest += reach[i] * inverse[i] * largest(omega, i, inputs);
        }
        // Also where it is NaN.
        if !matches!(farthest.partial_cmp(&MAX_TURN), Some(Ordering::Less)) {
            forward_far(x, omega, inverse, phase, amplitude, kept, f);
            continue;
        }
        if kept.is_empty() {
            values::<V>(x, omega, inverse, phase, amplitude, f);
            continue;
        }
        for start in (0..ROWS / WIDTH).step_by(TILE) {
            let mut sum = [V::splat(0.0); TILE];
            for (j, [kept_cos, kept_sin]) in kept.iter_mut().enumerate() {
                let (p, a) = (V::splat(-phase[j]), V::splat(amplitude[j]));
                let mut angle = [p; TILE];
                for (i, x) in x.iter().enumerate() {
                    let w = V::splat(omega[j * inputs + i] * inverse[i]);
                    for t in 0..TILE {
                        angle[t] = w.fma(V::load(group(x, start + t)), angle[t]);
                    }
                }
                // No closures here: they would not be compiled for the instruction set.
                for t in 0..TILE {
                    let (sin_t, cos_t) = sin_cos(angle[t]);
                    sum[t] = a.fma(cos_t, sum[t]);
                    cos_t.store(group_mut(kept_cos, start + t));
                    sin_t.store(group_mut(kept_sin, start + t));
                }
            }
            for t in 0..TILE {
                sum[t].store(group_mut(f, start + t));
            }
        }
    }
}

/// The values alone, by the cosine of angles in half turns; all rows of the block at once.
#[inline(always)]
fn values<V: Wide>(
    x: &[Lanes],
    omega: &[f64],
    inverse: &[f64],
    phase: &[f64],
    amplitude: &[f64],
    f: &mut Lanes,
) {
    const GROUPS: usize = ROWS / WIDTH;
    let mut sum = [V::splat(0.0); GROUPS];
    for j in 0..phase.len() {
        let (p, a) = (V::splat(-0.5 * phase[j]), V::splat(amplitude[j]));
        let mut angle = [p; GROUPS];
        for (i, x) in x.iter().enumerate() {
            let w = V::splat(0.5 * omega[j * inverse.len() + i] * inverse[i]);
            for t in 0..GROUPS {
                angle[t] = w.fma(V::load(group(x, t)), angle[t]);
            }
        }
        for t in 0..GROUPS {
            sum[t] = a.fma(cos(angle[t]), sum[t]);
        }
    }
    for t in 0..GROUPS {
        sum[t].store(group_mut(f, t));
    }
}

/// The largest base frequency of input `i`.
#[inline(always)]
fn largest(omega: &[f64], i: usize, inputs: usize) -> f64 {
    let mut most = 0.0;
    for j in 0..omega.len() / inputs {
        let w = omega[j * inputs + i].abs();
        most = if w > most { w } else { most };
    }
    most
}

/// The same for angles beyond [`MAX_TURN`].
#[cold]
fn forward_far(
    x: &[Lanes],
    omega: &[f64],
    inverse: &[f64],
    phase: &[f64],
    amplitude: &[f64],
    trig: &mut [[Lanes; 2]],
    f: &mut Lanes,
) {
    *f = Lanes::splat(0.0);
    for (j, w) in omega.chunks(x.len()).enumerate() {
        for r in 0..ROWS {
            let turns = x.iter().zip(w).zip(inverse).map(|((x, w), inverse)| x[r] * (w * inverse));
            let angle = turns.sum::<f64>() - phase[j];
            let (sin, cos) = sin_cos_far(angle);
            f[r] += amplitude[j] * cos;
            if let Some(kept) = trig.get_mut(j) {
                (kept[0][r], kept[1][r]) = (cos, sin);
            }
        }
    }
}

vectorised! {
    fn adjoint = adjoint_kernel<wide>(
        x: &[Lanes], m: usize, trig: &[Lanes], d_f: &[Lanes],
        d_coef: &mut [Sums], d_freq: &mut [Sums],
    );
}

/// Adds this block's part to the sums U, V and W of [`Rff::finish`].
#[inline(always)]
fn adjoint_kernel<V: Wide>(
    x: &[Lanes],
    m: usize,
    trig: &[Lanes],
    d_f: &[Lanes],
    d_coef: &mut [Sums],
    d_freq: &mut [Sums],
) {
    const GROUPS: usize = ROWS / WIDTH;
    let inputs = x.len();
    let (pairs, d_coef) = (trig.as_chunks::<2>().0, d_coef.as_chunks_mut::<2>().0);
    for (g, df) in d_f.iter().enumerate() {
        for at in g * m..(g + 1) * m {
            let ([cos, sin], [d_u, d_v]) = (&pairs[at], &mut d_coef[at]);
            let (mut u, mut v) = (V::load(d_u), V::load(d_v));
            let mut slope = [V::splat(0.0); GROUPS];
            for i in 0..GROUPS {
                let df = V::load(group(df, i));
                u = df.fma(V::load(group(cos, i)), u);
                slope[i] = df.mul(V::load(group(sin, i)));
                v = slope[i].add(v);
            }
            u.store(d_u);
            v.store(d_v);
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
