//! The synthetic generator: data drawn from a mixture of Gaussian-process experts.
//!
//! Inputs are uniform on a box. Expert `k` has a mean `mu_k ~ GP(0, kernel)` and a log standard
//! deviation `log_sd_mean + log_sd_scale * GP(0, kernel)`; the weights are the softmax of one
//! `GP(0, kernel)` per expert. Each row picks an expert by its weights and draws `y` from that
//! expert's Gaussian. Each of the three kinds of function has its own lengthscale, the same for
//! every input (Tresp 2001, *Mixtures of Gaussian processes*).
//!
//! Up to 2500 rows the functions are exact draws through a Cholesky factor of the covariance
//! matrix, but for a jitter of 1e-9 or, where that is not enough, the next power of ten that is.
//! Beyond, time and memory forbid it: they are sums of 4096 random waves (quasi-Monte Carlo
//! frequencies, [`crate::basis::frequencies`]) whose covariance differs from the kernel's by
//! less than 0.002 (RBF), 0.005 (Matérn 3/2 and 5/2) or 0.01 (Matérn 1/2) over 50 lengthscales
//! of one input.

mod prior;
#[cfg(test)]
mod tests;

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::random::{Purpose, stream};
use prior::Prior;

/// Settings of the generator; the defaults are those of the paper.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Simulate {
    /// Rows.
    pub n: usize,
    /// Experts that the data come from.
    pub experts: usize,
    /// Inputs.
    pub inputs: usize,
    /// The lower end of every input.
    pub low: f64,
    /// The upper end of every input.
    pub high: f64,
    /// Lengthscale of the expert means.
    pub mean_lengthscale: f64,
    /// Lengthscale of the gates.
    pub gate_lengthscale: f64,
    /// Lengthscale of the log standard deviations.
    pub log_sd_lengthscale: f64,
    /// Mean of the log standard deviations.
    pub log_sd_mean: f64,
    /// Standard deviation of the log standard deviations about their mean.
    pub log_sd_scale: f64,
    /// Whether rows are in ascending order of the input. Without effect for several inputs.
    pub sorted: bool,
    /// The kernel of all functions.
    pub kernel: Kernel,
    /// The seed of everything random.
    pub seed: u64,
}

impl Default for Simulate {
    fn default() -> Self {
        Simulate {
            n: 1000,
            experts: 3,
            inputs: 1,
            low: -5.0,
            high: 5.0,
            mean_lengthscale: 0.2,
            gate_lengthscale: 0.5,
            log_sd_lengthscale: 0.5,
            log_sd_mean: -2.0,
            log_sd_scale: 0.5,
            sorted: true,
            kernel: Kernel::Rbf,
            seed: 0,
        }
    }
}

/// A simulated data set and the truth behind it; matrices are row-major.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// Inputs (n x d).
    pub x: Vec<f64>,
    /// Target (n).
    pub y: Vec<f64>,
    /// The expert that each row came from (n), counted from 0.
    pub component: Vec<usize>,
    /// The experts' means (n x K).
    pub mean: Vec<f64>,
    /// The experts' log standard deviations (n x K).
    pub log_sd: Vec<f64>,
    /// The experts' weights (n x K); each row sums to one.
    pub weight: Vec<f64>,
    /// The log density of each row's `y` under the mixture that made it (n).
    pub true_log_density: Vec<f64>,
    /// K, the number of experts.
    pub experts: usize,
}

/// The kinds of functions, as offsets of their random streams.
#[derive(Clone, Copy)]
enum Kind {
    Mean = 0,
    LogSd = 1,
    Gate = 2,
}

// The numbers of the random streams. Each expert has three of its own after `FUNCTIONS`, so more
// experts leave the functions of the first ones as they were.
const INPUTS: u64 = 0;
const COMPONENTS: u64 = 1;
const NOISE: u64 = 2;
const FREQUENCIES: u64 = 3;
const FUNCTIONS: u64 = 16;

/// The largest count that is taken for meant.
const LARGEST_COUNT: usize = 100_000_000;

impl Simulate {
    /// Refuses settings that cannot be simulated, naming the first one at fault.
    pub fn check(&self) -> Result<()> {
        for (name, count) in [("n", self.n), ("experts", self.experts), ("inputs", self.inputs)] {
            if !(1..=LARGEST_COUNT).contains(&count) {
                let problem = format!("{count} was given; it must be 1 to {LARGEST_COUNT}");
                return Err(Error::setting(name, problem));
            }
        }
        for (name, value) in
            [("low", self.low), ("high", self.high), ("log_sd_mean", self.log_sd_mean)]
        {
            if !value.is_finite() {
                return Err(Error::setting(name, format!("{value} was given; it must be finite")));
            }
        }
        if self.log_sd_mean.abs() > 100.0 {
            let problem = format!("{} was given; it must be within 100 of 0", self.log_sd_mean);
            return Err(Error::setting("log_sd_mean", problem));
        }
        if self.low.abs().max(self.high.abs()) > 1e100 {
            let problem = format!("{} to {} is too wide; use up to 1e100", self.low, self.high);
            return Err(Error::setting("high", problem));
        }
        if self.low >= self.high {
            let problem = format!("{} was given; it must be above `low` = {}", self.high, self.low);
            return Err(Error::setting("high", problem));
        }
        for (name, value) in [
            ("mean_lengthscale", self.mean_lengthscale),
            ("gate_lengthscale", self.gate_lengthscale),
            ("log_sd_lengthscale", self.log_sd_lengthscale),
        ] {
            if !(1e-100..=1e100).contains(&value) {
                let problem = format!("{value} was given; it must lie between 1e-100 and 1e100");
                return Err(Error::setting(name, problem));
            }
        }
        if !(0.0..=20.0).contains(&self.log_sd_scale) {
            let problem = format!("{} was given; it must be 0 to 20", self.log_sd_scale);
            return Err(Error::setting("log_sd_scale", problem));
        }
        Ok(())
    }

