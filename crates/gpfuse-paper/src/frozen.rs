//! A frozen protocol: rows, splits, frequencies and experts that were made once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};
use gpfuse::sweep::Given;
use gpfuse::{Data, Predictions};
use gpfuse_io::sweep_file::digest;
use gpfuse_io::table;

/// Numbers of experts that a protocol may have experts for.
const EXPERTS: std::ops::RangeInclusive<usize> = 2..=20;

/// Frequencies and experts of a protocol.
pub struct Frozen {
    path: PathBuf,
    /// Base frequencies of each split.
    frequencies: Vec<Vec<f64>>,
    /// What K experts say, by K.
    experts: BTreeMap<usize, table::Table>,
}

/// Rows to learn weights from and to test on, and what the experts say there.
pub struct Stacked {
    /// The rows to learn weights from.
    pub train: Arc<Vec<usize>>,
    /// The rows to test on.
    pub test: Arc<Vec<usize>>,
    /// What the experts say at both.
    pub given: Arc<Given>,
}

fn names(what: &str, numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|i| format!("{what}{i}")).collect()
}

fn read(path: &Path, names: &[String]) -> anyhow::Result<table::Table> {
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(table::Table::read(path, Some(&wanted))?)
}

impl Frozen {
    /// Read a folder: the protocol, its rows and the test rows of its splits.
    pub fn read(path: &Path, splits: usize) -> anyhow::Result<(Frozen, Data, Vec<Vec<usize>>)> {
        let tests = names("test", 0..splits);
        let wanted = [vec!["x".into(), "y".into()], tests].concat();
        let mut columns = read(&path.join("data.csv"), &wanted)?.columns.into_iter();
        let (x, y) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
        let rows = |marks: Vec<f64>| (0..marks.len()).filter(|r| marks[*r] != 0.0).collect();
        let tests: Vec<Vec<usize>> = columns.map(rows).collect();
        let frequencies = read(&path.join("frequencies.csv"), &names("split", 0..splits))?.columns;
        let mut experts = BTreeMap::new();
        for k in EXPERTS {
            let file = path.join(format!("experts_K{k}.csv"));
            if file.is_file() {
                let moments = [names("mean", 1..k + 1), names("sd", 1..k + 1)].concat();
                let wanted = [vec!["split".into(), "row".into()], moments].concat();
                experts.insert(k, read(&file, &wanted)?);
            }
        }
        let frozen = Frozen { path: path.into(), frequencies, experts };
        Ok((frozen, Data::new(x, 1)?.with_target(y)?, tests))
    }

    /// The digest of all that the protocol holds.
    pub fn digest(&self, table: &Data) -> anyhow::Result<String> {
        let experts = self.experts.values().flat_map(|table| &table.columns);
        let files = self.frequencies.iter().chain(experts).map(Vec::as_slice);
        Ok(digest([table.x(), table.y()?].into_iter().chain(files)))
    }

    /// The first `count` frequencies of a split.
    pub fn omega(&self, split: usize, count: usize) -> anyhow::Result<Vec<f64>> {
        let all = self.frequencies.get(split).map_or(&[][..], Vec::as_slice);
        match all.get(..count) {
            Some(first) => Ok(first.to_vec()),
            None => bail!(
                "`{}`: has {} frequencies, and {count} are asked for",
                self.path.join("frequencies.csv").display(),
                all.len()
            ),
        }
    }

    /// The experts of a split: all rows that they speak about, which are test rows or those of the
    /// weights.
    pub fn stacked(
        &self,
        experts: usize,
        split: usize,
        tests: &[usize],
        rows: usize,
    ) -> anyhow::Result<Stacked> {
        let file = || self.path.join(format!("experts_K{experts}.csv")).display().to_string();
        let table = self.experts.get(&experts).ok_or_else(|| {
            anyhow!("`{}`: there is no such file: leave {experts} experts out", file())
        })?;
        let here = |line: &usize| table.columns[0][*line] == split as f64;
        let lines: Vec<usize> = (0..table.rows).filter(here).collect();
        let row = |line: &usize| table.columns[1][*line] as usize;
        if let Some(line) = lines.iter().find(|line| row(line) >= rows) {
            bail!("`{}`, row {}: there is no row {} in the data", file(), line + 1, row(line));
        }
        let (test, train): (Vec<usize>, Vec<usize>) =
            lines.into_iter().partition(|line| tests.binary_search(&row(line)).is_ok());
        if train.is_empty() || test.is_empty() {
            bail!("`{}`: says nothing about split {split}: leave the split out", file());
        }
        let predictions = |lines: &[usize]| {
            let pick = |c: usize| lines.iter().map(|line| table.columns[c][*line]).collect();
            let mean = (2..2 + experts).map(pick).collect();
            Predictions::new(mean, (2 + experts..2 + 2 * experts).map(pick).collect())
        };
        let given = Given { train: predictions(&train)?, test: predictions(&test)? };
        let rows = |lines: &[usize]| Arc::new(lines.iter().map(row).collect());
        Ok(Stacked { train: rows(&train), test: rows(&test), given: Arc::new(given) })
    }
}
