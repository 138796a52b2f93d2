//! GPs on few rows, eight at once: what each of them says about one more row, and the gradient of that.
//!
//! A row is predicted by an exact GP on other rows, of which there are a hundred rather than thousands; there
//! are very many such rows. So eight of them are worked on together, each in its own lane of
//! [`math::batched`](crate::math::batched), under the same hyperparameters.
//!
//! ```
//! use gpfuse::gp::batched::Locals;
//! use gpfuse::kernel::Kernel;
//!
//! let mut locals = Locals::new(Kernel::Matern52, 64, 1);
//! for lane in 0..8 {
//!     let centre = lane as f64;
//!     locals.begin(lane, [centre]);
//!     for near in 0..20 {
//!         let x = centre + 0.1 * f64::from(near) - 0.95;
//!         locals.push(lane, [x], x.sin());
//!     }
//! }
//! let said = locals.predict(1.0, 1e-4).unwrap();
//! assert!((said.mean[3] - 3_f64.sin()).abs() < 0.02);
//! ```

mod covariance;
mod density;
#[cfg(test)]
mod tests;

use covariance::{Rows, Slopes, bounded, contract, covariances, squares, squares_to};
use density::{adjoint, moments};

use super::factor::JITTERS;
use crate::kernel::Kernel;
use crate::math::batched::{Each, Pair, Triangles, ZERO, backward, factor, forward};
use crate::math::simd::Level;
use crate::math::{HALF_LN_TWO_PI, WIDTH};

/// Eight rows, and of each the rows that predict it.
///
/// Inputs are divided by their lengthscales, targets less the prior mean. Lanes may have different numbers of rows;
/// one without any says what is known beforehand.
#[derive(Debug)]
pub struct Locals {
    level: Level,
    kernel: Kernel,
    /// The rows that are predicted, an entry for each input.
    row: Vec<Each>,
    x: Rows,
    y: Vec<Each>,
    /// Rows that predict, in each lane.
    counts: [usize; WIDTH],
    /// Squared distances, then covariances, then factors.
    k: Triangles,
    /// Likewise, of the rows with the one row; at last the adjoints of the covariances.
    cross: Vec<Each>,
    /// Slopes of the covariances in the squared distance, among the rows and to the one row.
    among: Triangles,
    to: Vec<Each>,
    sides: Vec<Pair>,
}

/// Mean and variance of the targets, given the rows that predict them.
#[derive(Debug, Clone, Copy)]
pub struct Said {
    /// Means, less the prior mean.
    pub mean: Each,
    /// Variances, noise included.
    pub var: Each,
    /// Variances without noise.
    pub latent: Each,
    /// What was added to the diagonal.
    jitter: Each,
}

impl Locals {
    /// Room for up to `rows` rows that predict one.
    pub fn new(kernel: Kernel, rows: usize, inputs: usize) -> Locals {
        let k = Triangles::new(rows);
        let column = vec![ZERO; k.padded()];
        Locals {
            level: Level::detect(),
            kernel,
            row: vec![ZERO; inputs],
            x: Rows::new(rows, inputs),
            y: column.clone(),
            counts: [0; WIDTH],
            among: k.clone(),
            k,
            cross: column.clone(),
            sides: vec![[ZERO; 2]; column.len()],
            to: column,
        }
    }

    /// Run the kernels compiled for the given instruction set.
    #[must_use]
    pub fn at_level(self, level: Level) -> Locals {
        Locals { level, ..self }
    }

    /// The row that lane `lane` predicts from now on, without rows that predict it.
    pub fn begin(&mut self, lane: usize, row: impl IntoIterator<Item = f64>) {
        self.row.iter_mut().zip(row).for_each(|(to, u)| to[lane] = bounded(u));
        self.counts[lane] = 0;
    }

    /// Another row that predicts it, and its target.
    ///
    /// # Panics
    /// If there is no room for it.
    pub fn push(&mut self, lane: usize, row: impl IntoIterator<Item = f64>, y: f64) {
        let i = self.counts[lane];
        assert!(i < self.k.rows(), "room for {} rows", self.k.rows());
        self.x.set(i, lane, row);
        self.y[i][lane] = y;
        self.counts[lane] += 1;
    }

    /// What is said under the signal variance `var` and the noise variance `noise`.
    ///
    /// # Errors
    /// The first lane whose covariance has no factor, whatever the jitter.
    pub fn predict(&mut self, var: f64, noise: f64) -> Result<Said, usize> {
        self.say(var, noise, false)
    }

