//! Arrays from NumPy and back: one copy on the way in, which the fit owns, none on the way out.

use gpfuse::{Classes, LogDensity, Predictions, Said};
use numpy::PyUntypedArrayMethods;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::error;

/// A matrix of numbers from Python.
pub(crate) type Matrix<'py> = PyReadonlyArray2<'py, f64>;
/// A vector of numbers from Python.
pub(crate) type Vector<'py> = PyReadonlyArray1<'py, f64>;

/// One number per row, twice, to Python.
pub(crate) type Pair<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The numbers of a matrix, row-major, and its number of columns.
pub(crate) fn matrix(from: &Matrix<'_>) -> (Vec<f64>, usize) {
    (from.as_array().iter().copied().collect(), from.shape()[1])
}

/// The numbers of a vector.
pub(crate) fn vector(from: &Vector<'_>) -> Vec<f64> {
    from.as_array().iter().copied().collect()
}

/// The columns of a matrix.
pub(crate) fn columns(from: &Matrix<'_>) -> Vec<Vec<f64>> {
    from.as_array().columns().into_iter().map(|column| column.to_vec()).collect()
}

/// What experts say, from means and standard deviations of shape (rows, experts), or from log densities.
pub(crate) fn said(
    mean: Option<&Matrix<'_>>,
    sd: Option<&Matrix<'_>>,
    log_density: Option<&Matrix<'_>>,
) -> PyResult<Option<Said>> {
    let said = match (mean, sd, log_density) {
        (None, None, None) => return Ok(None),
        (Some(mean), Some(sd), None) => {
            Predictions::new(columns(mean), columns(sd)).map(Said::from)
        }
        (None, None, Some(log)) => LogDensity::new(columns(log)).map(Said::from),
        _ => return Err(error::value("experts: give both `mean` and `std`, or `log_density`")),
    };
    said.map(Some).map_err(error::of)
}

/// What experts say about classes, from probabilities of shape (rows, experts x classes), all classes of an expert
/// side by side.
pub(crate) fn said_classes(names: Vec<String>, proba: &Matrix<'_>) -> PyResult<Said> {
    Classes::new(names, &columns(proba)).map(Said::from).map_err(error::of)
}

/// One number per row to Python.
pub(crate) fn to_vector(py: Python<'_>, values: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_vec(py, values)
}

/// `columns` numbers per row to Python.
pub(crate) fn to_matrix(
    py: Python<'_>,
    values: Vec<f64>,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    PyArray1::from_vec(py, values).reshape([rows, columns])
}
