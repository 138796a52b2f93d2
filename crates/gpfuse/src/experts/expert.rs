//! One expert, and what experts say about new rows.

use crate::Result;
use crate::data::Predictions;
use crate::gp::nearest::Nearest;
use crate::gp::{Gp, Hyper};
use crate::kernel::Kernel;
use crate::parallel::parallel;
use crate::trees::Boosted;

/// What an expert that is made of trees is called.
pub const TREES: &str = "trees";

/// One expert.
#[derive(Debug, Clone)]
pub enum Expert {
    /// An exact GP, and the numbers of the inputs that it sees, from 0.
    Gp(Gp, Vec<usize>),
    /// A GP that predicts each row from its nearest ones, and the same.
    Nearest(Nearest, Vec<usize>),
    /// Boosted trees, which see all inputs.
    Trees(Boosted),
}

impl Expert {
    /// A word for it.
    pub fn name(&self) -> String {
        match self {
            Expert::Gp(gp, _) => gp.kernel().to_string(),
            Expert::Nearest(gp, _) => format!("nearest-{}", gp.kernel()),
            Expert::Trees(_) => TREES.into(),
        }
    }

    /// The exact GP that it is, and its inputs, if it is one.
    pub fn gp(&self) -> Option<(&Gp, &[usize])> {
        match self {
            Expert::Gp(gp, columns) => Some((gp, columns)),
            Expert::Nearest(..) | Expert::Trees(_) => None,
        }
    }

    /// The GP on nearest rows that it is, and its inputs, if it is one.
    pub fn nearest(&self) -> Option<(&Nearest, &[usize])> {
        match self {
            Expert::Nearest(gp, columns) => Some((gp, columns)),
            Expert::Gp(..) | Expert::Trees(_) => None,
        }
    }

    /// The trees that it is, if it is some.
    pub fn trees(&self) -> Option<&Boosted> {
        match self {
            Expert::Trees(trees) => Some(trees),
            Expert::Gp(..) | Expert::Nearest(..) => None,
        }
    }

    /// The kernel, if it is a GP.
    pub fn kernel(&self) -> Option<Kernel> {
        match self {
            Expert::Gp(gp, _) => Some(gp.kernel()),
            Expert::Nearest(gp, _) => Some(gp.kernel()),
            Expert::Trees(_) => None,
        }
    }

    /// The hyperparameters and the inputs, if it is a GP.
    pub fn hyper(&self) -> Option<(&Hyper, &[usize])> {
        match self {
            Expert::Gp(gp, columns) => Some((gp.hyper(), columns)),
            Expert::Nearest(gp, columns) => Some((gp.hyper(), columns)),
            Expert::Trees(_) => None,
        }
    }

    /// Means and sds at new rows.
    pub(super) fn predict(&self, x: &[f64], inputs: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let own = |columns| pick(x, inputs, 0..x.len() / inputs, columns);
        let found = match self {
            Expert::Gp(gp, columns) => gp.predict(&own(columns), true)?,
            Expert::Nearest(gp, columns) => gp.predict(&own(columns), true, 1)?,
            Expert::Trees(trees) => return Ok(trees.predict(x)),
        };
        Ok((found.mean, found.sd))
    }
}

/// Some columns of some rows.
pub(super) fn pick(
    x: &[f64],
    inputs: usize,
    rows: impl Iterator<Item = usize>,
    columns: &[usize],
) -> Vec<f64> {
    rows.flat_map(|row| columns.iter().map(move |i| x[row * inputs + i])).collect()
}

/// Rows that one job of a thread predicts.
const ROWS_AT_ONCE: usize = 512;

/// What the experts say about new rows.
pub fn predict(
    experts: &[Expert],
    x: &[f64],
    inputs: usize,
    threads: usize,
) -> Result<Predictions> {
    let parts: Vec<&[f64]> = x.chunks(ROWS_AT_ONCE * inputs).collect();
    let said = parallel(experts.len() * parts.len(), threads, |job| {
        experts[job / parts.len()].predict(parts[job % parts.len()], inputs)
    })?;
    let said = said.into_iter().collect::<Result<Vec<(Vec<f64>, Vec<f64>)>>>()?;
    let each = said.chunks(parts.len().max(1)).map(|parts| {
        let (mean, sd): (Vec<&[f64]>, Vec<&[f64]>) =
            parts.iter().map(|(mean, sd)| (&mean[..], &sd[..])).unzip();
        (mean.concat(), sd.concat())
    });
    let (mean, sd) = each.unzip();
    Predictions::new(mean, sd)
}
