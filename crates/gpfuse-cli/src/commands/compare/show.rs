//! A comparison for people.

use gpfuse::compare::{Comparison, Scored};
use gpfuse::settings::Style;

use super::doubtful;
use crate::print;

/// What a reader should know, on standard error.
pub(super) fn warn(comparison: &Comparison) {
    for (who, scored) in comparison.scored() {
        let warnings = scored.convergence.iter().flat_map(|c| print::rendered(&c.warnings));
        print::warn(warnings.map(|w| format!("{who}: {w}")));
        let notes = print::rendered(&scored.notes);
        notes.iter().for_each(|note| print::note(&format!("note: {who}: {note}")));
    }
}

pub(super) fn table(comparison: &Comparison) -> Vec<String> {
    let middle: &[&str] =
        if comparison.left_out { &["k-hat"] } else { &["CRPS", "RMSE", "in 95 %"] };
    let start = ["method", "NLPD", "row error", "to best", "its error"];
    let head = [&start[..], middle, &["R-hat", "fit s", "predict s"]].concat();
    let mut rows = vec![head.iter().map(|name| (*name).to_string()).collect::<Vec<_>>()];
    let best = comparison.scored().next().map(|(_, scored)| scored);
    for entry in &comparison.entries {
        let mut row = vec![entry.contestant.to_string()];
        match (&entry.outcome, best) {
            (Ok(scored), Some(best)) => row.extend(cells(scored, best)),
            _ => row.push("failed".into()),
        }
        rows.push(row);
    }
    let mut out = print::table(&rows);
    out.push(String::new());
    out.extend(legend(comparison));
    for entry in &comparison.entries {
        if let Err(e) = &entry.outcome {
            out.push(format!("{} failed: {}", entry.contestant, e.render(Style::CommandLine)));
        }
    }
    out
}

fn cells(scored: &Scored, best: &Scored) -> Vec<String> {
    let mut row = vec![print::judged(&scored.nlpd, &best.nlpd), print::error(scored.nlpd.se)];
    row.extend(match scored.difference {
        Some(d) if !std::ptr::eq(scored, best) => {
            [print::supported(d.mean, d.se), print::error(d.se)]
        }
        _ => ["-".into(), "-".into()],
    });
    match (&scored.scores, &best.scores, scored.trust) {
        (Some(scores), Some(lead), _) => row.extend([
            print::judged(&scores.crps, &lead.crps),
            print::judged(&scores.rmse, &lead.rmse),
            print::supported(scores.coverage[2].value, scores.coverage[2].se),
        ]),
        (_, _, Some(trust)) => {
            let khat = trust.worst_khat.map_or("-".into(), |k| format!("{k:.2}"));
            row.push(if trust.bad_rows > 0 { format!("{khat}!") } else { khat });
        }
        _ => row.push("-".into()),
    }
    let rhat = scored.convergence.as_ref().map(|c| {
        let value = c.rhat_max.map_or("-".into(), |r| format!("{r:.2}"));
        if c.passed { value } else { format!("{value}!") }
    });
    row.push(rhat.unwrap_or_else(|| "-".into()));
    row.extend([scored.fit_seconds, scored.predict_seconds].map(print::seconds));
    row
}

fn legend(comparison: &Comparison) -> Vec<String> {
    let rows = print::count(comparison.rows, "row");
    let mut out =
        vec!["NLPD: mean negative log predictive density, lower is better; in nats.".into()];
    out.push(match comparison.left_out {
        true => format!(
            "rows: {rows} of the training table, each left out in turn. Joint methods and gp \
             learn\n      from all others, experts only from their own: test rows judge more fairly."
        ),
        false => format!("rows: {rows} of the test table."),
    });
    out.push("row error: of the choice of rows.".into());
    out.push(
        "to best: NLPD less that of the first line, row by row; within two of its errors of 0 \
         the two cannot be told apart."
            .into(),
    );
    if comparison.scored().any(|(_, s)| doubtful(s)) {
        out.push("!: its diagnostics do not pass; the warnings say why.".into());
    }
    let first = comparison.scored().next();
    if let Some((who, _)) = first.filter(|(_, s)| s.trust.is_some_and(|t| t.bad_rows > 0)) {
        out.push(format!(
            "{who} stands first by scores that are not to be trusted, and all are measured against \
             it:\n      use more draws, or give test rows."
        ));
    }
    if comparison.entries.iter().any(|e| e.contestant.needs_experts()) {
        out.push("fit s: training the experts is counted wherever they are used.".into());
    }
    out.extend(first.map(|(who, _)| {
        let (method, plain) = who.method();
        let plain = if plain { " --plain" } else { "" };
        format!("to fit {who}: gpfuse fit ... --method {method}{plain}")
    }));
    out
}
