//! A cell of a sweep: one fit, and the rows that it is scored at.

use std::sync::Arc;

use super::Key;
use crate::baseline::Predictions;
use crate::fit::CheckedFit;

/// The rows that many cells share, in the user's units.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Inputs, row-major.
    pub x: Vec<f64>,
    /// The number of inputs.
    pub inputs: usize,
    /// The target.
    pub y: Vec<f64>,
}

impl Table {
    /// Inputs and targets of some rows.
    pub fn pick(&self, rows: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let d = self.inputs;
        let x = rows.iter().flat_map(|r| &self.x[r * d..(r + 1) * d]).copied().collect();
        (x, rows.iter().map(|r| self.y[*r]).collect())
    }
}

/// Experts made elsewhere: what they say about the rows of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// At the training rows.
    pub train: Predictions,
    /// At the test rows.
    pub test: Predictions,
}

impl Given {
    /// The experts by number, from 1.
    pub fn names(&self) -> Vec<String> {
        (1..=self.train.experts()).map(|k| k.to_string()).collect()
    }
}

/// One fit of a sweep.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Which one.
    pub key: Key,
    /// The method, its form and all else that is set; its threads are not looked at.
    pub settings: CheckedFit,
    /// The rows.
    pub table: Arc<Table>,
    /// Those that it learns from. With given experts these are the rows of the weights.
    pub train: Arc<Vec<usize>>,
    /// Those that it is scored at.
    pub test: Arc<Vec<usize>>,
    /// Experts made elsewhere, if it is to learn weights for such.
    pub given: Option<Arc<Given>>,
    /// Whether the fitted model is wanted, and not only its scores.
    pub keep: bool,
}
