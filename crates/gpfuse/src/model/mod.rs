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
//! Learned experts are two banks of K GPs, means and log standard deviations; on eigenfunctions their
//! means share a function (`shared.rs`). A model holds
//! no data and no random numbers: [`Model::experts_on`] turns a draw into experts at any
//! rows, [`posterior`] adds the data, [`collapsed`] integrates the coefficients of the means out,
//! [`start`] makes starting points from the data.

pub mod collapsed;
pub mod coordinates;
pub mod gate;
mod given;
pub mod layout;
pub mod method;
mod pass;
pub mod posterior;
pub mod prior;
mod rounding;
mod shared;
pub mod start;

use std::ops::Range;

use crate::basis::{Basis, Cache, Coefs, Work};
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};
use crate::pool::{ExpertBlock, Pool};
use crate::rows::Rows;
use crate::{Error, Result};
pub use collapsed::Collapsed;
pub(crate) use collapsed::Law;
pub use gate::Gate;
pub use given::Given;
use layout::Bank;
pub use layout::{Kind, Layout, Role};
pub use method::Method;
pub use posterior::{Invariant, Observed, Posterior};
pub use prior::{BankPrior, CalibrationPrior, Prior, Priors};
use shared::Shared;
pub(crate) use shared::least_variance;
pub use start::Starter;

/// The bases of a model's GPs.
#[derive(Debug, Clone, PartialEq)]
pub struct Bases {
    /// Of the mean that learned experts share, where they share one.
    pub common: Option<Basis>,
    /// Of all other GPs.
    pub others: Basis,
}

impl From<Basis> for Bases {
    fn from(others: Basis) -> Bases {
        Bases { common: None, others }
    }
}

/// GPs that are on one basis, by their numbers among all GPs of the model.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    basis: Basis,
    gps: Range<usize>,
}

/// A fusion model: everything that is fixed before the data and the draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// That of the shared mean, if there is one, and that of all other GPs.
    groups: Vec<Group>,
    shared: Option<Shared>,
    pool: Pool,
    gate: Gate,
    experts: usize,
    learned: bool,
    priors: Priors,
    layout: Layout,
    /// The variance of the target's rounding.
    rounding: f64,
}

/// What the bases of a model compute once for a set of rows.
#[derive(Debug, Clone)]
pub struct Cached(Vec<Cache>);

impl Cached {
    /// The share of the pilot's variance that the functions of a shared mean leave out at block `b`.
    pub(crate) fn left_out(&self, b: usize) -> Option<&Lanes> {
        self.0.first().and_then(|cache| cache.left_out(b))
    }
}

/// The parameters of a model, ready for any number of rows.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// One for each group of GPs.
    coefs: Vec<Coefs>,
    /// The variance of the shared mean.
    shared_var: f64,
    /// The calibration as the flat vector has it: log scales, log floor, log odds of the tails and
    /// of the linear pool, temper. Empty where the model has none.
    pub(crate) calibration: Vec<f64>,
}

/// Working memory for one thread: the basis, function values and experts of one block.
#[derive(Debug, Clone)]
pub struct Scratch {
    /// One for each group of GPs.
    pub(crate) work: Vec<Work>,
    pub(crate) f: Vec<Lanes>,
    pub(crate) experts: ExpertBlock,
}

impl Model {
    /// A model of `experts` experts for a method, on a basis.
    pub fn new(
        method: Method,
        experts: usize,
        bases: impl Into<Bases>,
        priors: Priors,
    ) -> Result<Model> {
        let experts = if method.is_single() { 1 } else { experts };
        if experts == 0 {
            return Err(Error::setting("experts", "0 experts: use at least 1"));
        }
        priors.check()?;
        let method::Parts { pool, gate, learned } = method.parts();
        let Bases { common, others } = bases.into();
        let common = common.filter(|_| learned);
        if let Some(common) = common.as_ref().filter(|c| c.inputs() != others.inputs()) {
            return Err(Error::Shape {
                what: "bases".into(),
                expected: format!("{} inputs", others.inputs()),
                found: common.inputs().to_string(),
            });
        }
        let shared = common.as_ref().map(|_| Shared::new(experts, others.level()));
        let layout = layout(experts, learned, gate, common.as_ref(), &others);
        let alone = usize::from(common.is_some());
        let groups = common.into_iter().map(|basis| Group { basis, gps: 0..alone });
        let groups = groups.chain([Group { basis: others, gps: alone..layout.gps() }]).collect();
        let rounding = 0.0;
        Ok(Model { groups, shared, pool, gate, experts, learned, priors, layout, rounding })
    }

    /// The same model with its log-linear weights normalised to sum to one at each input.
    pub fn normalised(self) -> Model {
        let (gate, common) = (Gate::Softmax, self.common());
        let layout = layout(self.experts, self.learned, gate, common, self.basis());
        let mut groups = self.groups;
        groups.iter_mut().last().into_iter().for_each(|others| others.gps.end = layout.gps());
        Model { gate, layout, groups, ..self }
    }

    /// The same model of given experts with the robust product instead of the plain one: with a
    /// learned scale for each expert, a learned noise floor under the product, tails, a part of the
    /// linear pool and a temper; and with gates that reach far.
    pub fn robust(self) -> Model {
        let layout = self.layout.calibrated(self.experts);
        Model { pool: Pool::Robust, layout, ..self }.far_reaching()
    }

