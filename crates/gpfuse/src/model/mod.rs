//! The one model: experts x gate x pool, on one basis, with its parameter layout.
//!
//! | method | experts | gate | pool |
//! | --- | --- | --- | --- |
//! | `bhs` | given | softmax | linear |
//! | `pbhs` | given | free | log-linear, or robust |
//! | `mogpe` | learned | softmax | linear |
//! | `pogpe` | learned | free | log-linear |
//! | `het` | learned, one | softmax (of nothing) | linear |
//!
//! Learned experts are two banks of K GPs, means and log standard deviations. A model holds
//! no data and no random numbers: [`Model::experts_on`] turns a draw into experts at any
//! rows, [`posterior`] adds the data, [`collapsed`] integrates the coefficients of the means out,
//! [`start`] makes starting points from the data.

pub mod collapsed;
pub mod gate;
pub mod layout;
pub mod method;
mod pass;
pub mod posterior;
pub mod prior;
pub mod start;

use crate::basis::{Basis, Cache, Coefs, Work};
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};
use crate::pool::{ExpertBlock, Pool};
use crate::rows::{Rows, blocked};
use crate::{Error, Result};
pub use collapsed::Collapsed;
pub(crate) use collapsed::Law;
pub use gate::Gate;
pub use layout::{Kind, Layout, Role};
pub use method::Method;
pub use posterior::{Invariant, Observed, Posterior};
pub use prior::{BankPrior, CalibrationPrior, Prior, Priors};
pub use start::Starter;

/// A fusion model: everything that is fixed before the data and the draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    basis: Basis,
    pool: Pool,
    gate: Gate,
    experts: usize,
    learned: bool,
    priors: Priors,
    layout: Layout,
}

/// Predictions of experts that were made elsewhere, for the rows of a [`Rows`].
#[derive(Debug, Clone)]
pub struct Given {
    rows: usize,
    mu: Vec<Vec<Lanes>>,
    log_sd: Vec<Vec<Lanes>>,
}

impl Given {
    /// From K means and standard deviations per expert, each of the rows' length.
    pub fn new(mean: &[Vec<f64>], sd: &[Vec<f64>]) -> Result<Given> {
        let rows = mean.first().map_or(0, Vec::len);
        if mean.len() != sd.len() || mean.iter().chain(sd).any(|v| v.len() != rows) {
            return Err(Error::Shape {
                what: "given experts".into(),
                expected: format!("as many means as sds, each {rows} numbers long"),
                found: format!("{} means and {} sds", mean.len(), sd.len()),
            });
        }
        for (k, (mean, sd)) in mean.iter().zip(sd).enumerate() {
            let bad = |v: &[f64], ok: fn(f64) -> bool| v.iter().position(|x| !ok(*x));
            if let Some(row) = bad(mean, f64::is_finite) {
                let (k, row, value) = (k + 1, row + 1, mean[row]);
                return Err(Error::Data(format!("expert {k}, row {row}: mean is {value}")));
            }
            if let Some(row) = bad(sd, |s| s.is_finite() && s > 0.0) {
                let (k, row, value) = (k + 1, row + 1, sd[row]);
                let problem = format!("expert {k}, row {row}: sd is {value}, it must be positive");
                return Err(Error::Data(problem));
            }
        }
        let log = |sd: &Vec<f64>| sd.iter().map(|s| s.ln()).collect::<Vec<f64>>();
        Ok(Given {
            rows,
            mu: mean.iter().map(|m| blocked(m)).collect(),
            log_sd: sd.iter().map(|s| blocked(&log(s))).collect(),
        })
    }

    /// The number of experts.
    pub fn experts(&self) -> usize {
        self.mu.len()
    }

    /// Those of block `b` alone, which has `rows` rows.
    pub(crate) fn alone(&self, b: usize, rows: usize) -> Given {
        let pick = |v: &[Vec<Lanes>]| v.iter().map(|lanes| vec![lanes[b]]).collect();
        Given { rows, mu: pick(&self.mu), log_sd: pick(&self.log_sd) }
    }
}

/// The parameters of a model, ready for any number of rows.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(crate) coefs: Coefs,
    /// The calibration as the flat vector has it: log scales, log floor, log odds of the tails and
    /// of the linear pool, temper. Empty where the model has none.
    pub(crate) calibration: Vec<f64>,
}

/// Working memory for one thread: the basis, function values and experts of one block.
#[derive(Debug, Clone)]
pub struct Scratch {
    pub(crate) work: Work,
    pub(crate) f: Vec<Lanes>,
    pub(crate) experts: ExpertBlock,
}

impl Model {
    /// A model of `experts` experts for a method, on a basis.
    pub fn new(method: Method, experts: usize, basis: Basis, priors: Priors) -> Result<Model> {
        let experts = if method == Method::Het { 1 } else { experts };
        if experts == 0 {
            return Err(Error::setting("experts", "0 experts: use at least 1"));
        }
        priors.check()?;
        let method::Parts { pool, gate, learned } = method.parts();
        let count = if learned { experts } else { 0 };
        let (gates, mean) = gate.bank(experts);
        let banks = [(Role::Mu, count, 0.0), (Role::LogSd, count, 0.0), (Role::Gate, gates, mean)];
        let layout = Layout::new(&banks, basis.inputs(), basis.features());
        Ok(Model { basis, pool, gate, experts, learned, priors, layout })
    }

