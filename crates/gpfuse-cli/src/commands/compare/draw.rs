//! The figure of a comparison.

use gpfuse::compare::{Comparison, Contestant, Scored};

use crate::print;
use gpfuse_report::figure::{Bar, Kind, Row, Scene, forest};

pub(super) fn scene(comparison: &Comparison) -> Scene {
    let rows: Vec<Row> = comparison
        .entries
        .iter()
        .map(|entry| row(entry.contestant, entry.outcome.as_ref().ok()))
        .collect();
    let n = comparison.rows;
    let rows_scored = match comparison.left_out {
        true => format!("of {} left out in turn", print::count(n, "row")),
        false => format!("on {}", print::count(n, "test row")),
    };
    let title = format!("NLPD {rows_scored} (nats per row, lower is better)");
    let doubted = rows.iter().any(|row| row.label.starts_with('*'));
    let foot = if doubted { "* its diagnostics do not pass" } else { "" };
    let panels =
        ["NLPD, \u{b1} 1 standard error", "difference to the best, \u{b1} 2 standard errors"];
    forest(&title, panels, "nats per row", foot, &rows)
}

fn row(contestant: Contestant, scored: Option<&Scored>) -> Row {
    let kind = match contestant {
        Contestant::Rule(_) => Kind::Rule,
        Contestant::SingleGp => Kind::Single,
        _ => Kind::Method,
    };
    let star = if scored.is_some_and(super::doubtful) { "* " } else { "" };
    let bars = scored.and_then(|s| {
        let difference = s.difference?;
        Some([
            Bar { centre: s.nlpd.value, half: s.nlpd.se.unwrap_or(0.0) },
            Bar { centre: difference.mean, half: 2.0 * difference.se.unwrap_or(0.0) },
        ])
    });
    Row { label: format!("{star}{contestant}"), kind, bars }
}
