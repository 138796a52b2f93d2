//! The GP of tables of any size: each row is predicted from its nearest training rows.
//!
//! What a GP says about a row depends hardly on rows far from it: given the m nearest ones, in units of its
//! lengthscales, the others add little (Vecchia, 1988; Wu, Pleiss and Cunningham, *Variational nearest neighbor
//! Gaussian process*, 2022). So each row has an exact GP of its own on its m nearest rows: `m^3 / 3` products a
//! row, and no matrix of all rows.
//!
//! **Left out** is a row by leaving it out of its neighbours, its twins with it: that costs nothing. So the
//! hyperparameters are those under which random rows, left out, have the highest density (`ascent`); they
//! begin at those of an exact GP on some of the rows.
//!
//! **Jitter** as for the exact GP, but none of it counts as noise of the row that is predicted.

mod ascent;
mod blocks;
mod local;
mod neighbourhoods;
mod parts;
mod search;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::gp::Settings;
use crate::gp::hyper::Hyper;
use crate::gp::posterior::{Prediction, check_shape};
use crate::kernel::Kernel;
use crate::scale::{Scaler, Scaling};
use crate::{Error, Result};
pub use ascent::{Ascent, first_rows};
pub use neighbourhoods::Neighbourhoods;
use neighbourhoods::log_densities;
pub use parts::{Merged, Own, Part};
use search::Index;
pub use search::Near;

/// Neighbours that predict a row, at least and at most.
pub const NEIGHBOURS: std::ops::RangeInclusive<usize> = 128..=512;
/// What twice as many neighbours must gain, in nats a row: they cost up to eight times as much.
const WORTH: f64 = 0.01;
/// Rows on which that is looked at.
const JUDGED_ROWS: usize = 1024;

/// The rows of a table, which several GPs share.
#[derive(Debug, PartialEq)]
pub struct Table {
    x: Vec<f64>,
    inputs: usize,
    y: Vec<f64>,
}

impl Table {
    /// From the rows `x` (row-major) and `y`.
    ///
    /// # Errors
    /// If they are no rows, do not fit each other, or are not finite.
    pub fn new(x: Vec<f64>, inputs: usize, y: Vec<f64>) -> Result<Arc<Table>> {
        super::posterior::check_rows(&x, inputs, &y)?;
        if u32::try_from(y.len()).is_err() {
            return Err(Error::Data(format!("{} rows are too many for one table", y.len())));
        }
        Ok(Arc::new(Table { x, inputs, y }))
    }

    /// The inputs, row-major.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The targets.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.x[row * self.inputs..(row + 1) * self.inputs]
    }

    /// The inputs and targets of the rows with these numbers, which it must have.
    fn rows(&self, numbers: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let x = numbers.iter().flat_map(|row| self.row(*row)).copied().collect();
        (x, numbers.iter().map(|row| self.y[*row]).collect())
    }
}

/// A GP that predicts each row from its nearest ones in a table.
#[derive(Debug, Clone)]
pub struct Nearest {
    kernel: Kernel,
    hyper: Hyper,
    table: Arc<Table>,
    index: Arc<Index>,
    neighbours: usize,
}

impl Nearest {
    /// With given hyperparameters, and the fewest neighbours.
    ///
    /// # Errors
    /// If these make no GP on the table.
    pub fn new(kernel: Kernel, hyper: Hyper, table: Arc<Table>) -> Result<Nearest> {
        hyper.check(table.inputs)?;
        let index = Arc::new(Index::new(&table.x, &hyper.ell));
        Ok(Nearest { kernel, hyper, table, index, neighbours: *NEIGHBOURS.start() })
    }

    /// The same with so many neighbours.
    ///
    /// # Errors
    /// If they are none.
    pub fn with_neighbours(self, neighbours: usize) -> Result<Nearest> {
        match neighbours {
            0 => Err(Error::Data("a GP on nearest rows needs at least one of them".into())),
            _ => Ok(Nearest { neighbours, ..self }),
        }
    }

