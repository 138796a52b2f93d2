//! Rows and their nearest ones, and what these say about them: in the table that has them all, or in a small one of
//! rows that were gathered.

use std::sync::Arc;

use super::local::{Around, Room};
use super::search::Near;
use super::{NEIGHBOURS, Table, WORTH};
use crate::gp::hyper::Hyper;
use crate::kernel::Kernel;
use crate::math::{HALF_LN_TWO_PI, WIDTH};
use crate::metrics::paired;
use crate::parallel::parallel_with;
use crate::{Error, Result};

/// Some rows, and of each the nearest ones in a table, in order of distance.
#[derive(Debug, Clone)]
pub struct Neighbourhoods {
    pub(super) table: Arc<Table>,
    x: Vec<f64>,
    y: Vec<f64>,
    near: Vec<Vec<Near>>,
}

impl Neighbourhoods {
    /// Of the rows `x` (row-major); `y` are their targets, where these are known.
    pub(super) fn new(
        table: Arc<Table>,
        x: Vec<f64>,
        y: Vec<f64>,
        near: Vec<Vec<Near>>,
    ) -> Neighbourhoods {
        Neighbourhoods { table, x, y, near }
    }

    /// How many rows.
    pub(super) fn rows(&self) -> usize {
        self.near.len()
    }

    /// Row `q`, and at most so many of those near it.
    pub(super) fn around(&self, q: usize, most: usize) -> Around<'_> {
        let (d, near) = (self.table.inputs, &self.near[q]);
        (&self.x[q * d..(q + 1) * d], &near[..near.len().min(most)])
    }

    /// The target of row `q`.
    pub(super) fn target(&self, q: usize) -> f64 {
        self.y[q]
    }

    /// Mean and sd of each row given at most so many of those near it: of the function, or with `noise` of a new
    /// observation.
    ///
    /// # Errors
    /// If the hyperparameters make no GP on these rows.
    pub fn predict(
        &self,
        (kernel, hyper): (Kernel, &Hyper),
        most: usize,
        noise: bool,
        threads: usize,
    ) -> Result<Vec<(f64, f64)>> {
        hyper.check(self.table.inputs)?;
        let rows = self.rows();
        let largest = self.near.iter().map(|near| near.len().min(most)).max().unwrap_or(0);
        let room = || Room::new(kernel, hyper, &self.table, largest);
        let said = parallel_with(rows.div_ceil(WIDTH), threads, room, |room, group| {
            let rows = group * WIDTH..rows.min((group + 1) * WIDTH);
            let rows: Vec<Around<'_>> = rows.map(|q| self.around(q, most)).collect();
            room.predict(&rows, noise)
        })?;
        Ok(said.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// How many neighbours predict a row of a table of so many rows: the fewest, and twice as many as often as that
    /// predicts these rows clearly better. They have the most neighbours that there are.
    ///
    /// # Errors
    /// If the hyperparameters make no GP on these rows, or their targets are not known.
    pub fn enough(&self, gp: (Kernel, &Hyper), rows: usize, threads: usize) -> Result<usize> {
        if self.y.len() != self.rows() {
            return Err(Error::Data("the targets of these rows are not known".into()));
        }
        let scores = |most: usize| -> Result<Vec<f64>> {
            let said = self.predict(gp, most, true, threads)?;
            Ok(log_densities(self.y.iter().copied(), &said).collect())
        };
        let mut most = *NEIGHBOURS.start();
        let mut before = scores(most)?;
        while 2 * most <= *NEIGHBOURS.end() && most < rows {
            let now = scores(2 * most)?;
            let gain = paired(&now, &before)?;
            if gain.mean < WORTH + gain.se.unwrap_or(0.0) {
                break;
            }
            (most, before) = (2 * most, now);
        }
        Ok(most)
    }
}

/// The log densities of targets, by what is said of them.
pub(super) fn log_densities(
    y: impl Iterator<Item = f64>,
    said: &[(f64, f64)],
) -> impl Iterator<Item = f64> {
    let each = |(y, (mean, sd)): (f64, &(f64, f64))| {
        -0.5 * ((y - mean) / sd).powi(2) - sd.ln() - HALF_LN_TWO_PI
    };
    y.zip(said).map(each)
}
