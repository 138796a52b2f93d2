//! A fitted model: made by a fit or read from a file, asked for predictions.

use std::path::PathBuf;
use std::sync::Arc;

use gpfuse::fit::{Effect, Experts};
use gpfuse::predict::{ExpertSummary, Summary};
use gpfuse::settings::{Style, all};
use gpfuse::{Data, Fitted};
use gpfuse_io::model_file::{self, ModelFileError};
use gpfuse_io::nc::Tree;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;

use crate::arrays::{
    Matrix, Pair, Vector, matrix, said, said_classes, to_matrix, to_vector, vector,
};
use crate::fit::with_experts;
use crate::predictive::{Predictive, Source};
use crate::{error, run, tree};

/// Places along an input, and mean, low and high of all experts there.
type Along<'py> = (Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyArray2<f64>>>);

/// How a model that has no file is called in an error about its contents.
const UNNAMED: &str = "model";

/// A fitted model.
#[pyclass(module = "gpfuse._gpfuse", frozen)]
pub(crate) struct Model {
    fitted: Arc<Fitted>,
    /// The file that it was read from, whose bytes its own copy has.
    file: Option<Tree>,
}

impl Model {
    /// Of a fit.
    pub(crate) fn of(fitted: Fitted) -> Model {
        Model { fitted: Arc::new(fitted), file: None }
    }

    fn read(tree: Tree, name: &str) -> PyResult<Model> {
        let fitted = model_file::read(&tree).map_err(|problem| content(name, problem))?;
        Ok(Model { fitted: Arc::new(fitted), file: Some(tree) })
    }

    /// Call `with` on what the file of this model holds.
    fn with_tree<T>(&self, name: &str, with: impl FnOnce(&Tree) -> PyResult<T>) -> PyResult<T> {
        match &self.file {
            Some(tree) => with(tree),
            None => with(&model_file::tree(&self.fitted).map_err(|p| content(name, p))?),
        }
    }

    /// Rows to predict at.
    fn rows_at(&self, x: &Matrix<'_>) -> PyResult<Data> {
        let (x, found) = matrix(x);
        error::same_inputs(self.fitted.inputs().len(), found)?;
        Data::new(x, found).map_err(error::of)
    }

    /// The same with what experts say about classes there.
    fn of_classes(&self, x: &Matrix<'_>, proba: &Matrix<'_>) -> PyResult<Data> {
        let classes = self.classes().ok_or_else(|| error::value("the model has no classes"))?;
        let said = said_classes(classes, proba)?;
        with_experts(self.rows_at(x)?, Some(said), Some(self.fitted.given_names()))
    }

    /// The scores of log probabilities or densities as JSON, and those of each row.
    fn log_scores<'py>(
        &self,
        py: Python<'py>,
        data: Data,
        threads: usize,
    ) -> PyResult<(String, Bound<'py, PyArray1<f64>>)> {
        let fitted = self.fitted.clone();
        let found =
            run::whole(py, move |_| fitted.predict(&data)?.on_threads(threads).log_scores())?;
        let rows = found.losses.iter().map(|loss| -loss).collect();
        Ok((serde_json::to_string(&found).map_err(error::of_json)?, to_vector(py, rows)))
    }

    /// Rows to predict at, with what experts made elsewhere say there.
    fn data(
        &self,
        x: &Matrix<'_>,
        mean: Option<&Matrix<'_>>,
        sd: Option<&Matrix<'_>>,
        log_density: Option<&Matrix<'_>>,
    ) -> PyResult<Data> {
        let data = self.rows_at(x)?;
        let names = self.needs_predictions().then(|| self.fitted.given_names());
        with_experts(data, said(mean, sd, log_density)?, names)
    }
}

fn content(name: &str, problem: String) -> PyErr {
    error::of_file(ModelFileError::Content { path: name.into(), problem })
}

