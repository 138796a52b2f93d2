//! A model with its data: the log joint density and its hand-written gradient in one pass.
//!
//! The likelihood is a sum over rows. Rows are taken in blocks that stay in cache (`pass.rs`); no
//! rows x features matrix is stored when there are many rows. Many rows are cut into shares
//! that several threads may take; how they are cut, and so the order of the additions, depends
//! on the number of rows alone.

use std::sync::Arc;

use rayon::ThreadPool;
use rayon::prelude::*;

use super::pass::{Pass, Shared, Sum};
use super::{Cached, Given, Model, Prepared, Role};
use crate::data::check_targets;
use crate::infer::{Density, DensityError};
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};
use crate::rows::{Rows, blocked};
use crate::{Error, Result};

/// The rows that a model is fitted to.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Inputs.
    pub rows: Rows,
    y: Vec<Lanes>,
    given: Option<Given>,
}

impl Observed {
    /// Inputs (row-major, n x inputs) and targets, both finite.
    pub fn new(x: &[f64], inputs: usize, y: &[f64]) -> Result<Observed> {
        Observed::at(Rows::new(x, inputs)?, y)
    }

    /// Targets at rows that are laid out already.
    pub fn at(rows: Rows, y: &[f64]) -> Result<Observed> {
        check_targets(y, rows.len())?;
        Ok(Observed { rows, y: blocked(y), given: None })
    }

    /// With the predictions of given experts at these rows.
    pub fn with_given(self, mean: &[Vec<f64>], sd: &[Vec<f64>]) -> Result<Observed> {
        Ok(Observed { given: Some(Given::new(mean, sd)?), ..self })
    }

    /// The same from predictions that are laid out already.
    pub fn given_by(self, given: Given) -> Observed {
        Observed { given: Some(given), ..self }
    }

    /// The predictions of given experts.
    pub(super) fn given(&self) -> Option<&Given> {
        self.given.as_ref()
    }

    /// The targets of block `b`.
    pub(super) fn target(&self, b: usize) -> &Lanes {
        &self.y[b]
    }
}

/// What relabelling the experts does not change at a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invariant {
    /// The log likelihood of the row.
    LogLikelihood,
    /// The mean of the fused density, on the model's scale.
    FusedMean,
    /// The largest log weight of an expert.
    LargestLogWeight,
}

impl Invariant {
    /// All of them, in the order of their numbers.
    pub const ALL: [Invariant; 3] =
        [Invariant::LogLikelihood, Invariant::FusedMean, Invariant::LargestLogWeight];
}

/// A share of the rows is at least this many blocks: below it, threads cost more than they give.
const FEWEST_BLOCKS: usize = 64;

/// The most shares of the rows, and so the most threads that one gradient can use.
const MOST_SHARES: usize = 32;

/// The posterior density of a model given data, on the sampling space; cheap to clone, one
/// per thread.
#[derive(Debug, Clone)]
pub struct Posterior {
    model: Arc<Model>,
    data: Arc<Observed>,
    cache: Arc<Cached>,
    level: Level,
    prepared: Prepared,
    /// Blocks per share.
    share: usize,
    /// One per thread.
    passes: Vec<Pass>,
    /// One per share.
    sums: Vec<Sum>,
    threads: Option<Arc<ThreadPool>>,
}

impl Posterior {
    /// The posterior of `model` given `data`.
    pub fn new(model: Arc<Model>, data: Arc<Observed>) -> Result<Posterior> {
        if data.rows.inputs() != model.basis().inputs() {
            return Err(Error::Shape {
                what: "inputs per row".into(),
                expected: model.basis().inputs().to_string(),
                found: data.rows.inputs().to_string(),
            });
        }
        model.basis().check(&data.rows)?;
        model.check_given(&data.rows, data.given.as_ref())?;
        let cache = Arc::new(model.cache(&data.rows));
        let blocks = data.rows.blocks();
        let share = blocks.div_ceil((blocks / FEWEST_BLOCKS).clamp(1, MOST_SHARES));
        let share = share.next_multiple_of(model.span());
        Ok(Posterior {
            cache,
            level: Level::detect(),
            prepared: model.prepared(true),
            share,
            passes: vec![Pass::new(&model)],
            sums: vec![Sum::new(&model); blocks.div_ceil(share)],
            threads: None,
            model,
            data,
        })
    }

