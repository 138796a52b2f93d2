//! The classical fusion rules.

use gpfuse::Predictions;
use gpfuse::baseline::{self, Prior, Rule, StackingSet};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::arrays::{Matrix, Vector, columns, to_vector, vector};
use crate::predictive::{Predictive, Source};
use crate::{error, run};

/// The names of all rules.
#[pyfunction]
pub(crate) fn rules() -> Vec<&'static str> {
    Rule::ALL.iter().map(|rule| rule.name()).collect()
}

/// A rule that has seen the stacking set. It keeps the set, from which a copy learns again.
#[pyclass(module = "gpfuse._gpfuse", frozen)]
pub(crate) struct Learned {
    learned: baseline::Learned,
    set: Py<PyTuple>,
}

#[pymethods]
impl Learned {
    /// Learn from predictions (rows, experts) and targets; the prior of the target is its own mean
    /// and variance where none is given.
    #[new]
    #[pyo3(signature = (rule, mean, sd, y, prior=None, log_evidence=None, seed=0))]
    fn new(
        py: Python<'_>,
        rule: &str,
        mean: Matrix<'_>,
        sd: Matrix<'_>,
        y: Vector<'_>,
        prior: Option<(f64, f64)>,
        log_evidence: Option<Vec<f64>>,
        seed: u64,
    ) -> PyResult<Learned> {
        let set = (rule, mean.as_any(), sd.as_any(), y.as_any(), prior, &log_evidence, seed);
        let set = set.into_pyobject(py)?.unbind();
        let rule: Rule = rule.parse().map_err(error::of)?;
        let (experts, y) = (given(&mean, &sd)?, vector(&y));
        let learned = run::whole(py, move |_| {
            let prior = match prior {
                Some((mean, var)) => Prior { mean, var },
                None => Prior::of(&y)?,
            };
            let set = StackingSet::new(&experts, &y, prior)?.with_seed(seed);
            match &log_evidence {
                Some(all) => rule.learn(&set.with_evidence(all)?),
                None => rule.learn(&set),
            }
        })?;
        Ok(Learned { learned, set })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Bound<'py, PyTuple>) {
        (slf.get_type(), slf.get().set.bind(slf.py()).clone())
    }

    /// The constant weights of the experts, where the rule has such.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.learned.weights().map(|weights| to_vector(py, weights))
    }

    /// Fuse predictions (rows, experts) at new rows.
    fn fuse(
        &self,
        py: Python<'_>,
        mean: Matrix<'_>,
        sd: Matrix<'_>,
        threads: usize,
    ) -> PyResult<Predictive> {
        let (experts, learned) = (given(&mean, &sd)?, &self.learned);
        let fused = py.detach(move || learned.fuse(&experts)).map_err(error::of)?;
        Ok(Predictive::new(Source::Fused(fused), threads))
    }
}

fn given(mean: &Matrix<'_>, sd: &Matrix<'_>) -> PyResult<Predictions> {
    Predictions::new(columns(mean), columns(sd)).map_err(error::of)
}