#[pymethods]
impl Model {
    /// Read a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        py.detach(|| {
            let tree = Tree::read(&path).map_err(|e| error::of_file(e.into()))?;
            Model::read(tree, &path.display().to_string())
        })
    }

    /// Write a model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let name = path.display().to_string();
        let write = |tree: &Tree| tree.write(&path).map_err(|e| error::of_file(e.into()));
        py.detach(|| self.with_tree(&name, write))
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let write = |tree: &Tree| tree.to_bytes(UNNAMED).map_err(|e| error::of_file(e.into()));
        let bytes = py.detach(|| self.with_tree(UNNAMED, write))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Model> {
        py.detach(|| {
            let tree = Tree::from_bytes(bytes, UNNAMED).map_err(|e| error::of_file(e.into()))?;
            Model::read(tree, UNNAMED)
        })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = slf.get_type().getattr("from_bytes")?;
        Ok((make, (slf.get().to_bytes(slf.py())?,)))
    }

    /// What its file holds, group by group.
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match &self.file {
            Some(from) => tree::to_python(py, from),
            None => {
                let from = py.detach(|| self.with_tree(UNNAMED, |tree| Ok(tree.clone())))?;
                tree::to_python(py, &from)
            }
        }
    }

    /// The settings of the fit by name, as JSON.
    #[getter]
    fn settings(&self) -> String {
        let values = all().iter().map(|s| (s.name.to_string(), s.value_in(&self.fitted.settings)));
        Value::Object(values.collect()).to_string()
    }

    /// How the chains went, as JSON, with warnings in words.
    #[getter]
    fn diagnostics(&self) -> PyResult<String> {
        let found = &self.fitted.diagnostics;
        let mut json = serde_json::to_value(found).map_err(error::of_json)?;
        let words = found.warnings.iter().map(|warning| warning.render(Style::Python));
        json["warnings"] = words.collect();
        Ok(json.to_string())
    }

    /// What the fusion of given experts is worth on the rows it learned from, as JSON.
    #[getter]
    fn worth(&self) -> PyResult<Option<String>> {
        let found = self.fitted.worth.as_ref();
        found.map(|worth| serde_json::to_string(worth).map_err(error::of_json)).transpose()
    }

    /// Whether the diagnostics pass.
    #[getter]
    fn converged(&self) -> bool {
        self.fitted.diagnostics.passed()
    }

    /// The names of the inputs.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.fitted.inputs().to_vec()
    }

    /// What the inputs were made of, as JSON, where they are not columns of numbers as they stood.
    #[getter]
    fn columns(&self) -> PyResult<Option<String>> {
        let found = self.fitted.data.columns();
        found.map(|made| serde_json::to_string(made).map_err(error::of_json)).transpose()
    }

    /// The name of the target.
    #[getter]
    fn target(&self) -> String {
        self.fitted.target().into()
    }

    /// The names of the experts that have weights.
    #[getter]
    fn experts(&self) -> Vec<String> {
        self.fitted.expert_names()
    }

    /// The names of all experts.
    #[getter]
    fn given_experts(&self) -> Vec<String> {
        self.fitted.given_names()
    }

    /// Whether the experts were made elsewhere, so that their predictions are needed.
    #[getter]
    fn needs_predictions(&self) -> bool {
        matches!(self.fitted.experts, Experts::Named(_))
    }

    /// The training rows that the posterior is about.
    #[getter]
    fn rows(&self) -> Vec<usize> {
        self.fitted.rows.clone()
    }

    /// Chains and draws per chain that were kept.
    #[getter]
    fn draws(&self) -> (usize, usize) {
        (self.fitted.draws.chains().len(), self.fitted.draws.per_chain())
    }

    /// What to tell whoever predicts at rows near the wall of a Hilbert basis' box or beyond it.
    fn outside(&self, x: Matrix<'_>) -> PyResult<Option<String>> {
        let data = self.rows_at(&x)?;
        Ok(self.fitted.warn_outside(&data).map(|warning| warning.render(Style::Python)))
    }

    /// The predictive densities at rows.
    #[pyo3(signature = (x, threads, mean=None, sd=None, rao_blackwell=false))]
    fn predict(
        &self,
        x: Matrix<'_>,
        threads: usize,
        mean: Option<Matrix<'_>>,
        sd: Option<Matrix<'_>>,
        rao_blackwell: bool,
    ) -> PyResult<Predictive> {
        let data = Box::new(self.data(&x, mean.as_ref(), sd.as_ref(), None)?);
        // What is wrong with the rows is said now, not when a density is asked for.
        let prediction = self.fitted.predict(&data).map_err(error::of)?;
        if rao_blackwell {
            prediction.rao_blackwell().map_err(error::of)?;
        }
        let fitted = self.fitted.clone();
        Ok(Predictive::new(Source::Draws { fitted, data, rao_blackwell }, threads))
    }

    /// Whether the experts say how probable outcomes are, and no more.
    #[getter]
    fn says_outcomes(&self) -> bool {
        self.fitted.says_outcomes()
    }

    /// The log densities of targets, from those of experts: the scores as JSON, and those of each row.
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        threads: usize,
        log_density: Matrix<'_>,
    ) -> PyResult<(String, Bound<'py, PyArray1<f64>>)> {
        let data = self.data(&x, None, None, Some(&log_density))?;
        self.log_scores(py, data, threads)
    }

    /// The classes, where the target is one.
    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        self.fitted.classes().map(|classes| classes.names().to_vec())
    }

    /// The log probabilities of classes (rows, classes), from the probabilities of experts (rows, experts x classes).
    fn predict_classes<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        threads: usize,
        proba: Matrix<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (data, fitted) = (self.of_classes(&x, &proba)?, self.fitted.clone());
        let found = run::whole(py, move |_| fitted.predict(&data)?.on_threads(threads).outcomes())?;
        to_matrix(py, found.log_p(), found.count())
    }

    /// The scores against numbers of classes as JSON, and the log probability of each row's.
    fn score_classes<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        y: Vector<'_>,
        threads: usize,
        proba: Matrix<'_>,
    ) -> PyResult<(String, Bound<'py, PyArray1<f64>>)> {
        let data = self.of_classes(&x, &proba)?.with_target(vector(&y)).map_err(error::of)?;
        self.log_scores(py, data, threads)
    }

    /// Mean and standard deviation of each training target without its row, and how many rows have a
    /// k-hat that is not to be trusted, with the largest k-hat that is.
    fn leave_one_out<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
    ) -> PyResult<(Pair<'py>, (usize, f64))> {
        let fitted = self.fitted.clone();
        let found = run::whole(py, move |_| fitted.left_out(threads))?;
        let (bad, good_k) = (found.bad(), found.good_k);
        Ok(((to_vector(py, found.mean), to_vector(py, found.sd)), (bad, good_k)))
    }

    /// The weights of the experts in each draw of each chain, (rows x chains x draws, experts).
    fn weight_draws<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (data, fitted) = (self.rows_at(&x)?, self.fitted.clone());
        let found = run::whole(py, move |_| fitted.weight_draws(&data, threads))?;
        to_matrix(py, found, self.fitted.model.experts())
    }

    /// How the weights depend on some inputs, averaged over the other inputs of the rows: what there is to say in
    /// JSON, and for each of these inputs its places and (places, experts) of mean, low and high. None of one expert.
    fn weight_effects<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        inputs: Vec<usize>,
        level: f64,
        threads: usize,
    ) -> PyResult<Option<(String, Vec<Along<'py>>)>> {
        let (data, fitted) = (self.rows_at(&x)?, self.fitted.clone());
        let found = run::whole(py, move |_| fitted.weight_effects(&data, &inputs, level, threads))?;
        let Some(found) = found else { return Ok(None) };
        let told = serde_json::json!({
            "inputs": found.inputs.iter().map(|effect| effect.input).collect::<Vec<_>>(),
            "moves": found.inputs.iter().map(|effect| effect.moves).collect::<Vec<_>>(),
            "average": found.level.iter().map(|s| [s.mean, s.low, s.high]).collect::<Vec<_>>(),
            "spread": found.spread,
            "agreed": found.agreed,
            "words": found.words(),
        });
        let parts: [fn(&Summary) -> f64; 3] = [|s| s.mean, |s| s.low, |s| s.high];
        let one = |effect: Effect| -> PyResult<Along<'py>> {
            let places = effect.x.len();
            let part = |of: fn(&Summary) -> f64| {
                let at = |p: usize| effect.curves.iter().map(move |curve| of(&curve[p]));
                to_matrix(py, (0..places).flat_map(at).collect(), effect.curves.len())
            };
            let curves = parts.into_iter().map(part).collect::<PyResult<_>>()?;
            Ok((to_vector(py, effect.x.clone()), curves))
        };
        Ok(Some((told.to_string(), found.inputs.into_iter().map(one).collect::<PyResult<_>>()?)))
    }

    /// The experts at rows: weight, its interval's ends, and mean and sd where they say these, each (rows, experts).
    #[pyo3(signature = (x, level, threads, mean=None, sd=None))]
    fn weigh<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        level: f64,
        threads: usize,
        mean: Option<Matrix<'_>>,
        sd: Option<Matrix<'_>>,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let data = self.data(&x, mean.as_ref(), sd.as_ref(), None)?;
        let fitted = self.fitted.clone();
        let found =
            run::whole(py, move |_| fitted.predict(&data)?.on_threads(threads).weights(level))?;
        let found: Vec<ExpertSummary> = found.into_iter().flatten().collect();
        let parts: [fn(&ExpertSummary) -> Option<f64>; 5] = [
            |e| Some(e.weight.mean),
            |e| Some(e.weight.low),
            |e| Some(e.weight.high),
            |e| e.mean,
            |e| e.sd,
        ];
        let k = self.fitted.model.experts();
        let all = parts.iter().filter_map(|of| found.iter().map(of).collect::<Option<Vec<f64>>>());
        all.map(|values| to_matrix(py, values, k)).collect()
    }
}
