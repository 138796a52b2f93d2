//! The log marginal likelihood of a GP and its gradient in the log hyperparameters.
//!
//! With `r = y - mean`, `alpha = K^-1 r`: `log p(y) = -r'alpha / 2 - log det L - n log(2 pi) / 2`
//! (Rasmussen and Williams, equation 5.8). For any parameter t of K,
//! `d/dt = tr((alpha alpha' - K^-1) dK/dt) / 2` (5.9). The sums for `var` and `noise` need no pass
//! over the matrix: as `K = var k + noise I`, with `T = alpha'alpha - tr K^-1`,
//! `d/d log noise = noise T / 2` and `d/d log var = (r'alpha - n - noise T) / 2`. Where rows have noise of
//! their own, `noise h_i`, T is `sum_i h_i (alpha_i^2 - K^-1_ii)`.
//!
//! **The mean** is profiled out. For a given K the likelihood, with a normal prior of precision
//! `c` around 0 (`c` = 0 without one), is quadratic in the mean and largest at
//! `m = 1'K^-1 y / (1'K^-1 1 + c)`, generalised least squares. There the derivative in m is 0,
//! so the total derivative in the other parameters is the partial one at fixed m (the envelope
//! theorem), and the gradient above stands.

use faer::dyn_stack::MemBuffer;

use super::covariance::{contract, fill};
use super::factor;
use super::inputs::Inputs;
use crate::kernel::Kernel;
use crate::math::simd::Level;
use crate::math::{HALF_LN_TWO_PI, Partial, WIDTH};

/// What is done about the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Centre {
    /// It is this.
    Fixed(f64),
    /// The best one, under a normal prior of this precision around 0.
    Best(f64),
}

/// The log marginal likelihood of given rows, with room to compute it again and again.
pub(super) struct Evidence {
    kernel: Kernel,
    raw: Inputs,
    y: Vec<f64>,
    /// The noise of each row in units of the noise; empty where all have the same.
    relative: Vec<f64>,
    centre: Centre,
    level: Level,
    scaled: Inputs,
    /// The covariance, then its factor, then its inverse.
    k: Vec<f64>,
    slopes: Vec<f64>,
    half: Vec<f64>,
    /// `K^-1 y`, later `K^-1 r`; then `K^-1 1`.
    solved: Vec<f64>,
    sums: Vec<Partial>,
    scratch: MemBuffer,
    mean: f64,
}

impl Evidence {
    /// For inputs and targets in units of the data's own scales.
    pub(super) fn new(
        kernel: Kernel,
        raw: Inputs,
        y: Vec<f64>,
        relative: Vec<f64>,
        centre: Centre,
    ) -> Evidence {
        let (rows, stride) = (raw.rows(), raw.stride());
        let square = || vec![0.0; rows * stride];
        Evidence {
            kernel,
            scaled: raw.zeros_like(),
            y,
            relative,
            centre,
            level: Level::detect(),
            k: square(),
            slopes: square(),
            half: square(),
            solved: vec![0.0; 2 * stride],
            sums: vec![[0.0; WIDTH]; raw.count()],
            scratch: factor::scratch(rows),
            mean: 0.0,
            raw,
        }
    }

    /// The mean of the last evaluation.
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// The log marginal likelihood at `q`, which holds `log var`, one `log ell` per input and
    /// `log noise`, with the prior of the mean where it has one. Where asked for, its gradient is
    /// put into `grad`. `None` where the covariance has no factor.
    pub(super) fn at(&mut self, q: &[f64], grad: Option<&mut [f64]>) -> Option<f64> {
        let (n, stride, d) = (self.raw.rows(), self.raw.stride(), self.raw.count());
        let (var, noise) = (q[0].exp(), q[d + 1].exp());
        self.scaled.rescale(&self.raw, &q[1..=d]);
        let (kernel, level, scaled) = (self.kernel, self.level, &self.scaled);
        let slopes = if grad.is_some() { &mut self.slopes[..] } else { &mut [] };
        let relative = &self.relative;
        let fill = |k: &mut [f64], diagonal| {
            fill(level, kernel, scaled, var, diagonal, k, slopes);
            vary(k, stride, noise, relative);
        };
        let jitter =
            factor::factor(&mut self.k, n, stride, var + noise, &mut self.scratch, fill).ok()?;

        self.solved.fill(0.0);
        self.solved[..n].copy_from_slice(&self.y);
        self.solved[stride..stride + n].fill(1.0);
        let wanted = if let Centre::Best(_) = self.centre { 2 * stride } else { stride };
        let mut penalty = 0.0;
        match self.centre {
            Centre::Fixed(mean) => {
                self.mean = mean;
                self.solved[..n].iter_mut().for_each(|v| *v -= mean);
                factor::solve(&self.k, n, stride, &mut self.solved[..wanted]);
            }
            Centre::Best(precision) => {
                factor::solve(&self.k, n, stride, &mut self.solved[..wanted]);
                let (alpha, ones) = self.solved.split_at_mut(stride);
                let weight: f64 = ones[..n].iter().sum();
                self.mean = alpha[..n].iter().sum::<f64>() / (weight + precision);
                alpha.iter_mut().zip(ones).for_each(|(a, o)| *a -= self.mean * *o);
                penalty = 0.5 * precision * self.mean * self.mean;
            }
        }
        let alpha = &self.solved[..stride];
        let fit: f64 = self.y.iter().zip(alpha).map(|(y, a)| (y - self.mean) * a).sum();
        let half_log_det = factor::half_log_det(&self.k, n, stride);
        let value = -0.5 * fit - half_log_det - n as f64 * HALF_LN_TWO_PI - penalty;
        if !value.is_finite() {
            return None;
        }
        if let Some(grad) = grad {
            factor::invert(&mut self.k, n, stride, &mut self.half);
            let part = |i: usize| alpha[i] * alpha[i] - self.k[i * (stride + 1)];
            let trace: f64 = (0..n).map(part).sum();
            let own = self.relative.iter().enumerate().map(|(i, h)| h * part(i)).sum();
            let varied: f64 = if self.relative.is_empty() { trace } else { own };
            grad[0] = 0.5 * (fit - n as f64 - noise * varied - jitter * trace);
            grad[d + 1] = 0.5 * noise * varied;
            let d_log_ell = &mut grad[1..=d];
            contract(level, scaled, alpha, &self.k, &self.slopes, &mut self.sums, d_log_ell);
        }
        Some(value)
    }
}

