//! The page: every claim with its target beside its result.

use std::collections::BTreeSet;
use std::path::Path;

use gpfuse_report::page::document::{Block, Cell, Column, Document, Section, Table};
use gpfuse_report::page::{Album, Page};

use crate::{Finding, Outcome, Record, Study};

/// All studies in full may take so long on two cores.
const MINUTES: f64 = 40.0;

/// Write the page of some studies with their records; a study without one was not run. `building` are
/// the seconds before the first of them.
pub fn write(
    out: &Path,
    all: &[(&Study, Option<Record>)],
    building: Option<f64>,
) -> anyhow::Result<()> {
    let mut album = Album::default();
    let mut sections = vec![overview(all, building)];
    for (study, record) in all {
        let figures = (study.figures)(&mut album).unwrap_or_else(|error| {
            vec![Block::text(format!("The figures cannot be drawn: {error:#}"))]
        });
        sections.push(section(study, record.as_ref()).with_all(figures));
    }
    let document = Document {
        title: "Can gpfuse be trusted?".into(),
        under: "What was asked of it, what it had to show, and what it showed".into(),
        sections,
    };
    Page { document, drawings: album.drawings }.write(out, None)
}

fn overview(all: &[(&Study, Option<Record>)], building: Option<f64>) -> Section {
    let none = || Cell::words("–");
    let row = |(study, record): &(&Study, Option<Record>)| {
        let Some(record) = record else {
            let state = Cell::verdict("not run", "unclear");
            return vec![Cell::words(study.title), state, none(), none(), none(), none()];
        };
        let (met, missed, left) = counts(&record.findings);
        let state = match (missed, left) {
            (0, 0) if met == 0 => Cell::words("told"),
            (0, 0) => Cell::verdict("met", "seen"),
            (0, _) if met == 0 => Cell::verdict("not run", "unclear"),
            (0, _) => Cell::verdict("in part", "unclear"),
            _ => Cell::verdict("missed", "not-seen"),
        };
        let seconds = Cell::fixed(Some(record.seconds), 0);
        let name =
            if record.short { format!("{} (short)", study.title) } else { study.title.into() };
        vec![
            Cell::words(name),
            state,
            Cell::count(met),
            Cell::count(missed),
            Cell::count(left),
            seconds,
        ]
    };
    let columns = vec![
        Column::words("Study"),
        Column::words("Verdict"),
        Column::number("Met"),
        Column::number("Missed"),
        Column::number("Not run"),
        Column::unit("Time", "s"),
    ];
    let mut rows: Vec<Vec<Cell>> = all.iter().map(row).collect();
    if building.is_some() {
        let (name, time) = (Cell::words("Tools and building"), Cell::fixed(building, 0));
        rows.push(vec![name, none(), none(), none(), none(), time]);
    }
    rows.push(whole(all, building));
    let section = Section::new("overview", "All studies");
    let commits: BTreeSet<&str> =
        all.iter().flat_map(|(_, record)| record).map(|record| record.commit.as_str()).collect();
    let section = match commits.len() {
        0 | 1 => section,
        n => section.with(Block::text(format!(
            "These records are of {n} states of the sources: each study names its own."
        ))),
    };
    section.with(table("The studies and how many targets each met", columns, rows))
}

/// The last row: all findings, and whether the full forms together were fast enough.
fn whole(all: &[(&Study, Option<Record>)], building: Option<f64>) -> Vec<Cell> {
    let records: Vec<&Record> = all.iter().flat_map(|(_, record)| record).collect();
    let (met, missed, left) = records
        .iter()
        .map(|record| counts(&record.findings))
        .fold((0, 0, 0), |(met, missed, left), counts| {
            (met + counts.0, missed + counts.1, left + counts.2)
        });
    let seconds =
        building.unwrap_or(0.0) + records.iter().map(|record| record.seconds).sum::<f64>();
    let full = records.len() == all.len() && !records.iter().any(|record| record.short);
    let state = match full {
        true if seconds < 60.0 * MINUTES => Cell::verdict("in time", "seen"),
        true => Cell::verdict("too slow", "not-seen"),
        false => Cell::words("–"),
    };
    vec![
        Cell::words(format!("All of them (target: below {MINUTES} minutes on two cores)")),
        state,
        Cell::count(met),
        Cell::count(missed),
        Cell::count(left),
        Cell::fixed(Some(seconds), 0),
    ]
}

fn section(study: &Study, record: Option<&Record>) -> Section {
    let section = Section::new(study.name, study.title).with(Block::text(study.about));
    let Some(record) = record else { return section.with(Block::text("This study was not run.")) };
    let columns = ["Claim", "Verdict", "Target", "Result", "How"];
    let columns = columns.into_iter().map(Column::words).collect();
    let rows = record.findings.iter().map(row).collect();
    let form = if record.short { "short" } else { "full" };
    let Record { version, commit, seed, .. } = record;
    let made = format!("gpfuse {version}, commit {commit}, seed {seed}, {form} form.");
    let section = section.with(Block::text(made));
    section.with(table(&format!("{}: target beside result", study.title), columns, rows))
}

fn row(finding: &Finding) -> Vec<Cell> {
    let verdict = match finding.outcome {
        Outcome::Met => Cell::verdict("met", "seen"),
        Outcome::Missed => Cell::verdict("missed", "not-seen"),
        Outcome::NotRun => Cell::verdict("not run", "unclear"),
        // No verdict, and not in the style of one.
        Outcome::Told => Cell::words("told"),
    };
    let words = |text: &str| Cell::words(text);
    vec![
        words(&finding.claim),
        verdict,
        words(&finding.target),
        words(&finding.result),
        words(&finding.note),
    ]
}

fn table(caption: &str, columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Block {
    Block::Table(Table { caption: caption.into(), long: false, columns, rows })
}

/// How many findings are met, missed and not run; what is only told is none of them.
fn counts(findings: &[Finding]) -> (usize, usize, usize) {
    let of = |outcome| findings.iter().filter(|f| f.outcome == outcome).count();
    (of(Outcome::Met), of(Outcome::Missed), of(Outcome::NotRun))
}
