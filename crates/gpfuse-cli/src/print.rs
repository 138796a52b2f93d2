//! Numbers and tables for people: no more digits than the error supports.

use std::io::{self, Write};

use gpfuse::diagnose::{ChainWeights, Diagnostics};
use gpfuse::fit::{ExpertChoice, Worth};
use gpfuse::metrics::Score;
use gpfuse::settings::{Message, Style};
pub(crate) use gpfuse_report::page::number::count;
use serde::Serialize;

/// Print lines to standard output; a reader that has left is no error.
pub(crate) fn lines(lines: &[String]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = lines.iter().try_for_each(|l| writeln!(out, "{l}")).and_then(|()| out.flush());
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::from(e).context("standard output"))
        }
        _ => Ok(()),
    }
}

/// Print a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    lines(&[serde_json::to_string_pretty(value)?])
}

/// An error below this is one of rounding.
const NOTHING: f64 = 1e-9;

/// Decimals that an error supports: its first significant digit.
fn decimals(error: f64) -> usize {
    if error > 0.0 { (-error.log10().floor()).clamp(0.0, 8.0) as usize } else { 2 }
}

/// A number with so many decimals; a huge one with an exponent.
fn fixed(value: f64, digits: usize) -> String {
    if value.abs() < 1e9 { format!("{value:.digits$}") } else { format!("{value:.3e}") }
}

/// A score with no more digits than its Monte Carlo error supports, and one more than the error over rows
/// does.
pub(crate) fn value(score: &Score) -> String {
    fixed(score.value, digits(score))
}

fn digits(score: &Score) -> usize {
    let rows = score.se.filter(|se| *se > NOTHING).map_or(3, |se| decimals(se) + 1);
    score.mcse.filter(|e| *e > NOTHING).map_or(rows, |e| decimals(e).min(rows))
}

/// A number with no more digits than its error supports.
pub(crate) fn supported(number: f64, error: Option<f64>) -> String {
    fixed(number, error.map_or(3, decimals))
}

/// The same in a column where the first score, `lead`, sets the most digits.
pub(crate) fn judged(score: &Score, lead: &Score) -> String {
    fixed(score.value, digits(score).min(digits(lead)))
}

/// Seconds.
pub(crate) fn seconds(seconds: f64) -> String {
    format!("{seconds:.*}", if seconds < 1.0 { 3 } else { 1 })
}

/// An error with its first significant digit, or a dash.
pub(crate) fn error(error: Option<f64>) -> String {
    match error.filter(|e| e.is_finite()) {
        None => "-".into(),
        Some(e) if e <= NOTHING => "0".into(),
        Some(e) => fixed(e, decimals(e)),
    }
}

/// Left-aligned first column, the others right-aligned, two spaces between.
pub(crate) fn table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter().filter_map(|r| r.get(c)).map(|v| v.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().enumerate().map(|(c, v)| match c {
                0 => format!("{v:<w$}", w = widths[0]),
                _ => format!("{v:>w$}", w = widths[c]),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
        })
        .collect()
}

/// The scores as a table.
pub(crate) fn scores(scores: &[(String, &Score)]) -> Vec<String> {
    let head = ["score", "value", "MC error", "row error"].map(String::from).to_vec();
    let row =
        |(name, s): &(String, &Score)| vec![name.clone(), value(s), error(s.mcse), error(s.se)];
    table(&[head].into_iter().chain(scores.iter().map(row)).collect::<Vec<_>>())
}

