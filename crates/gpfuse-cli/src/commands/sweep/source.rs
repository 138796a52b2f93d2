//! The rows of a sweep: simulated, from a table, or frozen; and their splits.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use gpfuse::Data;
use gpfuse::columns::{Columns as MadeOf, Missing};
use gpfuse::sweep::test_rows;
use gpfuse_io::sweep_file::{Source, digest};
use gpfuse_paper::Frozen;

use super::super::simulate;
use super::super::training::{Columns, Training};

/// A data set, ready for its cells.
pub(super) struct Set {
    pub(super) table: Arc<Data>,
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
                let table = Data::new(data.x, settings.inputs)?.with_target(data.y)?;
                let table = table.named(inputs, target)?;
                Set::new(table, random_splits(source, settings.n)?, None)
            }
            (_, Some(path), _) => {
                let path = whole(base, path)?;
                let set = from_table(source, Path::new(&path))?;
                source.inputs = Some(set.table.inputs().to_vec());
                let found = digest([set.table.x(), set.table.y()?]);
                same(source, &path, found)?;
                source.table = Some(path);
                set
            }
            (_, _, Some(path)) => {
                let path = whole(base, path)?;
                let (frozen, table, tests) = Frozen::read(Path::new(&path), source.splits)?;
                let splits = tests.into_iter().map(|test| Split::new(table.len(), test));
                let splits = splits.collect();
                same(source, &path, frozen.digest(&table)?)?;
                source.frozen = Some(path);
                Set::new(table, splits, Some(frozen))
            }
            _ => bail!("give one of `simulate`, `table` and `frozen`"),
        };
        let clash = |name: &&String| {
            let number = name.strip_prefix("test").and_then(|n| n.parse::<usize>().ok());
            number.is_some_and(|split| split < source.splits)
        };
        if let Some(name) = names(&set.table).iter().find(clash) {
            bail!("column `{name}` has the name of a split's column: rename it");
        }
        Ok(set)
    }

    fn new(table: Data, splits: Vec<Split>, frozen: Option<Frozen>) -> Set {
        Set { table: Arc::new(table), splits, frozen }
    }

    /// Names and columns: inputs, target, and for each split 1 at its test rows.
    pub(super) fn columns(&self) -> anyhow::Result<(Vec<String>, Vec<Vec<f64>>)> {
        let (d, n) = (self.table.inputs().len(), self.table.len());
        let tests = (0..self.splits.len()).map(|split| format!("test{split}"));
        let input = |i: usize| (0..n).map(|row| self.table.row(row)[i]).collect();
        let marks = |split: &Split| {
            (0..n).map(|row| f64::from(split.test.binary_search(&row).is_ok())).collect()
        };
        let columns = (0..d).map(input).chain([self.table.y()?.to_vec()]);
        let columns = columns.chain(self.splits.iter().map(marks)).collect();
        Ok((names(&self.table).into_iter().chain(tests).collect(), columns))
    }
}

/// The names of the inputs and of the target.
fn names(table: &Data) -> Vec<String> {
    table.inputs().iter().cloned().chain([table.target().into()]).collect()
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
    let target = source.target.as_deref().unwrap_or_default();
    let columns = Columns { target, inputs: source.inputs.as_deref(), exclude: &[] };
    let table = Training::read(path, columns, Missing::Refuse)?.data;
    let category = |made_of: &MadeOf| {
        made_of.columns().iter().find(|c| c.levels.is_some()).map(|c| c.name.clone())
    };
    if let Some(name) = table.columns().and_then(category) {
        bail!(
            "`{}`: column `{name}` holds words, and a sweep takes numbers: leave it out of `inputs`",
            path.display()
        );
    }
    let splits = random_splits(source, table.len())?;
    Ok(Set::new(table, splits, None))
}

fn random_splits(source: &Source, n: usize) -> anyhow::Result<Vec<Split>> {
    let split = |split| Ok(Split::new(n, test_rows(n, source.test, source.seed, split)?));
    (0..source.splits).map(split).collect()
}

/// Record the digest of the files, which must be the digest that the sweep file has, if any.
fn same(source: &mut Source, path: &str, found: String) -> anyhow::Result<()> {
    match source.digest.replace(found.clone()) {
        Some(recorded) if recorded != found => bail!(
            "`{path}`: holds other rows than when the sweep file was written: put the old ones \
             back, or take `digest` out of the sweep file"
        ),
        _ => Ok(()),
    }
}
