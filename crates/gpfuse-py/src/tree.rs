//! The contents of a model file as Python's own: groups of variables as NumPy arrays.

use gpfuse_io::nc::{Data, Group, Tree};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// `{group: {"attrs": {...}, "vars": {name: (dims, values)}}}`; texts are lists.
pub(crate) fn to_python<'py>(py: Python<'py>, tree: &Tree) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for group in &tree.groups {
        let vars = PyDict::new(py);
        for var in &group.vars {
            vars.set_item(&var.name, (&var.dims, values(py, group, &var.dims, &var.data)?))?;
        }
        let attrs = PyDict::new(py);
        for (name, text) in &group.attrs {
            attrs.set_item(name, text)?;
        }
        let entry = PyDict::new(py);
        entry.set_item("attrs", attrs)?;
        entry.set_item("vars", vars)?;
        out.set_item(&group.name, entry)?;
    }
    Ok(out)
}

fn values<'py>(
    py: Python<'py>,
    group: &Group,
    dims: &[String],
    data: &Data,
) -> PyResult<Bound<'py, PyAny>> {
    let size = |name: &String| group.dims.iter().find(|d| d.0 == *name).map_or(0, |d| d.1);
    let shape: Vec<usize> = dims.iter().map(size).collect();
    Ok(match data {
        Data::F64(v) => PyArray1::from_slice(py, v).reshape(shape)?.into_any(),
        Data::I64(v) => PyArray1::from_slice(py, v).reshape(shape)?.into_any(),
        Data::Bool(v) => PyArray1::from_slice(py, v).reshape(shape)?.into_any(),
        Data::Str(v) => PyList::new(py, v)?.into_any(),
    })
}
