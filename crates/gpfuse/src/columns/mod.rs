//! From the columns of a table to inputs, which are numbers: categories become inputs that are 1 for one level and
//! 0 for the others, and what is missing is refused, left out or filled in.

mod cells;
mod column;
mod fault;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use cells::Cell;
pub use cells::Cells;
pub use column::Column;
use column::Unseen;
pub use fault::Fault;

use crate::error::show;
use crate::settings::Message;

/// More levels are more likely numbers of persons or places than a category.
pub const MOST_LEVELS: usize = 50;

/// So many are listed in a message.
const LISTED: usize = 8;

/// What happens to rows that lack the value of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// They are an error.
    #[default]
    Refuse,
    /// They are left out of the fit, and refused at predictions.
    Drop,
    /// The mean of the column in the fit stands there.
    Mean,
    /// The same, and one more input says where.
    Indicator,
}

/// What became of the columns of a table in a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    columns: Vec<Column>,
    missing: Missing,
}

/// What somebody wants to do with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Learn from them.
    Fit,
    /// Predict at them, or score predictions of them.
    Ask,
}

/// Rows as inputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// One row after the other; rows that are left out hold what means nothing.
    pub x: Vec<f64>,
    /// The numbers, from 0, of the rows that are left out.
    pub dropped: Vec<usize>,
    /// What was done, for a note.
    pub notes: Vec<String>,
    /// What makes predictions doubtful.
    pub warnings: Vec<String>,
}

impl Columns {
    /// What is to become of the columns of a fit.
    ///
    /// # Errors
    /// If a column has words among its numbers or too many levels, or values are missing that may not be.
    pub fn learn<C: Borrow<Cells>>(
        names: &[String],
        cells: &[C],
        missing: Missing,
    ) -> Result<Columns, Fault> {
        let columns =
            names.iter().zip(cells).map(|(name, cells)| Column::learn(name, cells.borrow()));
        let mut columns = Columns { columns: columns.collect::<Result<_, _>>()?, missing };
        if missing == Missing::Refuse {
            columns.refuse_missing(cells, Purpose::Fit)?;
        }
        if matches!(missing, Missing::Mean | Missing::Indicator) {
            for (column, cells) in columns.columns.iter_mut().zip(cells) {
                let cells = cells.borrow();
                column.fill = column.means(cells)?;
                column.indicator = missing == Missing::Indicator && cells.missing() > 0;
            }
        }
        let mut known = BTreeSet::new();
        match columns.inputs().into_iter().find(|name| !known.insert(name.clone())) {
            Some(twice) => {
                let words =
                    format!("two inputs would be called `{}`: rename a column", show(&twice));
                Err(Fault::Columns(words.into()))
            }
            None => Ok(columns),
        }
    }

    /// Columns of numbers without any that is missing: they are the inputs.
    pub fn plain(names: &[String]) -> Columns {
        let one = |name: &String| Column {
            name: name.clone(),
            levels: None,
            fill: Vec::new(),
            indicator: false,
        };
        Columns { columns: names.iter().map(one).collect(), missing: Missing::Refuse }
    }

