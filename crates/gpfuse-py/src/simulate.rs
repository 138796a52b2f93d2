//! The paper's synthetic data.

use gpfuse::simulate::Simulate;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{to_matrix, to_vector};
use crate::{error, run};

/// Draw a data set: inputs, target, and the truth behind them by name.
#[pyfunction]
pub(crate) fn simulate<'py>(py: Python<'py>, settings: &str) -> PyResult<Bound<'py, PyDict>> {
    let settings: Simulate = error::settings(settings)?;
    let inputs = settings.inputs;
    let drawn = run::whole(py, move |_| settings.run())?;
    let (out, k) = (PyDict::new(py), drawn.experts);
    out.set_item("X", to_matrix(py, drawn.x, inputs)?)?;
    out.set_item("y", to_vector(py, drawn.y))?;
    out.set_item("component", drawn.component)?;
    out.set_item("mean", to_matrix(py, drawn.mean, k)?)?;
    out.set_item("log_std", to_matrix(py, drawn.log_sd, k)?)?;
    out.set_item("weight", to_matrix(py, drawn.weight, k)?)?;
    out.set_item("log_density", to_vector(py, drawn.true_log_density))?;
    Ok(out)
}
