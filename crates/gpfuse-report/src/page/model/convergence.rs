//! How the chains of a model went.

use gpfuse::Fitted;
use gpfuse::diagnose::ChainWeights;

use crate::page::document::{Block, Cell, Column, Section, Table};

/// R-hat and effective sample sizes of what labels do not change, and the chains one by one.
pub(super) fn convergence(fitted: &Fitted) -> Section {
    let d = &fitted.diagnostics;
    let words = "R-hat should be at most 1.01 and effective sample sizes 400 or more, or R-hat at most 1.05 and \
                 the Monte Carlo error at no row above its limit: 0.05 nats of a log likelihood, 5 % of a weight, 0.01 \
                 standard deviations of a fused mean. All \
                 quantities are such that relabelling the experts does not change them; those of \
                 rows are at up to 50 training rows, with the worst and the median shown.";
    let columns = vec![
        Column::words("Quantity"),
        Column::number("R-hat, worst"),
        Column::number("R-hat, median"),
        Column::unit("Bulk ESS, least", "draws"),
        Column::unit("Bulk ESS, median", "draws"),
        Column::unit("Tail ESS, least", "draws"),
        Column::number("Error over its limit, worst"),
    ];
    let rows = d.quantities.iter().map(|q| {
        vec![
            Cell::words(q.name.clone()),
            Cell::fixed(Some(q.rhat_max), 3),
            Cell::fixed(Some(q.rhat_median), 3),
            Cell::fixed(Some(q.ess_bulk_min), 0),
            Cell::fixed(Some(q.ess_bulk_median), 0),
            Cell::fixed(Some(q.ess_tail_min), 0),
            Cell::fixed(Some(q.error_max), 2),
        ]
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let section = Section::new("convergence", "Convergence");
    if rows.is_empty() {
        return section.with(Block::text("A single point: there are no chains to judge."));
    }
    let sampler = format!(
        "The smallest E-BFMI of a chain is {} (should be 0.3 or more); a draw took {:.0} leapfrog \
         steps on average, and {:.0} % of the trajectories met the depth limit.",
        d.ebfmi_min.map_or("not known".into(), |e| format!("{e:.2}")),
        d.steps,
        100.0 * d.saturated
    );
    let caption = "Convergence of the chains".into();
    section
        .with(Block::text(words))
        .with(Block::Table(Table { caption, long: false, columns, rows }))
        .with(Block::text(sampler))
        .with_all(d.combined.as_ref().map(|found| Block::Table(chains(found))))
}

fn chains(found: &ChainWeights) -> Table {
    let behind = found.behind();
    let columns = vec![
        Column::words("Chain"),
        Column::number("Weight"),
        Column::unit("Log density of rows left out", "nats per row"),
        Column::unit("Below the best", "nats per row"),
        Column::unit(&format!("k-hat above {:.2}", found.good_khat), "rows"),
        Column::words("Mode"),
    ];
    let row = |(i, chain): (usize, &gpfuse::diagnose::ChainWeight)| {
        vec![
            Cell::words(format!("Chain {}", i + 1)),
            Cell::fixed(Some(chain.weight), 3),
            Cell::fixed(Some(chain.elpd), 3),
            match chain.behind_se {
                Some(_) => Cell::measured(Some(chain.behind), chain.behind_se),
                None => Cell::measured(Some(0.0), None),
            },
            Cell::count(chain.bad),
            Cell::words(if behind.contains(&i) { "another mode" } else { "with the best" }),
        ]
    };
    let rows = found.chains.iter().enumerate().map(row).collect();
    let caption = format!("The chains, each scored alone on {} training rows", found.rows);
    Table { caption, long: false, columns, rows }
}
