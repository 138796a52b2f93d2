//! A model with its data: the log joint density and its hand-written gradient in one pass.
//!
//! The likelihood is a sum over rows. Rows are taken in blocks that stay in cache: function
//! values of the block, the pool's value and adjoints per row, then the adjoints back through
//! the same features. No rows x features matrix is stored when there are many rows.

use std::sync::Arc;

use super::{Given, Model, Role, Scratch};
use crate::basis::{Cache, Coefs};
use crate::infer::{Density, DensityError};
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};
use crate::pool::ExpertBlock;
use crate::rows::{Rows, blocked};
use crate::{Error, Result};

/// The rows that a model is fitted to.
#[derive(Debug, Clone)]
pub struct Data {
    /// Inputs.
    pub rows: Rows,
    y: Vec<Lanes>,
    given: Option<Given>,
}

impl Data {
    /// Inputs (row-major, n x inputs) and targets, both finite.
    pub fn new(x: &[f64], inputs: usize, y: &[f64]) -> Result<Data> {
        let rows = Rows::new(x, inputs)?;
        if y.len() != rows.len() {
            return Err(Error::Shape {
                what: "targets".into(),
                expected: format!("{} numbers, one per row", rows.len()),
                found: format!("{}", y.len()),
            });
        }
        if let Some(row) = y.iter().position(|v| !v.is_finite()) {
            return Err(Error::Data(format!("target of row {} is {}", row + 1, y[row])));
        }
        Ok(Data { rows, y: blocked(y), given: None })
    }

    /// With the predictions of given experts at these rows.
    pub fn with_given(self, mean: &[Vec<f64>], sd: &[Vec<f64>]) -> Result<Data> {
        Ok(Data { given: Some(Given::new(mean, sd)?), ..self })
    }
}

/// The posterior density of a model given data, on the sampling space; cheap to clone, one
/// per thread.
#[derive(Debug, Clone)]
pub struct Posterior {
    model: Arc<Model>,
    data: Arc<Data>,
    cache: Arc<Cache>,
    level: Level,
    coefs: Coefs,
    scratch: Scratch,
    adjoint: ExpertBlock,
    d_f: Vec<Lanes>,
}

impl Posterior {
    /// The posterior of `model` given `data`.
    pub fn new(model: Arc<Model>, data: Arc<Data>) -> Result<Posterior> {
        if data.rows.inputs() != model.basis().inputs() {
            return Err(Error::Shape {
                what: "inputs per row".into(),
                expected: model.basis().inputs().to_string(),
                found: data.rows.inputs().to_string(),
            });
        }
        model.check_given(&data.rows, data.given.as_ref())?;
        let cache = Arc::new(model.basis().cache(&data.rows));
        let (coefs, scratch) = (model.coefs(true), model.scratch(true));
        let adjoint = ExpertBlock::new(model.experts());
        let d_f = vec![Lanes::splat(0.0); model.layout().gps()];
        let level = Level::detect();
        Ok(Posterior { model, data, cache, level, coefs, scratch, adjoint, d_f })
    }

