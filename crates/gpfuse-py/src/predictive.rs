//! Predictive densities at some rows, computed when they are asked for.

use std::sync::Arc;

use gpfuse::infer::Monitor;
use gpfuse::metrics::{LEVELS, evaluate};
use gpfuse::predict::{Fused, Mixture, Predictive as _};
use gpfuse::random::{Purpose, stream};
use gpfuse::{Data, Fitted, Prediction};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays::{Matrix, Pair, Vector, matrix, to_matrix, to_vector, vector};
use crate::error;
use crate::run::{self, Watch};

/// Where the densities come from.
pub(crate) enum Source {
    /// Draws of a model, at these rows.
    Draws {
        fitted: Arc<Fitted>,
        data: Box<Data>,
        /// With the coefficients of the means integrated out.
        rao_blackwell: bool,
    },
    /// A table, made without draws.
    Fused(Fused),
}

/// The predictions of a model on some threads.
fn prediction<'a>(
    fitted: &'a Fitted,
    data: &'a Data,
    rao_blackwell: bool,
    threads: usize,
) -> gpfuse::Result<Prediction<'a>> {
    let prediction = fitted.predict(data)?.on_threads(threads);
    if rao_blackwell { prediction.rao_blackwell() } else { Ok(prediction) }
}

impl Source {
    fn rows(&self) -> usize {
        match self {
            Source::Draws { data, .. } => data.len(),
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
        match self {
            Source::Fused(fused) => {
                let blocks = fused.blocks(threads, |block| {
                    (0..block.len()).map(|r| Ok(of(block.first + r, &block.row(r)?))).collect()
                })?;
                let blocks: gpfuse::Result<Vec<Vec<Vec<f64>>>> = blocks.into_iter().collect();
                Ok(blocks?.into_iter().flatten().flatten().collect())
            }
            Source::Draws { fitted, data, rao_blackwell } => {
                let all = prediction(fitted, data, *rao_blackwell, threads)?;
                let mut out = Vec::new();
                for chunk in all.chunks().take_while(|_| !watch.cancelled()) {
                    out.extend(chunk.each(&of)?.into_iter().flatten());
                }
                Ok(out)
            }
        }
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
            Source::Draws { fitted, data, rao_blackwell } => {
                let prediction = prediction(fitted, data, *rao_blackwell, threads)?;
                evaluate(&prediction, &y, threads)
            }
        })?;
        let json = serde_json::json!({ "scores": scores, "levels": LEVELS });
        let losses = scores.losses.iter().map(|row| row[0]).collect();
        Ok((json.to_string(), to_vector(py, losses)))
    }
}