/// The diagnostics as a table.
pub(crate) fn diagnostics(d: &Diagnostics) -> Vec<String> {
    if d.quantities.is_empty() {
        let what = if d.passed() { "nothing was sampled" } else { "a single point" };
        return vec![format!("{what}: no chains to judge")];
    }
    let head = [
        "convergence",
        "R-hat max",
        "median",
        "ESS bulk min",
        "median",
        "ESS tail min",
        "error/limit",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for q in &d.quantities {
        rows.push(vec![
            q.name.clone(),
            number(q.rhat_max, 2),
            number(q.rhat_median, 2),
            number(q.ess_bulk_min, 0),
            number(q.ess_bulk_median, 0),
            number(q.ess_tail_min, 0),
            number(q.error_max, 2),
        ]);
    }
    let mut out = table(&rows);
    out.push(format!(
        "{} x {}, {}, E-BFMI {}, {:.0} leapfrog steps a draw, {:.0} % at the depth limit",
        count(d.chains, "chain"),
        count(d.draws, "draw"),
        count(d.divergences, "divergence"),
        d.ebfmi_min.map_or("-".into(), |e| number(e, 2)),
        d.steps,
        100.0 * d.saturated
    ));
    out.extend(d.combined.iter().flat_map(chains));
    out
}

/// How the number of experts was chosen, as a table and in words, with an empty line after.
pub(crate) fn chosen(choice: &ExpertChoice) -> Vec<String> {
    let head = ["experts", "log density", "its error", "below best", "its error", "k-hat > 0.7"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for tried in &choice.tried {
        let best = tried.behind_se.is_none();
        rows.push(vec![
            tried.experts.to_string(),
            number(tried.elpd, 3),
            error(tried.se),
            if best { "-".into() } else { supported(tried.behind, tried.behind_se) },
            error(tried.behind_se),
            format!("{:.0} %", 100.0 * tried.bad),
        ]);
    }
    let mut out = table(&rows);
    out.extend([choice.words(), String::new()]);
    out
}

/// What a fusion is worth on the rows that it learned from, as a table and in words, with an empty line after.
pub(crate) fn worth(worth: &Worth) -> Vec<String> {
    let left_out = format!("{} left out", count(worth.rows, "row"));
    let head = [&left_out, "NLPD", "its error", "above the fusion", "its error"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for line in &worth.lines {
        let fitted = line.above_se.is_none();
        let mark = if fitted { " *" } else { "" };
        rows.push(vec![
            format!("{}{mark}", line.what.words()),
            number(line.nlpd, 3),
            error(line.se),
            if fitted { "-".into() } else { number(line.above, 3) },
            error(line.above_se),
        ]);
    }
    let mut out = table(&rows);
    out.extend([format!("* {}", worth.words()), String::new()]);
    out
}

/// The chains as they were weighed: as a table where there is something to see, and in words.
fn chains(found: &ChainWeights) -> Vec<String> {
    if found.alike() && found.behind().is_empty() {
        return vec![found.words.clone()];
    }
    let khat = format!("k-hat > {:.2}", found.good_khat);
    let head = ["chain", "weight", "log density", "below best", "its error", &khat];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (c, chain) in found.chains.iter().enumerate() {
        let best = chain.behind_se.is_none();
        rows.push(vec![
            (c + 1).to_string(),
            format!("{:.3}", chain.weight),
            number(chain.elpd, 3),
            if best { "-".into() } else { supported(chain.behind, chain.behind_se) },
            error(chain.behind_se),
            count(chain.bad, "row"),
        ]);
    }
    let mut out = vec![String::new()];
    out.extend(table(&rows));
    out.push(found.words.clone());
    out
}

fn number(v: f64, digits: usize) -> String {
    if v.is_finite() { fixed(v, digits) } else { "-".into() }
}

/// A line on standard error; where that is gone, so is its reader, and work goes on.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Notes about a table go to standard error.
pub(crate) fn notes(path: &str, notes: impl IntoIterator<Item = String>) {
    notes.into_iter().for_each(|words| note(&format!("note: `{path}`: {words}")));
}

/// Warnings go to standard error.
pub(crate) fn warn(warnings: impl IntoIterator<Item = String>) {
    warnings.into_iter().for_each(|warning| note(&format!("warning: {warning}")));
}

/// Messages of the library, with advice as it is typed.
pub(crate) fn rendered(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.render(Style::CommandLine)).collect()
}

/// Diagnostics as JSON, with warnings in words.
pub(crate) fn diagnostics_json(found: &Diagnostics) -> serde_json::Value {
    let mut json = serde_json::json!(found);
    json["warnings"] = rendered(&found.warnings).into();
    json
}
