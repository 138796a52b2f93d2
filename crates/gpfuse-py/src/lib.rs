//! The Python extension `gpfuse._gpfuse`: thin classes over the library and the model file.
//!
//! Settings come as JSON of the library's own settings, arrays as C-contiguous float64, and errors
//! leave as `ValueError` with the library's words. What takes long runs on a thread of its own
//! without Python's lock; see `run.rs`.

mod arrays;
mod columns;
mod compare;
mod error;
mod fit;
mod gp;
mod model;
mod nearest;
mod predictive;
mod rule;
mod run;
mod settings;
mod simulate;
mod tree;

use pyo3::prelude::*;

/// The engine of gpfuse.
#[pymodule]
mod _gpfuse {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::columns::{apply_columns, learn_columns, names_of_columns};
    #[pymodule_export]
    use super::compare::{compare, contestants};
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::gp::{Gp, twins};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::nearest::{Ascent, Merged, Neighbourhoods, Part, are_copies, prints};
    #[pymodule_export]
    use super::predictive::Predictive;
    #[pymodule_export]
    use super::rule::{Learned, rules};
    #[pymodule_export]
    use super::settings::{notes, settings, unused};
    #[pymodule_export]
    use super::simulate::simulate;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
