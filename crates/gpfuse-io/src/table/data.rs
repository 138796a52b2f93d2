//! Columns of a table as the rows that the library takes.

use gpfuse::fit::Experts;
use gpfuse::{Data, Fitted, Predictions};

use super::Table;
use super::error::{Place, TableError};
use super::select::select;

/// The columns of some experts: means, then standard deviations.
fn expert_columns(names: &[String]) -> Vec<String> {
    let means = names.iter().map(|name| format!("mean_{name}"));
    means.chain(names.iter().map(|name| format!("sd_{name}"))).collect()
}

/// The columns that [`Table::data`] looks for.
pub fn data_columns(inputs: &[String], target: Option<&str>, experts: &[String]) -> Vec<String> {
    let target = target.map(String::from);
    inputs.iter().cloned().chain(target).chain(expert_columns(experts)).collect()
}

/// The columns that predictions of a model need, `with_target` also those that scores need.
pub fn model_columns(fitted: &Fitted, with_target: bool) -> Vec<String> {
    data_columns(fitted.inputs(), with_target.then(|| fitted.target()), experts_of(fitted))
}

/// The names of experts that were made elsewhere.
fn experts_of(fitted: &Fitted) -> &[String] {
    match &fitted.experts {
        Experts::Named(names) => names,
        _ => &[],
    }
}

impl Table {
    /// The columns of inputs, of the target where there is one, and `mean_NAME` and `sd_NAME` of
    /// each expert, as rows of the library.
    pub fn data(
        &self,
        inputs: &[String],
        target: &str,
        experts: &[String],
    ) -> Result<Data, TableError> {
        let problem = |e: gpfuse::Error| match e {
            gpfuse::Error::Data(problem) => TableError::Data { path: self.path.clone(), problem },
            other => TableError::Data { path: self.path.clone(), problem: other.to_string() },
        };
        let mut data = Data::from_columns(&self.named(inputs)?)
            .and_then(|data| data.named(inputs.to_vec(), target))
            .map_err(problem)?;
        if let Some(y) = self.column(target) {
            data = data.with_target(y.to_vec()).map_err(problem)?;
        }
        if experts.is_empty() {
            return Ok(data);
        }
        let columns = expert_columns(experts);
        let (mean, sd) = columns.split_at(experts.len());
        let (mean, sd) = (self.named(mean)?, self.named(sd)?);
        for (name, sd) in columns[experts.len()..].iter().zip(&sd) {
            if let Some(row) = sd.iter().position(|sd| *sd <= 0.0) {
                let column = name.clone();
                let place = Place { path: self.path.clone(), row: row + 1, line: None, column };
                return Err(TableError::Sd { place, value: sd[row] });
            }
        }
        let owned = |all: Vec<&[f64]>| all.into_iter().map(<[f64]>::to_vec).collect();
        let predictions = Predictions::new(owned(mean), owned(sd)).map_err(problem)?;
        data.with_experts(experts.to_vec(), predictions).map_err(problem)
    }

    /// The rows that a model can predict at, with their target where it was read.
    pub fn data_for(&self, fitted: &Fitted) -> Result<Data, TableError> {
        self.data(fitted.inputs(), fitted.target(), experts_of(fitted))
    }

    /// Columns by their names.
    fn named(&self, names: &[String]) -> Result<Vec<&[f64]>, TableError> {
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let at = select(&self.path, &self.names, Some(&wanted))?;
        Ok(at.into_iter().map(|i| self.columns[i].as_slice()).collect())
    }
}
