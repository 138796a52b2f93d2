//! A finished sweep for people and as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use gpfuse::sweep::{Finished, Key};
use gpfuse_io::ledger::Folder;
use gpfuse_io::sweep_file::{Study, Vary};
use serde_json::json;

use super::super::Outcome;
use crate::print;

/// The summary that is printed at the end.
pub(super) struct Summary<'a> {
    pub(super) folder: &'a Folder,
    pub(super) results: &'a Path,
    /// Cells that ran now.
    pub(super) ran: usize,
    pub(super) seconds: f64,
}

impl Summary<'_> {
    pub(super) fn show(&self, as_json: bool) -> anyhow::Result<Outcome> {
        let rows = &self.folder.rows;
        let failed: Vec<&Finished> = rows.iter().filter(|row| row.scored().is_none()).collect();
        let missing = self.folder.missing().len();
        if as_json {
            let failed = failed.iter().map(|r| json!({ "cell": r.key, "error": r.error }));
            print::json(&json!({
                "name": self.folder.file.name,
                "folder": self.folder.path,
                "version": self.folder.version,
                "results": self.results,
                "cells": rows.len() + missing,
                "finished": rows.len(),
                "ran": self.ran,
                "missing": missing,
                "failed": failed.collect::<Vec<_>>(),
                "seconds": self.seconds,
            }))?;
        } else {
            print::lines(&self.lines(missing))?;
        }
        let Some(first) = failed.first() else { return Ok(Outcome::Done) };
        bail!(
            "{} of {} failed, the first of them {}: {} (all are in `{}`)",
            failed.len(),
            print::count(rows.len(), "cell"),
            first.key,
            first.error,
            self.results.display()
        )
    }

    fn lines(&self, missing: usize) -> Vec<String> {
        let mut out = Vec::new();
        let several = self.folder.file.data.len() > 1;
        for study in &self.folder.file.study {
            for data in &study.data {
                let table = self.table(study, data);
                if table.len() < 2 {
                    continue;
                }
                let title = if study.title.is_empty() { &study.name } else { &study.title };
                let on = if several { format!(", data `{data}`") } else { String::new() };
                out.push(format!("{title}{on}"));
                out.extend(print::table(&table));
                out.push(String::new());
            }
        }
        if !out.is_empty() {
            out.push("Mean NLPD over splits and seeds, lower is better; in nats.".into());
        }
        let (cells, seconds) = (print::count(self.folder.rows.len(), "cell"), self.seconds);
        out.push(format!("{cells} finished, {} of them now: {seconds:.1} s", self.ran));
        if missing > 0 {
            let folder = self.folder.path.display();
            out.push(format!(
                "{missing} more are not: `gpfuse sweep {folder}/settings.toml --out {folder}` \
                 runs them, or join the parts that have them with --merge"
            ));
        }
        out.push(format!("wrote `{}`", self.results.display()));
        out
    }

    /// A row for each arm, a column for each value of what the study varies.
    fn table(&self, study: &Study, data: &str) -> Vec<Vec<String>> {
        let (what, values) = match study.vary {
            Vary::Experts => ("K", &study.experts),
            Vary::Size => ("size", &study.sizes),
        };
        let vary = |key: &Key| if study.vary == Vary::Experts { key.experts } else { key.size };
        let mut sums: BTreeMap<(&str, usize), (f64, usize)> = BTreeMap::new();
        let keys = self.folder.file.study_keys(study);
        for row in keys.iter().filter(|key| key.data == data).filter_map(|k| self.folder.row(k)) {
            if let Some(nlpd) = row.scored() {
                let sum = sums.entry((&row.key.arm, vary(&row.key))).or_default();
                *sum = (sum.0 + nlpd, sum.1 + 1);
            }
        }
        let mut head = vec!["NLPD".to_string()];
        head.extend(values.iter().map(|value| format!("{what} = {value}")));
        let mut table = vec![head];
        for arm in &study.arms {
            let shown = |value: usize| {
                // One GP is the same whatever the number of experts.
                let sum = sums.get(&(arm, value)).or_else(|| match study.vary {
                    Vary::Experts => sums.get(&(arm, 1)),
                    Vary::Size => None,
                });
                sum.map_or("-".into(), |(sum, n)| format!("{:.3}", sum / *n as f64))
            };
            if sums.keys().any(|(name, _)| name == arm) {
                let label = self.folder.file.arm(arm).map_or(arm.as_str(), |arm| arm.label());
                let cells = values.iter().map(|value| shown(*value));
                table.push([label.to_string()].into_iter().chain(cells).collect());
            }
        }
        table
    }
}
