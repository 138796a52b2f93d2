//! The settings of a sweep, the versions that ran it, and how to run it again.

use std::collections::BTreeMap;

use super::input::Sweep;
use super::tables;
use crate::page::document::{Block, Section};
use crate::page::number::{count, list};

/// How the chains went.
pub(super) fn convergence(sweep: &Sweep) -> Section {
    let words = "A run passes where R-hat is at most 1.01, bulk and tail ESS are at least 400, \
                 nothing diverged, E-BFMI is at least 0.3 and at most a tenth of the trajectories \
                 met the depth limit, all of quantities that relabelling the experts does not \
                 change. The columns below are of the log likelihood of training rows. Mixtures \
                 of experts have several modes: chains that sit in different ones do not pass, \
                 and the Monte Carlo error of their score includes the disagreement.";
    Section::new("convergence", "Convergence")
        .with(Block::text(words))
        .with(Block::Table(tables::convergence(sweep)))
}

/// The settings file.
pub(super) fn settings(sweep: &Sweep) -> Section {
    let words = "All settings of the sweep, in the form that `gpfuse sweep` reads.";
    Section::new("settings", "Settings")
        .with(Block::text(words))
        .with(Block::code("Settings file", sweep.folder.settings.clone()))
}

/// Versions and commands.
pub(super) fn reproduce(sweep: &Sweep) -> Section {
    let mut cells: BTreeMap<&str, usize> = BTreeMap::new();
    sweep.folder.rows.iter().for_each(|row| *cells.entry(row.version.as_str()).or_default() += 1);
    let ran: Vec<String> = cells
        .iter()
        .map(|(version, n)| format!("gpfuse {version} ({})", count(*n, "cell")))
        .collect();
    let words = format!(
        "The sweep was run by {}; this page was made by gpfuse {}. The same version and settings \
         give the same numbers on any number of threads, but for the seconds; a sweep that was \
         stopped goes on with the same command.",
        list(&ran),
        env!("CARGO_PKG_VERSION")
    );
    let path = sweep.folder.path.display().to_string();
    let folder = quoted(&path);
    let commands = format!(
        "cp {} again.toml\ngpfuse sweep again.toml --out again\ngpfuse report again\n\n# This \
         page once more:\ngpfuse report {folder}",
        quoted(&format!("{}/settings.toml", path.trim_end_matches('/'))),
    );
    Section::new("reproduce", "How to reproduce")
        .with(Block::text(words))
        .with(Block::code("Commands", commands))
        .with(Block::text(
            "The figures are also in the folder `figures` beside the results, as SVG and PNG; \
             `results.csv` holds the table of every cell.",
        ))
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_for_the_shell() {
        assert_eq!(quoted("runs/q"), "runs/q");
        assert_eq!(quoted("my runs"), "'my runs'");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
