//! The basis of many inputs: the leading eigenfunctions of a pilot GP's covariance.
//!
//! A pilot is a GP with covariance `k(x, x') = var k(r2)`, whose lengthscales are found before anything
//! is sampled. With landmarks Z and `k(Z, Z) = U diag(lambda) U'`,
//! `psi_j(x) = k(x, Z) u_j / sqrt(lambda_j)`, `j = 1..J` by falling eigenvalue, have
//! `sum_j psi_j(x) psi_j(x') = k(x, x')` on the landmarks where J is their number. Of all bases of size J
//! the leading J leave out the least variance there (Nyström's method: Williams and Seeger 2001). So a GP with
//! covariance `s^2 k` is `s psi(x) . theta`, `theta ~ N(0, I)`, and the functions do not move with s.
//!
//! **Centred and orthogonal.** Any rotation V of the J functions leaves their law as it is, since that of
//! theta does not change. And a constant is a parameter of its own here, so that each function may have its mean over the
//! rows subtracted. With weights w on the n rows (one over the noise of each), c the weighted
//! mean of psi and `C = diag(w)^1/2 (psi(X) - c)`, V are the eigenvectors of `C'C = V diag(d) V'`:
//! `phi(x) = V' (psi(x) - c)`. The functions then are orthogonal under w to each other and to the constant,
//! `sum_n w_n phi_i(x_n) phi_j(x_n) = d_j` for i = j and else 0, and the posterior of theta under
//! normal noise has independent coordinates. Without this the constant and the first function,
//! which is nearly constant itself, fight.
//!
//! A GP on this basis is `level + theta_0 + sqrt(var) sum_j phi_j(x) theta_j`.
//!
//! **What is left out.** At each x the functions lack the variance
//! `k(x, x) - |psi(x)|^2 = k(x, x) - |phi(x) + V' c|^2`, which is 0 on the landmarks where J is their
//! number, and all of `k(x, x)` far from them. A model adds it to the noise (`model/shared.rs`), row
//! by row: far from the data a prediction returns to the prior.
//!
//! **Linear.** Gates that are linear in the inputs are the same model with the inputs themselves for functions
//! ([`Eigen::linear`]): without landmarks, and with nothing left out.

mod covariances;
mod make;

use serde::{Serialize, Serializer};

use super::{Cache, Fixed, GpGrad, GpParams, products};
use crate::basis::Adjoints;
use crate::kernel::Kernel;
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS, total};
use crate::rows::Rows;
use crate::{Error, Result};
pub use make::{Decomposition, Information, Pilot};

/// Eigenfunctions of a pilot's covariance, and a constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    pilot: Pilot,
    /// What GPs on it vary about.
    level: f64,
    /// The landmarks divided by the lengthscales, (landmarks, inputs).
    landmarks: Vec<f64>,
    /// `V' diag(lambda)^-1/2 U'`, (functions, landmarks).
    projection: Vec<f64>,
    /// `V' c`, one per function.
    centre: Vec<f64>,
}

/// The numbers that an [`Eigen`] is made of, as a file keeps them.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// The pilot.
    pub pilot: Pilot,
    /// What GPs on it vary about.
    pub level: f64,
    /// The landmarks divided by the pilot's lengthscales, row-major (landmarks, inputs).
    pub landmarks: Vec<f64>,
    /// The projection, row-major (functions, landmarks).
    pub projection: Vec<f64>,
    /// The centre, one number per function.
    pub centre: Vec<f64>,
}

/// A summary: the matrices are for model files.
impl Serialize for Eigen {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Summary<'a> {
            kernel: Kernel,
            functions: usize,
            landmarks: usize,
            lengthscales: &'a [f64],
            variance: f64,
            level: f64,
        }
        let Pilot { kernel, var: variance, ell } = &self.pilot;
        let (functions, landmarks) = (self.functions(), self.landmarks());
        let (kernel, variance, level) = (*kernel, *variance, self.level);
        Summary { kernel, functions, landmarks, lengthscales: ell, variance, level }.serialize(to)
    }
}

impl Eigen {
    /// From the numbers of a file.
    ///
    /// # Errors
    /// If their shapes do not fit or one is not finite.
    pub fn from_parts(parts: Parts) -> Result<Eigen> {
        let Parts { pilot, level, landmarks, projection, centre } = parts;
        let (inputs, functions) = (pilot.ell.len(), centre.len());
        let rows = landmarks.len() / inputs.max(1);
        let linear = landmarks.is_empty() && functions == inputs && inputs > 0;
        let whole = linear || rows > 0 && rows * inputs == landmarks.len();
        if !whole || functions.checked_mul(rows) != Some(projection.len()) {
            return Err(Error::Shape {
                what: "eigenfunctions".into(),
                expected: format!("{functions} functions on {rows} landmarks of {inputs} inputs"),
                found: format!("{} and {} numbers", projection.len(), landmarks.len()),
            });
        }
        let positive = pilot.ell.iter().chain([&pilot.var]).all(|v| v.is_finite() && *v > 0.0);
        let numbers = [&landmarks, &projection, &centre].into_iter().flatten().chain([&level]);
        let finite = numbers.into_iter().all(|v| v.is_finite());
        if !positive || !finite {
            let problem = "its eigenfunctions have a number that is not finite, or a scale that is not positive";
            return Err(Error::Data(problem.into()));
        }
        Ok(Eigen { pilot, level, landmarks, projection, centre })
    }

