//! A pass over some of the rows: function values, the pool's value and adjoints, and the
//! adjoints back through the same features.

use std::ops::Range;

use super::{Cached, Model, Observed, Prepared, Role, Scratch};
use crate::basis::Adjoints;
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};
use crate::pool::ExpertBlock;

/// What all passes of one evaluation read.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) model: &'a Model,
    pub(super) data: &'a Observed,
    pub(super) cache: &'a Cached,
    pub(super) level: Level,
    pub(super) prepared: &'a Prepared,
    /// Derivatives of what is added to the likelihood, with respect to the log of each expert's
    /// weighted precision, (blocks, experts); or nothing.
    pub(super) extra: &'a [Lanes],
}

/// One thread's working memory.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    pub(super) scratch: Scratch,
    /// The derivatives with respect to the experts of one block.
    adjoint: ExpertBlock,
    /// For each group of GPs the derivatives with respect to the function values, (blocks, GPs).
    d_f: Vec<Vec<Lanes>>,
}

/// What a pass adds up.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) log_likelihood: f64,
    /// One for each group of GPs.
    pub(super) adjoints: Vec<Adjoints>,
    /// The derivative with respect to the log variance of a shared mean, through what its functions
    /// leave out.
    pub(super) shared_var: f64,
    /// The derivatives with respect to the calibration.
    pub(super) calibration: Vec<f64>,
}

impl Sum {
    pub(super) fn new(model: &Model) -> Sum {
        let extra = model.prepared(false).calibration.len();
        let adjoints = model.groups.iter().map(|g| g.basis.adjoints(g.gps.len())).collect();
        Sum { log_likelihood: 0.0, adjoints, shared_var: 0.0, calibration: vec![0.0; extra] }
    }

    /// Add the derivatives of the first rows of a block with respect to the calibration.
    fn calibrate(&mut self, d: &ExpertBlock, filled: usize, learned_floor: f64) {
        let total = |lanes: &Lanes| lanes[..filled].iter().sum::<f64>();
        if let [log_scale @ .., floor, tail, blend, temper] = self.calibration.as_mut_slice() {
            log_scale.iter_mut().zip(&d.log_sd).for_each(|(sum, lanes)| *sum += total(lanes));
            *floor += learned_floor * total(&d.floor);
            *tail += total(&d.tail);
            *blend += total(&d.blend);
            *temper += total(&d.temper);
        }
    }

    /// Add another share of the rows.
    pub(super) fn add(&mut self, other: &Sum) {
        self.log_likelihood += other.log_likelihood;
        self.shared_var += other.shared_var;
        self.adjoints.iter_mut().zip(&other.adjoints).for_each(|(a, b)| a.add(b));
        self.calibration.iter_mut().zip(&other.calibration).for_each(|(a, b)| *a += b);
    }
}

impl Pass {
    pub(super) fn new(model: &Model) -> Pass {
        let span = model.span();
        let lanes = |gps: usize| vec![Lanes::splat(0.0); gps * span];
        Pass {
            scratch: model.scratch(true),
            adjoint: ExpertBlock::new(model.experts()),
            d_f: model.groups.iter().map(|g| lanes(g.gps.len())).collect(),
        }
    }

    /// The log likelihood of the rows of block `b`; the derivatives with respect to its experts
    /// are left in `self.adjoint`.
    pub(super) fn block(&mut self, on: Shared<'_>, b: usize) -> Lanes {
        let Shared { model, data, cache, level, prepared, .. } = on;
        model.experts_on(level, &data.rows, b, cache, data.given(), prepared, &mut self.scratch);
        let mut lanes = Lanes::splat(0.0);
        let experts = &self.scratch.experts;
        model.pool().log_density(level, data.target(b), experts, &mut lanes, &mut self.adjoint);
        lanes
    }

    /// The log likelihood of `blocks` and its adjoints.
    pub(super) fn run(&mut self, on: Shared<'_>, blocks: Range<usize>, sum: &mut Sum) {
        let Shared { model, data, cache, level, prepared, .. } = on;
        let floor = prepared.calibration.len().checked_sub(4).map(|at| prepared.calibration[at]);
        let learned_floor = floor.map_or(1.0, |floor| model.learned_floor(floor));
        sum.adjoints.iter_mut().for_each(Adjoints::clear);
        (sum.log_likelihood, sum.shared_var) = (0.0, 0.0);
        sum.calibration.fill(0.0);
        let mut first = blocks.start;
        while first < blocks.end {
            let some = first..blocks.end.min(first + model.span());
            for b in some.clone() {
                let lanes = self.block(on, b);
                let filled = data.rows.filled(b);
                sum.log_likelihood += lanes[..filled].iter().sum::<f64>();
                sum.calibrate(&self.adjoint, filled, learned_floor);
                self.add_extra(on, b);
                sum.shared_var += self.narrow(on, b, filled);
                self.keep(on, b - first, filled);
            }
            first = some.end;
            for (i, group) in model.groups.iter().enumerate() {
                let d_f = &self.d_f[i][..some.len() * group.gps.len()];
                let (cache, work, out) = (&cache.0[i], &self.scratch.work[i], &mut sum.adjoints[i]);
                group.basis.adjoint(level, &data.rows, some.clone(), cache, work, d_f, out);
            }
        }
    }

    /// Add the extra derivatives of block `b`: a weighted precision is `w / sd^2`.
    fn add_extra(&mut self, on: Shared<'_>, b: usize) {
        let experts = self.adjoint.experts();
        let Some(extra) = on.extra.get(b * experts..(b + 1) * experts) else { return };
        for (k, extra) in extra.iter().enumerate() {
            for r in 0..ROWS {
                self.adjoint.log_w[k][r] += extra[r];
                self.adjoint.log_sd[k][r] -= 2.0 * extra[r];
            }
        }
    }

    /// Turn the derivatives with respect to widened log sds into those with respect to the experts'
    /// own; that with respect to the log variance of the shared mean.
    fn narrow(&mut self, on: Shared<'_>, b: usize, filled: usize) -> f64 {
        let Some((shared, left)) = on.model.shared.as_ref().zip(on.cache.left_out(b)) else {
            return 0.0;
        };
        let (var, level) = (on.prepared.shared_var, on.level);
        let experts = self.scratch.experts.log_sd.iter().zip(&mut self.adjoint.log_sd);
        let each = |(log_sd, d)| shared.widen_adjoint(level, var, left, log_sd, filled, d);
        experts.map(each).sum()
    }

    /// Keep the derivatives of a block in `slot`, as those with respect to function values.
    fn keep(&mut self, on: Shared<'_>, slot: usize, filled: usize) {
        let Pass { scratch, adjoint, d_f } = self;
        let model = on.model;
        model.gate().adjoint(on.level, &scratch.experts.log_w, &mut adjoint.log_w);
        for bank in &model.layout().banks {
            for k in 0..bank.count {
                let (group, g) = model.place(bank.first + k);
                let gps = model.groups[group].gps.len();
                let d = &mut d_f[group][slot * gps + g];
                match (bank.role, &model.shared) {
                    (Role::Mu, _) => *d = adjoint.mu[k],
                    (Role::LogSd, _) => *d = adjoint.log_sd[k],
                    (Role::Gate, _) => *d = adjoint.log_w[k],
                    (Role::Common, Some(shared)) => shared.adjoint(None, &adjoint.mu, d),
                    (Role::Contrast, Some(shared)) => shared.adjoint(Some(k), &adjoint.mu, d),
                    (Role::Common | Role::Contrast, None) => {}
                }
                if filled < ROWS {
                    d[filled..].fill(0.0);
                }
            }
        }
    }
}
