//! The scores of a model on a table.

use gpfuse::metrics::{LEVELS, Measured, Score, Scores, paired};

use super::Model;
use crate::page::document::{Block, Cell, Column, Section, Table};
use crate::page::number;

/// All scores with both of their errors, where there is a table.
pub(super) fn scores(model: &Model<'_>) -> Option<Section> {
    let (path, measured) = model.scored?;
    let columns = vec![
        Column::words("Score"),
        Column::words("Unit"),
        Column::number("Value, ± its error over rows"),
        Column::number("Monte Carlo error"),
    ];
    let target = format!("units of {}", model.fitted.target());
    let row = |(name, s): &(String, &Score)| {
        let (unit, times) = match name.as_str() {
            "NLPD" => ("nats per row", 1.0),
            "CRPS" | "RMSE" | "MAE" => (target.as_str(), 1.0),
            _ => ("% of rows", 100.0),
        };
        vec![
            Cell::words(first_large(name)),
            Cell::words(unit),
            Cell::measured(Some(times * s.value), s.se.map(|e| times * e)),
            match s.mcse {
                Some(e) => {
                    let value = Some(times * e);
                    Cell { value, ..Cell::words(number::error(times * e)) }
                }
                None => Cell::words(number::NONE),
            },
        ]
    };
    let rows = measured.named().iter().map(row).collect();
    let count = number::count(measured.rows(), "row");
    let caption = format!("Scores on {count} of {}", path.display());
    let words = "The error over rows is that of the choice of test rows, the Monte Carlo error \
                 that of the draws.";
    let all = Block::Table(Table { caption, long: false, columns, rows });
    let beside = match measured {
        Measured::All(scores) if !model.experts.is_empty() => Some(beside(model, scores)),
        _ => None,
    };
    let section = Section::new("scores", "Scores").with(Block::text(words)).with(all);
    Some(section.with_all(beside.map(Block::Table)))
}

/// A name with a large first letter.
fn first_large(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The fusion and each of its experts.
fn beside(model: &Model<'_>, fusion: &Scores) -> Table {
    let target = format!("units of {}", model.fitted.target());
    let mut columns = vec![
        Column::words("Predictions"),
        Column::unit("NLPD", "nats per row"),
        Column::unit("Above the fusion", "nats per row"),
        Column::unit("CRPS", &target),
        Column::unit("RMSE", &target),
    ];
    columns
        .extend(LEVELS.map(|level| Column::unit(&format!("Inside {:.0} %", 100.0 * level), "%")));
    let row = |name: String, scores: &Scores| {
        let measured = |s: &Score| Cell::measured(Some(s.value), s.se);
        // Row by row: what is hard for all of them is not an error of the difference.
        let losses = |s: &Scores| s.losses.iter().map(|row| row[0]).collect::<Vec<f64>>();
        let above = paired(&losses(scores), &losses(fusion)).ok();
        let error = above.and_then(|d| d.se).filter(|_| !std::ptr::eq(scores, fusion));
        let plain = [measured(&scores.nlpd)]
            .into_iter()
            .chain([Cell::measured(above.map(|d| d.mean), error)])
            .chain([&scores.crps, &scores.rmse].map(measured));
        let inside = scores.coverage.iter().map(|s| Cell::fixed(Some(100.0 * s.value), 0));
        [Cell::words(name)].into_iter().chain(plain).chain(inside).collect()
    };
    let experts = model.experts.iter().map(|(name, scores)| row(format!("expert {name}"), scores));
    let rows = experts.chain([row("the fusion".into(), fusion)]).collect();
    let caption = "The fusion beside each expert, on the same rows".into();
    Table { caption, long: false, columns, rows }
}
