//! A reference posterior as it is stored: the problem, what the other tool says of its density, and
//! its draws.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use gpfuse::basis::{Basis, Hilbert};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Method, Model, Observed, Posterior, Priors};
use gpfuse_io::table::Table;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Where the reference posterior of a method is.
fn folder(method: Method) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reference").join(method.name())
}

/// The fixed basis, on one input.
#[derive(Debug, Deserialize)]
struct FixedBasis {
    kernel: Kernel,
    centre: f64,
    half_width: f64,
    size: usize,
}

/// What given experts say, (experts, rows).
#[derive(Debug, Deserialize)]
struct Said {
    mean: Vec<Vec<f64>>,
    sd: Vec<Vec<f64>>,
}

/// Rows with their targets.
#[derive(Debug, Deserialize)]
struct Places {
    x: Vec<f64>,
    y: Vec<f64>,
    given: Option<Said>,
}

/// What the other tool computes at a point.
#[derive(Debug, Deserialize)]
pub(super) struct Point {
    /// The point, in the sampling space.
    pub(super) q: Vec<f64>,
    /// The log joint density.
    pub(super) log_joint: f64,
    /// Its gradient.
    pub(super) gradient: Vec<f64>,
    /// The derived quantities, in the order of their names.
    pub(super) derived: Vec<f64>,
}

/// A data set, and how numbers made from it are called.
#[derive(Debug, Deserialize)]
pub(super) struct Problem {
    method: Method,
    basis: FixedBasis,
    #[serde(flatten)]
    rows: Places,
    places: Places,
    /// The names of the flat vector's numbers, in its order.
    pub(super) parameters: Vec<String>,
    /// The names of what relabelling the experts does not change.
    pub(super) derived: Vec<String>,
    /// Points in full precision.
    pub(super) points: Vec<Point>,
}

/// Where there are more parameters, only the first coefficient of each GP is stored.
const ALL_STORED: usize = 20;

impl Problem {
    /// The names of what is stored of its draws.
    pub(super) fn stored(&self) -> BTreeSet<&str> {
        let few = self.parameters.len() <= ALL_STORED;
        let kept = |name: &&String| few || !name.contains("_theta ") || name.ends_with(" 1");
        self.parameters.iter().filter(kept).chain(&self.derived).map(String::as_str).collect()
    }
}

/// What the other tool says of its run.
#[derive(Debug, Deserialize)]
pub(super) struct Diagnostics {
    /// The energy fraction of each chain, before thinning.
    pub(super) e_fmi: Vec<f64>,
    /// Diverging trajectories after the warm-up, of all chains.
    pub(super) divergences: usize,
    /// Iterations from one stored draw to the next.
    pub(super) thin: usize,
}

/// The draws of one quantity.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// Chain after chain.
    pub(super) values: Vec<f64>,
}

/// A reference posterior.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) problem: Problem,
    pub(super) diagnostics: Diagnostics,
    pub(super) columns: Vec<Column>,
    /// Draws of each chain.
    pub(super) per_chain: usize,
    pub(super) chains: usize,
}

impl Problem {
    /// Its posterior.
    pub(super) fn posterior(&self) -> gpfuse::Result<Posterior> {
        self.at(&self.rows)
    }

    /// The same model with the places where densities are looked at as its data.
    pub(super) fn at_places(&self) -> gpfuse::Result<Posterior> {
        self.at(&self.places)
    }

    fn at(&self, rows: &Places) -> gpfuse::Result<Posterior> {
        let FixedBasis { kernel, centre, half_width, size } = self.basis;
        let basis = Hilbert::new(kernel, vec![centre], vec![half_width], vec![size])?;
        let model = Model::new(self.method, 2, Basis::Hilbert(basis), Priors::default())?;
        let data = Observed::new(&rows.x, 1, &rows.y)?;
        let data = match &rows.given {
            Some(given) => data.with_given(&given.mean, &given.sd)?,
            None => data,
        };
        Posterior::new(Arc::new(model), Arc::new(data))
    }
}

impl Reference {
    /// Read that of a method.
    pub(super) fn read(method: Method) -> anyhow::Result<Reference> {
        let folder = folder(method);
        let problem: Problem = json(&folder.join("problem.json"))?;
        ensure!(problem.method == method, "`{}`: holds {}", folder.display(), problem.method);
        let path = folder.join("draws.csv.gz");
        let Table { names, columns, rows, .. } = Table::read(&path, None)?;
        let mut all = names.into_iter().zip(columns);
        let (_, chain) = all.next().context("no column")?;
        let chains = chain.chunk_by(|a, b| a == b).count();
        let per_chain = rows / chains;
        let equal = chain.chunk_by(|a, b| a == b).all(|draws| draws.len() == per_chain);
        ensure!(equal, "`{}`: the chains are not of one length", path.display());
        let columns = all.map(|(name, values)| Column { name, values }).collect();
        let diagnostics = json(&folder.join("diagnostics.json"))?;
        Ok(Reference { problem, diagnostics, columns, per_chain, chains })
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("`{}`: cannot be read", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}`", path.display()))
}
