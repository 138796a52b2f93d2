//! Errors of the library as exceptions of Python.

use gpfuse::Error;
use gpfuse::settings::Style;
use gpfuse_io::model_file::ModelFileError;
use pyo3::exceptions::{PyFileNotFoundError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

/// What the user can mend is a `ValueError`; what went wrong on the way a `RuntimeError`.
pub(crate) fn of(error: Error) -> PyErr {
    let words = error.render(Style::Python);
    match error {
        Error::Setting { .. } | Error::Data(_) | Error::Shape { .. } => {
            PyValueError::new_err(words)
        }
        Error::Worker(_) | Error::Memory(_) | Error::Sampling(_) => PyRuntimeError::new_err(words),
    }
}

/// Errors of a model file: a missing one is told from a bad one.
pub(crate) fn of_file(error: ModelFileError) -> PyErr {
    let words = error.to_string();
    match words.contains("no such model file") {
        true => PyFileNotFoundError::new_err(words),
        false => PyValueError::new_err(words),
    }
}

/// Settings from JSON; an error names the one that there is not or that is of another kind.
pub(crate) fn settings<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    let mut from = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut from).map_err(|error| {
        let words = error.inner().to_string();
        // The user wrote no JSON: a line and column in it mean nothing to them.
        let words = words.split(" at line ").next().unwrap_or_default();
        let path = error.path().to_string();
        value(format!("setting `{}`: {words}", path.rsplit('.').next().unwrap_or_default()))
    })
}

/// What could not be written as JSON.
pub(crate) fn of_json(error: serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A problem in words.
pub(crate) fn value(problem: impl Into<String>) -> PyErr {
    PyValueError::new_err(problem.into())
}

/// Refuse rows of another number of inputs.
pub(crate) fn same_inputs(expected: usize, found: usize) -> PyResult<()> {
    match expected == found {
        true => Ok(()),
        false => Err(value(format!("inputs: expected {expected} columns, found {found}"))),
    }
}
