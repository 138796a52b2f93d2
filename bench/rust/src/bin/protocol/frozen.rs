//! The paper's frozen protocol as the benchmark reads it: data, splits, frequencies, experts.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpfuse::basis::{Basis, Hilbert, Rff};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Method, Observed};

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// A CSV file of texts.
pub(crate) struct Table {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn read(path: &Path) -> Outcome<Table> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut lines = text.lines().map(|l| l.split(',').map(String::from).collect());
        let names = lines.next().ok_or("an empty file")?;
        Ok(Table { names, rows: lines.collect() })
    }

    pub(crate) fn numbers(&self, name: &str) -> Outcome<Vec<f64>> {
        let at = self.names.iter().position(|n| n == name).ok_or(format!("no `{name}`"))?;
        Ok(self.rows.iter().map(|r| r[at].parse()).collect::<Result<_, _>>()?)
    }
}

/// Rows and, for stacking, what the experts say there.
pub(crate) struct Problem {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) mean: Vec<Vec<f64>>,
    pub(crate) sd: Vec<Vec<f64>>,
}

impl Problem {
    pub(crate) fn data(&self) -> Outcome<Arc<Observed>> {
        let data = Observed::new(&self.x, 1, &self.y)?;
        Ok(Arc::new(match self.mean.len() {
            0 => data,
            _ => data.with_given(&self.mean, &self.sd)?,
        }))
    }
}

pub(crate) struct Paper {
    dir: PathBuf,
    data: Table,
    pub(crate) frequencies: Table,
}

impl Paper {
    pub(crate) fn read(dir: &Path) -> Outcome<Paper> {
        let table = |name: &str| Table::read(&dir.join(name));
        Ok(Paper {
            dir: dir.into(),
            data: table("data.csv")?,
            frequencies: table("frequencies.csv")?,
        })
    }

    /// The training or test rows of a split, and for stacking what its experts say there.
    pub(crate) fn rows(
        &self,
        method: Method,
        experts: usize,
        split: usize,
        test: bool,
    ) -> Outcome<Problem> {
        let (x, y) = (self.data.numbers("x")?, self.data.numbers("y")?);
        if !matches!(method, Method::Bhs | Method::Pbhs) {
            let chosen = self.data.numbers(&format!("test{split}"))?;
            let pick = |v: Vec<f64>| {
                let pairs = v.into_iter().zip(&chosen);
                pairs.filter(|(_, t)| (**t == 1.0) == test).map(|(v, _)| v).collect::<Vec<f64>>()
            };
            return Ok(Problem { x: pick(x), y: pick(y), mean: vec![], sd: vec![] });
        }
        let mut frozen = Table::read(&self.dir.join(format!("experts_K{experts}.csv")))?;
        let role = if test { "test" } else { "stack" };
        frozen.rows.retain(|row| row[0] == split.to_string() && row[1] == role);
        let rows = frozen.numbers("row")?;
        let at = |v: &[f64]| rows.iter().map(|row| v[*row as usize]).collect::<Vec<f64>>();
        let columns = |name: &str| {
            (1..=experts).map(|k| frozen.numbers(&format!("{name}{k}"))).collect::<Outcome<_>>()
        };
        Ok(Problem { x: at(&x), y: at(&y), mean: columns("mean")?, sd: columns("sd")? })
    }

    /// The frozen basis of a split: that many frequencies, or functions on the frozen box.
    pub(crate) fn basis(&self, name: &str, size: usize, split: usize) -> Outcome<Basis> {
        if name == "hilbert" {
            let basis = Hilbert::new(Kernel::Rbf, vec![0.0], vec![6.5], vec![size])?;
            return Ok(Basis::Hilbert(basis));
        }
        let mut omega = self.frequencies.numbers(&format!("split{split}"))?;
        omega.truncate(size);
        Ok(Basis::Rff(Rff::new(Kernel::Rbf, omega, 1)?))
    }
}
