//! A GP as a linear model: `f(x) = mean + phi(x) . (scale * theta)`; the basis says what phi
//! and scale are.
//!
//! Three bases: random Fourier features, whose frequencies move with the lengthscale
//! ([`rff`]), a fixed Hilbert-space basis for few inputs ([`hilbert`]), and eigenfunctions made from
//! the data for many inputs ([`eigen`]). Everything above asks a basis for the four steps of [`Basis`]: `prepare`
//! (parameters to coefficients), `forward` (coefficients to function values on a block of rows),
//! `adjoint` (the reverse) and `finish` (adjoints of coefficients to the gradient). The collapsed
//! density also asks for the features themselves (`weighted.rs`).

pub mod approximation;
pub mod eigen;
pub mod frequencies;
pub mod hilbert;
mod products;
pub mod rff;
pub(crate) mod weighted;

use std::ops::Range;

use serde::Serialize;

use crate::Result;
use crate::kernel::Kernel;
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS, Sums, WIDTH};
use crate::rows::Rows;
pub use approximation::Approximation;
pub use eigen::Eigen;
pub use hilbert::Hilbert;
pub use rff::Rff;

/// The basis that GPs share.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "basis", rename_all = "kebab-case")]
pub enum Basis {
    /// Random Fourier features.
    Rff(Rff),
    /// The fixed basis of sines on a box.
    Hilbert(Hilbert),
    /// Eigenfunctions of a pilot's covariance.
    Eigen(Eigen),
}

/// The parameters of one GP in the sampling space, as slices of a longer vector.
#[derive(Debug, Clone, Copy)]
pub struct GpParams<'a> {
    /// Log variance.
    pub log_var: f64,
    /// Log lengthscales, one per input.
    pub log_ell: &'a [f64],
    /// Coefficients before scaling, standard normal under the prior.
    pub theta: &'a [f64],
}

/// The gradient with respect to [`GpParams`], to be added to.
#[derive(Debug)]
pub struct GpGrad<'a> {
    /// With respect to the log variance.
    pub log_var: &'a mut f64,
    /// With respect to the log lengthscales.
    pub log_ell: &'a mut [f64],
    /// With respect to theta.
    pub theta: &'a mut [f64],
}

/// The parameters of `count` GPs as their basis uses them; the part of the other bases is empty.
#[derive(Debug, Clone, Default)]
pub struct Coefs {
    rff: rff::Coefs,
    fixed: Fixed,
}

/// The coefficients of `count` GPs on fixed functions.
#[derive(Debug, Clone, Default)]
struct Fixed {
    /// `scale * theta`, (count, functions).
    coef: Vec<f64>,
    /// What theta is multiplied by, for the gradient and for weighted features, (count, functions).
    scale: Vec<f64>,
}

/// One thread's working memory; what belongs to other bases is empty.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// RFF: cosines and sines of the current block, (count, frequencies, 2).
    trig: Vec<Lanes>,
    /// Hilbert: features of the last few blocks, (blocks, functions).
    features: Vec<Lanes>,
}

/// What the reverse pass adds up over the rows, for `count` GPs.
#[derive(Debug, Clone, Default)]
pub struct Adjoints {
    /// For the adjoint of theta, (count, features).
    coef: Vec<Sums>,
    /// RFF: for the adjoint of the lengthscales, (count, frequencies, inputs).
    freq: Vec<Sums>,
}

/// What a basis computes once for a set of rows.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    /// Fixed functions at all blocks, (blocks, functions); empty where they do not fit.
    features: Vec<Lanes>,
    /// Eigenfunctions: the variance that they leave out, (blocks).
    left_out: Vec<Lanes>,
}

impl Cache {
    /// The variance that the functions leave out at the rows of block `b`, where they are such
    /// functions.
    pub(crate) fn left_out(&self, b: usize) -> Option<&Lanes> {
        self.left_out.get(b)
    }

    /// The features of some blocks, where they are kept.
    fn kept(&self, blocks: Range<usize>, functions: usize) -> Option<&[Lanes]> {
        self.features.get(blocks.start * functions..blocks.end * functions)
    }
}

/// The largest cache of features, in numbers: two megabytes, about what stays near a core.
/// With more rows the features are made anew for each block, and memory stays flat.
const CACHE_LIMIT: usize = 1 << 18;

impl Basis {
    /// The number of features: the length of a GP's theta.
    pub fn features(&self) -> usize {
        match self {
            Basis::Rff(b) => 2 * b.frequencies(),
            Basis::Hilbert(b) => b.functions(),
            Basis::Eigen(b) => b.functions() + 1,
        }
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        match self {
            Basis::Rff(b) => b.inputs(),
            Basis::Hilbert(b) => b.inputs(),
            Basis::Eigen(b) => b.inputs(),
        }
    }

    /// How many lengthscales a GP has among its parameters: none where the functions are made for
    /// given ones.
    pub fn lengthscales(&self) -> usize {
        match self {
            Basis::Rff(_) | Basis::Hilbert(_) => self.inputs(),
            Basis::Eigen(_) => 0,
        }
    }

