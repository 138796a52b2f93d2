//! Every method and rule on the same rows, as `gpfuse compare` has them.

use std::cell::Cell;

use gpfuse::Data;
use gpfuse::compare::{Audience, Contestant, Entry, compare as run_compare, in_test};
use gpfuse::infer::Monitor;
use gpfuse::settings::Style;
use pyo3::prelude::*;

use crate::arrays::{Matrix, Vector, matrix, vector};
use crate::settings::settle;
use crate::{error, run};

/// The names of all that can be compared.
#[pyfunction]
pub(crate) fn contestants() -> Vec<&'static str> {
    Contestant::all().into_iter().map(Contestant::name).collect()
}

/// Shows how many methods are done, as a run shows its starts.
struct Counting<'a> {
    watch: &'a run::Watch,
    done: Cell<usize>,
    all: usize,
}

/// Passes on nothing but the wish to stop: chains of different methods have the same numbers.
struct Stopping<'a>(&'a run::Watch);

impl Monitor for Stopping<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

impl Audience for Counting<'_> {
    fn training(&self, _: usize) -> Box<dyn Monitor + '_> {
        Box::new(Stopping(self.watch))
    }

    fn begin(&self, _: Contestant) -> Box<dyn Monitor + '_> {
        self.watch.start(self.done.get(), self.all);
        Box::new(Stopping(self.watch))
    }

    fn end(&self, _: &Entry) {
        self.done.set(self.done.get() + 1);
        self.watch.start(self.done.get(), self.all);
    }
}

/// Compare methods by their names on the rows `(x, y)`, scored at the rows `test` or, without such,
/// at rows left out in turn. The table comes as the JSON of `gpfuse compare --json`.
#[pyfunction]
#[pyo3(signature = (x, y, settings, inputs, methods, test=None, progress=None))]
pub(crate) fn compare(
    py: Python<'_>,
    x: Matrix<'_>,
    y: Vector<'_>,
    settings: &str,
    inputs: Vec<String>,
    methods: Option<Vec<String>>,
    test: Option<(Matrix<'_>, Vector<'_>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let settings = settle(settings, &inputs)?.settings;
    let chosen: Result<Vec<Contestant>, _> = match methods {
        Some(methods) => methods.iter().map(|name| name.parse()).collect(),
        None => Ok(Contestant::usual(&settings)),
    };
    let chosen = chosen.map_err(error::of)?;
    let rows = |x: &Matrix<'_>, y: &Vector<'_>| {
        let (x, inputs) = matrix(x);
        Data::new(x, inputs)?.with_target(vector(y))
    };
    let train = rows(&x, &y).map_err(error::of)?;
    let test = test.map(|(x, y)| rows(&x, &y).map_err(in_test)).transpose().map_err(error::of)?;
    let work = move |watch: &run::Watch| {
        let counting = Counting { watch, done: Cell::new(0), all: chosen.len() };
        run_compare(&train, test.as_ref(), &settings, &chosen, &counting)
    };
    match run::watched(py, progress.as_ref(), work)? {
        (_, Some(stopped)) => Err(stopped),
        (found, None) => Ok(found.map_err(error::of)?.to_json(Style::Python).to_string()),
    }
}