/// Give each row its own noise, in a covariance that has the same in all.
pub(super) fn vary(k: &mut [f64], stride: usize, noise: f64, relative: &[f64]) {
    for (i, h) in relative.iter().enumerate() {
        k[i * (stride + 1)] += noise * (h - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    /// Rows whose number fills no block, some of them equal, and targets that depend on them.
    fn evidence(kernel: Kernel, n: usize, d: usize, centre: Centre) -> Evidence {
        let mut rng = stream(5, Purpose::Simulate, n as u64);
        let mut x: Vec<f64> = (0..n * d).map(|_| 3.0 * rng.random::<f64>() - 1.0).collect();
        x.copy_within(0..d, d);
        let y = (0..n).map(|i| (2.0 * x[i * d]).sin() + 0.3 * rng.random::<f64>()).collect();
        let even = n.is_multiple_of(2);
        let relative = if even { Vec::new() } else { (0..n).map(|_| rng.random()).collect() };
        Evidence::new(kernel, Inputs::new(&x, &vec![1.0; d]).unwrap(), y, relative, centre)
    }

    /// Richardson's extrapolation of central differences, the sixth order in `h`.
    fn difference(mut at: impl FnMut(f64) -> f64) -> f64 {
        let mut central = |h: f64| (at(h) - at(-h)) / (2.0 * h);
        let (a, b, c) = (central(4e-3), central(2e-3), central(1e-3));
        let (ab, bc) = (b + (b - a) / 3.0, c + (c - b) / 3.0);
        bc + (bc - ab) / 15.0
    }

    #[test]
    fn the_gradient_is_the_derivative_for_every_kernel_size_and_mean() {
        let centres = [Centre::Fixed(0.2), Centre::Best(0.0), Centre::Best(1.0)];
        for kernel in Kernel::ALL {
            for (n, d) in [(2, 1), (7, 3), (64, 1), (71, 5), (150, 2)] {
                for centre in centres {
                    let mut evidence = evidence(kernel, n, d, centre);
                    let mut q: Vec<f64> = (0..d + 2).map(|i| 0.3 - 0.2 * i as f64).collect();
                    q[d + 1] = -3.0;
                    let mut grad = vec![f64::NAN; d + 2];
                    let value = evidence.at(&q, Some(&mut grad)).unwrap();
                    assert_eq!(evidence.at(&q, None), Some(value));
                    for i in 0..d + 2 {
                        let want = difference(|h| {
                            let mut moved = q.clone();
                            moved[i] += h;
                            evidence.at(&moved, None).unwrap()
                        });
                        let error = (grad[i] - want).abs() / (1.0 + want.abs());
                        assert!(error < 1e-8, "{kernel} {n} x {d} {centre:?} {i}: {error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_profiled_mean_is_the_best_one() {
        let q = [0.1, -0.4, -2.0];
        let mut best = evidence(Kernel::Matern52, 40, 1, Centre::Best(0.0));
        let value = best.at(&q, None).unwrap();
        let at = |mean| evidence(Kernel::Matern52, 40, 1, Centre::Fixed(mean)).at(&q, None);
        assert!((at(best.mean()).unwrap() - value).abs() < 1e-10);
        for apart in [-0.1, 0.1] {
            assert!(at(best.mean() + apart).unwrap() < value);
        }
    }
}
