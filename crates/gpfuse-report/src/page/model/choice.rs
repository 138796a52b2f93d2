//! How the number of experts was chosen.

use gpfuse::fit::{ExpertChoice, Tried};

use crate::page::document::{Block, Cell, Column, Section, Table};

/// The numbers of experts that were tried, and which was taken.
pub(super) fn choice(found: &ExpertChoice) -> Section {
    let words = format!(
        "The number of experts was chosen for {} from short runs, by how well they predict rows left out: \
         the smallest number within one standard error of the best, the difference being taken row by \
         row. It is {}.",
        found.method,
        match found.experts {
            1 => "1, which is het".into(),
            experts => experts.to_string(),
        }
    );
    let columns = vec![
        Column::words("Experts"),
        Column::unit("Log density of rows left out", "nats per row"),
        Column::unit("Below the best", "nats per row"),
        Column::unit("k-hat above 0.7", "% of rows"),
        Column::words("Verdict"),
    ];
    let row = |tried: &Tried| {
        vec![
            Cell::words(tried.experts.to_string()),
            Cell::measured(Some(tried.elpd), tried.se),
            match tried.behind_se {
                Some(_) => Cell::measured(Some(tried.behind), tried.behind_se),
                None => Cell::measured(Some(0.0), None),
            },
            Cell::fixed(Some(100.0 * tried.bad), 0),
            Cell::words(match (tried.experts == found.experts, tried.as_good()) {
                (true, _) => "chosen",
                (false, true) => "as good",
                (false, false) => "worse",
            }),
        ]
    };
    let rows = found.tried.iter().map(row).collect();
    let caption = format!("Numbers of experts, each scored on {} training rows", found.rows);
    Section::new("experts", "How many experts").with(Block::text(words)).with(Block::Table(Table {
        caption,
        long: false,
        columns,
        rows,
    }))
}
