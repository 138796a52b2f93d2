//! Stationary kernels of unit variance: covariance, spectral density and spectral sampler.
//!
//! All three are functions of scaled quantities only, `r2 = sum_i ((x_i - x'_i) / ell_i)^2` for
//! the covariance and `s = sum_i (ell_i w_i)^2` for the spectral density, so a new kernel is one
//! arm of a `match` in each (Rasmussen and Williams, *Gaussian Processes for Machine Learning*,
//! 2006, section 4.2). The Fourier convention is theirs with angular frequencies:
//! `k(tau) = (2 pi)^-d` times the integral of `S(w) cos(w . tau)` over all `w`.

use std::f64::consts::PI;

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::math::{exp, ln};
use crate::named::named;

/// A stationary kernel of unit variance, with one lengthscale per input.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Squared exponential, `exp(-r^2 / 2)`: infinitely smooth functions.
    #[default]
    Rbf,
    /// Matérn 1/2, `exp(-r)`: continuous, nowhere differentiable functions.
    Matern12,
    /// Matérn 3/2, `(1 + q) exp(-q)` with `q = sqrt(3) r`: once differentiable functions.
    Matern32,
    /// Matérn 5/2, `(1 + q + q^2 / 3) exp(-q)` with `q = sqrt(5) r`: twice differentiable.
    Matern52,
}

named! {
    Kernel, "kernel",
    Rbf => "rbf",
    Matern12 => "matern12",
    Matern32 => "matern32",
    Matern52 => "matern52",
}

impl Kernel {
    /// The covariance at the squared scaled distance `r2 = sum_i ((x_i - x'_i) / ell_i)^2`.
    pub fn covariance(self, r2: f64) -> f64 {
        match self {
            Kernel::Rbf => (-0.5 * r2).exp(),
            Kernel::Matern12 => (-r2.sqrt()).exp(),
            Kernel::Matern32 => {
                let q = (3.0 * r2).sqrt();
                (1.0 + q) * (-q).exp()
            }
            Kernel::Matern52 => {
                let q = (5.0 * r2).sqrt();
                (1.0 + q + q * q / 3.0) * (-q).exp()
            }
        }
    }

    /// The covariance and its slope in `r2`, which must be finite, inside a vectorised loop; with one
    /// lengthscale per input, `dk / d log ell_i = -2 slope ((x_i - x'_i) / ell_i)^2`.
    ///
    /// Matérn 1/2 has a kink at `r2 = 0`, where the slope is infinite but the derivatives in the
    /// lengthscales are 0 as everywhere else: the slope is given as 0 there.
    ///
    /// RBF, `-k / 2`. Matérn with `q = sqrt(2 nu r2)`: `-e^-q / (2 q)` for 1/2, `-3/2 e^-q` for
    /// 3/2, `-5/6 (1 + q) e^-q` for 5/2.
    #[inline(always)]
    pub(crate) fn covariance_by<const FMA: bool>(self, r2: f64) -> (f64, f64) {
        match self {
            Kernel::Rbf => {
                let k = exp::<FMA>(-0.5 * r2);
                (k, -0.5 * k)
            }
            Kernel::Matern12 => {
                let q = r2.sqrt();
                let k = exp::<FMA>(-q);
                (k, if q > 0.0 { -0.5 * k / q } else { 0.0 })
            }
            Kernel::Matern32 => {
                let q = (3.0 * r2).sqrt();
                let e = exp::<FMA>(-q);
                (e + q * e, -1.5 * e)
            }
            Kernel::Matern52 => {
                let q = (5.0 * r2).sqrt();
                let e = exp::<FMA>(-q);
                (e * (1.0 + q + q * q / 3.0), -5.0 / 6.0 * (e + q * e))
            }
        }
    }

    /// Twice the smoothness `nu` of a Matérn kernel: the degrees of freedom of the multivariate
    /// Student-t that its frequencies follow. `None` where they are Gaussian.
    pub fn degrees_of_freedom(self) -> Option<u32> {
        match self {
            Kernel::Rbf => None,
            Kernel::Matern12 => Some(1),
            Kernel::Matern32 => Some(3),
            Kernel::Matern52 => Some(5),
        }
    }

