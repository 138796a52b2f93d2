//! Cells that differ in split and seed alone, and what they say together.

use std::collections::BTreeMap;

use gpfuse::sweep::{Finished, Key};

use super::input::Sweep;
use crate::page::number::{Mean, mean};

/// Cells that differ in split and seed alone.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    /// The key of the first.
    pub(super) key: &'a Key,
    /// All of them.
    pub(super) rows: Vec<&'a Finished>,
}

/// The groups of all cells, in the order of their keys.
pub(super) fn groups(rows: &[Finished]) -> Vec<Group<'_>> {
    let mut sorted: Vec<&Finished> = rows.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    let mut out: BTreeMap<(&str, &str, usize, usize, &str), Group<'_>> = BTreeMap::new();
    for row in sorted {
        let Key { data, arm, basis, size, experts, .. } = &row.key;
        let group = out
            .entry((data, basis, *size, *experts, arm))
            .or_insert_with(|| Group { key: &row.key, rows: Vec::new() });
        group.rows.push(row);
    }
    out.into_values().collect()
}

impl Group<'_> {
    /// A number of the cells that did not fail, of each split its mean over seeds: seeds share all
    /// of their rows, and only splits say how much the rows matter.
    fn by_split(&self, get: impl Fn(&Finished) -> Option<f64>) -> BTreeMap<usize, f64> {
        let mut all: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.error.is_empty()) {
            if let Some(value) = get(row) {
                all.entry(row.key.split).or_default().push(value);
            }
        }
        all.into_iter().map(|(split, v)| (split, v.iter().sum::<f64>() / v.len() as f64)).collect()
    }

    /// The score of each split that has one, its mean over seeds.
    pub(super) fn scores(&self) -> Vec<f64> {
        self.by_split(Finished::scored).into_values().collect()
    }

    /// The number of cells that failed.
    pub(super) fn failed(&self) -> usize {
        self.rows.iter().filter(|row| row.scored().is_none()).count()
    }

    /// The mean score over splits, with `ratio` test rows for each training row in its error.
    pub(super) fn mean(&self, ratio: f64) -> Option<Mean> {
        mean(&self.scores(), ratio)
    }

    /// The mean of another number over splits, with the plain standard error.
    pub(super) fn mean_of(&self, get: impl Fn(&Finished) -> Option<f64>) -> Option<Mean> {
        mean(&self.by_split(get).into_values().collect::<Vec<f64>>(), 0.0)
    }

    /// How much lower the scores of `self` are than those of another on the splits that both have,
    /// with `ratio` test rows for each training row.
    pub(super) fn gap(&self, other: &Group<'_>, ratio: f64) -> Option<Mean> {
        let theirs = other.by_split(Finished::scored);
        let mine = self.by_split(Finished::scored).into_iter();
        let gaps: Vec<f64> =
            mine.filter_map(|(split, score)| Some(theirs.get(&split)? - score)).collect();
        mean(&gaps, ratio)
    }

    /// Whether the method has one expert by its nature.
    pub(super) fn single(&self) -> bool {
        self.rows.iter().all(|row| row.method == "het")
    }

    /// In words, such as `PoGPE with K = 3 and M = 30`.
    pub(super) fn words(&self, sweep: &Sweep) -> String {
        let label = sweep.label(&self.key.arm);
        let size = match (self.key.basis.as_str(), self.key.size) {
            (_, 0) => None,
            ("rff", m) => Some(format!("M = {m}")),
            (_, m) => Some(format!("{m} functions")),
        };
        let experts = (!self.single()).then(|| format!("K = {}", self.key.experts));
        let parts: Vec<String> = experts.into_iter().chain(size).collect();
        match parts.is_empty() {
            true => label,
            false => format!("{label} with {}", parts.join(" and ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::finished;
    use super::*;

    #[test]
    fn gaps_are_paired_and_failures_left_out() {
        let mut rows = Vec::new();
        for split in 0..4 {
            let base = 10.0 * split as f64;
            rows.push(finished("paper", "a", "rff", 30, 2, split, Some(base + 0.5)));
            rows.push(finished("paper", "b", "rff", 30, 2, split, Some(base + 1.0)));
        }
        rows[0].error = "no".into();
        let groups = groups(&rows);
        assert_eq!(groups.len(), 2);
        let gap = groups[0].gap(&groups[1], 0.25).unwrap();
        assert_eq!(gap.count, 3);
        assert!((gap.value - 0.5).abs() < 1e-12 && gap.se.unwrap() < 1e-12);
        assert_eq!(groups[0].scores().len(), 3);
        assert_eq!(groups[1].gap(&groups[0], 0.25).unwrap().value, -gap.value);
    }

    /// More seeds of the same splits are not more splits.
    #[test]
    fn seeds_do_not_narrow_errors() {
        let cell = |split: usize, seed: u64| {
            let mut row = finished("paper", "a", "rff", 30, 2, split, Some(split as f64));
            row.key.seed = seed;
            row
        };
        let error = |seeds: u64| {
            let rows: Vec<Finished> =
                (0..3).flat_map(|split| (0..seeds).map(move |seed| cell(split, seed))).collect();
            let groups = groups(&rows);
            assert_eq!(groups[0].scores(), [0.0, 1.0, 2.0]);
            groups[0].mean(0.0).unwrap().se.unwrap()
        };
        assert_eq!(error(1), error(8));
    }
}
