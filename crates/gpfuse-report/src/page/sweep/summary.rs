//! A sweep in words, with the numbers.

use super::groups::{Group, groups};
use super::input::{Sweep, basis_name};
use crate::page::document::{Block, Section};
use crate::page::number::{count, list};

/// How much was run, what was best, and how far the chains can be trusted.
pub(super) fn summary(sweep: &Sweep) -> Section {
    let main = sweep.main_data();
    let all = groups(&sweep.folder.rows);
    let of_basis = |basis: &String| best(sweep, &all, main, basis);
    let items: Vec<String> = sweep.bases().iter().filter_map(of_basis).collect();
    let mut section = Section::new("summary", "Summary").with(Block::text(amount(sweep)));
    if !items.is_empty() {
        section = section.with(Block::List { items });
    }
    section.with(Block::text(trust(sweep)))
}

fn amount(sweep: &Sweep) -> String {
    let (done, failed) = (sweep.folder.rows.len(), failures(sweep));
    let spent: f64 = sweep.folder.rows.iter().map(|r| r.fit_seconds + r.predict_seconds).sum();
    let spent = match spent {
        s if s < 120.0 => format!("{:.0} s", s.ceil()),
        s => format!("{:.0} minutes", s / 60.0),
    };
    let planned = match sweep.folder.file.keys().len() {
        n if n > done => format!(" of {n}: the sweep is not complete"),
        _ => String::new(),
    };
    let failed = match failed {
        0 => "none failed".into(),
        n => format!("{n} failed and {} no score", if n == 1 { "has" } else { "have" }),
    };
    let names: Vec<String> = sweep.bases().iter().map(|b| basis_name(b)).collect();
    let bases = if names.len() == 1 { "The basis is" } else { "The bases are" };
    format!(
        "{} finished{planned}; {failed}. Each cell is one fit of one method on one split, scored \
         by its mean negative log predictive density (NLPD, nats per row, lower is better) on rows \
         that it has not seen. {bases} {}. By the clock, the cells took {spent} one after the other.",
        count(done, "cell"),
        list(&names)
    )
}

/// Cells that failed.
pub(super) fn failures(sweep: &Sweep) -> usize {
    sweep.folder.rows.iter().filter(|row| row.scored().is_none()).count()
}

/// The best setting on a basis, and by how much it is ahead of the best other method.
fn best(sweep: &Sweep, all: &[Group<'_>], main: &str, basis: &str) -> Option<String> {
    let on: Vec<&Group<'_>> =
        all.iter().filter(|g| g.key.data == main && g.key.basis == basis).collect();
    let lowest = |other_than: Option<&str>| {
        let rivals = on.iter().filter(|g| other_than != Some(g.key.arm.as_str()));
        let scored = rivals.filter_map(|g| Some((g, g.mean(0.0)?)));
        scored.min_by(|a, b| a.1.value.total_cmp(&b.1.value))
    };
    let (first, mean) = lowest(None)?;
    let ahead = lowest(Some(&first.key.arm)).and_then(|(second, _)| {
        let gap = first.gap(second, sweep.ratio())?;
        let sure = match gap.se {
            Some(e) if gap.value < 2.0 * e => ", which is less than two standard errors",
            _ => "",
        };
        Some(format!(
            "; {} lower than the next method, {}, on the same {}{sure}",
            gap.shown(),
            second.words(sweep),
            count(gap.count, "split"),
        ))
    });
    Some(format!(
        "{}: best is {}, with a mean NLPD of {} over {}{}.",
        basis_name(basis),
        first.words(sweep),
        mean.shown(),
        count(mean.count, "split"),
        ahead.unwrap_or_default()
    ))
}

fn trust(sweep: &Sweep) -> String {
    let judged: Vec<bool> = sweep.folder.rows.iter().filter_map(|row| row.passed).collect();
    let passed = judged.iter().filter(|p| **p).count();
    match judged.len() {
        0 => "No cell has chains whose diagnostics could be judged.".into(),
        n => format!(
            "The diagnostics pass in {passed} of {n} runs ({:.0} %). Where they do not, the score \
             is still one of a real prediction, but another run may give another: see the section \
             on convergence. Errors of means are standard errors over splits; differences are \
             taken split by split on the same rows, and their errors are corrected for the rows \
             that splits share.",
            100.0 * passed as f64 / n as f64
        ),
    }
}
