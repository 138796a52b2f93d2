//! A table in parts, which may be on several machines: each part finds its own nearest rows, and these are put
//! together. Distances are computed in double precision wherever a row is, and equal ones are in order of rows, so
//! the result is that of the whole table.

use std::sync::{Arc, Mutex, PoisonError};

use super::Table;
use super::neighbourhoods::Neighbourhoods;
use super::search::{Index, Near, order};
use crate::gp::posterior::check_shape;
use crate::kernel::Kernel;
use crate::scale::mean_on;
use crate::{Error, Result};

/// Some rows of a table, numbered from 0, with an index for each kernel that asked.
#[derive(Debug)]
pub struct Part {
    table: Arc<Table>,
    indexes: Mutex<Vec<(Kernel, Arc<Index>)>>,
}

impl Part {
    /// Of these rows.
    pub fn new(table: Arc<Table>) -> Part {
        Part { table, indexes: Mutex::default() }
    }

    /// The rows.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// For each query (row-major) its `counts` nearest rows, in order. The index is kept until the kernel asks with
    /// other lengthscales.
    ///
    /// # Errors
    /// If the lengthscales or the queries are not those of the table's inputs.
    pub fn nearest(
        &self,
        kernel: Kernel,
        ell: &[f64],
        queries: &[f64],
        counts: &[usize],
        threads: usize,
    ) -> Result<Vec<Vec<Near>>> {
        let inputs = self.table.inputs;
        if ell.len() != inputs {
            return Err(Error::Shape {
                what: "lengthscales".into(),
                expected: inputs.to_string(),
                found: ell.len().to_string(),
            });
        }
        check_shape(queries, inputs, counts.len())?;
        self.index(kernel, ell).nearest(&self.table.x, queries, |q| counts[q], threads)
    }

    fn index(&self, kernel: Kernel, ell: &[f64]) -> Arc<Index> {
        let held = || self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = held().iter().find(|(of, index)| *of == kernel && index.ell() == ell).cloned();
        if let Some((_, index)) = kept {
            return index;
        }
        // The old one goes before the new one is made: there is never room for both.
        held().retain(|(of, _)| *of != kernel);
        let made = Arc::new(Index::new(&self.table.x, ell));
        held().push((kernel, made.clone()));
        made
    }

    /// The inputs (row-major) and targets of some rows.
    ///
    /// # Errors
    /// If there is no such row.
    pub fn rows(&self, numbers: &[usize]) -> Result<(Vec<f64>, Vec<f64>)> {
        match numbers.iter().find(|row| **row >= self.table.y.len()) {
            Some(row) => Err(Error::Data(format!("there is no row {}", row + 1))),
            None => Ok(self.table.rows(numbers)),
        }
    }

    /// The mean of each input, and of the target, over a table of so many rows, of which `before` has the sums of
    /// those before these. With `around`, the mean squares around these numbers.
    pub fn means(&self, before: &[f64], rows: usize, around: Option<&[f64]>) -> Vec<f64> {
        let (x, d, y) = (&self.table.x, self.table.inputs, &self.table.y);
        let value = |v: f64, i: usize| around.map_or(v, |around| (v - around[i]).powi(2));
        let input = |i: usize| x.iter().skip(i).step_by(d).map(move |v| value(*v, i));
        let target = y.iter().map(|v| value(*v, d));
        let inputs = (0..d).map(|i| mean_on(before[i], input(i), rows));
        inputs.chain([mean_on(before[d], target, rows)]).collect()
    }
}

/// The nearest rows of queries, among the parts that were looked through so far.
#[derive(Debug)]
pub struct Merged {
    counts: Vec<usize>,
    near: Vec<Vec<Near>>,
}

/// Rows of a table that are queries of it.
#[derive(Debug)]
pub struct Own {
    /// Their numbers. Where these are not known, a query is the first row with its inputs and target, if there is one.
    pub numbers: Option<Vec<u32>>,
    /// Their targets.
    pub y: Vec<f64>,
    /// Whether rows with the same inputs are copies, which are left out with them.
    pub copies: bool,
}

impl Merged {
    /// For so many rows of each query.
    pub fn new(counts: Vec<usize>) -> Merged {
        Merged { near: vec![Vec::new(); counts.len()], counts }
    }

    /// Take in what a part of so many rows found, query after query; its first row has number `first`.
    ///
    /// # Errors
    /// If it is not what such a part finds.
    pub fn add(
        &mut self,
        found: impl ExactSizeIterator<Item = Near>,
        rows: usize,
        first: u32,
    ) -> Result<()> {
        let expected: usize = self.counts.iter().map(|count| rows.min(*count)).sum();
        if found.len() != expected {
            return Err(Error::Shape {
                what: "near rows".into(),
                expected: expected.to_string(),
                found: found.len().to_string(),
            });
        }
        let mut found = found.map(|(distance, row)| (distance, first + row));
        for (near, count) in self.near.iter_mut().zip(&self.counts) {
            near.extend(found.by_ref().take(rows.min(*count)));
            // The two parts are in order already, which this sort makes use of.
            near.sort_by(order);
            near.truncate(*count);
        }
        Ok(())
    }

    /// All these rows, ascending.
    pub fn rows(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = self.near.iter().flatten().map(|(_, row)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// The queries `x` with these rows, which `table` has in order of their numbers. Rows that are queries of their
    /// own table are left out of their neighbours, and `most` others are kept.
    ///
    /// # Errors
    /// If the table has other rows, or there are other queries.
    pub fn gathered(
        &self,
        table: Arc<Table>,
        x: Vec<f64>,
        own: Option<Own>,
        most: usize,
    ) -> Result<Neighbourhoods> {
        let (rows, queries) = (self.rows(), self.near.len());
        let fits = own.as_ref().is_none_or(|own| {
            let numbers = own.numbers.as_ref().map_or(queries, Vec::len);
            numbers == queries && own.y.len() == queries
        });
        if rows.len() != table.y.len() || x.len() != queries * table.inputs || !fits {
            return Err(Error::Shape {
                what: "gathered rows".into(),
                expected: format!("{} for {queries} queries", rows.len()),
                found: table.y.len().to_string(),
            });
        }
        let place = |(distance, row): &Near| (*distance, rows.partition_point(|r| r < row) as u32);
        let mut near: Vec<Vec<Near>> =
            self.near.iter().map(|near| near.iter().map(place).collect()).collect();
        if let Some(own) = &own {
            for (q, (near, x)) in near.iter_mut().zip(x.chunks(table.inputs)).enumerate() {
                let equal = |at: &usize| table.row(*at) == x;
                let known = own.numbers.as_ref().map(|numbers| numbers[q]);
                let number = known.or_else(|| {
                    let first = near.iter().map(|(_, at)| *at as usize);
                    let mut same = first.filter(|at| equal(at) && table.y[*at] == own.y[q]);
                    same.next().map(|at| rows[at])
                });
                let out = |at: usize| Some(rows[at]) == number || own.copies && equal(&at);
                near.retain(|(_, at)| !out(*at as usize));
                near.truncate(most);
            }
        }
        let y = own.map_or_else(Vec::new, |own| own.y);
        Ok(Neighbourhoods::new(table, x, y, near))
    }
}
