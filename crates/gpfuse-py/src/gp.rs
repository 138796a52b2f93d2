//! The exact GP.

use std::sync::Arc;

use gpfuse::gp::{self, Hyper, Settings};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays::{Matrix, Pair, Vector, matrix, to_matrix, to_vector, vector};
use crate::{error, run};

/// An exact GP conditioned on rows.
#[pyclass(module = "gpfuse._gpfuse", frozen)]
pub(crate) struct Gp(Arc<gp::Gp>);

/// What a GP is made from: kernel, hyperparameters, inputs, targets.
type Conditioned<'py> = (String, String, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Gp {
    /// Find the hyperparameters and condition on the rows.
    #[staticmethod]
    fn fit(py: Python<'_>, x: Matrix<'_>, y: Vector<'_>, settings: &str) -> PyResult<Gp> {
        let settings: Settings = error::settings(settings)?;
        let settings = settings.check().map_err(error::of)?;
        let ((x, inputs), y) = (matrix(&x), vector(&y));
        run::whole(py, move |_| gp::fit(&x, inputs, &y, &settings)).map(|gp| Gp(Arc::new(gp)))
    }

    /// Condition on rows with hyperparameters that are known.
    #[staticmethod]
    fn condition(
        py: Python<'_>,
        kernel: &str,
        hyper: &str,
        x: Matrix<'_>,
        y: Vector<'_>,
    ) -> PyResult<Gp> {
        let kernel = kernel.parse().map_err(error::of)?;
        let hyper: Hyper = error::settings(hyper)?;
        let ((x, inputs), y) = (matrix(&x), vector(&y));
        run::whole(py, move |_| gp::Gp::condition(kernel, hyper, &x, inputs, &y))
            .map(|gp| Gp(Arc::new(gp)))
    }

    /// Mean and standard deviation of the function, or with `noise` of a new observation.
    fn predict<'py>(&self, py: Python<'py>, x: Matrix<'_>, noise: bool) -> PyResult<Pair<'py>> {
        let ((x, found), gp) = (matrix(&x), self.0.clone());
        error::same_inputs(gp.inputs(), found)?;
        let prediction = run::whole(py, move |_| gp.predict(&x, noise))?;
        Ok((to_vector(py, prediction.mean), to_vector(py, prediction.sd)))
    }

    /// Mean and standard deviation of each training target, given the others; rows with the same number
    /// in `groups` are left out together.
    #[pyo3(signature = (groups=None))]
    fn leave_one_out<'py>(
        &self,
        py: Python<'py>,
        groups: Option<Vec<usize>>,
    ) -> PyResult<Pair<'py>> {
        let gp = self.0.clone();
        let predictions = run::whole(py, move |_| match groups {
            Some(groups) => gp.leave_out(&groups),
            None => Ok(gp.leave_one_out()),
        })?;
        let (mean, sd) = predictions.into_iter().unzip();
        Ok((to_vector(py, mean), to_vector(py, sd)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Conditioned<'py>)> {
        let (gp, py) = (slf.get(), slf.py());
        let make = slf.get_type().getattr("condition")?;
        Ok((make, (gp.kernel(), gp.hyper()?, gp.x(py)?, gp.y(py))))
    }

    /// The name of the kernel.
    #[getter]
    fn kernel(&self) -> String {
        self.0.kernel().to_string()
    }

    /// The hyperparameters as JSON.
    #[getter]
    fn hyper(&self) -> PyResult<String> {
        serde_json::to_string(self.0.hyper()).map_err(error::of_json)
    }

    /// The log marginal likelihood of the rows.
    #[getter]
    fn log_marginal(&self) -> f64 {
        self.0.log_marginal()
    }

    /// The inputs it is conditioned on.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        to_matrix(py, self.0.x().to_vec(), self.0.inputs())
    }

    /// The targets it is conditioned on.
    #[getter]
    fn y<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, self.0.y().to_vec())
    }
}

/// A number for each row, the same for rows that are copies of each other.
#[pyfunction]
pub(crate) fn twins(x: Matrix<'_>, y: Vector<'_>) -> PyResult<Vec<usize>> {
    let ((x, inputs), y) = (matrix(&x), vector(&y));
    if x.len() != inputs * y.len() {
        return Err(error::value(format!("y: found {} targets, expected one per row", y.len())));
    }
    Ok(gpfuse::experts::twins(&x, inputs, &y))
}
