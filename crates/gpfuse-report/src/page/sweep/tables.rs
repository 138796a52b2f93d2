//! The tables of a sweep: means over splits, every cell, and how the chains went.

use gpfuse::sweep::Finished;

use super::groups::{Group, groups};
use super::input::{Sweep, basis_name};
use crate::page::document::{Block, Cell, Column, Section, Table};
use crate::page::number;

/// Means over splits, and every cell.
pub(super) fn tables(sweep: &Sweep) -> Section {
    let words = "Use the headings to sort; once more turns the order round. In the first table each \
                 number is a mean over splits with its standard error; in the second the error of \
                 an NLPD is that over test rows, and MC error is that of the draws.";
    Section::new("tables", "Tables")
        .with(Block::text(words))
        .with(Block::Table(means(sweep)))
        .with(Block::Table(cells(sweep)))
}

fn place(sweep: &Sweep, key: &gpfuse::sweep::Key) -> Vec<Cell> {
    vec![
        Cell::words(sweep.label(&key.arm)),
        Cell::words(key.data.clone()),
        Cell::words(basis_name(&key.basis)),
        Cell::count(key.size),
        Cell::count(key.experts),
    ]
}

fn heads() -> Vec<Column> {
    vec![
        Column::words("Method"),
        Column::words("Data"),
        Column::words("Basis"),
        Column::number("Size"),
        Column::number("K"),
    ]
}

fn means(sweep: &Sweep) -> Table {
    let mut columns = heads();
    columns.extend([
        Column::unit("Splits", "number"),
        Column::unit("NLPD", "nats per row"),
        Column::unit("CRPS", "units of the target"),
        Column::unit("RMSE", "units of the target"),
        Column::unit("Coverage of 95 %", "%"),
        Column::unit("Diagnostics pass", "% of runs"),
        Column::unit("Fit", "seconds"),
    ]);
    let row = |group: &Group<'_>| {
        let mut row = place(sweep, group.key);
        row.push(Cell::count(group.scores().len()));
        let measured = |get: fn(&Finished) -> Option<f64>| {
            let mean = group.mean_of(get);
            Cell::measured(mean.map(|m| m.value), mean.and_then(|m| m.se))
        };
        row.extend([
            measured(|r| r.scored()),
            measured(|r| r.crps),
            measured(|r| r.rmse),
            measured(|r| r.coverage_95.map(|c| 100.0 * c)),
        ]);
        let judged: Vec<bool> = group.rows.iter().filter_map(|r| r.passed).collect();
        row.push(Cell::share(judged.iter().filter(|p| **p).count(), judged.len()));
        row.push(measured(|r| Some(r.fit_seconds)));
        row
    };
    let rows = groups(&sweep.folder.rows).iter().map(row).collect();
    let caption = "Means over splits, each with its standard error".into();
    Table { caption, long: false, columns, rows }
}

fn cells(sweep: &Sweep) -> Table {
    let mut columns = heads();
    columns.extend([
        Column::number("Split"),
        Column::number("Seed"),
        Column::unit("NLPD", "nats per row"),
        Column::unit("MC error", "nats per row"),
        Column::unit("CRPS", "units of the target"),
        Column::unit("RMSE", "units of the target"),
        Column::unit("Coverage of 95 %", "%"),
        Column::words("Diagnostics"),
        Column::unit("Fit", "seconds"),
        Column::words("Error"),
    ]);
    let mut sorted: Vec<&Finished> = sweep.folder.rows.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    let row = |r: &&Finished| {
        let mut row = place(sweep, &r.key);
        row.extend([
            Cell::count(r.key.split),
            Cell { value: Some(r.key.seed as f64), ..Cell::words(r.key.seed.to_string()) },
            Cell::measured(r.scored(), r.nlpd_se),
            Cell::fixed(r.nlpd_mcse, 4),
            Cell::fixed(r.crps, 4),
            Cell::fixed(r.rmse, 4),
            Cell::fixed(r.coverage_95.map(|c| 100.0 * c), 1),
            Cell::words(match r.passed {
                Some(true) => "pass",
                Some(false) => "do not pass",
                None => number::NONE,
            }),
            Cell::fixed(Some(r.fit_seconds), 1),
            Cell::words(r.error.clone()),
        ]);
        row
    };
    let rows = sorted.iter().map(row).collect();
    Table { caption: "Every cell".into(), long: true, columns, rows }
}

/// How the chains of each method went on each basis.
pub(super) fn convergence(sweep: &Sweep) -> Table {
    let columns = vec![
        Column::words("Method"),
        Column::words("Basis"),
        Column::unit("Runs", "number"),
        Column::unit("Failed", "number"),
        Column::unit("Diagnostics pass", "% of runs"),
        Column::number("R-hat, median of runs"),
        Column::number("R-hat, worst row of any run"),
        Column::unit("ESS, median of runs", "draws"),
        Column::unit("ESS, least run", "draws"),
        Column::unit("Divergences", "all runs"),
        Column::unit("Steps", "per draw"),
    ];
    let mut rows = Vec::new();
    for basis in sweep.bases() {
        let mut arms: Vec<&str> = Vec::new();
        let listed = sweep.folder.file.arm.iter().map(|a| a.name.as_str());
        for arm in listed.chain(sweep.folder.rows.iter().map(|r| r.key.arm.as_str())) {
            if !arms.contains(&arm) {
                arms.push(arm);
            }
        }
        for arm in arms {
            let cells =
                sweep.folder.rows.iter().filter(|r| r.key.arm == arm && r.key.basis == basis);
            let cells: Vec<&Finished> = cells.collect();
            if !cells.is_empty() {
                rows.push(chains_of(sweep.label(arm), &basis, &cells));
            }
        }
    }
    Table { caption: "Chains of each method".into(), long: false, columns, rows }
}

fn chains_of(label: String, basis: &str, cells: &[&Finished]) -> Vec<Cell> {
    let judged: Vec<bool> = cells.iter().filter_map(|r| r.passed).collect();
    let all = |get: fn(&Finished) -> Option<f64>| -> Vec<f64> {
        cells.iter().filter_map(|r| get(r)).filter(|v| v.is_finite()).collect()
    };
    let steps = number::mean(&all(|r| r.leapfrogs), 0.0);
    vec![
        Cell::words(label),
        Cell::words(basis_name(basis)),
        Cell::count(cells.len()),
        Cell::count(cells.iter().filter(|r| r.scored().is_none()).count()),
        Cell::share(judged.iter().filter(|p| **p).count(), judged.len()),
        Cell::fixed(number::median(&all(|r| r.rhat_median)), 3),
        Cell::fixed(all(|r| r.rhat_max).into_iter().reduce(f64::max), 3),
        Cell::fixed(number::median(&all(|r| r.ess_median)), 0),
        Cell::fixed(all(|r| r.ess_median).into_iter().reduce(f64::min), 0),
        Cell::count(cells.iter().filter_map(|r| r.divergences).sum()),
        Cell::fixed(steps.map(|s| s.value), 0),
    ]
}