    /// What GPs vary about.
    pub fn level(&self) -> f64 {
        match self {
            Basis::Rff(_) | Basis::Hilbert(_) => 0.0,
            Basis::Eigen(b) => b.level(),
        }
    }

    /// The kernel that the basis approximates.
    pub fn kernel(&self) -> Kernel {
        match self {
            Basis::Rff(b) => b.kernel(),
            Basis::Hilbert(b) => b.kernel(),
            Basis::Eigen(b) => b.pilot().kernel,
        }
    }

    /// How far the basis is from its kernel at given lengthscales: pairs of points up to three
    /// lengthscales apart, along each input in turn, about the middle and about the edges of
    /// the data, which are `edge` from the middle of the box for each input. Nothing for
    /// eigenfunctions, whose error is part of the model.
    pub fn approximation(&self, log_ell: &[f64], edge: &[f64]) -> Result<Option<Approximation>> {
        const STEPS: usize = 24;
        let centre = match self {
            Basis::Rff(_) => vec![0.0; self.inputs()],
            Basis::Hilbert(b) => b.domain().0.to_vec(),
            Basis::Eigen(_) => return Ok(None),
        };
        let mut points = Vec::new();
        for (i, log_ell) in log_ell.iter().enumerate() {
            let reach = (1.5 * log_ell.exp()).min(edge[i]);
            for step in 0..=STEPS {
                let t = 2.0 * step as f64 / STEPS as f64 - 1.0;
                let at_edge = t.signum() * (edge[i] - (1.0 - t.abs()) * reach);
                for place in [t * reach, at_edge].into_iter().filter(|p| p.is_finite()) {
                    let mut point = centre.clone();
                    point[i] += place;
                    points.extend(point);
                }
            }
        }
        let row = |i: usize| &points[i * centre.len()..(i + 1) * centre.len()];
        let covariance = |i, j| match self {
            Basis::Rff(b) => approximation::rff_covariance(b.omega(), log_ell, row(i), row(j)),
            Basis::Hilbert(b) => b.covariance(log_ell, row(i), row(j)),
            Basis::Eigen(_) => f64::NAN,
        };
        approximation::report(self.kernel(), log_ell, &points, 3.0, covariance).map(Some)
    }

    /// Refuse rows that a model on this basis cannot be fitted to.
    pub fn check(&self, rows: &Rows) -> Result<()> {
        match self {
            Basis::Rff(b) => b.check(rows),
            Basis::Hilbert(_) | Basis::Eigen(_) => Ok(()),
        }
    }

    /// Features of `rows` for later blocks, where they are fixed and few enough to keep.
    pub fn cache(&self, rows: &Rows) -> Cache {
        match self {
            Basis::Hilbert(b) if rows.len() * b.functions() <= CACHE_LIMIT => {
                let mut features = Vec::with_capacity(rows.blocks() * b.functions());
                let mut block = vec![Lanes::splat(0.0); b.functions()];
                for i in 0..rows.blocks() {
                    b.features(Level::detect(), rows.block(i), &mut block);
                    features.extend_from_slice(&block);
                }
                Cache { features, ..Cache::default() }
            }
            Basis::Eigen(b) => b.cache(rows),
            _ => Cache::default(),
        }
    }

    /// Room for the coefficients of `count` GPs; with `adjoint`, also for what the gradient
    /// needs of them.
    pub fn coefs(&self, count: usize, adjoint: bool) -> Coefs {
        if let Basis::Rff(b) = self {
            return Coefs { rff: b.coefs(count), ..Coefs::default() };
        }
        let zeros = vec![0.0; count * self.features()];
        let scale = if adjoint { zeros.clone() } else { Vec::new() };
        Coefs { fixed: Fixed { coef: zeros, scale }, ..Coefs::default() }
    }

    /// Working memory for `count` GPs; with `adjoint`, also for the reverse pass.
    pub fn work(&self, count: usize, adjoint: bool) -> Work {
        let lanes = |n: usize| vec![Lanes::splat(0.0); n];
        let blocks = if adjoint { self.span() } else { 1 };
        let mut out = Work::default();
        match self {
            Basis::Rff(b) if adjoint => out.trig = lanes(2 * count * b.frequencies()),
            Basis::Rff(_) => {}
            Basis::Hilbert(b) => out.features = lanes(blocks * b.functions()),
            Basis::Eigen(_) => {}
        }
        out
    }

    /// Sums of the reverse pass for `count` GPs, at zero.
    pub fn adjoints(&self, count: usize) -> Adjoints {
        let zeros = |n: usize| vec![Sums::splat(0.0); count * n];
        let freq = match self {
            Basis::Rff(b) => b.omega().len(),
            Basis::Hilbert(_) | Basis::Eigen(_) => 0,
        };
        Adjoints { coef: zeros(self.features()), freq: zeros(freq) }
    }

