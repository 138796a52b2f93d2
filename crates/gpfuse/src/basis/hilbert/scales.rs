//! The scales `sqrt(var S_j)` of the functions, run by run, and the way back to the hyperparameters.

use super::Hilbert;
use crate::kernel::Spectrum;
use crate::math::exp;
use crate::math::simd::vectorised;

impl Hilbert {
    /// How many functions differ in the last input's index only, and stand side by side.
    pub(super) fn last(&self) -> usize {
        self.sizes[self.inputs() - 1]
    }

    /// For each run of functions that differ in the last input's index only, what the spectral
    /// density depends on.
    pub(super) fn runs(&self, log_ell: &[f64]) -> impl Iterator<Item = Run> {
        let inputs = self.inputs();
        let mut unit = [0.0; 3];
        for i in 0..inputs {
            let w = log_ell[i].exp() * std::f64::consts::PI / (2.0 * self.half_width[i]);
            unit[i] = w * w;
        }
        let mut index = [1usize; 3];
        (0..self.functions() / self.last()).map(move |_| {
            let mut others = [0.0; 2];
            for i in 0..inputs - 1 {
                others[i] = unit[i] * (index[i] * index[i]) as f64;
            }
            for i in (0..inputs - 1).rev() {
                if index[i] < self.sizes[i] {
                    index[i] += 1;
                    break;
                }
                index[i] = 1;
            }
            Run { others, unit: unit[inputs - 1] }
        })
    }

    /// Add the gradient through the scales, where `half(j)` is half the derivative with respect
    /// to the log of scale `j`.
    pub(super) fn through_scales(
        &self,
        log_ell: &[f64],
        half: impl Fn(usize) -> f64,
        d_log_var: &mut f64,
        d_log_ell: &mut [f64],
    ) {
        let last = self.last();
        let spectrum = self.kernel.spectrum(self.inputs());
        for (r, run) in self.runs(log_ell).enumerate() {
            // Sums of half, half * slope and half * slope * part over the run.
            let (mut sum, mut sum_slope, mut sum_last) = (0.0, 0.0, 0.0);
            for j in 0..last {
                let (part, half) = (run.part(j), half(r * last + j));
                let slope = half * 2.0 * spectrum.slope(run.others[0] + run.others[1] + part);
                sum += half;
                sum_slope += slope;
                sum_last += slope * part;
            }
            *d_log_var += sum;
            let Some((d_last, d_others)) = d_log_ell.split_last_mut() else { return };
            *d_last += sum + sum_last;
            for (d, other) in d_others.iter_mut().zip(run.others) {
                *d += sum + sum_slope * other;
            }
        }
    }
}

/// The functions that differ in the last input's index only: `(ell_i w_ji)^2` for the others, and
/// for the last input the same at index 1.
#[derive(Clone, Copy)]
pub(super) struct Run {
    others: [f64; 2],
    unit: f64,
}

impl Run {
    /// `(ell w_j)^2` of the last input's function `j`, counted from 0.
    #[inline(always)]
    fn part(self, j: usize) -> f64 {
        let index = (j + 1) as f64;
        self.unit * (index * index)
    }
}

vectorised! {
    pub(super) fn scales = scales_kernel(spectrum: Spectrum, lead: f64, run: Run, out: &mut [f64]);
}

/// `sqrt(var S_j)` for the functions of a run.
#[inline(always)]
fn scales_kernel<const FMA: bool>(spectrum: Spectrum, lead: f64, run: Run, out: &mut [f64]) {
    for (j, out) in out.iter_mut().enumerate() {
        let s = run.others[0] + run.others[1] + run.part(j);
        *out = exp::<FMA>(0.5 * (lead + spectrum.log_density_by::<FMA>(s)));
    }
}
