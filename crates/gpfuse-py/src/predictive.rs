//! Predictive densities at some rows, computed when they are asked for.

use std::sync::Arc;

use gpfuse::baseline::Predictions;
use gpfuse::fit::Fitted;
use gpfuse::infer::Monitor;
use gpfuse::metrics::{LEVELS, evaluate};
use gpfuse::predict::{Conditional, Fused, FusedBlock, Mixture, Predictive as _, Predictor};
use gpfuse::random::{Purpose, stream};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays::{Matrix, Pair, Vector, matrix, to_matrix, to_vector, vector};
use crate::error;
use crate::run::{self, Watch};

/// Rows that are predicted at one time: memory does not grow with the table.
const AT_ONCE: usize = 8192;

/// Where the densities come from.
pub(crate) enum Source {
    /// Draws of a model.
    Draws(Box<Query>),
    /// A table, made without draws.
    Fused(Fused),
}

/// A model and rows to predict at.
pub(crate) struct Query {
    pub(crate) fitted: Arc<Fitted>,
    pub(crate) predictor: Arc<Predictor>,
    /// With the coefficients of the means integrated out.
    pub(crate) conditional: Option<Conditional>,
    /// Inputs, row-major.
    pub(crate) x: Vec<f64>,
    /// What experts made elsewhere say.
    pub(crate) said: Option<Predictions>,
}

impl Query {
    fn inputs(&self) -> usize {
        self.fitted.scaler.inputs.len()
    }

    /// Call `each` with every block of the rows from number `first` on.
    fn part<T: Send>(
        &self,
        first: usize,
        threads: usize,
        each: impl Fn(&FusedBlock) -> T + Sync,
    ) -> gpfuse::Result<Vec<T>> {
        let d = self.inputs();
        let x = &self.x[first * d..self.x.len().min((first + AT_ONCE) * d)];
        let rows = self.fitted.rows(x)?.numbered_from(first);
        let own = first..first + rows.len();
        let said = self.said.as_ref().map(|all| all.part(own)).transpose()?;
        match &self.conditional {
            Some(conditional) => conditional.at(&rows).blocks(threads, each),
            None => {
                let given = self.fitted.given(x, said.as_ref())?;
                self.predictor.at(&rows, given.as_ref()).blocks(threads, each)
            }
        }
    }
}

impl Source {
    fn rows(&self) -> usize {
        match self {
            Source::Draws(query) => query.x.len() / query.inputs(),
            Source::Fused(fused) => fused.len(),
        }
    }

    /// Some numbers about the density of each row, row after row.
    fn each(
        &self,
        threads: usize,
        watch: &Watch,
        of: impl Fn(usize, &Mixture<'_>) -> Vec<f64> + Sync,
    ) -> gpfuse::Result<Vec<f64>> {
        let block = |block: &FusedBlock| -> gpfuse::Result<Vec<f64>> {
            let mut out = Vec::new();
            for r in 0..block.len() {
                out.extend(of(block.first + r, &block.row(r)?));
            }
            Ok(out)
        };
        let mut out = Vec::new();
        let blocks = match self {
            Source::Fused(fused) => fused.blocks(threads, block)?,
            Source::Draws(query) => {
                let mut all = Vec::new();
                for first in (0..self.rows()).step_by(AT_ONCE) {
                    if watch.cancelled() {
                        break;
                    }
                    all.extend(query.part(first, threads, block)?);
                }
                all
            }
        };
        for own in blocks {
            out.extend(own?);
        }
        Ok(out)
    }
}

/// The predictive densities at some rows: Gaussian mixtures.
#[pyclass(module = "gpfuse._gpfuse", frozen)]
pub(crate) struct Predictive {
    source: Arc<Source>,
    threads: usize,
}

impl Predictive {
    pub(crate) fn new(source: Source, threads: usize) -> Predictive {
        Predictive { source: Arc::new(source), threads }
    }