    /// The same model with its log-linear weights normalised to sum to one at each input.
    pub fn normalised(self) -> Model {
        let (gates, mean) = Gate::Softmax.bank(self.experts);
        let banks: Vec<_> = (self.layout.banks.iter().filter(|b| b.role != Role::Gate))
            .map(|b| (b.role, b.count, b.mean))
            .chain([(Role::Gate, gates, mean)])
            .collect();
        let layout = Layout::new(&banks, self.basis.inputs(), self.basis.features());
        Model { gate: Gate::Softmax, layout, ..self }
    }

    /// The same model of given experts with the robust product instead of the plain one: with a
    /// learned scale for each expert, a learned noise floor under the product, tails, a part of the
    /// linear pool and a temper. The prior of the gates' lengthscales is `2 sqrt(d)` times as wide: with d inputs, two rows are
    /// about `sqrt(2 d)` scales apart, and weights that are to be known at new rows must reach
    /// that far.
    pub fn robust(mut self) -> Model {
        self.priors.gate.ell *= 2.0 * (self.basis.inputs() as f64).sqrt();
        let layout = self.layout.calibrated(self.experts);
        Model { pool: Pool::Robust, layout, ..self }
    }

    /// The length of the parameter vector.
    pub fn dim(&self) -> usize {
        self.layout.dim()
    }

    /// The number of experts K.
    pub fn experts(&self) -> usize {
        self.experts
    }

    /// Whether the experts are learned with the weights.
    pub fn learned(&self) -> bool {
        self.learned
    }

    /// The pool.
    pub fn pool(&self) -> Pool {
        self.pool
    }

    /// The gate.
    pub fn gate(&self) -> Gate {
        self.gate
    }

    /// The basis of all its GPs.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The parameter layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The prior scales.
    pub fn priors(&self) -> &Priors {
        &self.priors
    }

    /// A point of the sampling space drawn from the prior, given a source of standard normal
    /// numbers: the model has no randomness of its own.
    pub fn prior_draw(&self, normal: impl FnMut() -> f64) -> Vec<f64> {
        self.priors.draw(&self.layout, normal)
    }

    /// Working memory; with `adjoint`, also for the gradient.
    pub fn scratch(&self, adjoint: bool) -> Scratch {
        let gps = self.layout.gps();
        Scratch {
            work: self.basis.work(gps, adjoint),
            f: vec![Lanes::splat(0.0); gps],
            experts: ExpertBlock::new(self.experts),
        }
    }

    /// Refuse given experts that are not those of `rows` and of this model.
    pub(crate) fn check_given(&self, rows: &Rows, given: Option<&Given>) -> Result<()> {
        let shape = |experts: usize| match experts {
            0 => "none".to_string(),
            _ => format!("{experts} at {} rows", rows.len()),
        };
        let expected = if self.learned { 0 } else { self.experts };
        let found = given.map_or(0, Given::experts);
        if found == expected && given.is_none_or(|g| g.rows == rows.len()) {
            return Ok(());
        }
        Err(Error::Shape {
            what: "given experts".into(),
            expected: shape(expected),
            found: given.map_or("none".into(), |g| format!("{found} at {} rows", g.rows)),
        })
    }

    /// Room for [`Model::prepare`]; with `adjoint`, also for the gradient.
    pub fn prepared(&self, adjoint: bool) -> Prepared {
        let extra = self.layout.calibration().map_or(0, |start| self.dim() - start);
        let coefs = self.basis.coefs(self.layout.gps(), adjoint);
        Prepared { coefs, calibration: vec![0.0; extra] }
    }

    /// Turn the parameters `q` into what any number of [`Model::experts_on`] need.
    pub fn prepare(&self, level: Level, q: &[f64], out: &mut Prepared) {
        let Prepared { coefs, calibration } = out;
        let start = q.len() - calibration.len();
        calibration.copy_from_slice(&q[start..]);
        for bank in &self.layout.banks {
            for k in 0..bank.count {
                let gp = self.layout.gp(bank, k, q);
                self.basis.prepare(level, bank.first + k, gp, coefs);
            }
        }
    }

    /// The experts (means, log sds, log weights) on block `b` of `rows`. The result is in
    /// `scratch.experts`.
    pub fn experts_on(
        &self,
        level: Level,
        rows: &Rows,
        b: usize,
        cache: &Cache,
        given: Option<&Given>,
        prepared: &Prepared,
        scratch: &mut Scratch,
    ) {
        let Scratch { work, f, experts } = scratch;
        self.basis.forward(level, rows, b, cache, &prepared.coefs, work, f);
        for bank in &self.layout.banks {
            let target = match bank.role {
                Role::Mu => &mut experts.mu,
                Role::LogSd => &mut experts.log_sd,
                Role::Gate => &mut experts.log_w,
            };
            for (out, f) in target.iter_mut().zip(&f[bank.first..bank.first + bank.count]) {
                for r in 0..ROWS {
                    out[r] = f[r] + bank.mean;
                }
            }
        }
        if let Some(given) = given {
            for k in 0..self.experts {
                experts.mu[k] = given.mu[k][b];
                experts.log_sd[k] = given.log_sd[k][b];
            }
        }
        if let [log_scale @ .., floor, tail, blend, temper] = prepared.calibration.as_slice() {
            for (log_sd, log_scale) in experts.log_sd.iter_mut().zip(log_scale) {
                log_sd.iter_mut().for_each(|v| *v += log_scale);
            }
            (experts.floor, experts.tail) = (Lanes::splat(*floor), Lanes::splat(*tail));
            (experts.blend, experts.temper) = (Lanes::splat(*blend), Lanes::splat(*temper));
        }
        self.gate.weigh(level, &mut experts.log_w);
    }
}