    /// Whether the columns are the inputs as they stand.
    pub fn is_plain(&self) -> bool {
        self.missing == Missing::Refuse && self.columns.iter().all(|c| c.levels.is_none())
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// The names of the inputs.
    pub fn inputs(&self) -> Vec<String> {
        self.columns.iter().flat_map(Column::inputs).collect()
    }

    /// What somebody should know about them: categories, and what happens to rows that lack a value.
    pub fn words(&self) -> Vec<String> {
        let mut out: Vec<String> = self.columns.iter().filter_map(Column::note).collect();
        let filled = "values that are missing: the mean of the column in the fit stands for them";
        let flags: Vec<String> = self.columns.iter().filter_map(Column::flag).collect();
        out.extend(match self.missing {
            Missing::Refuse => None,
            Missing::Drop => Some(
                "rows that lacked a value were left out of the fit; predictions refuse them".into(),
            ),
            Missing::Mean | Missing::Indicator => Some(format!("{filled}{}", saying_where(&flags))),
        });
        out
    }

    /// What happens to rows that lack a value.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// The cells of these columns as inputs.
    ///
    /// # Errors
    /// If a column of numbers has a word, or values are missing that may not be.
    pub fn apply<C: Borrow<Cells>>(&self, cells: &[C], purpose: Purpose) -> Result<Inputs, Fault> {
        let fills = matches!(self.missing, Missing::Mean | Missing::Indicator);
        let drops = self.missing == Missing::Drop && purpose == Purpose::Fit;
        if !fills && !drops {
            self.refuse_missing(cells, purpose)?;
        }
        let rows = cells.first().map_or(0, |cells| cells.borrow().len());
        let width = self.columns.iter().map(Column::width).sum::<usize>();
        let mut out = Inputs { x: vec![0.0; rows * width], ..Inputs::default() };
        let (mut at, mut lacking) = (0, BTreeSet::new());
        for (column, cells) in self.columns.iter().zip(cells) {
            let mut unseen = Unseen::default();
            for (row, cell) in cells.borrow().iter().enumerate() {
                let to = &mut out.x[row * width + at..][..column.width()];
                match cell {
                    Cell::Missing if drops => drop(lacking.insert(row)),
                    Cell::Missing => column.fill_in(to),
                    cell => column.put(cell, row, to, &mut unseen)?,
                }
            }
            at += column.width();
            out.warnings.extend(unseen.words(column));
            if purpose == Purpose::Fit {
                out.notes.extend(column.note());
            }
        }
        out.notes.extend(self.note(cells, lacking.len()));
        out.dropped = lacking.into_iter().collect();
        if out.dropped.len() == rows {
            let words = "every row lacks a value: leave out the columns with the most";
            return Err(Fault::Columns(words.into()));
        }
        Ok(out)
    }

    /// How many values are missing, by column, in words; none if none are.
    fn lacking<C: Borrow<Cells>>(&self, cells: &[C]) -> Option<String> {
        let mut found: Vec<(usize, &str)> = (self.columns.iter().zip(cells))
            .map(|(column, cells)| (cells.borrow().missing(), column.name.as_str()))
            .filter(|(missing, _)| *missing > 0)
            .collect();
        found.sort_by_key(|(missing, _)| std::cmp::Reverse(*missing));
        let listed = found.iter().map(|(missing, name)| format!("{missing} in `{}`", show(name)));
        (!found.is_empty()).then(|| list(listed, found.len()))
    }

    fn refuse_missing<C: Borrow<Cells>>(&self, cells: &[C], purpose: Purpose) -> Result<(), Fault> {
        let Some(found) = self.lacking(cells) else { return Ok(()) };
        let gap = |cells: &C| cells.borrow().iter().position(|cell| matches!(cell, Cell::Missing));
        let first = cells.iter().filter_map(gap).min().map_or(0, |row| row + 1);
        let message = Message::new(format!(
            "values are missing or NaN: {found}, the first in row {first}: fill them in, "
        ));
        let message = match purpose {
            Purpose::Fit => {
                message.say("leave these rows out").advise("missing", "drop").say(", or let means")
            }
            Purpose::Ask => message.say("or fit a model that lets means"),
        };
        let message = message.say(" stand there").advise("missing", "mean");
        let message = message.say(", with inputs that say where").advise("missing", "indicator");
        Err(Fault::Columns(message))
    }

    /// What was done about values that are missing.
    fn note<C: Borrow<Cells>>(&self, cells: &[C], dropped: usize) -> Option<String> {
        let found = self.lacking(cells)?;
        if dropped > 0 {
            let rows = cells.first().map_or(0, |cells| cells.borrow().len());
            return Some(format!(
                "values are missing: {found}: {dropped} of {rows} rows are left out"
            ));
        }
        let flags: Vec<String> = self.columns.iter().filter_map(Column::flag).collect();
        let flags = saying_where(&flags);
        Some(format!("values are missing: {found}: the means of the fit stand for them{flags}"))
    }
}

/// That inputs say where a value is missing.
fn saying_where(flags: &[String]) -> String {
    if flags.is_empty() {
        return String::new();
    }
    let listed = flags.iter().map(|name| format!("`{}`", show(name)));
    format!(", and {} say where", list(listed, flags.len()))
}

/// Some names, and how many more there are.
fn list(names: impl Iterator<Item = String>, count: usize) -> String {
    let mut listed: Vec<String> = names.take(LISTED).collect();
    if count > LISTED {
        listed.push(format!("and {} more", count - LISTED));
    }
    listed.join(", ")
}
