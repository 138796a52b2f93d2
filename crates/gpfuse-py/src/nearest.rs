//! A GP on nearest rows whose table is in parts: what is done where a part is, and what is done with what comes back.

use std::sync::Arc;

use gpfuse::experts;
use gpfuse::gp::nearest::{self, Table};
use gpfuse::gp::{Hyper, Settings};
use gpfuse::kernel::Kernel;
use gpfuse::scale::Scaler;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Matrix, Pair, Vector, matrix, to_matrix, to_vector, vector};
use crate::{error, run};

/// Inputs and targets to Python.
type Rows<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);
/// Of each query the squared distances of its nearest rows, query after query, and the rows.
type Found<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>);
/// A print of each row's inputs, and one of the row.
type Prints<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

/// Some rows of a table.
#[pyclass(module = "gpfuse._gpfuse", frozen)]
pub(crate) struct Part(Arc<nearest::Part>);

#[pymethods]
impl Part {
    #[new]
    fn new(x: Matrix<'_>, y: Vector<'_>) -> PyResult<Part> {
        let ((x, inputs), y) = (matrix(&x), vector(&y));
        let table = Table::new(x, inputs, y).map_err(error::of)?;
        Ok(Part(Arc::new(nearest::Part::new(table))))
    }

    /// The nearest rows of queries: `counts` of each, or all where there are fewer.
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        ell: Vec<f64>,
        x: Matrix<'_>,
        counts: Vec<usize>,
    ) -> PyResult<Found<'py>> {
        let (kernel, (x, _), part) = (named(kernel)?, matrix(&x), self.0.clone());
        let found = run::whole(py, move |_| part.nearest(kernel, &ell, &x, &counts, 1))?;
        let (distances, rows) = found.into_iter().flatten().unzip();
        Ok((to_vector(py, distances), PyArray1::from_vec(py, rows)))
    }

    /// Some rows.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        numbers: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Rows<'py>> {
        let numbers: Vec<usize> = numbers.as_array().iter().map(|row| *row as usize).collect();
        let (x, y) = self.0.rows(&numbers).map_err(error::of)?;
        Ok((to_matrix(py, x, self.0.table().inputs())?, to_vector(py, y)))
    }

    /// The sums that make the means of a table of so many rows, gone on with; or mean squares.
    #[pyo3(signature = (before, rows, around=None))]
    fn means(&self, before: Vec<f64>, rows: usize, around: Option<Vec<f64>>) -> PyResult<Vec<f64>> {
        let expected = self.0.table().inputs() + 1;
        error::same_inputs(expected, before.len())?;
        error::same_inputs(expected, around.as_ref().map_or(expected, Vec::len))?;
        Ok(self.0.means(&before, rows, around.as_deref()))
    }

    /// What tells copies of rows.
    fn prints<'py>(&self, py: Python<'py>) -> Prints<'py> {
        let table = self.0.table();
        let (of_inputs, of_rows) = experts::prints(table.x(), table.inputs(), table.y());
        (PyArray1::from_vec(py, of_inputs), PyArray1::from_vec(py, of_rows))
    }
}

/// Prints of inputs alone.
#[pyfunction]
pub(crate) fn prints<'py>(py: Python<'py>, x: Matrix<'_>) -> Bound<'py, PyArray1<u64>> {
    let (x, inputs) = matrix(&x);
    let targets = vec![0.0; x.len() / inputs.max(1)];
    PyArray1::from_vec(py, experts::prints(&x, inputs.max(1), &targets).0)
}

/// Whether rows with the same inputs are copies, by the prints of all rows.
#[pyfunction]
pub(crate) fn are_copies(
    of_inputs: PyReadonlyArray1<'_, u64>,
    of_rows: PyReadonlyArray1<'_, u64>,
) -> bool {
    experts::are_copies(of_inputs.as_array().to_vec(), of_rows.as_array().to_vec())
}

/// The nearest rows of queries among the parts that were looked through.
#[pyclass(module = "gpfuse._gpfuse")]
pub(crate) struct Merged(nearest::Merged);

#[pymethods]
impl Merged {
    #[new]
    fn new(counts: Vec<usize>) -> Merged {
        Merged(nearest::Merged::new(counts))
    }

    /// Take in what a part of so many rows found, the first of which has number `first`.
    fn add(
        &mut self,
        found: (Vector<'_>, PyReadonlyArray1<'_, u32>),
        rows: usize,
        first: u32,
    ) -> PyResult<()> {
        let (distances, numbers) = (found.0.as_array(), found.1.as_array());
        let each: Vec<(f64, u32)> =
            distances.iter().copied().zip(numbers.iter().copied()).collect();
        self.0.add(each.into_iter(), rows, first).map_err(error::of)
    }