    /// The constant alone, about `level`: a basis for what does not depend on the inputs, of which `at` is any
    /// point.
    pub fn constant(kernel: Kernel, at: &[f64], level: f64) -> Eigen {
        Eigen {
            pilot: Pilot { kernel, var: 1.0, ell: vec![1.0; at.len()] },
            level,
            landmarks: at.to_vec(),
            projection: Vec::new(),
            centre: Vec::new(),
        }
    }

    /// A constant and each of the inputs: a basis for what is linear in them. With inputs of variance 1 and slopes of
    /// variance 1, the sum of the slopes' parts has variance 1 for any number of inputs.
    pub fn linear(kernel: Kernel, inputs: usize) -> Eigen {
        Eigen {
            pilot: Pilot { kernel, var: 1.0, ell: vec![(inputs as f64).sqrt(); inputs] },
            level: 0.0,
            landmarks: Vec::new(),
            projection: Vec::new(),
            centre: vec![0.0; inputs],
        }
    }

    /// Whether the functions are the inputs: nothing else has no landmarks.
    pub fn is_linear(&self) -> bool {
        self.landmarks.is_empty()
    }

    /// The numbers that it is made of.
    pub fn parts(&self) -> Parts {
        let Eigen { pilot, level, landmarks, projection, centre } = self.clone();
        Parts { pilot, level, landmarks, projection, centre }
    }

    /// The number of eigenfunctions, without the constant.
    pub fn functions(&self) -> usize {
        self.centre.len()
    }

    /// The number of landmarks.
    pub fn landmarks(&self) -> usize {
        self.landmarks.len() / self.inputs()
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.pilot.ell.len()
    }

    /// The pilot.
    pub fn pilot(&self) -> &Pilot {
        &self.pilot
    }

    /// What GPs on it vary about.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The constant and all functions at block `b` of `rows`, and the variance that they leave out.
    fn features(&self, level: Level, rows: &Rows, b: usize, out: &mut [Lanes]) -> Lanes {
        let groups = rows.groups(b);
        let (constant, functions) = out.split_at_mut(1);
        constant[0] = Lanes::splat(1.0);
        let mut left = match self.is_linear() {
            true => {
                for ((phi, x), ell) in functions.iter_mut().zip(rows.block(b)).zip(&self.pilot.ell)
                {
                    (0..ROWS).for_each(|r| phi[r] = x[r] / ell);
                }
                Lanes::splat(0.0)
            }
            false => self.eigenfunctions(level, rows, b, functions),
        };
        // Rounding may leave less than nothing.
        left.iter_mut().for_each(|v| *v = v.max(0.0));
        // Groups of rows that only fill the block are not computed.
        let filled = groups * crate::math::WIDTH;
        out.iter_mut().skip(1).chain([&mut left]).for_each(|v| v[filled..].fill(0.0));
        left
    }

    /// The functions at block `b` of `rows`, and the variance that they leave out.
    fn eigenfunctions(&self, level: Level, rows: &Rows, b: usize, out: &mut [Lanes]) -> Lanes {
        let mut k = vec![Lanes::splat(0.0); self.landmarks()];
        covariances::covariances(level, &self.pilot, &self.landmarks, rows.block(b), &mut k);
        products::forward(level, &k, &self.projection, rows.groups(b), out);
        let mut left = Lanes::splat(self.pilot.var);
        for (phi, centre) in out.iter_mut().zip(&self.centre) {
            for r in 0..ROWS {
                left[r] -= phi[r] * phi[r];
                phi[r] -= centre;
            }
        }
        left
    }

    /// The functions at all rows, and what they leave out: always kept, since they cost much more to
    /// make than to read.
    pub(super) fn cache(&self, rows: &Rows) -> Cache {
        let count = self.functions() + 1;
        let features = vec![Lanes::splat(0.0); rows.blocks() * count];
        let mut cache = Cache { features, ..Cache::default() };
        for (b, block) in cache.features.chunks_mut(count).enumerate() {
            cache.left_out.push(self.features(Level::detect(), rows, b, block));
        }
        cache
    }

    pub(super) fn prepare(&self, g: usize, p: GpParams<'_>, coefs: &mut Fixed) {
        let count = self.functions() + 1;
        let gp = g * count..(g + 1) * count;
        let sd = (0.5 * p.log_var).exp();
        for (j, (c, theta)) in coefs.coef[gp.clone()].iter_mut().zip(p.theta).enumerate() {
            *c = if j == 0 { *theta } else { sd * theta };
        }
        if let Some(scale) = coefs.scale.get_mut(gp) {
            scale.fill(sd);
            scale[0] = 1.0;
        }
    }

    /// With `c_0 = theta_0` and `c_j = sqrt(var) theta_j`: `d theta_0 = dc_0`,
    /// `d theta_j = sqrt(var) dc_j`, `d log var = sum_{j > 0} c_j dc_j / 2`.
    pub(super) fn finish(&self, g: usize, coefs: &Fixed, sums: &Adjoints, grad: GpGrad<'_>) {
        let first = g * (self.functions() + 1);
        for (j, d_theta) in grad.theta.iter_mut().enumerate() {
            let d = total(&sums.coef[first + j]);
            *d_theta += coefs.scale[first + j] * d;
            *grad.log_var += if j == 0 { 0.0 } else { 0.5 * coefs.coef[first + j] * d };
        }
    }
}