    /// The same model with the prior of the gates' lengthscales `2 sqrt(d)` times as wide: with d inputs, two rows are
    /// about `sqrt(2 d)` scales apart, and weights that are to be known at new rows must reach that far.
    pub fn far_reaching(mut self) -> Model {
        self.priors.gate.ell *= 2.0 * (self.basis().inputs() as f64).sqrt();
        self
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

    /// The basis of all its GPs but the mean that experts share, where they share one.
    pub fn basis(&self) -> &Basis {
        &self.groups[self.groups.len() - 1].basis
    }

    /// The basis of the mean that learned experts share, where they share one.
    pub fn common(&self) -> Option<&Basis> {
        self.shared.as_ref().map(|_| &self.groups[0].basis)
    }

    /// What the bases compute once for `rows`.
    pub fn cache(&self, rows: &Rows) -> Cached {
        Cached(self.groups.iter().map(|group| group.basis.cache(rows)).collect())
    }

    /// How many blocks a reverse pass takes at most.
    pub(crate) fn span(&self) -> usize {
        self.groups.iter().map(|group| group.basis.span()).min().unwrap_or(1)
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
            work: self.groups.iter().map(|g| g.basis.work(g.gps.len(), adjoint)).collect(),
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
        if found == expected && given.is_none_or(|g| g.rows() == rows.len()) {
            return Ok(());
        }
        Err(Error::Shape {
            what: "given experts".into(),
            expected: shape(expected),
            found: given.map_or("none".into(), |g| format!("{found} at {} rows", g.rows())),
        })
    }

    /// Room for [`Model::prepare`]; with `adjoint`, also for the gradient.
    pub fn prepared(&self, adjoint: bool) -> Prepared {
        let extra = self.layout.calibration().map_or(0, |start| self.dim() - start);
        let coefs = self.groups.iter().map(|g| g.basis.coefs(g.gps.len(), adjoint)).collect();
        Prepared { coefs, shared_var: 0.0, calibration: vec![0.0; extra] }
    }

    /// Turn the parameters `q` into what any number of [`Model::experts_on`] need.
    pub fn prepare(&self, level: Level, q: &[f64], out: &mut Prepared) {
        let Prepared { coefs, shared_var, calibration } = out;
        let start = q.len() - calibration.len();
        calibration.copy_from_slice(&q[start..]);
        for bank in &self.layout.banks {
            for k in 0..bank.count {
                let gp = self.layout.gp(bank, k, q);
                if bank.role == Role::Common {
                    *shared_var = gp.log_var.exp();
                }
                let (at, g) = self.place(bank.first + k);
                self.groups[at].basis.prepare(level, g, gp, &mut coefs[at]);
            }
        }
    }

    /// The group of GP number `g`, and its number there.
    fn place(&self, g: usize) -> (usize, usize) {
        let at = usize::from(self.groups.len() > 1 && g >= self.groups[0].gps.end);
        (at, g - self.groups[at].gps.start)
    }

    /// The experts (means, log sds, log weights) on block `b` of `rows`. The result is in
    /// `scratch.experts`.
    pub fn experts_on(
        &self,
        level: Level,
        rows: &Rows,
        b: usize,
        cache: &Cached,
        given: Option<&Given>,
        prepared: &Prepared,
        scratch: &mut Scratch,
    ) {
        let Scratch { work, f, experts } = scratch;
        for (i, Group { basis, gps }) in self.groups.iter().enumerate() {
            let (cache, coefs, f) = (&cache.0[i], &prepared.coefs[i], &mut f[gps.clone()]);
            basis.forward(level, rows, b, cache, coefs, &mut work[i], f);
        }
        for bank in &self.layout.banks {
            let target = match bank.role {
                Role::Common | Role::Contrast => continue,
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
        if let Some(shared) = &self.shared {
            let mean = self.layout.banks[0].mean;
            shared.means(&f[..=shared.contrasts()], mean, &mut experts.mu);
            if let Some(left) = cache.0[0].left_out(b) {
                let var = prepared.shared_var;
                experts.log_sd.iter_mut().for_each(|v| shared.widen(level, var, left, v));
            }
        }
        if let Some(given) = given {
            given.put(b, experts);
            self.widen_given(level, &mut experts.log_sd);
        }
        if let [log_scale @ .., floor, tail, blend, temper] = prepared.calibration.as_slice() {
            for (log_sd, log_scale) in experts.log_sd.iter_mut().zip(log_scale) {
                log_sd.iter_mut().for_each(|v| *v += log_scale);
            }
            let floor = self.floor(*floor);
            (experts.floor, experts.tail) = (Lanes::splat(floor), Lanes::splat(*tail));
            (experts.blend, experts.temper) = (Lanes::splat(*blend), Lanes::splat(*temper));
        }
        self.gate.weigh(level, &mut experts.log_w);
    }
}

/// The banks of a model.
fn layout(
    experts: usize,
    learned: bool,
    gate: Gate,
    common: Option<&Basis>,
    others: &Basis,
) -> Layout {
    let bank = |role: Role, count: usize, mean: f64, basis: &Basis| {
        let (lengthscales, features) = (basis.lengthscales(), basis.features());
        Bank { role, count, mean, lengthscales, features, offset: 0, first: 0 }
    };
    let (gates, mean) = gate.bank(experts);
    let mut banks = Vec::new();
    match common {
        Some(common) => {
            banks.push(bank(Role::Common, 1, common.level(), common));
            banks.push(bank(Role::Contrast, experts - 1, 0.0, others));
        }
        None if learned => banks.push(bank(Role::Mu, experts, 0.0, others)),
        None => {}
    }
    banks.push(bank(Role::LogSd, if learned { experts } else { 0 }, others.level(), others));
    banks.push(bank(Role::Gate, gates, mean, others));
    Layout::new(banks)
}