    /// Numbers about each row, computed without Python's lock.
    fn each(
        &self,
        py: Python<'_>,
        of: impl Fn(usize, &Mixture<'_>) -> Vec<f64> + Sync + Send + 'static,
    ) -> PyResult<Vec<f64>> {
        let (source, threads) = (self.source.clone(), self.threads);
        run::whole(py, move |watch| source.each(threads, watch, of))
    }

    /// A number for each of the outcomes `y` (rows, outcomes).
    fn at<'py>(
        &self,
        py: Python<'py>,
        y: &Matrix<'_>,
        of: impl Fn(&Mixture<'_>, f64) -> f64 + Sync + Send + 'static,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (y, columns) = matrix(y);
        if y.len() != self.source.rows() * columns {
            let (rows, found) = (self.source.rows(), y.len().checked_div(columns).unwrap_or(0));
            return Err(error::value(format!("outcomes: expected {rows} rows, found {found}")));
        }
        let each = move |row: usize, density: &Mixture<'_>| -> Vec<f64> {
            y[row * columns..(row + 1) * columns].iter().map(|y| of(density, *y)).collect()
        };
        to_matrix(py, self.each(py, each)?, columns)
    }
}

#[pymethods]
impl Predictive {
    /// One normal density per row.
    #[staticmethod]
    fn normal(mean: Vector<'_>, sd: Vector<'_>, threads: usize) -> PyResult<Predictive> {
        let fused = Fused::normal(vector(&mean), vector(&sd)).map_err(error::of)?;
        Ok(Predictive::new(Source::Fused(fused), threads))
    }

    fn __len__(&self) -> usize {
        self.source.rows()
    }

    /// Means and standard deviations.
    fn moments<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py>> {
        let both = self.each(py, |_, density| vec![density.mean(), density.variance().sqrt()])?;
        let (mean, sd) = both.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
        Ok((to_vector(py, mean), to_vector(py, sd)))
    }

    /// Quantiles (rows, levels).
    fn quantiles<'py>(
        &self,
        py: Python<'py>,
        levels: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if let Some(p) = levels.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
            let problem = format!("quantile {p} is out of range: use numbers above 0 and below 1");
            return Err(error::value(problem));
        }
        let columns = levels.len();
        to_matrix(py, self.each(py, move |_, density| density.quantiles(&levels))?, columns)
    }

    /// Log densities of outcomes (rows, outcomes).
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        y: Matrix<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.at(py, &y, |density, y| density.log_density(y))
    }

    /// The distribution function at outcomes (rows, outcomes).
    fn cdf<'py>(&self, py: Python<'py>, y: Matrix<'_>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.at(py, &y, |density, y| density.cdf(y))
    }

    /// The CRPS of outcomes (rows, outcomes).
    fn crps<'py>(&self, py: Python<'py>, y: Matrix<'_>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.at(py, &y, |density, y| density.crps(y))
    }

    /// Samples (rows, count).
    fn sample<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let each = move |row: usize, density: &Mixture<'_>| {
            density.sample_many(count, &mut stream(seed, Purpose::Predict, row as u64))
        };
        to_matrix(py, self.each(py, each)?, count)
    }

    /// The scores against outcomes, as JSON, and the negative log density of each row.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        y: Vector<'_>,
    ) -> PyResult<(String, Bound<'py, PyArray1<f64>>)> {
        let (source, threads, y) = (self.source.clone(), self.threads, vector(&y));
        let scores = run::whole(py, move |_| match &*source {
            Source::Fused(fused) => evaluate(fused, &y, threads),
            Source::Draws(query) => {
                let rows = query.fitted.rows(&query.x)?;
                match &query.conditional {
                    Some(conditional) => evaluate(&conditional.at(&rows), &y, threads),
                    None => {
                        let given = query.fitted.given(&query.x, query.said.as_ref())?;
                        evaluate(&query.predictor.at(&rows, given.as_ref()), &y, threads)
                    }
                }
            }
        })?;
        let json = serde_json::json!({ "scores": scores, "levels": LEVELS });
        let losses = scores.losses.iter().map(|row| row[0]).collect();
        Ok((json.to_string(), to_vector(py, losses)))
    }
}
