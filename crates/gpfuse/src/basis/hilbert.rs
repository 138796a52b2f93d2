//! The fixed Hilbert-space basis: sines on a box, weighted by the spectral density.
//!
//! On a box with `centre` and `half_width` L per input (Solin and Särkkä, 2020),
//! `phi_j(x) = prod_i L_i^-1/2 sin(w_ji (x_i - centre_i + L_i))` with
//! `w_ji = pi j_i / (2 L_i)`, `j_i = 1..size_i`, and scale `sqrt(S(w_j))` with the kernel's
//! spectral density S. The features do not depend on the hyperparameters: all GPs of a model
//! share one block of them.

mod scales;
mod weighted;

use serde::{Deserialize, Serialize};

use super::{Adjoints, Fixed, GpGrad, GpParams};
use crate::kernel::Kernel;
use crate::math::simd::{Level, vectorised};
use crate::math::turns::sin_cos_lanes;
use crate::math::{Lanes, ROWS, fma, total};
use crate::{Error, Result};
use scales::scales;

/// The default half-width of the box, in half-ranges of the data.
///
/// Every function is zero on the box's edge: at a distance d from it the prior variance of a GP
/// is about `1 - exp(-2 d^2 / ell^2)` of what it should be. At 2, that is 0.86 at the data's
/// edge for a lengthscale as long as the half-range, and 0.99 or more below two thirds of it.
pub const BOX_FACTOR: f64 = 2.0;

/// The largest number of inputs, beyond which the functions are too many.
pub(crate) const INPUT_LIMIT: usize = 3;

/// A fixed basis on a box, for one to three inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hilbert {
    kernel: Kernel,
    centre: Vec<f64>,
    half_width: Vec<f64>,
    sizes: Vec<usize>,
}

impl Hilbert {
    /// With a given box and sizes.
    pub fn new(
        kernel: Kernel,
        centre: Vec<f64>,
        half_width: Vec<f64>,
        sizes: Vec<usize>,
    ) -> Result<Hilbert> {
        let inputs = sizes.len();
        if !(1..=INPUT_LIMIT).contains(&inputs)
            || centre.len() != inputs
            || half_width.len() != inputs
        {
            let problem =
                format!("the Hilbert basis takes one to three inputs, not {inputs}: use `rff`");
            return Err(Error::setting("basis", problem));
        }
        let functions = sizes.iter().try_fold(1, |product: usize, size| product.checked_mul(*size));
        if functions.is_none_or(|functions| !(1..=100_000).contains(&functions)) {
            let problem = format!("{sizes:?} functions per input: use 1 to 100000 in all");
            return Err(Error::setting("size", problem));
        }
        if centre.iter().any(|c| !c.is_finite())
            || half_width.iter().any(|l| !l.is_finite() || *l <= 0.0)
        {
            let problem = format!("centre {centre:?}, half-width {half_width:?} make no box");
            return Err(Error::setting("box", problem));
        }
        Ok(Hilbert { kernel, centre, half_width, sizes })
    }

    /// With a box `factor` times as wide as the rows of `x` (row-major, n x inputs), and per
    /// input `size` functions or, without it, as many as [`Hilbert::default_size`] says.
    pub fn for_data(
        kernel: Kernel,
        x: &[f64],
        inputs: usize,
        size: Option<usize>,
        factor: f64,
    ) -> Result<Hilbert> {
        let (mut centre, mut half_width, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..inputs {
            let column = x.iter().skip(i).step_by(inputs);
            let (low, high) = column
                .clone()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |a, &v| (a.0.min(v), a.1.max(v)));
            let mut distinct: Vec<f64> = column.copied().collect();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            let half_range = if high > low { 0.5 * (high - low) } else { 1.0 };
            centre.push(0.5 * (low + high));
            half_width.push(factor * half_range);
            sizes.push(size.unwrap_or_else(|| Hilbert::default_size(inputs, distinct.len())));
        }
        Hilbert::new(kernel, centre, half_width, sizes)
    }

    /// Functions per input that resolve the smallest lengthscale worth it: for one input, in
    /// the default box, a twenty-seventh of the half-range, or the spacing of the data if that
    /// is larger; for two and three inputs what keeps the product near 400 and 1000.
    pub fn default_size(inputs: usize, distinct: usize) -> usize {
        let most = match inputs {
            1 => 96,
            2 => 20,
            _ => 10,
        };
        // `shortest_lengthscale` inverted, at twice the mean spacing of the data.
        most.min((0.9 * distinct as f64).ceil() as usize).max(4)
    }

    /// The shortest lengthscale per input that the basis resolves: `c L / size`, with c = 1.75,
    /// 2.65 and 3.42 for the RBF, Matern 5/2 and Matern 3/2 kernels, as found by Riutort-Mayol
    /// and others (2023); Matern 1/2, which they leave out, is judged by the last.
    pub fn shortest_lengthscale(&self) -> Vec<f64> {
        let c = match self.kernel {
            Kernel::Rbf => 1.75,
            Kernel::Matern52 => 2.65,
            Kernel::Matern32 | Kernel::Matern12 => 3.42,
        };
        self.half_width.iter().zip(&self.sizes).map(|(l, s)| c * l / *s as f64).collect()
    }

