//! A fit, from arrays and settings.

use gpfuse::experts::Assignment;
use gpfuse::{Data, Said, fit_with};
use pyo3::prelude::*;

use crate::arrays::{Matrix, Vector, matrix, said, said_classes, vector};
use crate::columns::read;
use crate::model::Model;
use crate::settings::settle;
use crate::{error, run};

/// Fit a model. The rows of experts come as the assignment `(rows of each expert, rows of the
/// weights)`, what experts made elsewhere say as (rows, experts) with their names, of classes as (rows, experts x
/// classes).
/// Beside the model stands the exception that stopped the fit early, if one did.
#[pyfunction]
#[pyo3(signature = (
    x, y, settings, inputs, target, mean=None, sd=None, log_density=None, proba=None, classes=None,
    names=None, assignment=None, columns=None, progress=None
))]
pub(crate) fn fit(
    py: Python<'_>,
    x: Matrix<'_>,
    y: Vector<'_>,
    settings: &str,
    inputs: Vec<String>,
    target: String,
    mean: Option<Matrix<'_>>,
    sd: Option<Matrix<'_>>,
    log_density: Option<Matrix<'_>>,
    proba: Option<Matrix<'_>>,
    classes: Option<Vec<String>>,
    names: Option<Vec<String>>,
    assignment: Option<(Vec<Vec<usize>>, Vec<usize>)>,
    columns: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Option<Py<PyAny>>)> {
    // What is wrong with a setting is said before anything is looked at.
    let settings = settle(settings, &inputs)?.settings.check().map_err(error::of)?;
    let ((x, d), y) = (matrix(&x), vector(&y));
    let columns = columns.map(read).transpose()?;
    let made = || -> gpfuse::Result<Data> {
        let mut data = Data::new(x, d)?.with_target(y)?.named(inputs, target)?;
        if let Some(columns) = columns {
            data = data.made_of(columns)?;
        }
        if let Some((experts, stacking)) = assignment {
            data = data.with_assignment(Assignment::new(experts, stacking)?);
        }
        Ok(data)
    };
    let data = made().map_err(error::of)?;
    let given = match (&proba, classes) {
        (Some(proba), Some(classes)) => Some(said_classes(classes, proba)?),
        _ => said(mean.as_ref(), sd.as_ref(), log_density.as_ref())?,
    };
    let data = with_experts(data, given, names)?;
    let work = move |watch: &run::Watch| fit_with(&data, &settings, watch);
    match run::watched(py, progress.as_ref(), work)? {
        (Err(_), Some(stopped)) => Err(stopped),
        (Err(failed), None) => Err(error::of(failed)),
        (Ok(fitted), stopped) => {
            Ok((Model::of(fitted), stopped.map(|error| error.into_value(py).into_any())))
        }
    }
}

/// Rows with what experts say about them, where they say something; without names they are
/// numbered.
pub(crate) fn with_experts(
    data: Data,
    said: Option<Said>,
    names: Option<Vec<String>>,
) -> PyResult<Data> {
    let Some(said) = said else { return Ok(data) };
    let numbered = || (1..=said.experts()).map(|k| k.to_string()).collect();
    let names = names.unwrap_or_else(numbered);
    data.with_experts(names, said).map_err(error::of)
}
