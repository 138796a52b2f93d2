//! A GP as a linear model: `f(x) = mean + phi(x) . (scale * theta)`; the basis says what phi
//! and scale are.
//!
//! Three bases: random Fourier features, whose frequencies move with the lengthscale
//! ([`rff`]), a fixed Hilbert-space basis ([`hilbert`]), and the exact GP of a small data set
//! ([`exact`]). Everything above asks a basis for the four steps of [`Basis`]: `prepare`
//! (parameters to coefficients), `forward` (coefficients to function values on a block of rows),
//! `adjoint` (the reverse) and `finish` (adjoints of coefficients to the gradient). The collapsed
//! density also asks for the features themselves (`weighted.rs`).

pub mod approximation;
pub mod exact;
pub mod frequencies;
pub mod hilbert;
pub mod rff;
pub(crate) mod weighted;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::kernel::Kernel;
use crate::math::simd::Level;
use crate::math::{Lanes, Sums};
use crate::rows::Rows;
pub use approximation::Approximation;
pub use exact::Exact;
pub use hilbert::Hilbert;
pub use rff::Rff;

/// The basis that all GPs of a model share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "basis", rename_all = "kebab-case")]
pub enum Basis {
    /// Random Fourier features.
    Rff(Rff),
    /// The fixed basis of sines on a box.
    Hilbert(Hilbert),
    /// The exact GP on the rows of a small data set.
    Exact(Exact),
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

/// The parameters of `count` GPs as their basis uses them; the parts of the other bases are empty.
#[derive(Debug, Clone, Default)]
pub struct Coefs {
    rff: rff::Coefs,
    hilbert: hilbert::Coefs,
    exact: exact::Coefs,
}

/// One thread's working memory; what belongs to other bases is empty.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// RFF: cosines and sines of the current block, (count, frequencies, 2).
    trig: Vec<Lanes>,
    /// Hilbert: features of the last few blocks, (blocks, functions).
    features: Vec<Lanes>,
    exact: exact::Work,
}

/// What the reverse pass adds up over the rows, for `count` GPs.
#[derive(Debug, Clone, Default)]
pub struct Adjoints {
    /// For the adjoint of theta, (count, features); exact: of the values at the anchors.
    coef: Vec<Sums>,
    /// RFF: for the adjoint of the lengthscales, (count, frequencies, inputs).
    freq: Vec<Sums>,
}