    /// The log spectral density at unit lengthscales in `d` dimensions, its constants worked
    /// out.
    ///
    /// As a function of `s = |w|^2`: RBF, `(d / 2) log(2 pi) - s / 2`. Matérn,
    /// `log[2^d pi^(d/2) Gamma(nu + d/2) (2 nu)^nu / Gamma(nu)] - (nu + d/2) log(2 nu + s)`
    /// (Rasmussen and Williams, equation 4.15, with angular frequencies).
    pub fn spectrum(self, d: usize) -> Spectrum {
        let half = 0.5 * d as f64;
        match self.degrees_of_freedom() {
            None => Spectrum { constant: half * (2.0 * PI).ln(), tail: None },
            Some(df) => {
                let (df, nu) = (f64::from(df), 0.5 * f64::from(df));
                let constant = half * (4.0 * PI).ln() + libm::lgamma(nu + half) - libm::lgamma(nu)
                    + nu * df.ln();
                Spectrum { constant, tail: Some((df, nu + half)) }
            }
        }
    }

    /// The log spectral density at the angular frequency `w` (one entry per input), unit variance.
    ///
    /// With one lengthscale per input it is `sum_i log ell_i` plus [`Kernel::spectrum`] at
    /// `s = sum_i (ell_i w_i)^2`. Where asked for, `d_log_ell` receives (not: accumulates) the
    /// derivative with respect to each `log ell_i`, `1 + 2 (d log S / d s) (ell_i w_i)^2`.
    pub fn log_spectral_density(
        self,
        log_ell: &[f64],
        w: &[f64],
        d_log_ell: Option<&mut [f64]>,
    ) -> f64 {
        debug_assert_eq!(log_ell.len(), w.len());
        let scaled = |i: usize| {
            let v = log_ell[i].exp() * w[i];
            v * v
        };
        let d = w.len();
        let s: f64 = (0..d).map(scaled).sum();
        let spectrum = self.spectrum(d);
        let (value, slope) = (spectrum.log_density(s), spectrum.slope(s));
        if let Some(grad) = d_log_ell {
            for (i, g) in grad.iter_mut().enumerate() {
                *g = 1.0 + 2.0 * slope * scaled(i);
            }
        }
        value + log_ell.iter().sum::<f64>()
    }

    /// Draws one frequency of the unit-lengthscale kernel into `w`.
    ///
    /// RBF: `N(0, I)`. Matérn: multivariate Student-t with `2 nu` degrees of freedom, a normal
    /// vector over `sqrt(chi2 / (2 nu))` with one chi-square for the whole vector.
    pub fn draw_frequency<R: Rng + ?Sized>(self, rng: &mut R, w: &mut [f64]) {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        w.iter_mut().for_each(|v| *v = normal());
        if let Some(df) = self.degrees_of_freedom() {
            let chi2: f64 = (0..df).map(|_| normal().powi(2)).sum();
            let scale = (f64::from(df) / chi2).sqrt();
            w.iter_mut().for_each(|v| *v *= scale);
        }
    }
}

/// The log spectral density of a kernel at unit lengthscales, a function of `s = |w|^2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectrum {
    constant: f64,
    /// Matérn: the degrees of freedom and the power of the tail.
    tail: Option<(f64, f64)>,
}

impl Spectrum {
    /// Its value at `s`.
    pub fn log_density(&self, s: f64) -> f64 {
        self.log_density_by::<false>(s)
    }

    /// The same inside a vectorised loop.
    #[inline(always)]
    pub(crate) fn log_density_by<const FMA: bool>(&self, s: f64) -> f64 {
        match self.tail {
            None => self.constant - 0.5 * s,
            Some((df, power)) => self.constant - power * ln::<FMA>(df + s),
        }
    }

