//! Draws of functions from a Gaussian-process prior at given inputs.

use faer::Mat;
use faer::Side;
use faer::linalg::solvers::Llt;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::basis::frequencies::{Scheme, draw};
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// The most rows for which the covariance matrix is factorised.
pub(super) const EXACT_ROWS: usize = 2500;

/// The number of frequencies of the sum that stands for the GP beyond [`EXACT_ROWS`].
const FREQUENCIES: usize = 4096;

/// A zero-mean, unit-variance GP at fixed inputs, ready to be drawn from.
pub(super) enum Prior {
    /// The Cholesky factor of the covariance matrix.
    Exact(Llt<f64>),
    /// Inputs over the lengthscale (n x d), and frequencies of the unit-lengthscale kernel.
    Spectral { scaled: Vec<f64>, omega: Vec<f64>, d: usize },
}

impl Prior {
    /// Prepares the GP with one lengthscale for all `d` inputs at the rows of `x` (n x d).
    /// `frequency_seed` matters only where a spectral sum is used.
    pub(super) fn new(
        kernel: Kernel,
        lengthscale: f64,
        x: &[f64],
        d: usize,
        frequency_seed: u64,
    ) -> Result<Self> {
        let scaled: Vec<f64> = x.iter().map(|v| v / lengthscale).collect();
        if x.len() / d > EXACT_ROWS {
            let omega = draw(kernel, Scheme::Quasi, FREQUENCIES, d, frequency_seed);
            return Ok(Prior::Spectral { scaled, omega, d });
        }
        factor(kernel, &scaled, d).map(Prior::Exact)
    }

    /// One function for each generator, at every row: `functions[g][row]`.
    pub(super) fn draw<R: Rng>(&self, generators: &mut [R]) -> Vec<Vec<f64>> {
        let mut normals = |count: usize| -> Vec<Vec<f64>> {
            let fill = |rng: &mut R| (0..count).map(|_| StandardNormal.sample(rng)).collect();
            generators.iter_mut().map(fill).collect()
        };
        match self {
            Prior::Exact(llt) => {
                let l = llt.L();
                let times = |z: Vec<f64>| {
                    let mut f = vec![0.0; z.len()];
                    for (j, z) in z.iter().enumerate() {
                        for i in j..f.len() {
                            f[i] += l[(i, j)] * z;
                        }
                    }
                    f
                };
                normals(l.nrows()).into_iter().map(times).collect()
            }
            Prior::Spectral { scaled, omega, d } => {
                let m = omega.len() / d;
                let theta = normals(2 * m);
                let scale = 1.0 / (m as f64).sqrt();
                let mut functions = vec![Vec::with_capacity(scaled.len() / d); theta.len()];
                let mut waves = vec![0.0; 2 * m];
                // All functions share the waves of a row: sines and cosines are what costs time.
                for x in scaled.chunks_exact(*d) {
                    let (cos, sin) = waves.split_at_mut(m);
                    for (i, w) in omega.chunks_exact(*d).enumerate() {
                        let phase: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
                        (sin[i], cos[i]) = phase.sin_cos();
                    }
                    for (f, theta) in functions.iter_mut().zip(&theta) {
                        f.push(scale * waves.iter().zip(theta).map(|(w, t)| w * t).sum::<f64>());
                    }
                }
                functions
            }
        }
    }
}

/// The Cholesky factor of the covariance matrix plus the smallest jitter that makes it succeed.
fn factor(kernel: Kernel, scaled: &[f64], d: usize) -> Result<Llt<f64>> {
    let n = scaled.len() / d;
    let row = |i: usize| &scaled[i * d..(i + 1) * d];
    let mut covariance = Mat::from_fn(n, n, |i, j| {
        kernel.covariance(row(i).iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum())
    });
    for jitter in [1e-9, 1e-8, 1e-7, 1e-6, 1e-5] {
        for i in 0..n {
            covariance[(i, i)] = 1.0 + jitter;
        }
        if let Ok(llt) = covariance.llt(Side::Lower) {
            return Ok(llt);
        }
    }
    Err(Error::Data(format!(
        "the covariance matrix of {n} rows under {kernel} could not be factorised even with 1e-5 \
         added to its diagonal; use a shorter lengthscale or a rougher kernel"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::approximation::rff_covariance;
    use crate::random::{Purpose, stream};

    /// Products of values of 4000 independent functions at two rows estimate the covariance with
    /// a standard error of `sqrt((1 + k^2) / 4000)`; 8 of them held to 5 standard errors plus
    /// 0.005 for the spectral sum: false-failure rate below 1e-5.
    #[test]
    fn covariance_of_draws_is_the_kernel() {
        let count = 4000;
        for kernel in [Kernel::Rbf, Kernel::Matern32] {
            let x = [0.0, 0.3];
            let scaled = x.map(|v| v / 0.5);
            let omega = draw(kernel, Scheme::Quasi, FREQUENCIES, 1, 9);
            let spectral = Prior::Spectral { scaled: scaled.to_vec(), omega, d: 1 };
            for prior in [Prior::new(kernel, 0.5, &x, 1, 9).unwrap(), spectral] {
                let mut rngs: Vec<_> =
                    (0..count).map(|i| stream(21, Purpose::Simulate, i)).collect();
                let functions = prior.draw(&mut rngs);
                let k = kernel.covariance(0.36);
                for (j, expected) in [(0, 1.0), (1, k)] {
                    let found = functions.iter().map(|f| f[0] * f[j]).sum::<f64>() / count as f64;
                    let se = ((1.0 + expected * expected) / count as f64).sqrt();
                    assert!((found - expected).abs() < 5.0 * se + 0.005, "{kernel} {j}: {found}");
                }
            }
        }
    }

    /// The errors that the documentation of the generator states for one input.
    #[test]
    fn spectral_sum_is_close_to_the_kernel() {
        for (kernel, bound) in Kernel::ALL.into_iter().zip([0.002, 0.01, 0.005, 0.005]) {
            for seed in 0..5 {
                let omega = draw(kernel, Scheme::Quasi, FREQUENCIES, 1, seed);
                for lag in (0..=500).map(|i| 0.1 * f64::from(i)) {
                    let found = rff_covariance(&omega, &[0.0], &[lag], &[0.0]);
                    let error = (found - kernel.covariance(lag * lag)).abs();
                    assert!(error < bound, "{kernel} seed {seed} lag {lag}: {error}");
                }
            }
        }
    }

    #[test]
    fn repeated_inputs_get_jitter_and_no_error() {
        let x = [0.0, 0.0, 0.0, 1.0, 1.0 + 1e-14];
        let prior = Prior::new(Kernel::Rbf, 0.5, &x, 1, 0).unwrap();
        let f = &prior.draw(&mut [stream(3, Purpose::Simulate, 0)])[0];
        assert!((f[0] - f[1]).abs() < 1e-2 && (f[3] - f[4]).abs() < 1e-2, "{f:?}");
    }
}