/// What a basis computes once for a set of rows.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    /// Hilbert: the features of all blocks, (blocks, functions); empty where they do not fit.
    features: Vec<Lanes>,
    exact: exact::Cache,
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
            Basis::Exact(b) => b.anchors(),
        }
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        match self {
            Basis::Rff(b) => b.inputs(),
            Basis::Hilbert(b) => b.inputs(),
            Basis::Exact(b) => b.inputs(),
        }
    }

    /// The kernel that the basis approximates.
    pub fn kernel(&self) -> Kernel {
        match self {
            Basis::Rff(b) => b.kernel(),
            Basis::Hilbert(b) => b.kernel(),
            Basis::Exact(b) => b.kernel(),
        }
    }

    /// How far the basis is from its kernel at given lengthscales: pairs of points up to three
    /// lengthscales apart, along each input in turn, about the middle and about the edges of
    /// the data, which are `edge` from the middle of the box for each input. The exact GP has no
    /// error: each pair of an anchor and a row has the kernel's covariance.
    pub fn approximation(&self, log_ell: &[f64], edge: &[f64]) -> Result<Approximation> {
        const STEPS: usize = 24;
        let centre = match self {
            Basis::Rff(_) | Basis::Exact(_) => vec![0.0; self.inputs()],
            Basis::Hilbert(b) => b.domain().0.to_vec(),
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
        approximation::report(self.kernel(), log_ell, &points, 3.0, |i, j| match self {
            Basis::Rff(b) => approximation::rff_covariance(b.omega(), log_ell, row(i), row(j)),
            Basis::Hilbert(b) => b.covariance(log_ell, row(i), row(j)),
            Basis::Exact(b) => b.covariance(log_ell, row(i), row(j)),
        })
    }

    /// Refuse rows that a model on this basis cannot be fitted to.
    pub fn check(&self, rows: &Rows) -> Result<()> {
        match self {
            Basis::Rff(b) => b.check(rows),
            Basis::Hilbert(_) => Ok(()),
            Basis::Exact(b) => b.check(rows),
        }
    }

    /// Features of `rows` for later blocks, where they are fixed and few enough to keep; for the
    /// exact GP, which rows are anchors.
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
            Basis::Exact(b) => Cache { exact: b.cache(rows), ..Cache::default() },
            _ => Cache::default(),
        }
    }

    /// Room for the coefficients of `count` GPs; with `adjoint`, also for what the gradient
    /// needs of them.
    pub fn coefs(&self, count: usize, adjoint: bool) -> Coefs {
        let mut out = Coefs::default();
        match self {
            Basis::Rff(b) => out.rff = b.coefs(count),
            Basis::Hilbert(b) => out.hilbert = b.coefs(count, adjoint),
            Basis::Exact(b) => out.exact = b.coefs(count, adjoint),
        }
        out
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
            Basis::Exact(b) => out.exact = b.work(),
        }
        out
    }

    /// Sums of the reverse pass for `count` GPs, at zero.
    pub fn adjoints(&self, count: usize) -> Adjoints {
        let zeros = |n: usize| vec![Sums::splat(0.0); count * n];
        let freq = match self {
            Basis::Rff(b) => b.omega().len(),
            Basis::Hilbert(_) | Basis::Exact(_) => 0,
        };
        Adjoints { coef: zeros(self.features()), freq: zeros(freq) }
    }

    /// How many blocks a reverse pass takes at most; they begin at a multiple of this. RFF needs
    /// the sines of each function value, which fill the cache for one block. The features of
    /// the fixed basis serve all GPs, and its sums are better read and written seldom.
    pub fn span(&self) -> usize {
        match self {
            Basis::Rff(_) | Basis::Exact(_) => 1,
            Basis::Hilbert(_) => 16,
        }
    }

    /// Turn the parameters of GP `g` into coefficients.
    pub fn prepare(&self, level: Level, g: usize, p: GpParams<'_>, coefs: &mut Coefs) {
        match self {
            Basis::Rff(b) => b.prepare(level, g, p, &mut coefs.rff),
            Basis::Hilbert(b) => b.prepare(level, g, p, &mut coefs.hilbert),
            Basis::Exact(b) => b.prepare(level, g, p, &mut coefs.exact),
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
                let room = &mut work.features;
                basis.forward(level, rows, b, &cache.features, &coefs.hilbert, room, f);
            }
            Basis::Exact(basis) => {
                let room = &mut work.exact;
                basis.forward(level, rows, b, &cache.exact, &coefs.exact, room, f);
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
            Basis::Hilbert(b) => {
                b.adjoint(level, rows, blocks, &cache.features, &work.features, d_f, out);
            }
            Basis::Exact(b) => b.adjoint(rows, blocks.start, &cache.exact, d_f, out),
        }
    }

    /// Add the gradient of GP `g`, from the adjoints summed over all blocks.
    pub fn finish(
        &self,
        level: Level,
        g: usize,
        p: GpParams<'_>,
        coefs: &Coefs,
        sums: &Adjoints,
        work: &mut Work,
        grad: GpGrad<'_>,
    ) {
        match self {
            Basis::Rff(b) => b.finish(g, p, &coefs.rff, sums, grad),
            Basis::Hilbert(b) => b.finish(g, p, &coefs.hilbert, sums, grad),
            Basis::Exact(b) => {
                b.finish(level, g, p, &coefs.exact, sums, &mut work.exact, grad);
            }
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
                basis.approximation(&[0.3_f64.ln()], &[5.0]).expect("a report").max_abs
            };
            assert!(error(400) < bound, "{kernel}: {}", error(400));
            assert!(error(10) > 0.3, "{kernel}: {}", error(10));
        }
    }
}
