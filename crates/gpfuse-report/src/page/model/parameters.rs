//! The hyperparameters of a model.

use gpfuse::Fitted;
use gpfuse::fit::Experts;
use gpfuse::model::Kind;
use gpfuse::model::layout::Part;
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
    let mut rows = Vec::new();
    for part in fitted.model.layout().parts.iter().filter(|p| p.kind != Kind::Theta) {
        // The experts of a scale are given: each is known by its label.
        let each = part.kind == Kind::Scale;
        for i in 0..if each { part.count } else { part.width } {
            let s = summary(fitted, part, i);
            rows.push(vec![
                Cell::words(name(fitted, part, i)),
                Cell::fixed(Some(s.mean), 3),
                Cell::fixed(Some(s.low), 3),
                Cell::fixed(Some(s.high), 3),
            ]);
        }
    }
    let caption = "Hyperparameters, with 90 % intervals".into();
    Section::new("parameters", "Hyperparameters")
        .with(Block::text(words))
        .with(Block::Table(Table { caption, long: false, columns, rows }))
}

fn summary(fitted: &Fitted, part: &Part, i: usize) -> Summary {
    let draws = &fitted.draws;
    let places: Vec<usize> = match part.kind {
        Kind::Scale => vec![part.offset + i],
        _ => (0..part.count).map(|k| part.offset + k * part.width + i).collect(),
    };
    let of_draw =
        |q: &[f64]| -> Vec<f64> { places.iter().map(|at| part.kind.natural(q[*at])).collect() };
    let mut values: Vec<f64> = draws.iter().flat_map(of_draw).collect();
    match draws.weights() {
        None => Summary::of(&mut values, 0.9),
        Some(chains) => {
            let each = values.len() / chains.len();
            let weights: Vec<f64> = chains.iter().flat_map(|w| vec![*w; each]).collect();
            Summary::weighted(&values, &weights, 0.9)
        }
    }
}

fn name(fitted: &Fitted, part: &Part, i: usize) -> String {
    match (part.kind, &fitted.experts) {
        (Kind::Ell, _) => format!("{} of {}", part.name, fitted.inputs()[i]),
        (Kind::Scale, Experts::Named(names)) => format!("{} of {}", part.name, names[i]),
        (Kind::Scale, _) => format!("{} of expert {}", part.name, i + 1),
        _ => part.name.clone(),
    }
}
