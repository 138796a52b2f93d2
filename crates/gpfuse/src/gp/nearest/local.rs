//! Rows and their neighbours, eight at a time: what a GP that knows only the neighbours of a row says about the
//! row, and how that depends on the hyperparameters.

use super::Table;
use super::search::Near;
use crate::gp::batched::Locals;
use crate::gp::hyper::Hyper;
use crate::kernel::Kernel;
use crate::math::WIDTH;
use crate::math::batched::{Each, ZERO};
use crate::{Error, Result};

/// Room for eight rows and their neighbours, used again for other rows.
pub(super) struct Room<'a> {
    table: &'a Table,
    hyper: &'a Hyper,
    /// One over each lengthscale.
    rates: Vec<f64>,
    locals: Locals,
    grad: Vec<Each>,
}

/// A row, and those near it.
pub(super) type Around<'a> = (&'a [f64], &'a [Near]);

impl<'a> Room<'a> {
    /// For rows with at most so many neighbours in `table`.
    pub(super) fn new(
        kernel: Kernel,
        hyper: &'a Hyper,
        table: &'a Table,
        neighbours: usize,
    ) -> Room<'a> {
        Room {
            table,
            hyper,
            rates: hyper.ell.iter().map(|ell| ell.recip()).collect(),
            locals: Locals::new(kernel, neighbours.max(1), table.inputs),
            grad: vec![ZERO; table.inputs + 3],
        }
    }

    /// Up to eight rows take their lanes; the other lanes have nothing to do.
    fn set(&mut self, rows: &[Around<'_>]) {
        let (table, rates, mean) = (self.table, &self.rates, self.hyper.mean);
        for lane in 0..WIDTH {
            let Some((row, near)) = rows.get(lane) else {
                self.locals.begin(lane, []);
                continue;
            };
            self.locals.begin(lane, scaled(row, rates));
            for (_, other) in *near {
                let other = *other as usize;
                self.locals.push(lane, scaled(table.row(other), rates), table.y[other] - mean);
            }
        }
    }

    /// Mean and sd of the targets of up to eight rows, each given its neighbours; without `noise`, of the function.
    pub(super) fn predict(&mut self, rows: &[Around<'_>], noise: bool) -> Result<Vec<(f64, f64)>> {
        self.set(rows);
        let said = self.locals.predict(self.hyper.var, self.hyper.noise).map_err(no_factor)?;
        let var = if noise { said.var } else { said.latent };
        let each = |lane: usize| (self.hyper.mean + said.mean[lane], var[lane].sqrt());
        Ok((0..rows.len()).map(each).collect())
    }

    /// The gradients of the log densities of the targets of up to eight rows in `log var`, each `log ell`,
    /// `log noise` and the mean are added to `grad`.
    pub(super) fn add_gradient(
        &mut self,
        rows: &[Around<'_>],
        targets: impl Iterator<Item = f64>,
        grad: &mut [f64],
    ) -> Result<()> {
        self.set(rows);
        let mut apart = ZERO;
        apart.iter_mut().zip(targets).for_each(|(apart, y)| *apart = y - self.hyper.mean);
        let Hyper { var, noise, .. } = *self.hyper;
        self.locals.log_density(var, noise, &apart, &mut self.grad).map_err(no_factor)?;
        for (sum, each) in grad.iter_mut().zip(&self.grad) {
            *sum += each[..rows.len()].iter().sum::<f64>();
        }
        Ok(())
    }
}

fn scaled(row: &[f64], rates: &[f64]) -> impl Iterator<Item = f64> {
    row.iter().zip(rates).map(|(x, rate)| x * rate)
}

fn no_factor(_lane: usize) -> Error {
    let problem = "the nearest rows of a row cannot be told from each other: rescale the inputs";
    Error::Data(problem.into())
}
