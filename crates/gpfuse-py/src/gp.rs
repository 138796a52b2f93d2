//! One GP: exact, or with many rows on the nearest ones.

use std::sync::Arc;

use gpfuse::experts::MOST_EXACT_ROWS;
use gpfuse::gp::nearest::{Nearest, Table};
use gpfuse::gp::{self, Hyper, Settings};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays::{Matrix, Pair, Vector, matrix, to_matrix, to_vector, vector};
use crate::{error, run};

/// A GP conditioned on rows.
#[pyclass(module = "gpfuse._gpfuse", frozen)]
pub(crate) struct Gp(Kind);

#[derive(Clone)]
enum Kind {
    Exact(Arc<gp::Gp>),
    Nearest(Arc<Nearest>),
}

/// What a GP is made from: kernel, hyperparameters, inputs, targets, neighbours.
type Conditioned<'py> =
    (String, String, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Option<usize>);

#[pymethods]
impl Gp {
    /// Find the hyperparameters and condition on the rows; with many, unless it is to be `exact`, each row is
    /// predicted from its nearest ones, and whoever has copies is left out with them.
    #[staticmethod]
    #[pyo3(signature = (x, y, settings, exact=false))]
    fn fit(
        py: Python<'_>,
        x: Matrix<'_>,
        y: Vector<'_>,
        settings: &str,
        exact: bool,
    ) -> PyResult<Gp> {
        let settings: Settings = error::settings(settings)?;
        let settings = settings.check().map_err(error::of)?;
        let ((x, inputs), y) = (matrix(&x), vector(&y));
        let fit = move || {
            if exact || y.len() <= MOST_EXACT_ROWS {
                return Ok(Kind::Exact(Arc::new(gp::fit(&x, inputs, &y, &settings)?)));
            }
            let table = Table::new(x, inputs, y)?;
            let twins = gpfuse::experts::twins(table.x(), inputs, table.y());
            Ok(Kind::Nearest(Arc::new(Nearest::fit(table, &twins, &settings)?)))
        };
        run::whole(py, move |_| fit()).map(Gp)
    }

    /// Condition on rows with hyperparameters that are known; with `neighbours`, on so many nearest ones.
    #[staticmethod]
    #[pyo3(signature = (kernel, hyper, x, y, neighbours=None))]
    fn condition(
        py: Python<'_>,
        kernel: &str,
        hyper: &str,
        x: Matrix<'_>,
        y: Vector<'_>,
        neighbours: Option<usize>,
    ) -> PyResult<Gp> {
        let kernel = kernel.parse().map_err(error::of)?;
        let hyper: Hyper = error::settings(hyper)?;
        let ((x, inputs), y) = (matrix(&x), vector(&y));
        let condition = move || match neighbours {
            None => gp::Gp::condition(kernel, hyper, &x, inputs, &y).map(Arc::new).map(Kind::Exact),
            Some(count) => Nearest::new(kernel, hyper, Table::new(x, inputs, y)?)?
                .with_neighbours(count)
                .map(Arc::new)
                .map(Kind::Nearest),
        };
        run::whole(py, move |_| condition()).map(Gp)
    }

    /// Mean and standard deviation of the function, or with `noise` of a new observation.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        noise: bool,
        threads: usize,
    ) -> PyResult<Pair<'py>> {
        let ((x, found), gp) = (matrix(&x), self.0.clone());
        error::same_inputs(self.inputs(), found)?;
        let prediction = run::whole(py, move |_| match gp {
            Kind::Exact(gp) => gp.predict(&x, noise),
            Kind::Nearest(gp) => gp.predict(&x, noise, threads),
        })?;
        Ok((to_vector(py, prediction.mean), to_vector(py, prediction.sd)))
    }

    /// Mean and standard deviation of each training target, given the others; rows with the same number
    /// in `groups` are left out together.
    #[pyo3(signature = (threads, groups=None))]
    fn leave_one_out<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
        groups: Option<Vec<usize>>,
    ) -> PyResult<Pair<'py>> {
        let (gp, rows) = (self.0.clone(), self.targets().len());
        let all = move || (0..rows).collect::<Vec<usize>>();
        let predictions = run::whole(py, move |_| match (gp, groups) {
            (Kind::Exact(gp), Some(groups)) => gp.leave_out(&groups),
            (Kind::Exact(gp), None) => Ok(gp.leave_one_out()),
            (Kind::Nearest(gp), groups) => {
                gp.left_out(&all(), &groups.unwrap_or_else(&all), threads)
            }
        })?;
        let (mean, sd) = predictions.into_iter().unzip();
        Ok((to_vector(py, mean), to_vector(py, sd)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Conditioned<'py>)> {
        let (gp, py) = (slf.get(), slf.py());
        let make = slf.get_type().getattr("condition")?;
        Ok((make, (gp.kernel(), gp.hyper()?, gp.x(py)?, gp.y(py), gp.neighbours())))
    }

    /// The name of the kernel.
    #[getter]
    fn kernel(&self) -> String {
        match &self.0 {
            Kind::Exact(gp) => gp.kernel().to_string(),
            Kind::Nearest(gp) => gp.kernel().to_string(),
        }
    }

    /// The hyperparameters as JSON.
    #[getter]
    fn hyper(&self) -> PyResult<String> {
        serde_json::to_string(self.hyperparameters()).map_err(error::of_json)
    }

    /// The log marginal likelihood of the rows, of an exact GP.
    #[getter]
    fn log_marginal(&self) -> Option<f64> {
        match &self.0 {
            Kind::Exact(gp) => Some(gp.log_marginal()),
            Kind::Nearest(_) => None,
        }
    }

    /// How many of the nearest rows predict one; none for an exact GP.
    #[getter]
    fn neighbours(&self) -> Option<usize> {
        match &self.0 {
            Kind::Exact(_) => None,
            Kind::Nearest(gp) => Some(gp.neighbours()),
        }
    }

    /// The inputs it is conditioned on.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = match &self.0 {
            Kind::Exact(gp) => gp.x(),
            Kind::Nearest(gp) => gp.table().x(),
        };
        to_matrix(py, x.to_vec(), self.inputs())
    }

    /// The targets it is conditioned on.
    #[getter]
    fn y<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, self.targets().to_vec())
    }
}

impl Gp {
    fn hyperparameters(&self) -> &Hyper {
        match &self.0 {
            Kind::Exact(gp) => gp.hyper(),
            Kind::Nearest(gp) => gp.hyper(),
        }
    }

    fn inputs(&self) -> usize {
        self.hyperparameters().ell.len()
    }

    fn targets(&self) -> &[f64] {
        match &self.0 {
            Kind::Exact(gp) => gp.y(),
            Kind::Nearest(gp) => gp.table().y(),
        }
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