    /// Checks the settings and draws the data set. The same settings give the same bytes.
    pub fn run(&self) -> Result<Simulated> {
        self.check()?;
        let x = self.draw_inputs();
        let mean = self.draw_functions(Kind::Mean, self.mean_lengthscale, &x)?;
        let mut log_sd = self.draw_functions(Kind::LogSd, self.log_sd_lengthscale, &x)?;
        log_sd.iter_mut().for_each(|f| *f = self.log_sd_mean + self.log_sd_scale * *f);
        let mut weight = self.draw_functions(Kind::Gate, self.gate_lengthscale, &x)?;
        weight.chunks_exact_mut(self.experts).for_each(softmax);

        let (mut choice, mut noise) = (self.stream(COMPONENTS), self.stream(NOISE));
        let component: Vec<usize> =
            weight.chunks_exact(self.experts).map(|w| choose(w, choice.random())).collect();
        let rows = component.iter().enumerate().map(|(row, k)| row * self.experts + k);
        let y = rows
            .map(|at| {
                let z: f64 = StandardNormal.sample(&mut noise);
                mean[at] + log_sd[at].exp() * z
            })
            .collect();
        let experts = self.experts;
        let mut data = Simulated {
            x,
            y,
            component,
            mean,
            log_sd,
            weight,
            true_log_density: Vec::new(),
            experts,
        };
        data.true_log_density = (0..self.n).map(|row| data.log_density(row, data.y[row])).collect();
        Ok(data)
    }

    fn stream(&self, index: u64) -> ChaCha8Rng {
        stream(self.seed, Purpose::Simulate, index)
    }

    fn draw_inputs(&self) -> Vec<f64> {
        let mut rng = self.stream(INPUTS);
        let uniform = |_| self.low + (self.high - self.low) * rng.random::<f64>();
        let mut x: Vec<f64> = (0..self.n * self.inputs).map(uniform).collect();
        if self.sorted && self.inputs == 1 {
            x.sort_by(f64::total_cmp);
        }
        x
    }

    /// One function of this kind for each expert (n x K).
    fn draw_functions(&self, kind: Kind, lengthscale: f64, x: &[f64]) -> Result<Vec<f64>> {
        // All kinds may share the frequencies: given those, the functions are independent.
        let frequency_seed = self.stream(FREQUENCIES).next_u64();
        let prior = Prior::new(self.kernel, lengthscale, x, self.inputs, frequency_seed)?;
        let index = |k: usize| FUNCTIONS + 3 * k as u64 + kind as u64;
        let mut rngs: Vec<_> = (0..self.experts).map(|k| self.stream(index(k))).collect();
        let functions = prior.draw(&mut rngs);
        Ok((0..self.n).flat_map(|row| functions.iter().map(move |f| f[row])).collect())
    }
}

impl Simulated {
    /// The log density of `y` at the inputs of `row` under the true mixture, `log sum_k w_k
    /// N(y; mu_k, sd_k^2)`, by log-sum-exp so that a point far in the tail stays finite.
    ///
    /// # Panics
    ///
    /// If `row` is not a row of the data.
    pub fn log_density(&self, row: usize, y: f64) -> f64 {
        let half_log_two_pi = 0.5 * (2.0 * std::f64::consts::PI).ln();
        let term = |at: usize| {
            let z = (y - self.mean[at]) / self.log_sd[at].exp();
            self.weight[at].ln() - half_log_two_pi - self.log_sd[at] - 0.5 * z * z
        };
        let columns = row * self.experts..(row + 1) * self.experts;
        let top = columns.clone().map(term).fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return top;
        }
        top + columns.map(|at| (term(at) - top).exp()).sum::<f64>().ln()
    }
}

fn softmax(row: &mut [f64]) {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|v| *v = (*v - top).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|v| *v /= sum);
}

/// The category whose part of the unit interval `u` falls in.
fn choose(weight: &[f64], mut u: f64) -> usize {
    for (k, w) in weight.iter().enumerate() {
        if u < *w {
            return k;
        }
        u -= w;
    }
    // Rounding can leave `u` just past the end.
    weight.len() - 1
}
