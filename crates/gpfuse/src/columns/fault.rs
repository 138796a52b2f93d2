//! Why columns cannot become inputs.

use std::fmt;

use super::MOST_LEVELS;
use crate::error::show;
use crate::settings::{Message, Style};

/// Why columns cannot become inputs, with the cure.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// A cell that should hold a number.
    Cell {
        /// The number of the row, from 1.
        row: usize,
        /// The name of the column.
        column: String,
        /// What it holds.
        value: String,
    },
    /// More levels than a category has.
    Levels {
        /// The name of the column.
        column: String,
        /// How many levels there are.
        levels: usize,
        /// In how many rows.
        rows: usize,
        /// One of them.
        value: String,
    },
    /// What is wrong with whole columns.
    Columns(Message),
}

impl Fault {
    /// In the words of a front end.
    pub fn render(&self, style: Style) -> String {
        match self {
            Fault::Cell { row, column, value } => format!(
                "row {row}, column `{}`: `{}` is not a number: correct it or leave the column out",
                show(column),
                show(value)
            ),
            Fault::Levels { column, levels, rows, value } => {
                let flag = style.setting("exclude");
                let out = match style {
                    Style::CommandLine => format!(" with {flag}"),
                    Style::Python | Style::SettingsFile => String::new(),
                };
                format!(
                    "column `{}` holds {levels} different words in {rows} rows, as `{}`, and a category has at most \
                     {MOST_LEVELS}, each in two rows on average: leave the column out{out}, join its levels, or make \
                     numbers of what stands for numbers, as of dates the days since the first",
                    show(column),
                    show(value)
                )
            }
            Fault::Columns(message) => message.render(style),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::SettingsFile))
    }
}

impl std::error::Error for Fault {}
