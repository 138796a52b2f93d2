//! Arrays from NumPy and back: one copy on the way in, which the fit owns, none on the way out.

use gpfuse::Predictions;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use numpy::{PyUntypedArrayMethods, ndarray::ArrayView2};
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

/// Predictions of experts, from means and standard deviations of shape (rows, experts).
pub(crate) fn predictions(
    mean: Option<&Matrix<'_>>,
    sd: Option<&Matrix<'_>>,
) -> PyResult<Option<Predictions>> {
    let columns = |from: ArrayView2<'_, f64>| -> Vec<Vec<f64>> {
        from.columns().into_iter().map(|column| column.to_vec()).collect()
    };
    match (mean, sd) {
        (None, None) => Ok(None),
        (Some(mean), Some(sd)) => {
            let (mean, sd) = (columns(mean.as_array()), columns(sd.as_array()));
            Predictions::new(mean, sd).map(Some).map_err(error::of)
        }
        _ => Err(error::value("experts' predictions: give both `mean` and `std`")),
    }
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
