//! Columns that may hold words, or nothing, as inputs.

use gpfuse::Columns;
use gpfuse::columns::{Cells, Fault, Inputs, Missing, Purpose};
use gpfuse::settings::{Style, find};
use numpy::PyArray2;
use pyo3::prelude::*;
use serde_json::Value;

use crate::arrays::{Vector, to_matrix, vector};
use crate::error;

/// What stands in a column.
#[derive(FromPyObject)]
pub(crate) enum Column<'py> {
    Numbers(Vector<'py>),
    Texts(Vec<Option<String>>),
}

/// The cells of columns; of each also whether numbers in it are names of levels.
fn cells(columns: Vec<(Column<'_>, bool)>) -> Vec<Cells> {
    let one = |(column, category): (Column<'_>, bool)| {
        let cells = match column {
            Column::Numbers(numbers) => Cells::numbers(vector(&numbers)),
            Column::Texts(texts) => {
                let mut cells = Cells::default();
                texts.iter().for_each(|text| cells.push(text.as_deref().unwrap_or_default()));
                cells
            }
        };
        if category { cells.of_category() } else { cells }
    };
    columns.into_iter().map(one).collect()
}

/// What became of columns, from JSON.
pub(crate) fn read(json: &str) -> PyResult<Columns> {
    serde_json::from_str(json).map_err(error::of_json)
}

fn refused(fault: Fault) -> PyErr {
    error::value(fault.render(Style::Python))
}

/// Inputs, row by row; the rows that are kept; what is worth a warning.
type InputRows<'py> = (Bound<'py, PyArray2<f64>>, Vec<usize>, Vec<String>);

/// What is to become of columns, as JSON.
#[pyfunction]
pub(crate) fn learn_columns(
    names: Vec<String>,
    columns: Vec<(Column<'_>, bool)>,
    missing: &str,
) -> PyResult<String> {
    let word = Value::from(missing);
    if let Some(setting) = find("missing") {
        setting.check(&word).map_err(error::of)?;
    }
    let missing: Missing = serde_json::from_value(word).map_err(error::of_json)?;
    let found = Columns::learn(&names, &cells(columns), missing).map_err(refused)?;
    serde_json::to_string(&found).map_err(error::of_json)
}

/// The names of columns, and those of the inputs made of them.
#[pyfunction]
pub(crate) fn names_of_columns(made: &str) -> PyResult<(Vec<String>, Vec<String>)> {
    let made = read(made)?;
    Ok((made.names(), made.inputs()))
}

/// Cells as inputs, the numbers of rows that are left out, and what makes predictions doubtful.
#[pyfunction]
pub(crate) fn apply_columns<'py>(
    py: Python<'py>,
    made: &str,
    columns: Vec<(Column<'py>, bool)>,
    fit: bool,
) -> PyResult<InputRows<'py>> {
    let made = read(made)?;
    let purpose = if fit { Purpose::Fit } else { Purpose::Ask };
    let Inputs { x, dropped, warnings, .. } =
        made.apply(&cells(columns), purpose).map_err(refused)?;
    Ok((to_matrix(py, x, made.inputs().len())?, dropped, warnings))
}