    /// The log densities of `targets` (less the prior mean). `grad`, three more than there are inputs, receives
    /// their gradients in `log var`, each `log ell`, `log noise` and the prior mean.
    ///
    /// # Errors
    /// As those of [`Locals::predict`].
    pub fn log_density(
        &mut self,
        var: f64,
        noise: f64,
        targets: &Each,
        grad: &mut [Each],
    ) -> Result<Each, usize> {
        let said = self.say(var, noise, true)?;
        backward(self.level, &self.k, &mut self.sides);
        let (mut density, mut d_mean, mut d_var) = (ZERO, ZERO, ZERO);
        for lane in 0..WIDTH {
            let (apart, var) = (targets[lane] - said.mean[lane], said.var[lane]);
            density[lane] = -0.5 * (apart * apart / var + var.ln()) - HALF_LN_TWO_PI;
            d_mean[lane] = apart / var;
            d_var[lane] = 0.5 * (apart * apart / var - 1.0) / var;
        }
        let product = adjoint(self.level, &mut self.sides, &d_mean, &d_var, &mut self.cross);
        let slopes =
            Slopes { sides: &self.sides, among: &self.among, cross: &self.cross, to: &self.to };
        let d = self.row.len();
        contract(self.level, &self.x, &self.row, slopes, &mut grad[1..=d]);
        for lane in 0..WIDTH {
            let weights: f64 = self.sides.iter().map(|side| side[0][lane]).sum();
            let (h, product) = (d_var[lane], product[lane]);
            grad[0][lane] = h * said.latent[lane] - (noise + said.jitter[lane]) * product;
            grad[d + 1][lane] = noise * (product + h);
            grad[d + 2][lane] = d_mean[lane] * (1.0 - weights);
        }
        Ok(density)
    }

    fn say(&mut self, var: f64, noise: f64, slopes: bool) -> Result<Said, usize> {
        let jitter = self.factor(var, noise, slopes)?;
        self.set_sides();
        forward(self.level, &self.k, &mut self.sides);
        let [mean, explained] = moments(self.level, &self.sides);
        let mut said = Said { mean, var: ZERO, latent: ZERO, jitter };
        for lane in 0..WIDTH {
            said.latent[lane] = (var - explained[lane]).max(f64::EPSILON * var);
            said.var[lane] = said.latent[lane] + noise;
        }
        Ok(said)
    }

    /// The right-hand sides: covariances with the one row, and targets.
    fn set_sides(&mut self) {
        for (side, (k, y)) in self.sides.iter_mut().zip(self.cross.iter().zip(&self.y)) {
            *side = [*k, *y];
        }
        for lane in 0..WIDTH {
            // What earlier rows left there.
            self.sides[self.counts[lane]..].iter_mut().for_each(|side| {
                side[0][lane] = 0.0;
                side[1][lane] = 0.0;
            });
        }
    }

    /// Factor the covariances, with as little jitter in each lane as that takes.
    fn factor(&mut self, var: f64, noise: f64, slopes: bool) -> Result<Each, usize> {
        let mut shares = [0; WIDTH];
        loop {
            let jitter = Each::from(shares.map(|at| JITTERS[at] * (var + noise)));
            self.fill(var, noise, &jitter, slopes);
            let failed = factor(self.level, &mut self.k);
            if failed == [None; WIDTH] {
                return Ok(jitter);
            }
            for lane in 0..WIDTH {
                if failed[lane].is_some() {
                    shares[lane] += 1;
                    if shares[lane] == JITTERS.len() {
                        return Err(lane);
                    }
                }
            }
        }
    }

    fn fill(&mut self, var: f64, noise: f64, jitter: &Each, slopes: bool) {
        let (level, kernel) = (self.level, self.kernel);
        squares(level, &self.x, &mut self.k);
        squares_to(level, &self.x, &self.row, &mut self.cross);
        let (among, to) = match slopes {
            true => (self.among.numbers_mut(), &mut self.to[..]),
            false => Default::default(),
        };
        covariances(level, kernel, var, self.k.numbers_mut(), among);
        covariances(level, kernel, var, &mut self.cross, to);
        self.k.set_diagonal(&jitter.map(|jitter| var + noise + jitter).into());
        for lane in 0..WIDTH {
            // A lane with fewer rows than the others has nothing to do with the rest.
            for i in self.counts[lane]..self.k.rows() {
                (0..i).for_each(|j| self.k.at_mut(i, j)[lane] = 0.0);
            }
        }
    }
}
