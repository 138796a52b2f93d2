//! Hamiltonian Monte Carlo for a block of parameters whose density changes from round to round.
//!
//! Trajectories have a random number of steps. The step size is adapted by dual averaging (Hoffman
//! and Gelman, JMLR 15 (2014) 1593) and the scale of each parameter by its variance in windows of the
//! warm-up; both are fixed afterwards.

use gpfuse::infer::{Checked, Density};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// The mean acceptance that the step size is adapted to: the best for long trajectories in many
/// dimensions (Beskos and others, Bernoulli 19 (2013) 1501).
const TARGET: f64 = 0.65;

/// When scales are taken from what was drawn since the last time, in parts of the warm-up.
const WINDOWS: [f64; 4] = [0.1, 0.2, 0.4, 0.8];

/// What the warm-up has learned of a block.
pub(crate) struct Block {
    /// The most steps of a trajectory; the fewest are a third.
    most: usize,
    warmup: usize,
    scale: Vec<f64>,
    /// The step size, its average, and where the search began, as logarithms.
    log_step: f64,
    averaged: f64,
    centre: f64,
    /// Transitions since, and the mean of how far acceptance was from its target.
    count: f64,
    lacking: f64,
    /// Of the present window: draws, their mean, squares about it.
    seen: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
    windows: usize,
}

impl Block {
    pub(crate) fn new(dim: usize, most: usize, settings: &Checked) -> Block {
        let mut block = Block {
            most,
            warmup: settings.warmup,
            scale: vec![1.0; dim],
            log_step: 0.1_f64.ln(),
            averaged: 0.0,
            centre: 0.0,
            count: 0.0,
            lacking: 0.0,
            seen: 0.0,
            mean: vec![0.0; dim],
            squares: vec![0.0; dim],
            windows: 0,
        };
        block.restart();
        block
    }

    fn restart(&mut self) {
        self.centre = 10.0_f64.ln() + self.log_step;
        (self.averaged, self.count, self.lacking) = (self.log_step, 0.0, 0.0);
    }

    /// One transition from `q`, in round `round` of the run.
    pub(crate) fn transit<D: Density>(
        &mut self,
        density: &mut D,
        q: &mut [f64],
        round: usize,
        rng: &mut ChaCha8Rng,
    ) {
        let warming_up = round < self.warmup;
        let step = if warming_up { self.log_step } else { self.averaged }.exp();
        let steps = rng.random_range(self.most / 3..=self.most);
        let mut p: Vec<f64> = q.iter().map(|_| StandardNormal.sample(rng)).collect();
        let mut grad = vec![0.0; q.len()];
        let energy = |logp: f64, p: &[f64]| 0.5 * p.iter().map(|p| p * p).sum::<f64>() - logp;
        let mut here = q.to_vec();
        let mut change = f64::INFINITY;
        if let Ok(logp) = density.logp(&here, &mut grad) {
            let before = energy(logp, &p);
            for i in 0..steps {
                for j in 0..here.len() {
                    p[j] += 0.5 * step * self.scale[j] * grad[j];
                    here[j] += step * self.scale[j] * p[j];
                }
                // Where there is no density the trajectory is refused.
                let Ok(logp) = density.logp(&here, &mut grad) else { break };
                for j in 0..here.len() {
                    p[j] += 0.5 * step * self.scale[j] * grad[j];
                }
                if i + 1 == steps {
                    change = energy(logp, &p) - before;
                }
            }
        }
        let accept = if change.is_nan() { 0.0 } else { (-change).exp().min(1.0) };
        if rng.random::<f64>() < accept {
            q.copy_from_slice(&here);
        }
        if warming_up {
            self.learn(accept, q, round);
        }
    }

    fn learn(&mut self, accept: f64, q: &[f64], round: usize) {
        self.count += 1.0;
        self.lacking += (TARGET - accept - self.lacking) / (self.count + 10.0);
        self.log_step = self.centre - self.count.sqrt() / 0.05 * self.lacking;
        self.averaged += self.count.powf(-0.75) * (self.log_step - self.averaged);
        self.seen += 1.0;
        for j in 0..q.len() {
            let apart = q[j] - self.mean[j];
            self.mean[j] += apart / self.seen;
            self.squares[j] += apart * (q[j] - self.mean[j]);
        }
        let Some(end) = WINDOWS.get(self.windows) else { return };
        if (round + 1) as f64 >= end * self.warmup as f64 {
            // Pulled to one, the scale of the prior, by as much as five draws.
            for (scale, squares) in self.scale.iter_mut().zip(&self.squares) {
                *scale = ((squares + 5.0) / (self.seen + 5.0)).sqrt();
            }
            self.windows += 1;
            self.seen = 0.0;
            self.mean.fill(0.0);
            self.squares.fill(0.0);
            self.restart();
        }
    }
}