    /// Its derivative in `s`.
    #[inline(always)]
    pub fn slope(&self, s: f64) -> f64 {
        match self.tail {
            None => -0.5,
            Some((df, power)) => -power / (df + s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn density(k: Kernel, d: usize, w: f64) -> f64 {
        k.spectrum(d).log_density(w * w).exp()
    }

    #[test]
    fn spectral_density_integrates_to_the_variance() {
        for k in Kernel::ALL {
            for d in 1..=6 {
                let half = 0.5 * d as f64;
                let area = 2.0 * PI.powf(half) / libm::tgamma(half);
                // w = tan t brings the half line, and the heavy tails, onto a bounded interval.
                let steps = 20_000;
                let h = 0.5 * PI / steps as f64;
                let mass: f64 = (0..steps)
                    .map(|i| {
                        let w = ((i as f64 + 0.5) * h).tan();
                        h * (1.0 + w * w) * w.powi(d as i32 - 1) * density(k, d, w)
                    })
                    .sum();
                let total = area * mass / (2.0 * PI).powi(d as i32);
                assert!((total - 1.0).abs() < 1e-7, "{k} d={d}: {total}");
            }
        }
    }

    #[test]
    fn spectral_density_transforms_to_the_covariance() {
        let (h, steps) = (0.005, 200_000);
        for k in Kernel::ALL {
            for r in [0.3, 1.0, 2.5] {
                let mut sum = [0.0; 3];
                for i in 0..steps {
                    let w = (i as f64 + 0.5) * h;
                    sum[0] += h * density(k, 1, w) * (w * r).cos() / PI;
                    sum[1] += h * density(k, 2, w) * w * libm::j0(w * r) / (2.0 * PI);
                    sum[2] += h * density(k, 3, w) * w * (w * r).sin() / (2.0 * PI * PI * r);
                }
                for (d, value) in sum.iter().enumerate() {
                    let error = value - k.covariance(r * r);
                    assert!(error.abs() < 1e-5, "{k} d={} r={r}: {error:e}", d + 1);
                }
            }
        }
    }

    #[test]
    fn gradient_matches_differences_and_scaling_law() {
        let (log_ell, w) = ([0.3, -0.7, 0.1], [1.5, -2.0, 0.4]);
        for k in Kernel::ALL {
            let mut grad = [f64::NAN; 3];
            let value = k.log_spectral_density(&log_ell, &w, Some(&mut grad));
            let scaled: Vec<f64> = w.iter().zip(&log_ell).map(|(w, l)| w * l.exp()).collect();
            let unit = k.log_spectral_density(&[0.0; 3], &scaled, None);
            assert!((value - unit - log_ell.iter().sum::<f64>()).abs() < 1e-12);
            for i in 0..3 {
                let at = |h: f64| {
                    let mut l = log_ell;
                    l[i] += h;
                    k.log_spectral_density(&l, &w, None)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((grad[i] - difference).abs() < 1e-8, "{k} {i}");
            }
        }
    }

    /// `E cos(w . tau) = k(tau)`: 24 means of 40 000 bounded terms, each held to 5 standard
    /// errors; false-failure rate below 2e-5.
    #[test]
    fn sampled_frequencies_reproduce_the_covariance() {
        let n = 40_000;
        for k in Kernel::ALL {
            for d in [1, 3] {
                let mut rng = stream(11, Purpose::Frequencies, d as u64);
                let mut w = vec![0.0; d];
                let lags = [0.2, 0.8, 2.0];
                let (mut sum, mut square) = ([0.0; 3], [0.0; 3]);
                for _ in 0..n {
                    k.draw_frequency(&mut rng, &mut w);
                    for (j, lag) in lags.iter().enumerate() {
                        let c = (w.iter().sum::<f64>() * lag / (d as f64).sqrt()).cos();
                        sum[j] += c;
                        square[j] += c * c;
                    }
                }
                for j in 0..3 {
                    let mean = sum[j] / n as f64;
                    let se = ((square[j] / n as f64 - mean * mean) / n as f64).sqrt();
                    let error = mean - k.covariance(lags[j] * lags[j]);
                    assert!(error.abs() < 5.0 * se, "{k} d={d} lag={}: {error:e}", lags[j]);
                }
            }
        }
    }

    #[test]
    fn the_slope_is_the_derivative_of_the_covariance_and_zero_at_the_kink() {
        for k in Kernel::ALL {
            assert!(k.covariance_by::<false>(0.0).1.is_finite(), "{k}");
            for r2 in [1e-3, 0.2, 1.0, 7.0, 60.0] {
                let h = 1e-4 * f64::min(r2, 1.0);
                let difference = (k.covariance(r2 + h) - k.covariance(r2 - h)) / (2.0 * h);
                let (by, slope) = k.covariance_by::<false>(r2);
                assert!((slope / difference - 1.0).abs() < 1e-7, "{k} at {r2}: {slope}");
                assert!((by / k.covariance(r2) - 1.0).abs() < 1e-14, "{k} at {r2}");
            }
        }
        assert_eq!(Kernel::Matern12.covariance_by::<false>(0.0).1, 0.0);
    }

    #[test]
    fn names_round_trip() {
        for k in Kernel::ALL {
            assert_eq!(k.to_string().parse::<Kernel>(), Ok(k));
            let json = serde_json::to_string(&k).unwrap();
            assert_eq!(json, format!("\"{k}\""));
            assert_eq!(serde_json::from_str::<Kernel>(&json).unwrap(), k);
        }
        let error = "cosine".parse::<Kernel>().unwrap_err().to_string();
        assert!(error.contains("cosine") && error.contains("matern32"), "{error}");
        assert_eq!(Kernel::default(), Kernel::Rbf);
    }
}