    /// The number of functions: the product of the sizes.
    pub fn functions(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.sizes.len()
    }

    /// The kernel that the basis approximates.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Functions per input.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The box's centre and half-width per input.
    pub fn domain(&self) -> (&[f64], &[f64]) {
        (&self.centre, &self.half_width)
    }

    /// The frequency vector of function `j`; the last input's index runs fastest.
    fn frequency(&self, mut j: usize, w: &mut [f64]) {
        for i in (0..self.inputs()).rev() {
            let index = (j % self.sizes[i] + 1) as f64;
            w[i] = std::f64::consts::PI * index / (2.0 * self.half_width[i]);
            j /= self.sizes[i];
        }
    }

    /// The unit-variance covariance of two points under the basis,
    /// `sum_j S(w_j) phi_j(a) phi_j(b)`.
    pub fn covariance(&self, log_ell: &[f64], a: &[f64], b: &[f64]) -> f64 {
        let mut w = [0.0; 3];
        let w = &mut w[..self.inputs()];
        let phi = |w: &[f64], x: &[f64]| -> f64 {
            let part = |i: usize| {
                let l = self.half_width[i];
                (w[i] * (x[i] - self.centre[i] + l)).sin() / l.sqrt()
            };
            (0..w.len()).map(part).product()
        };
        let term = |j| {
            self.frequency(j, w);
            self.kernel.log_spectral_density(log_ell, w, None).exp() * phi(w, a) * phi(w, b)
        };
        (0..self.functions()).map(term).sum()
    }

    /// All functions on one block of rows.
    pub(super) fn features(&self, level: Level, x: &[Lanes], out: &mut [Lanes]) {
        let mut stride = self.functions();
        for i in 0..self.inputs() {
            stride /= self.sizes[i];
            let l = self.half_width[i];
            let norm = l.sqrt().recip();
            let (mut angle, mut cos, mut sin) = (x[i], Lanes::splat(0.0), Lanes::splat(0.0));
            // The angle of the first function in quarter turns: one at the centre.
            for r in 0..ROWS {
                angle[r] = (angle[r] - self.centre[i]) / l + 1.0;
            }
            sin_cos_lanes(level, &angle, &mut sin, &mut cos);
            for r in 0..ROWS {
                sin[r] *= norm;
            }
            multiply(level, i == 0, &cos, &sin, self.sizes[i], stride, out);
        }
    }

    pub(super) fn prepare(&self, level: Level, g: usize, p: GpParams<'_>, coefs: &mut Fixed) {
        let functions = self.functions();
        let gp = g * functions..(g + 1) * functions;
        let lead = p.log_var + p.log_ell.iter().sum::<f64>();
        let spectrum = self.kernel.spectrum(self.inputs());
        let coef = &mut coefs.coef[gp.clone()];
        for (run, last) in self.runs(p.log_ell).zip(coef.chunks_mut(self.last())) {
            scales(level, spectrum, lead, run, last);
        }
        if !coefs.scale.is_empty() {
            coefs.scale[gp].copy_from_slice(coef);
        }
        for (c, theta) in coef.iter_mut().zip(p.theta) {
            *c *= theta;
        }
    }

    /// With `c_j = sqrt(var S_j) theta_j`: `d theta_j = scale_j dc_j`,
    /// `d log var = sum_j c_j dc_j / 2` and
    /// `d log ell = sum_j c_j dc_j (d log S_j / d log ell) / 2`.
    pub(super) fn finish(
        &self,
        g: usize,
        p: GpParams<'_>,
        coefs: &Fixed,
        sums: &Adjoints,
        grad: GpGrad<'_>,
    ) {
        let first = g * self.functions();
        for (j, d_theta) in grad.theta.iter_mut().enumerate() {
            *d_theta += coefs.scale[first + j] * total(&sums.coef[first + j]);
        }
        let half = |j: usize| 0.5 * coefs.coef[first + j] * total(&sums.coef[first + j]);
        self.through_scales(p.log_ell, half, grad.log_var, grad.log_ell);
    }
}

vectorised! {
    fn multiply = multiply_kernel(
        first: bool, cos: &Lanes, sin: &Lanes, size: usize, stride: usize, out: &mut [Lanes],
    );
}

/// Multiply the functions by those of one input, `sin(j a)` for `j = 1..size`, by the recurrence
/// `sin((j+1) a) = 2 cos(a) sin(j a) - sin((j-1) a)`; the first input sets them.
#[inline(always)]
fn multiply_kernel<const FMA: bool>(
    first: bool,
    cos: &Lanes,
    sin: &Lanes,
    size: usize,
    stride: usize,
    out: &mut [Lanes],
) {
    let (mut before, mut now) = (Lanes::splat(0.0), *sin);
    for j in 0..size {
        for run in out[j * stride..].chunks_mut(stride).step_by(size) {
            for f in run {
                for r in 0..ROWS {
                    f[r] = if first { now[r] } else { f[r] * now[r] };
                }
            }
        }
        for r in 0..ROWS {
            let next = fma::<FMA>(2.0 * cos[r], now[r], -before[r]);
            before[r] = now[r];
            now[r] = next;
        }
    }
}