    /// How many blocks a reverse pass takes at most; they begin at a multiple of this. RFF needs
    /// the sines of each function value, which fill the cache for one block. The features of
    /// fixed functions serve all GPs, and their sums are better read and written seldom; but what the
    /// forward pass has read should still be near the core, half a megabyte of it.
    pub fn span(&self) -> usize {
        match self {
            Basis::Rff(_) => 1,
            Basis::Hilbert(_) => 16,
            Basis::Eigen(_) => (1024 / self.features()).clamp(1, 16),
        }
    }

    /// Turn the parameters of GP `g` into coefficients.
    pub fn prepare(&self, level: Level, g: usize, p: GpParams<'_>, coefs: &mut Coefs) {
        match self {
            Basis::Rff(b) => b.prepare(level, g, p, &mut coefs.rff),
            Basis::Hilbert(b) => b.prepare(level, g, p, &mut coefs.fixed),
            Basis::Eigen(b) => b.prepare(g, p, &mut coefs.fixed),
        }
    }

    /// Function values of all GPs, without their means, on block `b` of `rows`.
    pub fn forward(
        &self,
        level: Level,
        rows: &Rows,
        b: usize,
        cache: &Cache,
        coefs: &Coefs,
        work: &mut Work,
        f: &mut [Lanes],
    ) {
        match self {
            Basis::Rff(basis) => {
                let (x, reach) = (rows.block(b), rows.reach(b));
                basis.forward(level, x, reach, &coefs.rff, &mut work.trig, f);
            }
            Basis::Hilbert(basis) => {
                let functions = basis.functions();
                let features = match cache.kept(b..b + 1, functions) {
                    Some(kept) => kept,
                    None => {
                        let slot = b % (work.features.len() / functions);
                        let made = &mut work.features[slot * functions..(slot + 1) * functions];
                        basis.features(level, rows.block(b), made);
                        made
                    }
                };
                products::forward(level, features, &coefs.fixed.coef, rows.groups(b), f);
            }
            Basis::Eigen(_) => {
                let features = cache.kept(b..b + 1, self.features()).unwrap_or_default();
                products::forward(level, features, &coefs.fixed.coef, rows.groups(b), f);
            }
        }
    }

    /// Add the adjoints of the last `blocks`: `d_f` is the derivative with respect to each
    /// function value, (blocks, count). Must follow `forward` of all of them.
    pub fn adjoint(
        &self,
        level: Level,
        rows: &Rows,
        blocks: Range<usize>,
        cache: &Cache,
        work: &Work,
        d_f: &[Lanes],
        out: &mut Adjoints,
    ) {
        match self {
            Basis::Rff(b) => b.adjoint(level, rows.block(blocks.start), &work.trig, d_f, out),
            Basis::Hilbert(_) | Basis::Eigen(_) => {
                let functions = self.features();
                let kept = cache.kept(blocks.clone(), functions);
                let features = kept.unwrap_or_else(|| &work.features[..blocks.len() * functions]);
                let groups = (blocks.len() - 1) * ROWS / WIDTH + rows.groups(blocks.end - 1);
                products::adjoint(level, features, functions, d_f, groups, &mut out.coef);
            }
        }
    }

    /// Add the gradient of GP `g`, from the adjoints summed over all blocks.
    pub fn finish(
        &self,
        g: usize,
        p: GpParams<'_>,
        coefs: &Coefs,
        sums: &Adjoints,
        grad: GpGrad<'_>,
    ) {
        match self {
            Basis::Rff(b) => b.finish(g, p, &coefs.rff, sums, grad),
            Basis::Hilbert(b) => b.finish(g, p, &coefs.fixed, sums, grad),
            Basis::Eigen(b) => b.finish(g, &coefs.fixed, sums, grad),
        }
    }
}

impl Adjoints {
    /// Forget all, before the first block.
    pub fn clear(&mut self) {
        self.coef.fill(Sums::splat(0.0));
        self.freq.fill(Sums::splat(0.0));
    }

    /// Add the sums over other rows.
    pub fn add(&mut self, other: &Adjoints) {
        let sums = self.coef.iter_mut().chain(&mut self.freq);
        for (sum, other) in sums.zip(other.coef.iter().chain(&other.freq)) {
            for i in 0..sum.len() {
                sum[i] += other[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_hilbert_basis_is_close_to_every_kernel_and_a_coarse_one_is_not() {
        // Tails of the spectral density beyond the basis: thicker for rougher kernels.
        let bounds = [1e-6, 0.05, 2e-3, 3e-4];
        for (kernel, bound) in Kernel::ALL.into_iter().zip(bounds) {
            let error = |size: usize| {
                let basis = Hilbert::new(kernel, vec![0.0], vec![6.5], vec![size]);
                let basis = Basis::Hilbert(basis.expect("a box"));
                basis
                    .approximation(&[0.3_f64.ln()], &[5.0])
                    .expect("a report")
                    .expect("one")
                    .max_abs
            };
            assert!(error(400) < bound, "{kernel}: {}", error(400));
            assert!(error(10) > 0.3, "{kernel}: {}", error(10));
        }
    }
}