    /// With the hyperparameters under which random rows, each left out with its twins, have the highest density.
    ///
    /// # Errors
    /// If the rows cannot be fitted.
    pub fn fit(table: Arc<Table>, twins: &[usize], settings: &Settings) -> Result<Nearest> {
        let n = table.y.len();
        let units = Scaler::fit(Scaling::Standard, &table.x, table.inputs, &table.y)?;
        let (x, y) = table.rows(&first_rows(n, settings.seed));
        let mut ascent = Ascent::new(n, (&x, &y), units, settings)?;
        while let Some(count) = ascent.neighbours() {
            let index = Index::new(&table.x, &ascent.hyper().ell);
            let around = without(&table, &index, ascent.rows(), twins, count, settings.threads)?;
            ascent.climb(&around)?;
        }
        let gp = Nearest::new(settings.kernel, ascent.hyper(), table)?;
        let around = gp.without(&judged_rows(n), twins, *NEIGHBOURS.end(), settings.threads)?;
        let neighbours = around.enough((gp.kernel, &gp.hyper), n, settings.threads)?;
        gp.with_neighbours(neighbours)
    }

    /// Mean and sd at the rows `x` (row-major): of the function, or with `noise` of a new observation.
    ///
    /// # Errors
    /// If the rows have another number of inputs, or are not finite.
    pub fn predict(&self, x: &[f64], noise: bool, threads: usize) -> Result<Prediction> {
        let d = self.table.inputs;
        check_shape(x, d, x.len() / d)?;
        let near = self.index.nearest(&self.table.x, x, |_| self.neighbours, threads)?;
        let around = Neighbourhoods::new(self.table.clone(), x.to_vec(), Vec::new(), near);
        let said = around.predict((self.kernel, &self.hyper), self.neighbours, noise, threads)?;
        let (mean, sd) = said.into_iter().unzip();
        Ok(Prediction { mean, sd })
    }

    /// Mean and sd of the targets of some of its own rows, each without the row and its twins, which are the rows
    /// with the same number.
    ///
    /// # Errors
    /// If there is not one number per row of the table, or no such row.
    pub fn left_out(
        &self,
        rows: &[usize],
        twins: &[usize],
        threads: usize,
    ) -> Result<Vec<(f64, f64)>> {
        let around = self.without(rows, twins, self.neighbours, threads)?;
        around.predict((self.kernel, &self.hyper), self.neighbours, true, threads)
    }

    fn without(
        &self,
        rows: &[usize],
        twins: &[usize],
        count: usize,
        threads: usize,
    ) -> Result<Neighbourhoods> {
        without(&self.table, &self.index, rows, twins, count, threads)
    }

    /// The mean log density of the targets of some of its own rows, by what it says of them.
    pub(crate) fn score(&self, rows: &[usize], said: &[(f64, f64)]) -> f64 {
        let targets = rows.iter().map(|row| self.table.y[*row]);
        log_densities(targets, said).sum::<f64>() / rows.len().max(1) as f64
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The hyperparameters.
    pub fn hyper(&self) -> &Hyper {
        &self.hyper
    }

    /// The number of rows that predict one.
    pub fn neighbours(&self) -> usize {
        self.neighbours
    }

    /// The rows.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }
}

/// The rows of a table of so many on which it is judged how many neighbours are enough.
pub fn judged_rows(rows: usize) -> Vec<usize> {
    (0..rows).step_by(rows.div_ceil(JUDGED_ROWS).max(1)).collect()
}

/// Some rows of a table and of each the nearest others, without its twins.
fn without(
    table: &Arc<Table>,
    index: &Index,
    rows: &[usize],
    twins: &[usize],
    count: usize,
    threads: usize,
) -> Result<Neighbourhoods> {
    if twins.len() != table.y.len() {
        return Err(Error::Shape {
            what: "twins".into(),
            expected: format!("{}, one per row", table.y.len()),
            found: twins.len().to_string(),
        });
    }
    if let Some(row) = rows.iter().find(|row| **row >= twins.len()) {
        return Err(Error::Data(format!("there is no row {}", row + 1)));
    }
    let mut size = std::collections::HashMap::new();
    twins.iter().for_each(|twin| *size.entry(*twin).or_insert(0) += 1);
    let (x, y) = table.rows(rows);
    let more = |q: usize| count + size[&twins[rows[q]]];
    let mut near = index.nearest(&table.x, &x, more, threads)?;
    for (near, row) in near.iter_mut().zip(rows) {
        near.retain(|(_, other)| twins[*other as usize] != twins[*row]);
        near.truncate(count);
    }
    Ok(Neighbourhoods::new(table.clone(), x, y, near))
}
