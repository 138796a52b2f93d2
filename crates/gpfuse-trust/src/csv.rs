//! A small CSV file of plain cells, as the project's records are.

use std::path::Path;

use anyhow::Context;

/// Cells by row, under the names of their columns.
#[derive(Debug, Clone)]
pub(crate) struct Csv {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Csv {
    /// Read a file without quoted cells.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Csv> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("`{}`: cannot be read", path.display()))?;
        let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect());
        let names: Vec<String> =
            lines.next().with_context(|| format!("`{}`: is empty", path.display()))?;
        let rows: Vec<Vec<String>> = lines.collect();
        if let Some(row) = rows.iter().position(|row| row.len() != names.len()) {
            anyhow::bail!("`{}`: row {} is not whole", path.display(), row + 1);
        }
        Ok(Csv { names, rows })
    }

    /// The same with those rows only whose cell in column `name` is `value`.
    pub(crate) fn only(mut self, name: &str, value: &str) -> anyhow::Result<Csv> {
        let at = self.at(name)?;
        self.rows.retain(|row| row[at] == value);
        Ok(self)
    }

    /// The cells of a column.
    pub(crate) fn texts(&self, name: &str) -> anyhow::Result<Vec<&str>> {
        let at = self.at(name)?;
        Ok(self.rows.iter().map(|row| row[at].as_str()).collect())
    }

    /// The numbers of a column.
    pub(crate) fn numbers(&self, name: &str) -> anyhow::Result<Vec<f64>> {
        let number = |text: &&str| text.parse().with_context(|| format!("`{text}` in `{name}`"));
        self.texts(name)?.iter().map(number).collect()
    }

    fn at(&self, name: &str) -> anyhow::Result<usize> {
        self.names.iter().position(|n| n == name).with_context(|| format!("no column `{name}`"))
    }
}
