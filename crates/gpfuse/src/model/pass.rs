//! A pass over some of the rows: function values, the pool's value and adjoints, and the
//! adjoints back through the same features.

use std::ops::Range;

use super::{Model, Observed, Prepared, Role, Scratch};
use crate::basis::{Adjoints, Cache};
use crate::math::simd::Level;
use crate::math::{Lanes, ROWS};
use crate::pool::ExpertBlock;

/// What all passes of one evaluation read.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) model: &'a Model,
    pub(super) data: &'a Observed,
    pub(super) cache: &'a Cache,
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
    /// The derivatives with respect to the function values, (blocks, GPs).
    d_f: Vec<Lanes>,
}

/// What a pass adds up.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) log_likelihood: f64,
    pub(super) adjoints: Adjoints,
    /// The derivatives with respect to the calibration.
    pub(super) calibration: Vec<f64>,
}

impl Sum {
    pub(super) fn new(model: &Model) -> Sum {
        let extra = model.prepared(false).calibration.len();
        let adjoints = model.basis().adjoints(model.layout().gps());
        Sum { log_likelihood: 0.0, adjoints, calibration: vec![0.0; extra] }
    }

    /// Add the derivatives of the first rows of a block with respect to the calibration.
    fn calibrate(&mut self, d: &ExpertBlock, filled: usize) {
        let total = |lanes: &Lanes| lanes[..filled].iter().sum::<f64>();
        if let [log_scale @ .., floor, tail, blend, temper] = self.calibration.as_mut_slice() {
            log_scale.iter_mut().zip(&d.log_sd).for_each(|(sum, lanes)| *sum += total(lanes));
            *floor += total(&d.floor);
            *tail += total(&d.tail);
            *blend += total(&d.blend);
            *temper += total(&d.temper);
        }
    }

    /// Add another share of the rows.
    pub(super) fn add(&mut self, other: &Sum) {
        self.log_likelihood += other.log_likelihood;
        self.adjoints.add(&other.adjoints);
        self.calibration.iter_mut().zip(&other.calibration).for_each(|(a, b)| *a += b);
    }
}

impl Pass {
    pub(super) fn new(model: &Model) -> Pass {
        let lanes = model.layout().gps() * model.basis().span();
        Pass {
            scratch: model.scratch(true),
            adjoint: ExpertBlock::new(model.experts()),
            d_f: vec![Lanes::splat(0.0); lanes],
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
        let Shared { model, data, cache, level, .. } = on;
        sum.adjoints.clear();
        sum.log_likelihood = 0.0;
        sum.calibration.fill(0.0);
        let mut first = blocks.start;
        while first < blocks.end {
            let some = first..blocks.end.min(first + model.basis().span());
            for b in some.clone() {
                let lanes = self.block(on, b);
                let filled = data.rows.filled(b);
                sum.log_likelihood += lanes[..filled].iter().sum::<f64>();
                sum.calibrate(&self.adjoint, filled);
                self.add_extra(on, b);
                self.keep(on, b - first, filled);
            }
            let gps = some.len() * model.layout().gps();
            let (work, d_f) = (&self.scratch.work, &self.d_f[..gps]);
            first = some.end;
            model.basis().adjoint(level, &data.rows, some, cache, work, d_f, &mut sum.adjoints);
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

    /// Keep the derivatives of a block in `slot`, as those with respect to function values.
    fn keep(&mut self, on: Shared<'_>, slot: usize, filled: usize) {
        let Pass { scratch, adjoint, d_f } = self;
        let layout = on.model.layout();
        on.model.gate().adjoint(on.level, &scratch.experts.log_w, &mut adjoint.log_w);
        for bank in &layout.banks {
            let source = match bank.role {
                Role::Mu => &adjoint.mu,
                Role::LogSd => &adjoint.log_sd,
                Role::Gate => &adjoint.log_w,
            };
            for k in 0..bank.count {
                let d = &mut d_f[slot * layout.gps() + bank.first + k];
                *d = source[k];
                if filled < ROWS {
                    d[filled..].fill(0.0);
                }
            }
        }
    }
}
