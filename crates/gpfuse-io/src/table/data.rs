//! Columns of a table as the rows that the library takes.

use gpfuse::fit::Experts;
use gpfuse::{Data, Fitted, LogDensity, Predictions, Said};

use super::Table;
use super::error::{Place, TableError};
use super::select::select;

/// Experts made elsewhere that a table has columns for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExpertColumns {
    /// Their names.
    pub names: Vec<String>,
    /// What they say.
    pub kind: Kind,
}

/// What the columns of an expert say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A mean and a standard deviation.
    #[default]
    Normal,
    /// The log density of the target.
    LogDensity,
}

impl Kind {
    /// How the columns of an expert begin, each followed by its name.
    pub fn starts(self) -> &'static [&'static str] {
        match self {
            Kind::Normal => &["mean_", "sd_"],
            Kind::LogDensity => &["lpd_"],
        }
    }
}

impl ExpertColumns {
    /// Those that predictions of a model need; `with_target` those that scores need.
    fn of(fitted: &Fitted, with_target: bool) -> ExpertColumns {
        let kind = if fitted.says_outcomes() { Kind::LogDensity } else { Kind::Normal };
        match &fitted.experts {
            // Probabilities of classes do not come in tables.
            _ if fitted.classes().is_some() => ExpertColumns::default(),
            Experts::Named(names) if with_target || kind == Kind::Normal => {
                ExpertColumns { names: names.clone(), kind }
            }
            _ => ExpertColumns::default(),
        }
    }

    /// The columns: of all experts those with the first beginning, then those with the next.
    fn columns(&self) -> Vec<String> {
        let starts = self.kind.starts().iter();
        starts.flat_map(|start| self.names.iter().map(move |n| format!("{start}{n}"))).collect()
    }
}

/// The columns that [`Table::data`] looks for.
pub fn data_columns(
    inputs: &[String],
    target: Option<&str>,
    experts: &ExpertColumns,
) -> Vec<String> {
    let target = target.map(String::from);
    inputs.iter().cloned().chain(target).chain(experts.columns()).collect()
}

/// The columns that predictions of a model need, `with_target` also those that scores need: the target, or the log
/// densities of experts that say no more.
pub fn model_columns(fitted: &Fitted, with_target: bool) -> Vec<String> {
    let target = (with_target && !fitted.says_outcomes()).then(|| fitted.target());
    data_columns(fitted.inputs(), target, &ExpertColumns::of(fitted, with_target))
}

impl Table {
    /// The columns of inputs, of the target where there is one, and of each expert, as rows of the library.
    pub fn data(
        &self,
        inputs: &[String],
        target: &str,
        experts: &ExpertColumns,
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
        if experts.names.is_empty() {
            return Ok(data);
        }
        let said = match experts.kind {
            Kind::Normal => self.normal(experts)?.map(Said::from),
            Kind::LogDensity => {
                let all = self.named(&experts.columns())?;
                LogDensity::new(all.into_iter().map(<[f64]>::to_vec).collect()).map(Said::from)
            }
        };
        said.and_then(|said| data.with_experts(experts.names.clone(), said)).map_err(problem)
    }

    /// What experts say by their means and standard deviations.
    fn normal(&self, experts: &ExpertColumns) -> Result<gpfuse::Result<Predictions>, TableError> {
        let columns = experts.columns();
        let (mean, sd) = columns.split_at(experts.names.len());
        let (mean, sd) = (self.named(mean)?, self.named(sd)?);
        for (name, sd) in columns[experts.names.len()..].iter().zip(&sd) {
            if let Some(row) = sd.iter().position(|sd| *sd <= 0.0) {
                let column = name.clone();
                let place = Place { path: self.path.clone(), row: row + 1, line: None, column };
                return Err(TableError::Sd { place, value: sd[row] });
            }
        }
        let owned = |all: Vec<&[f64]>| all.into_iter().map(<[f64]>::to_vec).collect();
        Ok(Predictions::new(owned(mean), owned(sd)))
    }

    /// The rows that a model can predict at, with their target and the log densities of experts where these were
    /// read.
    pub fn data_for(&self, fitted: &Fitted) -> Result<Data, TableError> {
        let mut experts = ExpertColumns::of(fitted, true);
        if experts.kind == Kind::LogDensity
            && !experts.columns().iter().any(|name| self.names.contains(name))
        {
            experts = ExpertColumns::default();
        }
        self.data(fitted.inputs(), fitted.target(), &experts)
    }

    /// Columns by their names.
    fn named(&self, names: &[String]) -> Result<Vec<&[f64]>, TableError> {
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let at = select(&self.path, &self.names, Some(&wanted))?;
        Ok(at.into_iter().map(|i| self.columns[i].as_slice()).collect())
    }
}
