//! What a fusion is worth on the rows that it learned from.

use gpfuse::fit::{Line, Worth};

use crate::page::document::{Block, Cell, Column, Section, Table};

/// Experts and fusions by how well they predict rows that were left out.
pub(super) fn worth(found: &Worth) -> Section {
    let words = format!(
        "How well each expert, and each way to weigh them, predicts training rows that were left out, without any \
         test rows: {}.",
        found.words()
    );
    let columns = vec![
        Column::words("Predictions"),
        Column::unit("NLPD of rows left out", "nats per row"),
        Column::unit("Above the fusion", "nats per row"),
    ];
    let row = |line: &Line| {
        let fitted = line.above_se.is_none();
        let name = line.what.words();
        vec![
            Cell::words(if fitted { format!("{name} (the fusion)") } else { name }),
            Cell::measured(Some(line.nlpd), line.se),
            Cell::measured(Some(line.above), line.above_se),
        ]
    };
    let caption = format!("Scores on {} training rows, each left out in turn", found.rows);
    let rows = found.lines.iter().map(row).collect();
    let table = Table { caption, long: false, columns, rows };
    Section::new("worth", "What the fusion is worth")
        .with(Block::text(words))
        .with(Block::Table(table))
}