    /// All of them, ascending.
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_vec(py, self.0.rows())
    }

    /// The queries with them; `own` has the numbers and targets of queries that are rows of the table themselves, and
    /// whether rows with the same inputs are left out with them.
    #[pyo3(signature = (rows, x, most, own=None))]
    fn gathered(
        &self,
        rows: (Matrix<'_>, Vector<'_>),
        x: Matrix<'_>,
        most: usize,
        own: Option<(Option<Vec<u32>>, Vector<'_>, bool)>,
    ) -> PyResult<Neighbourhoods> {
        let ((own_x, inputs), own_y) = (matrix(&rows.0), vector(&rows.1));
        let table = Table::new(own_x, inputs, own_y).map_err(error::of)?;
        let own = own.map(|(numbers, y, copies)| nearest::Own { numbers, y: vector(&y), copies });
        let made = self.0.gathered(table, matrix(&x).0, own, most).map_err(error::of)?;
        Ok(Neighbourhoods(Arc::new(made), most))
    }
}

/// Rows with their nearest ones.
#[pyclass(module = "gpfuse._gpfuse", frozen)]
pub(crate) struct Neighbourhoods(Arc<nearest::Neighbourhoods>, usize);

#[pymethods]
impl Neighbourhoods {
    /// Mean and standard deviation of each row: of the function, or with `noise` of an observation.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        hyper: &str,
        noise: bool,
        threads: usize,
    ) -> PyResult<Pair<'py>> {
        let (kernel, hyper, around, most) =
            (named(kernel)?, parsed(hyper)?, self.0.clone(), self.1);
        let said = run::whole(py, move |_| around.predict((kernel, &hyper), most, noise, threads))?;
        let (mean, sd) = said.into_iter().unzip();
        Ok((to_vector(py, mean), to_vector(py, sd)))
    }

    /// How many neighbours predict a row of a table of so many.
    fn enough(
        &self,
        py: Python<'_>,
        kernel: &str,
        hyper: &str,
        rows: usize,
        threads: usize,
    ) -> PyResult<usize> {
        let (kernel, hyper, around) = (named(kernel)?, parsed(hyper)?, self.0.clone());
        run::whole(py, move |_| around.enough((kernel, &hyper), rows, threads))
    }
}

/// An ascent of the hyperparameters that is under way.
#[pyclass(module = "gpfuse._gpfuse", frozen)]
pub(crate) struct Ascent(nearest::Ascent);

#[pymethods]
impl Ascent {
    /// The first rows of a table of so many, at the hyperparameters of the exact GP on them. `means` and `squares`
    /// are those of all rows.
    #[new]
    fn new(
        py: Python<'_>,
        rows: usize,
        first: (Matrix<'_>, Vector<'_>),
        means: Vec<f64>,
        squares: Vec<f64>,
        settings: &str,
    ) -> PyResult<Ascent> {
        let settings: Settings = error::settings(settings)?;
        let units = Scaler::standard(&means, &squares).map_err(error::of)?;
        let ((x, inputs), y) = (matrix(&first.0), vector(&first.1));
        error::same_inputs(units.inputs.len(), inputs)?;
        let new = move || nearest::Ascent::new(rows, (&x, &y), units, &settings);
        run::whole(py, move |_| new()).map(Ascent)
    }

    /// The rows of the exact GP that it begins at.
    #[staticmethod]
    fn first_rows(rows: usize, seed: u64) -> Vec<usize> {
        nearest::first_rows(rows, seed)
    }

    /// The rows on which it is judged how many neighbours are enough, and how many neighbours they have for that.
    #[staticmethod]
    fn judged_rows(rows: usize) -> (Vec<usize>, usize) {
        (nearest::judged_rows(rows), *nearest::NEIGHBOURS.end())
    }

    /// The rows of which it needs the neighbours.
    #[getter]
    fn rows(&self) -> Vec<usize> {
        self.0.rows().to_vec()
    }

    /// How many of each; none at its end.
    #[getter]
    fn neighbours(&self) -> Option<usize> {
        self.0.neighbours()
    }

    /// The hyperparameters where it is, as JSON.
    #[getter]
    fn hyper(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.hyper()).map_err(error::of_json)
    }

    /// Where it is when neighbours are to be looked for again.
    fn climbed(&self, py: Python<'_>, around: &Neighbourhoods) -> PyResult<Ascent> {
        let (mut ascent, around) = (self.0.clone(), around.0.clone());
        run::whole(py, move |_| ascent.climb(&around).map(|()| ascent)).map(Ascent)
    }
}

fn named(kernel: &str) -> PyResult<Kernel> {
    kernel.parse().map_err(error::of)
}

fn parsed(hyper: &str) -> PyResult<Hyper> {
    error::settings(hyper)
}
