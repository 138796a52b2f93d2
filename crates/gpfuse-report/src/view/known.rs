//! Rows that are known: those of a table, and those that a model was fitted to.

use std::collections::HashSet;

use anyhow::{Result, bail};
use gpfuse::baseline::Predictions;
use gpfuse::fit::Experts;
use gpfuse_io::model_file::Saved;
use gpfuse_io::table::Table;

/// Inputs and targets in the user's units, at least one row.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Inputs, row-major.
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// What experts made elsewhere say.
    pub(super) predictions: Option<Predictions>,
    pub(super) inputs: usize,
}

impl Known {
    /// The columns of a table that a model needs.
    pub(super) fn of_table(saved: &Saved, table: &Table) -> Result<Known> {
        let column = |name: &str| match table.column(name) {
            Some(values) => Ok(values.to_vec()),
            None => {
                bail!("`{}`: has no column `{name}`, which the model needs: add it", table.path)
            }
        };
        let columns = saved.inputs.iter().map(|i| column(i)).collect::<Result<Vec<_>>>()?;
        let x = (0..table.rows).flat_map(|r| columns.iter().map(move |c| c[r])).collect();
        let predictions = match &saved.fitted.experts {
            Experts::Named(names) => {
                let all = |kind: &str| {
                    names.iter().map(|n| column(&format!("{kind}_{n}"))).collect::<Result<Vec<_>>>()
                };
                Some(Predictions::new(all("mean")?, all("sd")?)?)
            }
            _ => None,
        };
        Ok(Known { x, y: column(&saved.target)?, predictions, inputs: columns.len() })
    }

    /// The rows of the fit that are with the model: all of them where the experts are learned, and
    /// those of the experts where they were trained here.
    pub(super) fn of_training(saved: &Saved) -> Option<Known> {
        let (fitted, inputs) = (&saved.fitted, saved.inputs.len());
        let (mut x, mut y) = (Vec::new(), Vec::new());
        if let Some(data) = &fitted.data {
            x.extend((0..data.rows.len()).flat_map(|r| data.rows.row(r)));
            y = data.targets();
        } else if let Experts::Trained(experts) = &fitted.experts {
            let whole = |e: &&gpfuse::experts::Expert| e.columns.iter().copied().eq(0..inputs);
            // Experts may share their rows.
            let mut seen = HashSet::new();
            for expert in experts.iter().filter(whole) {
                for (row, target) in expert.gp.x().chunks(inputs).zip(expert.gp.y()) {
                    let bits: Vec<u64> = row.iter().chain([target]).map(|v| v.to_bits()).collect();
                    if seen.insert(bits) {
                        x.extend_from_slice(row);
                        y.push(*target);
                    }
                }
            }
        }
        let scaler = &fitted.scaler;
        let x = x.iter().enumerate().map(|(i, v)| scaler.inputs[i % inputs].restore(*v)).collect();
        let y: Vec<f64> = y.iter().map(|v| scaler.target.restore(*v)).collect();
        (!y.is_empty()).then_some(Known { x, y, predictions: None, inputs })
    }

    /// Some of the rows, by their numbers.
    pub(super) fn pick(&self, rows: &[usize]) -> Result<Known> {
        let predictions = match &self.predictions {
            None => None,
            Some(said) => {
                let of = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
                    all.iter().map(|v| rows.iter().map(|r| v[*r]).collect()).collect()
                };
                Some(Predictions::new(of(said.mean()), of(said.sd()))?)
            }
        };
        let d = self.inputs;
        let x = rows.iter().flat_map(|r| &self.x[r * d..(r + 1) * d]).copied().collect();
        let y = rows.iter().map(|r| self.y[*r]).collect();
        Ok(Known { x, y, predictions, inputs: d })
    }

    /// Input `i` of all rows, in order of size.
    pub(super) fn sorted(&self, i: usize) -> Vec<f64> {
        let mut values: Vec<f64> = self.x.iter().skip(i).step_by(self.inputs).copied().collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The numbers of the rows in the order of input 0.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.y.len()).collect();
        rows.sort_by(|a, b| self.x[a * self.inputs].total_cmp(&self.x[b * self.inputs]));
        rows
    }
}
