//! What becomes of one column: a number, or an input for each level.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::cells::{Cell, Cells, name, truth};
use super::{Fault, MOST_LEVELS, list};
use crate::error::show;

/// With more levels than these, each must stand in two rows on average.
const FEW_LEVELS: usize = 10;

/// What became of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The levels of a category in their order; of two, the second is 1 and the first is 0. None for numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<String>>,
    /// What stands in each of its inputs where the value is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) fill: Vec<f64>,
    /// Whether one more input says where a value is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) indicator: bool,
}

impl Column {
    pub(super) fn learn(name: &str, cells: &Cells) -> Result<Column, Fault> {
        let mut column =
            Column { name: name.into(), levels: None, fill: Vec::new(), indicator: false };
        if cells.is_category() {
            column.levels = Some(column.levels_of(cells)?);
        } else if let Some((row, value)) = cells.first_fault() {
            let (column, value) = (column.name, value.to_owned());
            return Err(Fault::Cell { row: row + 1, column, value });
        }
        Ok(column)
    }

    /// The levels: by their values if all are numbers, else as words.
    fn levels_of(&self, cells: &Cells) -> Result<Vec<String>, Fault> {
        let found: BTreeSet<String> = cells.iter().filter_map(level).collect();
        let (levels, held) = (found.len(), cells.len() - cells.missing());
        let each = levels > FEW_LEVELS && 2 * levels > held && !cells.said_category();
        if levels > MOST_LEVELS || each {
            let (column, value) = (self.name.clone(), found.first().cloned().unwrap_or_default());
            return Err(Fault::Levels { column, levels, rows: held, value });
        }
        if let Some(odd) = found.iter().find(|level| level.chars().any(char::is_control)) {
            let words = format!(
                "column `{}` holds `{}`, which has a control character: correct it",
                show(&self.name),
                show(odd)
            );
            return Err(Fault::Columns(words.into()));
        }
        let mut levels: Vec<String> = found.into_iter().collect();
        let value = |level: &String| level.parse::<f64>().ok();
        if levels.iter().all(|level| value(level).is_some()) {
            levels.sort_by(|a, b| value(a).partial_cmp(&value(b)).unwrap_or(a.cmp(b)));
        }
        Ok(levels)
    }

    /// The levels that have an input of their own.
    fn shown_levels(&self) -> Option<&[String]> {
        let levels = self.levels.as_deref()?;
        Some(if levels.len() == 2 { &levels[1..] } else { levels })
    }

    /// The names of its inputs.
    pub fn inputs(&self) -> Vec<String> {
        let mut names = match self.shown_levels() {
            Some(levels) => levels.iter().map(|level| format!("{}={level}", self.name)).collect(),
            None => vec![self.name.clone()],
        };
        names.extend(self.flag());
        names
    }

    /// The name of the input that says where a value is missing.
    pub(super) fn flag(&self) -> Option<String> {
        self.indicator.then(|| format!("{}=missing", self.name))
    }

    pub(super) fn width(&self) -> usize {
        self.shown_levels().map_or(1, <[String]>::len) + usize::from(self.indicator)
    }

    /// The mean of each of its inputs, without the one that says where a value is missing.
    pub(super) fn means(&self, cells: &Cells) -> Result<Vec<f64>, Fault> {
        let held = cells.len() - cells.missing();
        if held == 0 {
            let words = format!("column `{}` holds nothing: leave it out", show(&self.name));
            return Err(Fault::Columns(words.into()));
        }
        let (mut means, mut one) = (vec![0.0; self.width()], vec![0.0; self.width()]);
        for (row, cell) in cells.iter().enumerate().filter(|(_, cell)| *cell != Cell::Missing) {
            self.put(cell, row, &mut one, &mut Unseen::default())?;
            means.iter_mut().zip(&mut one).for_each(|(mean, v)| {
                *mean += std::mem::take(v) / held as f64;
            });
        }
        Ok(means)
    }

    /// What stands for a missing value.
    pub(super) fn fill_in(&self, to: &mut [f64]) {
        to.iter_mut().zip(self.fill.iter().chain(&[1.0])).for_each(|(to, fill)| *to = *fill);
    }

    /// The inputs of a cell, where 0 stands so far.
    pub(super) fn put(
        &self,
        cell: Cell<'_>,
        row: usize,
        to: &mut [f64],
        unseen: &mut Unseen,
    ) -> Result<(), Fault> {
        let Some(levels) = &self.levels else {
            to[0] = match cell {
                Cell::Number(number) => number,
                Cell::Word(word) => truth(word).ok_or_else(|| {
                    let (column, value) = (self.name.clone(), word.to_owned());
                    Fault::Cell { row: row + 1, column, value }
                })?,
                Cell::Missing => 0.0,
            };
            return Ok(());
        };
        let found = level(cell).unwrap_or_default();
        match levels.iter().position(|level| *level == found) {
            // Of two levels only the second has an input.
            Some(at) if levels.len() == 2 => to[0] = at as f64,
            Some(at) => to[at] = 1.0,
            None => unseen.add(found, row),
        }
        Ok(())
    }

    /// What somebody should know about a category.
    pub(super) fn note(&self) -> Option<String> {
        Some(format!("column `{}` is {}", show(&self.name), self.words()?))
    }

    /// What a category is, in words.
    pub fn words(&self) -> Option<String> {
        let levels = self.levels.as_ref()?;
        Some(match levels.as_slice() {
            [no, yes] => {
                format!("a category: its input is 1 for `{}` and 0 for `{}`", show(yes), show(no))
            }
            _ => {
                let listed = levels.iter().map(|level| format!("`{}`", show(level)));
                let listed = list(listed, levels.len());
                format!(
                    "a category with an input for each of its {} levels: {listed}",
                    levels.len()
                )
            }
        })
    }
}

/// The level that a cell names.
fn level(cell: Cell<'_>) -> Option<String> {
    match cell {
        Cell::Number(number) => Some(name(number)),
        Cell::Word(word) => Some(word.to_owned()),
        Cell::Missing => None,
    }
}

/// Levels that no row of the fit had, each with its first row, and how many rows have one.
#[derive(Default)]
pub(super) struct Unseen {
    levels: BTreeMap<String, usize>,
    rows: usize,
}

impl Unseen {
    fn add(&mut self, level: String, row: usize) {
        self.levels.entry(level).or_insert(row);
        self.rows += 1;
    }

    pub(super) fn words(&self, column: &Column) -> Option<String> {
        let one = |(level, row): (&String, &usize)| format!("`{}` (row {})", show(level), row + 1);
        let listed = list(self.levels.iter().map(one), self.levels.len());
        let stand = match column.levels.as_deref() {
            Some([no, _]) => format!("as if they were `{}`", show(no)),
            _ => "as none of its levels".into(),
        };
        let rows =
            if self.rows == 1 { "1 row has".into() } else { format!("{} rows have", self.rows) };
        (self.rows > 0).then(|| {
            format!(
                "column `{}`: {rows} a level that the fit did not see: {listed}: predicted {stand}",
                show(&column.name)
            )
        })
    }
}
