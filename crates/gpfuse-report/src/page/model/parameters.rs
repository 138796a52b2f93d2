//! The hyperparameters of a model.

use gpfuse::Fitted;
use gpfuse::predict::Summary;

use crate::page::document::{Block, Cell, Column, Section, Table};

/// Posterior means and intervals of all that is not a coefficient.
pub(super) fn parameters(fitted: &Fitted) -> Section {
    let words = "Posterior means and 90 % intervals over all GPs of a kind, in the units of the \
                 scaled data: a label does not always mean the same expert.";
    let columns = vec![
        Column::words("Hyperparameter"),
        Column::unit("Mean", "scaled units"),
        Column::unit("5 %", "scaled units"),
        Column::unit("95 %", "scaled units"),
    ];
    let row = |(name, s): (String, Summary)| {
        let numbers = [s.mean, s.low, s.high].map(|v| Cell::fixed(Some(v), 3));
        [Cell::words(name)].into_iter().chain(numbers).collect()
    };
    let rows = fitted.hyperparameters(0.9, str::to_owned).into_iter().map(row).collect();
    let caption = "Hyperparameters, with 90 % intervals".into();
    Section::new("parameters", "Hyperparameters")
        .with(Block::text(words))
        .with(Block::Table(Table { caption, long: false, columns, rows }))
}
