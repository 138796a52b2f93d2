//! A simulation as a line of a CSV table, and back.

use csv::{ReaderBuilder, Writer};
use gpfuse::calibrate::Simulation;

use crate::words::{first_line, show};

/// The columns before those of the quantities.
const COLUMNS: [&str; 5] = ["simulation", "ess", "divergences", "seconds", "error"];

/// The first line.
pub(super) fn header(names: &[String]) -> Vec<u8> {
    line(COLUMNS.into_iter().map(String::from).chain(names.iter().cloned()))
}

/// A simulation as a line. One that failed has no ranks.
pub(super) fn write(row: &Simulation) -> Vec<u8> {
    // One row is one line, whatever the error says.
    let error = row.error.lines().next().unwrap_or_default();
    let own = [
        row.number.to_string(),
        row.ess.map_or(String::new(), |ess| ess.to_string()),
        row.divergences.to_string(),
        format!("{:.3}", row.seconds),
        error.to_string(),
    ];
    line(own.into_iter().chain(row.ranks.iter().map(usize::to_string)))
}

fn line(cells: impl Iterator<Item = String>) -> Vec<u8> {
    let mut out = Writer::from_writer(Vec::new());
    // Into memory: neither can fail.
    let _ = out.write_record(cells.map(String::into_bytes));
    out.into_inner().unwrap_or_default()
}

/// A simulation of `quantities` ranks from its line, or what is wrong with it.
pub(super) fn read(line: &[u8], quantities: usize) -> Result<Simulation, String> {
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line);
    let mut records = reader.records();
    let record = records.next().ok_or("it is empty")?.map_err(|e| first_line(&e.to_string()))?;
    if records.next().is_some() || record.iter().any(|cell| cell.contains('\n')) {
        return Err("it holds a line break".into());
    }
    let cell = |i: usize| record.get(i).unwrap_or_default();
    let whole = |i: usize| -> Result<u64, String> {
        cell(i)
            .parse()
            .map_err(|_| format!("cell {} is `{}`, no whole number", i + 1, show(cell(i))))
    };
    let number = |i: usize| -> Result<f64, String> {
        let value = cell(i).parse().ok().filter(|v: &f64| v.is_finite());
        value.ok_or_else(|| format!("cell {} is `{}`, no number", i + 1, show(cell(i))))
    };
    let error = cell(4).to_string();
    let expected = COLUMNS.len() + if error.is_empty() { quantities } else { 0 };
    if record.len() != expected {
        return Err(format!("it has {} cells, not {expected}", record.len()));
    }
    let rank = |i: usize| whole(i).map(|rank| usize::try_from(rank).unwrap_or(usize::MAX));
    Ok(Simulation {
        number: whole(0)?,
        ess: if cell(1).is_empty() { None } else { Some(number(1)?) },
        divergences: rank(2)?,
        seconds: number(3)?,
        ranks: (COLUMNS.len()..expected).map(rank).collect::<Result<_, _>>()?,
        error,
    })
}