    /// The same density, computed with another instruction set.
    pub fn at_level(self, level: Level) -> Posterior {
        Posterior { level, ..self }
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The log likelihood of each row at `q`.
    pub fn pointwise(&mut self, q: &[f64], out: &mut [f64]) {
        self.model.prepare(self.level, q, &mut self.coefs);
        for b in 0..self.data.rows.blocks() {
            let filled = self.data.rows.filled(b);
            let lanes = self.block(b);
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
        let mut data = Data::new(&x, self.data.rows.inputs(), &pick(&self.data.y))?;
        if let Some(given) = &self.data.given {
            let mean: Vec<Vec<f64>> = given.mu.iter().map(|v| pick(v)).collect();
            let log_sd: Vec<Vec<f64>> = given.log_sd.iter().map(|v| pick(v)).collect();
            let sd: Vec<Vec<f64>> =
                log_sd.iter().map(|v| v.iter().map(|s| s.exp()).collect()).collect();
            data = data.with_given(&mean, &sd)?;
        }
        Ok(Posterior::new(self.model.clone(), Arc::new(data))?.at_level(self.level))
    }

    /// Call `each(kind, row, value)` with what relabelling the experts does not change at each
    /// row: 0, the log likelihood; 1, the fused mean; 2, the largest log weight.
    pub fn invariants(&mut self, q: &[f64], mut each: impl FnMut(usize, usize, f64)) {
        self.model.prepare(self.level, q, &mut self.coefs);
        let pool = self.model.pool();
        let mut fused = pool.room(self.model.experts());
        for b in 0..self.data.rows.blocks() {
            let lanes = self.block(b);
            pool.fuse(self.level, &self.scratch.experts, &mut fused);
            for r in 0..self.data.rows.filled(b) {
                let row = b * ROWS + r;
                let parts = fused.log_weight.iter().zip(&fused.mean);
                let log_w = self.scratch.experts.log_w.iter().map(|w| w[r]);
                each(0, row, lanes[r]);
                each(1, row, parts.map(|(w, m)| w[r].exp() * m[r]).sum());
                each(2, row, log_w.fold(f64::NEG_INFINITY, f64::max));
            }
        }
    }

    /// The log likelihood of the rows of block `b` for the parameters last prepared; the
    /// derivatives with respect to its experts are left in `self.adjoint`.
    fn block(&mut self, b: usize) -> Lanes {
        let Posterior { model, data, cache, level, coefs, scratch, adjoint, .. } = self;
        model.experts_on(*level, &data.rows, b, cache, data.given.as_ref(), coefs, scratch);
        let mut lanes = Lanes::splat(0.0);
        model.pool().log_density(*level, &data.y[b], &scratch.experts, &mut lanes, adjoint);
        lanes
    }

    /// The log likelihood at `q`, its gradient added to `grad`.
    fn log_likelihood(&mut self, q: &[f64], grad: &mut [f64]) -> f64 {
        self.model.prepare(self.level, q, &mut self.coefs);
        self.scratch.work.clear();
        let mut sum = 0.0;
        for b in 0..self.data.rows.blocks() {
            let lanes = self.block(b);
            let filled = self.data.rows.filled(b);
            sum += lanes[..filled].iter().sum::<f64>();
            self.back(b, filled);
        }
        let Posterior { model, coefs, scratch, .. } = self;
        let layout = model.layout();
        for bank in &layout.banks {
            for k in 0..bank.count {
                let (p, g) = (layout.gp(bank, k, q), layout.gp_grad(bank, k, grad));
                model.basis().finish(bank.first + k, p, coefs, &scratch.work, g);
            }
        }
        sum
    }

    /// Carry the adjoints of block `b` from the experts to the coefficients.
    fn back(&mut self, b: usize, filled: usize) {
        let Posterior { model, data, cache, level, scratch, adjoint, d_f, .. } = self;
        model.gate().adjoint(*level, &scratch.experts.log_w, &mut adjoint.log_w);
        for bank in &model.layout().banks {
            let source = match bank.role {
                Role::Mu => &adjoint.mu,
                Role::LogSd => &adjoint.log_sd,
                Role::Gate => &adjoint.log_w,
            };
            for k in 0..bank.count {
                let d = &mut d_f[bank.first + k];
                *d = source[k];
                d[filled..].fill(0.0);
            }
        }
        model.basis().adjoint(*level, &data.rows, b, cache, &mut scratch.work, d_f);
    }
}

impl Density for Posterior {
    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        grad.fill(0.0);
        let log_likelihood = self.log_likelihood(q, grad);
        let logp = log_likelihood + self.model.priors().log_density(self.model.layout(), q, grad);
        if logp.is_finite() && grad.iter().all(|g| g.is_finite()) {
            Ok(logp)
        } else {
            Err(DensityError::NotFinite { logp })
        }
    }
}
