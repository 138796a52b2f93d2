//! A cell of a sweep: one fit, and the rows that it is scored at.

use std::sync::Arc;

use super::Key;
use crate::Result;
use crate::data::{Data, Predictions};
use crate::fit::CheckedFit;

/// Experts made elsewhere: what they say about the rows of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// At the training rows.
    pub train: Predictions,
    /// At the test rows.
    pub test: Predictions,
}

/// One fit of a sweep.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Which one.
    pub key: Key,
    /// The method, its form and all else that is set; its threads are not looked at.
    pub settings: CheckedFit,
    /// The rows that many cells share.
    pub table: Arc<Data>,
    /// Those that it learns from. With given experts these are the rows of the weights.
    pub train: Arc<Vec<usize>>,
    /// Those that it is scored at.
    pub test: Arc<Vec<usize>>,
    /// Experts made elsewhere, if it is to learn weights for such.
    pub given: Option<Arc<Given>>,
    /// Whether the fitted model is wanted, and not only its scores.
    pub keep: bool,
}

impl Cell {
    /// The rows that it learns from, with what given experts say where its method takes them.
    pub fn training(&self) -> Result<Data> {
        self.part(&self.train, |given| &given.train)
    }

    /// The rows that it is scored at.
    pub fn testing(&self) -> Result<Data> {
        self.part(&self.test, |given| &given.test)
    }

    fn part(&self, rows: &[usize], of: fn(&Given) -> &Predictions) -> Result<Data> {
        let data = self.table.pick(rows)?;
        match self.given.as_deref().filter(|_| !self.settings.method.learns_experts()) {
            None => Ok(data),
            Some(given) => {
                let names = (1..=given.train.experts()).map(|k| k.to_string()).collect();
                data.with_experts(names, of(given).clone())
            }
        }
    }
}
