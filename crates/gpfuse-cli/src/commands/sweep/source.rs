//! The rows of a sweep: simulated, from a table, or frozen; and their splits.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use gpfuse::sweep::{Table, test_rows};
use gpfuse_io::sweep_file::{Source, digest};
use gpfuse_io::table;
use gpfuse_paper::Frozen;

use super::super::training::inputs;
use super::super::{interleave, simulate};

/// A data set, ready for its cells.
pub(super) struct Set {
    pub(super) table: Arc<Table>,
    /// The names of the inputs.
    pub(super) inputs: Vec<String>,
    pub(super) target: String,
    /// The rows of each split.
    pub(super) splits: Vec<Split>,
    pub(super) frozen: Option<Frozen>,
}

/// Rows to train on and to test on.
pub(super) struct Split {
    pub(super) train: Arc<Vec<usize>>,
    pub(super) test: Arc<Vec<usize>>,
}

impl Split {
    fn new(n: usize, test: Vec<usize>) -> Split {
        let train = (0..n).filter(|row| test.binary_search(row).is_err()).collect();
        Split { train: Arc::new(train), test: Arc::new(test) }
    }
}

impl Set {
    /// Read or simulate the rows. The source is completed: its inputs, whole paths, and what the
    /// files hold.
    pub(super) fn load(source: &mut Source, base: &Path) -> anyhow::Result<Set> {
        let set = match (&source.simulate, &source.table, &source.frozen) {
            (Some(settings), _, _) => {
                let data = settings.run()?;
                let (mut inputs, _) = simulate::columns(&data, settings.inputs);
                let target = inputs.pop().unwrap_or_default();
                let table = Table { x: data.x, inputs: settings.inputs, y: data.y };
                Set::new(table, inputs, target, random_splits(source, settings.n)?, None)
            }
            (_, Some(path), _) => {
                let path = whole(base, path)?;
                let set = from_table(source, Path::new(&path))?;
                source.inputs = Some(set.inputs.clone());
                let found = digest([&set.table.x[..], &set.table.y[..]]);
                same(source, &path, found)?;
                source.table = Some(path);
                set
            }
            (_, _, Some(path)) => {
                let path = whole(base, path)?;
                let (frozen, table, tests) = Frozen::read(Path::new(&path), source.splits)?;
                let splits = tests.into_iter().map(|test| Split::new(table.y.len(), test));
                let splits = splits.collect();
                same(source, &path, frozen.digest(&table))?;
                source.frozen = Some(path);
                Set::new(table, vec!["x".into()], "y".into(), splits, Some(frozen))
            }
            _ => bail!("give one of `simulate`, `table` and `frozen`"),
        };
        let clash = |name: &&String| {
            let number = name.strip_prefix("test").and_then(|n| n.parse::<usize>().ok());
            number.is_some_and(|split| split < source.splits)
        };
        if let Some(name) = set.inputs.iter().chain([&set.target]).find(clash) {
            bail!("column `{name}` has the name of a split's column: rename it");
        }
        Ok(set)
    }

    fn new(
        table: Table,
        inputs: Vec<String>,
        target: String,
        splits: Vec<Split>,
        frozen: Option<Frozen>,
    ) -> Set {
        Set { table: Arc::new(table), inputs, target, splits, frozen }
    }

    /// Names and columns: inputs, target, and for each split 1 at its test rows.
    pub(super) fn columns(&self) -> (Vec<String>, Vec<Vec<f64>>) {
        let (d, n) = (self.table.inputs, self.table.y.len());
        let tests = (0..self.splits.len()).map(|split| format!("test{split}"));
        let names = self.inputs.iter().cloned().chain([self.target.clone()]).chain(tests);
        let input = |i: usize| self.table.x.iter().skip(i).step_by(d).copied().collect();
        let marks = |split: &Split| {
            (0..n).map(|row| f64::from(split.test.binary_search(&row).is_ok())).collect()
        };
        let columns = (0..d).map(input).chain([self.table.y.clone()]);
        (names.collect(), columns.chain(self.splits.iter().map(marks)).collect())
    }
}

/// A path from the folder of the sweep file, as one that holds from everywhere.
fn whole(base: &Path, path: &str) -> anyhow::Result<String> {
    let path = std::path::absolute(base.join(path))?;
    match path.to_str() {
        Some(path) => Ok(path.into()),
        None => bail!("`{}`: is no UTF-8 path: move the file", path.display()),
    }
}

fn from_table(source: &Source, path: &Path) -> anyhow::Result<Set> {
    let target = source.target.clone().unwrap_or_default();
    let inputs = inputs(path, source.inputs.as_deref(), &target, |_| false)?;
    let wanted: Vec<&str> = inputs.iter().chain([&target]).map(String::as_str).collect();
    let mut read = table::Table::read(path, Some(&wanted))?;
    let y = read.columns.pop().unwrap_or_default();
    let splits = random_splits(source, y.len())?;
    let table = Table { x: interleave(&read.columns), inputs: inputs.len(), y };
    Ok(Set::new(table, inputs, target, splits, None))
}

fn random_splits(source: &Source, n: usize) -> anyhow::Result<Vec<Split>> {
    let split = |split| Ok(Split::new(n, test_rows(n, source.test, source.seed, split)?));
    (0..source.splits).map(split).collect()
}

/// Take down what the files hold, which must be what they are said to hold.
fn same(source: &mut Source, path: &str, found: String) -> anyhow::Result<()> {
    match source.digest.replace(found.clone()) {
        Some(said) if said != found => bail!(
            "`{path}`: holds other rows than when the sweep file was written: put the old ones \
             back, or take `digest` out of the sweep file"
        ),
        _ => Ok(()),
    }
}