    /// The same density, computed with another instruction set.
    pub fn at_level(self, level: Level) -> Posterior {
        Posterior { level, ..self }
    }

    /// The instruction set.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// The data.
    pub(super) fn data(&self) -> &Observed {
        &self.data
    }

    /// What the basis keeps of the rows.
    pub(super) fn cache(&self) -> &Cached {
        &self.cache
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The log likelihood of each row at `q`.
    pub fn pointwise(&mut self, q: &[f64], out: &mut [f64]) {
        self.prepare(q);
        for b in 0..self.data.rows.blocks() {
            let filled = self.data.rows.filled(b);
            let (shared, passes, _) = self.split();
            let lanes = passes[0].block(shared, b);
            out[b * ROWS..b * ROWS + filled].copy_from_slice(&lanes[..filled]);
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.data.rows.len()
    }

    /// The posterior with at most `most` of its rows, evenly spread: for looking at, not for
    /// sampling.
    pub fn thinned(&self, most: usize) -> Result<Posterior> {
        let n = self.rows();
        let count = n.min(most);
        let rows: Vec<usize> = (0..count).map(|i| i * n / count).collect();
        let x: Vec<f64> = rows.iter().flat_map(|r| self.data.rows.row(*r)).collect();
        let pick = |v: &[Lanes]| rows.iter().map(|r| v[r / ROWS][r % ROWS]).collect::<Vec<f64>>();
        let data = Observed::new(&x, self.data.rows.inputs(), &pick(&self.data.y))?;
        let given = self.data.given.as_ref().map(|given| given.pick(&rows));
        let data = Observed { given, ..data };
        Ok(Posterior::new(self.model.clone(), Arc::new(data))?.at_level(self.level))
    }

    /// Whether a quantity is there: of experts that say how probable outcomes are there is no mean, and one expert
    /// has no weights that differ.
    pub(crate) fn has(&self, kind: Invariant) -> bool {
        match kind {
            Invariant::LogLikelihood => true,
            Invariant::FusedMean => self.data.given().is_none_or(|given| given.outcomes() == 0),
            Invariant::LargestLogWeight => self.model.experts() > 1,
        }
    }

    /// Call `each(kind, row, value)` with every [`Invariant`] of every row at `q`.
    pub fn invariants(&mut self, q: &[f64], mut each: impl FnMut(Invariant, usize, f64)) {
        self.prepare(q);
        let has_mean = self.has(Invariant::FusedMean);
        let pool = self.model.pool();
        let mut fused = pool.room(self.model.experts());
        for b in 0..self.data.rows.blocks() {
            let (shared, passes, _) = self.split();
            let lanes = passes[0].block(shared, b);
            let experts = &passes[0].scratch.experts;
            if has_mean {
                pool.fuse(shared.level, experts, &mut fused);
            }
            for r in 0..shared.data.rows.filled(b) {
                let row = b * ROWS + r;
                let parts = fused.log_weight.iter().zip(&fused.mean);
                let log_w = experts.log_w.iter().map(|w| w[r]);
                each(Invariant::LogLikelihood, row, lanes[r]);
                if has_mean {
                    each(Invariant::FusedMean, row, parts.map(|(w, m)| w[r].exp() * m[r]).sum());
                }
                each(Invariant::LargestLogWeight, row, log_w.fold(f64::NEG_INFINITY, f64::max));
            }
        }
    }

    /// The mean share, over rows and experts, of the noise that stands for what the functions of a shared
    /// mean leave out, at `q`; nothing where there is no such mean.
    pub(crate) fn left_out_share(&mut self, q: &[f64]) -> Option<f64> {
        self.model.common()?;
        self.prepare(q);
        let (mut sum, rows) = (0.0, self.rows());
        for b in 0..self.data.rows.blocks() {
            let (shared, passes, _) = self.split();
            passes[0].block(shared, b);
            let left = shared.cache.left_out(b)?;
            for log_sd in &passes[0].scratch.experts.log_sd {
                for r in 0..shared.data.rows.filled(b) {
                    sum += shared.prepared.shared_var * left[r] * (-2.0 * log_sd[r]).exp();
                }
            }
        }
        Some(sum / (rows * self.model.experts()) as f64)
    }

    /// Turn the parameters `q` into what [`Posterior::split`] shares.
    pub(super) fn prepare(&mut self, q: &[f64]) {
        self.model.prepare(self.level, q, &mut self.prepared);
    }

    /// What passes read, and what they write to.
    pub(super) fn split(&mut self) -> (Shared<'_>, &mut [Pass], &mut [Sum]) {
        let Posterior { model, data, cache, level, prepared, passes, sums, .. } = self;
        (Shared { model, data, cache, level: *level, prepared, extra: &[] }, passes, sums)
    }

    /// The log joint density at `q`. Its gradient overwrites `grad`, with the gradient of
    /// something that depends on the experts' weighted precisions alone added to it, of which
    /// `extra` holds the derivatives, as [`Shared`] does.
    pub(super) fn joint(
        &mut self,
        q: &[f64],
        extra: &[Lanes],
        grad: &mut [f64],
    ) -> std::result::Result<f64, DensityError> {
        grad.fill(0.0);
        let log_likelihood = self.log_likelihood(q, extra, grad);
        let logp = log_likelihood + self.model.priors().log_density(self.model.layout(), q, grad);
        if logp.is_finite() && grad.iter().all(|g| g.is_finite()) {
            Ok(logp)
        } else {
            Err(DensityError::NotFinite { logp })
        }
    }

    /// The log likelihood at `q`, its gradient and the extra one added to `grad`.
    fn log_likelihood(&mut self, q: &[f64], extra: &[Lanes], grad: &mut [f64]) -> f64 {
        self.prepare(q);
        let (threads, share) = (self.threads.clone(), self.share);
        let (shared, passes, sums) = self.split();
        let shared = Shared { extra, ..shared };
        let each = sums.len().div_ceil(passes.len());
        let run = |first: usize, pass: &mut Pass, sums: &mut [Sum]| {
            for (i, sum) in sums.iter_mut().enumerate() {
                let start = (first + i) * share;
                let end = (start + share).min(shared.data.rows.blocks());
                pass.run(shared, start..end, sum);
            }
        };
        match threads {
            None => run(0, &mut passes[0], sums),
            Some(threads) => threads.install(|| {
                let parts = passes.par_iter_mut().zip(sums.par_chunks_mut(each)).enumerate();
                parts.for_each(|(t, (pass, sums))| run(t * each, pass, sums));
            }),
        }
        let Some((total, rest)) = sums.split_first_mut() else { return 0.0 };
        for sum in rest {
            total.add(sum);
        }
        let layout = shared.model.layout();
        for bank in &layout.banks {
            for k in 0..bank.count {
                let (p, out) = (layout.gp(bank, k, q), layout.gp_grad(bank, k, grad));
                let (group, g) = shared.model.place(bank.first + k);
                let (basis, coefs) =
                    (&shared.model.groups[group].basis, &shared.prepared.coefs[group]);
                if bank.role == Role::Common {
                    *out.log_var += total.shared_var;
                }
                basis.finish(g, p, coefs, &total.adjoints[group], out);
            }
        }
        if let Some(start) = layout.calibration() {
            grad[start..].iter_mut().zip(&total.calibration).for_each(|(g, d)| *g += d);
        }
        total.log_likelihood
    }
}

impl Density for Posterior {
    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn with_threads(mut self, threads: usize) -> Posterior {
        let threads = threads.min(self.sums.len());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        // Where the system refuses the threads, one does the work.
        self.threads = (threads > 1).then(|| pool.build().ok().map(Arc::new)).flatten();
        let count = if self.threads.is_some() { threads } else { 1 };
        self.passes.resize_with(count, || Pass::new(&self.model));
        self
    }

    fn usual_steps(&self) -> f64 {
        match self.model.basis() {
            super::Basis::Eigen(_) => 31.0,
            super::Basis::Hilbert(_) => 47.0,
            super::Basis::Rff(_) => 255.0,
        }
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        self.joint(q, &[], grad)
    }
}
