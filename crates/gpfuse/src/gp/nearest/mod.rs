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
mod search;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::gp::Settings;
use crate::gp::hyper::Hyper;
use crate::gp::posterior::{Prediction, check_shape};
use crate::gp::starts::some_rows;
use crate::kernel::Kernel;
use crate::math::{HALF_LN_TWO_PI, WIDTH};
use crate::metrics::paired;
use crate::parallel::parallel_with;
use crate::{Error, Result};
use local::{Around, Room};
use search::Index;
pub(crate) use search::Near;

/// Neighbours that predict a row, at least and at most.
pub const NEIGHBOURS: std::ops::RangeInclusive<usize> = 128..=512;
/// What twice as many neighbours must gain, in nats a row: they cost up to eight times as much.
const WORTH: f64 = 0.01;
/// Rows on which that is looked at.
const JUDGED_ROWS: usize = 1024;
/// Rows of the exact GP whose hyperparameters the ascent begins at.
const FIRST_ROWS: usize = 1500;

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
        let (n, d) = (table.y.len(), table.inputs);
        let some = some_rows(n, FIRST_ROWS.min(n), settings.seed);
        let x: Vec<f64> = some.iter().flat_map(|r| table.row(*r)).copied().collect();
        let y: Vec<f64> = some.iter().map(|r| table.y[*r]).collect();

        let first = super::fit(&x, d, &y, &settings.clone().check()?)?;
        let hyper = ascent::climb(&table, twins, first.hyper().clone(), settings)?;
        Nearest::new(settings.kernel, hyper, table)?.with_enough(twins, settings.threads)
    }

    /// The same with twice as many neighbours, as often as that predicts rows left out clearly better.
    fn with_enough(mut self, twins: &[usize], threads: usize) -> Result<Nearest> {
        let n = self.table.y.len();
        let rows: Vec<usize> = (0..n).step_by(n.div_ceil(JUDGED_ROWS)).collect();
        let scores = |gp: &Nearest| -> Result<Vec<f64>> {
            let said = gp.left_out(&rows, twins, threads)?;
            Ok(gp.log_densities(&rows, &said).collect())
        };
        let mut before = scores(&self)?;
        while 2 * self.neighbours <= *NEIGHBOURS.end() && self.neighbours < n {
            let more = Nearest { neighbours: 2 * self.neighbours, ..self.clone() };
            let now = scores(&more)?;
            let gain = paired(&now, &before)?;
            if gain.mean < WORTH + gain.se.unwrap_or(0.0) {
                break;
            }
            (self, before) = (more, now);
        }
        Ok(self)
    }

    /// Mean and sd at the rows `x` (row-major): of the function, or with `noise` of a new observation.
    ///
    /// # Errors
    /// If the rows have another number of inputs, or are not finite.
    pub fn predict(&self, x: &[f64], noise: bool, threads: usize) -> Result<Prediction> {
        let d = self.table.inputs;
        check_shape(x, d, x.len() / d)?;
        let near = self.index.nearest(&self.table.x, x, |_| self.neighbours, threads)?;
        let said = self.each(&near, noise, threads, |q| &x[q * d..(q + 1) * d])?;
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
        let near = without(&self.table, &self.index, rows, twins, self.neighbours, threads)?;
        self.each(&near, true, threads, |q| self.table.row(rows[q]))
    }

    /// The mean log density of the targets of some of its own rows, by what it says of them.
    pub(crate) fn score(&self, rows: &[usize], said: &[(f64, f64)]) -> f64 {
        self.log_densities(rows, said).sum::<f64>() / rows.len().max(1) as f64
    }

    fn log_densities(&self, rows: &[usize], said: &[(f64, f64)]) -> impl Iterator<Item = f64> {
        rows.iter().zip(said).map(|(row, (mean, sd))| {
            -0.5 * ((self.table.y[*row] - mean) / sd).powi(2) - sd.ln() - HALF_LN_TWO_PI
        })
    }

    /// What it says about rows with given neighbours.
    fn each<'a>(
        &'a self,
        near: &[Vec<Near>],
        noise: bool,
        threads: usize,
        row: impl Fn(usize) -> &'a [f64] + Sync,
    ) -> Result<Vec<(f64, f64)>> {
        let most = near.iter().map(Vec::len).max().unwrap_or(0);
        let room = || Room::new(self.kernel, &self.hyper, &self.table, most);
        let said = parallel_with(near.len().div_ceil(WIDTH), threads, room, |room, group| {
            let rows = group * WIDTH..near.len().min((group + 1) * WIDTH);
            let rows: Vec<Around<'_>> = rows.map(|q| (row(q), &near[q][..])).collect();
            room.predict(&rows, noise)
        })?;
        Ok(said.into_iter().collect::<Result<Vec<_>>>()?.concat())
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

/// For each of some rows of a table its nearest others, without its twins.
fn without(
    table: &Table,
    index: &Index,
    rows: &[usize],
    twins: &[usize],
    count: usize,
    threads: usize,
) -> Result<Vec<Vec<Near>>> {
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
    let queries: Vec<f64> = rows.iter().flat_map(|row| table.row(*row)).copied().collect();
    let more = |q: usize| count + size[&twins[rows[q]]];
    let mut near = index.nearest(&table.x, &queries, more, threads)?;
    for (near, row) in near.iter_mut().zip(rows) {
        near.retain(|(_, other)| twins[*other as usize] != twins[*row]);
        near.truncate(count);
    }
    Ok(near)
}
