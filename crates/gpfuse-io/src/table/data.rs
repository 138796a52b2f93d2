//! Columns of a table as the rows that the library takes.

use std::borrow::Cow;

use gpfuse::columns::{Cells, Columns, Fault, Inputs, Missing, Purpose};
use gpfuse::fit::Experts;
use gpfuse::settings::Style;
use gpfuse::{Data, Fitted, LogDensity, Predictions, Said};

use super::error::{Place, TableError};
use super::select::select;
use super::{Table, Wanted};
use crate::words::show;

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

/// Whether a value says that an expert held a target impossible, whose log density is minus infinity then.
pub(super) fn is_impossible(column: &str, value: f64) -> bool {
    value == f64::NEG_INFINITY && Kind::LogDensity.starts().iter().any(|s| column.starts_with(s))
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
pub fn data_columns(inputs: &[String], target: Option<&str>, experts: &ExpertColumns) -> Wanted {
    let numbers = target.map(String::from).into_iter().chain(experts.columns()).collect();
    Wanted { numbers: Some(numbers), cells: inputs.to_vec(), keep: Vec::new() }
}

/// The columns that predictions of a model need, `with_target` also those that scores need: the target, or the log
/// densities of experts that say no more.
pub fn model_columns(fitted: &Fitted, with_target: bool) -> Wanted {
    let target = (with_target && !fitted.says_outcomes()).then(|| fitted.target());
    data_columns(&fitted.columns().names(), target, &ExpertColumns::of(fitted, with_target))
}

/// Rows of a table, and what there is to say about how they were made.
#[derive(Debug, Clone)]
pub struct Made {
    /// The rows.
    pub data: Data,
    /// What was done.
    pub notes: Vec<String>,
    /// What makes predictions doubtful.
    pub warnings: Vec<String>,
}

impl Table {
    /// What is to become of the columns of inputs.
    pub fn learn(&self, inputs: &[String], missing: Missing) -> Result<Columns, TableError> {
        Columns::learn(inputs, &self.inputs(inputs)?, missing).map_err(|fault| self.fault(fault))
    }

    /// The columns of inputs, of the target where there is one, and of each expert, as rows of the library.
    pub fn data(
        &self,
        columns: &Columns,
        purpose: Purpose,
        target: &str,
        experts: &ExpertColumns,
    ) -> Result<Made, TableError> {
        let found = columns.apply(&self.inputs(&columns.names())?, purpose);
        let Inputs { x, dropped, notes, warnings } = found.map_err(|fault| self.fault(fault))?;
        let mut data = self.with_outcomes(x, columns, target, experts)?;
        if !dropped.is_empty() {
            let kept = |row: &usize| dropped.binary_search(row).is_err();
            let kept: Vec<usize> = (0..data.len()).filter(kept).collect();
            data = data.pick(&kept).map_err(|e| self.problem(e))?;
        }
        Ok(Made { data, notes, warnings })
    }

    /// The inputs `x` with the target where there is one, and each expert.
    fn with_outcomes(
        &self,
        x: Vec<f64>,
        columns: &Columns,
        target: &str,
        experts: &ExpertColumns,
    ) -> Result<Data, TableError> {
        let problem = |e| self.problem(e);
        let inputs = columns.inputs();
        let mut data = Data::new(x, inputs.len())
            .and_then(|data| data.named(inputs, target)?.made_of(columns.clone()))
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

    fn problem(&self, error: gpfuse::Error) -> TableError {
        let problem = match error {
            gpfuse::Error::Data(problem) => problem,
            other => other.to_string(),
        };
        TableError::Data { path: self.path.clone(), problem }
    }

    /// Why columns cannot be inputs, with the line where it is known.
    fn fault(&self, fault: Fault) -> TableError {
        match fault {
            Fault::Cell { row, column, value } => {
                let line = self.lines.as_ref().and_then(|lines| lines.of(row));
                let place = Place { path: self.path.clone(), row, line, column: show(&column) };
                let (infinite, value) = (value.parse::<f64>().is_ok(), show(&value));
                match infinite {
                    true => TableError::NonFinite { place, value },
                    false => TableError::Text { place, value },
                }
            }
            other => {
                let (path, problem) = (self.path.clone(), other.render(Style::CommandLine));
                TableError::Data { path, problem }
            }
        }
    }

    /// Columns that may hold words, or nothing; those that were read as numbers are such, too.
    fn inputs(&self, names: &[String]) -> Result<Vec<Cow<'_, Cells>>, TableError> {
        let one = |name: &String| match self.cells.get(name) {
            Some(cells) => Ok(Cow::Borrowed(cells)),
            None => {
                let numbers = self.named(std::slice::from_ref(name))?[0].to_vec();
                Ok(Cow::Owned(Cells::numbers(numbers)))
            }
        };
        names.iter().map(one).collect()
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
    pub fn data_for(&self, fitted: &Fitted) -> Result<Made, TableError> {
        let mut experts = ExpertColumns::of(fitted, true);
        if experts.kind == Kind::LogDensity
            && !experts.columns().iter().any(|name| self.names.contains(name))
        {
            experts = ExpertColumns::default();
        }
        self.data(&fitted.columns(), Purpose::Ask, fitted.target(), &experts)
    }

    /// Columns by their names.
    fn named(&self, names: &[String]) -> Result<Vec<&[f64]>, TableError> {
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let at = select(&self.path, &self.names, Some(&wanted))?;
        Ok(at.into_iter().map(|i| self.columns[i].as_slice()).collect())
    }
}
