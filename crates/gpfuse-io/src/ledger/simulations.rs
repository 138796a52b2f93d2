//! The simulations of a calibration study, each a line of a CSV table.

use std::path::Path;

use csv::{ReaderBuilder, Writer};
use gpfuse::calibrate::{Settings, Simulation};
use toml::Table;

use super::work::{same, settings};
use super::{LedgerError, SETTINGS, Work};
use crate::sweep_file::tables;
use crate::words::{first_line, in_one_line, show, show_path};

/// The columns before those of the quantities.
const COLUMNS: [&str; 5] = ["simulation", "ess", "divergences", "seconds", "error"];

/// The name of the version among the settings.
const VERSION: &str = "version";

/// The simulations of a study with quantities of these names.
#[derive(Debug, Clone)]
pub struct Simulations(pub Vec<String>);

impl Simulations {
    /// The settings of a study that a version of gpfuse runs, as they are written.
    pub fn settings(settings: &Settings, version: &str) -> Result<Table, LedgerError> {
        let mut table = table(settings)?;
        table.insert(VERSION.into(), version.into());
        Ok(table)
    }

    /// Refuse a folder whose study was told other settings; its version may be another.
    pub fn told(folder: &Path, here: &Settings) -> Result<(), LedgerError> {
        let Some((_, mut there)) = settings::<Simulations>(folder)? else {
            return Err(LedgerError::NoSettings {
                path: show_path(folder),
                file: Simulations::FILE,
            });
        };
        there.remove(VERSION);
        same::<Simulations>(folder, &there, &table(here)?)
    }
}

fn table(settings: &Settings) -> Result<Table, LedgerError> {
    let failed = |e| LedgerError::write(Path::new(SETTINGS), &std::io::Error::other(e));
    Table::try_from(settings).map_err(failed)
}

impl Work for Simulations {
    type Row = Simulation;
    type Key = u64;
    type Settings = Table;

    const NAME: &'static str = "study";
    const FILE: &'static str = "ranks.csv";
    const HEAD: &'static str = "# The settings of this calibration study, as used.\n\n";

    fn key(row: &Simulation) -> u64 {
        row.number
    }

    fn called(row: &Simulation) -> String {
        format!("simulation {}", row.number)
    }

    fn header(&self) -> Vec<u8> {
        line(COLUMNS.into_iter().map(String::from).chain(self.0.iter().cloned()))
    }

    /// One that failed has no ranks.
    fn write(&self, row: &Simulation) -> Vec<u8> {
        // One row is one line, whatever the error says.
        let error = row.error.lines().next().unwrap_or_default();
        let facts = [
            row.number.to_string(),
            row.ess.map_or(String::new(), |ess| ess.to_string()),
            row.divergences.to_string(),
            format!("{:.3}", row.seconds),
            error.to_string(),
        ];
        line(facts.into_iter().chain(row.ranks.iter().map(usize::to_string)))
    }

    fn read(&self, line: &[u8]) -> Result<Simulation, String> {
        let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line);
        let mut records = reader.records();
        let record =
            records.next().ok_or("it is empty")?.map_err(|e| first_line(&e.to_string()))?;
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
        let expected = COLUMNS.len() + if error.is_empty() { self.0.len() } else { 0 };
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

    fn parse(text: &str, path: &Path) -> Result<Table, LedgerError> {
        text.parse::<Table>().map_err(|e| LedgerError::NoToml {
            path: show_path(path),
            problem: in_one_line(&e.message().lines().collect::<Vec<_>>().join(", ")),
        })
    }

    fn text(settings: &Table) -> Result<String, String> {
        Ok(settings.to_string())
    }

    fn version(settings: &Table) -> Option<&str> {
        settings.get(VERSION)?.as_str()
    }

    fn difference(there: &Table, here: &Table) -> Option<String> {
        tables("", there, here)
    }

    fn go_on(_: &str) -> String {
        "go on with the old settings".into()
    }
}

fn line(cells: impl Iterator<Item = String>) -> Vec<u8> {
    let mut out = Writer::from_writer(Vec::new());
    // Writing into memory cannot fail.
    let _ = out.write_record(cells.map(String::into_bytes));
    out.into_inner().unwrap_or_default()
}
