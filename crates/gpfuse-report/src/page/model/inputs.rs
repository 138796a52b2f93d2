//! What each input does to the predictions and to the weights.

use gpfuse::fit::Effects;

use super::Model;
use crate::page::document::{Block, Cell, Column, Section, Table};
use crate::page::number::count;

/// The inputs by how far they move predictions and weights, and how much each expert is trusted; none where there is
/// one input and one expert.
pub(super) fn inputs(model: &Model<'_>) -> Option<Section> {
    let (mean, weights) = (model.view.moves.mean.as_ref(), model.view.moves.weights.as_ref());
    let first = mean.or(weights)?;
    let mut section = Section::new("inputs", "What each input does");
    for words in model.fitted.columns().words() {
        section = section.with(Block::text(words));
    }
    if model.fitted.inputs().len() > 1 {
        section = section
            .with(Block::text(
                "How far an input moves the prediction, or the share of an expert in the weights, where it takes the values that it has in the \
                 rows and the other inputs stay as they are: a standard deviation, averaged over rows. It counts what \
                 the input does alone and together with others, as far as the posterior draws agree on it.",
            ))
            .with(Block::Table(moves(model, first)));
    }
    if let Some(found) = weights {
        section = section.with(Block::text(format!("The weights: {}.", found.words())));
        section = section.with(Block::Table(trust(model, found)));
    }
    Some(section)
}

fn moves(model: &Model<'_>, first: &Effects) -> Table {
    let fitted = model.fitted;
    let of = |found: Option<&Effects>, input: usize| {
        let effects = found.into_iter().flat_map(|found| &found.inputs);
        effects.filter(|effect| effect.input == input).map(|effect| effect.moves).next()
    };
    let (mean, weights) = (model.view.moves.mean.as_ref(), model.view.moves.weights.as_ref());
    let mut columns = vec![Column::words("Input")];
    columns.extend(mean.map(|_| Column::unit("Moves the prediction by", fitted.target())));
    columns.extend(weights.map(|_| Column::number("Moves a share by")));
    let row = |name: String, moved: [Option<f64>; 2]| {
        let [of_mean, of_weight] = moved;
        let mut row = vec![Cell::words(name)];
        row.extend(mean.map(|_| Cell::fixed(of_mean, digits(mean.map_or(0.0, |m| m.spread)))));
        row.extend(weights.map(|_| Cell::fixed(of_weight, 3)));
        row
    };
    let each = first.inputs.iter().map(|effect| {
        let input = effect.input;
        row(fitted.inputs()[input].clone(), [of(mean, input), of(weights, input)])
    });
    let all = [mean, weights].map(|found| found.map(|found| found.spread));
    let rows = each.chain([row("all, from row to row".into(), all)]).collect();
    let at = |what: &str, found: Option<&Effects>| {
        found.map(|found| format!("{what} at {}", count(found.rows, "row")))
    };
    let at: Vec<String> =
        at("predictions", mean).into_iter().chain(at("weights", weights)).collect();
    let caption = format!("Inputs by how far they move it: {}", at.join(", "));
    Table { caption, long: false, columns, rows }
}

/// Decimals that show three digits of a number.
fn digits(value: f64) -> usize {
    if value > 0.0 { (2.0 - value.log10().floor()).clamp(0.0, 6.0) as usize } else { 2 }
}

/// The average weight of each expert.
fn trust(model: &Model<'_>, found: &Effects) -> Table {
    let columns = vec![
        Column::words("Expert"),
        Column::number("Share of the weight"),
        Column::number("5 %"),
        Column::number("95 %"),
    ];
    let row = |(name, s): (String, &gpfuse::predict::Summary)| {
        let numbers = [s.mean, s.low, s.high].map(|v| Cell::fixed(Some(v), 3));
        [Cell::words(name)].into_iter().chain(numbers).collect()
    };
    let rows = model.fitted.expert_names().into_iter().zip(&found.level).map(row).collect();
    let chain = found.chain.map_or(String::new(), |c| {
        format!(" of chain {}, as labels can differ between chains", c + 1)
    });
    let caption = format!("How much each expert is trusted, averaged over rows{chain}");
    Table { caption, long: false, columns, rows }
}
