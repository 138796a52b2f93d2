//! What is known before a fit: its settings, those without effect, and what there is to say about the rows.

use gpfuse::settings::{Given, Setting, Settled, Style, all, of_gp};
use gpfuse::{Data, FitSettings};
use pyo3::prelude::*;
use serde_json::Value;

use crate::arrays::{Matrix, Vector, matrix, vector};
use crate::error;

/// What is declared about the settings of a fit and about those of a single GP, each with its
/// default, as JSON.
#[pyfunction]
pub(crate) fn settings() -> PyResult<(String, String)> {
    let fit = FitSettings::default();
    let gp = serde_json::to_value(gpfuse::gp::Settings::default()).map_err(error::of_json)?;
    let with = |setting: &Setting, default: Value| {
        let mut all = serde_json::json!(setting);
        all["default"] = default;
        all
    };
    let of_fit: Vec<Value> = all().iter().map(|s| with(s, s.value_in(&fit))).collect();
    let of_gp: Vec<Value> = of_gp().iter().map(|s| with(s, gp[s.key].clone())).collect();
    Ok((Value::from(of_fit).to_string(), Value::from(of_gp).to_string()))
}

/// The settings of a fit from those given by name, as JSON.
pub(crate) fn settle(given: &str, inputs: &[String]) -> PyResult<Settled> {
    let given: serde_json::Map<String, Value> =
        serde_json::from_str(given).map_err(error::of_json)?;
    let given = Given::read(given, Style::Python).map_err(error::of)?;
    given.settle(&FitSettings::default(), inputs).map_err(error::of)
}

/// What is given without effect on a fit to these inputs, in words.
#[pyfunction]
pub(crate) fn unused(given: &str, inputs: Vec<String>) -> PyResult<Vec<String>> {
    let unused = settle(given, &inputs)?.unused;
    Ok(unused.iter().map(|unused| unused.render(Style::Python)).collect())
}

/// What somebody should know before a model of these rows.
#[pyfunction]
pub(crate) fn notes(
    x: Matrix<'_>,
    y: Vector<'_>,
    inputs: Vec<String>,
    target: String,
) -> PyResult<Vec<String>> {
    let ((x, d), y) = (matrix(&x), vector(&y));
    let made = || Data::new(x, d)?.with_target(y)?.named(inputs, target);
    let notes = made().map_err(error::of)?.notes();
    Ok(notes.iter().map(|note| note.render(Style::Python)).collect())
}
