//! The lines of the results by method, set and split.

use std::collections::BTreeMap;

use gpfuse::kernel::Kernel;
use gpfuse::metrics::{Difference, paired};
use gpfuse::model::Method;

use super::line::Line;
use super::run::{GP_LOO, gp_name};

/// The methods of the lines that `bench/peers_tables.py` writes.
pub(crate) const PEERS: [&str; 3] = ["ngboost", "sklearn-gp-rbf", "sklearn-gp-matern"];

/// All that is summed up.
pub(crate) struct Runs<'a> {
    pub(crate) lines: &'a [Line],
    /// In the order of the tables, those that have a line.
    pub(crate) methods: Vec<String>,
    /// In the order of the lines.
    pub(crate) sets: Vec<&'a str>,
}

/// The single GPs, one for each kernel.
pub(crate) fn gps() -> impl Iterator<Item = String> {
    Kernel::ALL.into_iter().map(gp_name)
}

/// The mean; NaN of nothing.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
    sum / n
}

/// A number to some digits, or a dash.
pub(crate) fn shown(value: f64, digits: usize) -> String {
    if value.is_nan() { "-".into() } else { format!("{value:.digits$}") }
}

/// A difference with its standard error.
pub(crate) fn signed(found: &Difference) -> String {
    format!("{:+.3} ± {}", found.mean, shown(found.se.unwrap_or(f64::NAN), 3))
}

/// The header of a table.
pub(crate) fn header(columns: &[&str]) -> String {
    format!("| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()))
}

impl<'a> Runs<'a> {
    pub(crate) fn new(lines: &'a [Line]) -> Runs<'a> {
        let known = [Method::Het, Method::Pogpe, Method::Mogpe, Method::Bhs, Method::Pbhs];
        let known = known.map(|m| m.to_string()).into_iter().chain(gps()).chain([GP_LOO.into()]);
        let known = known.chain(PEERS.map(String::from));
        let has = |method: &String| lines.iter().any(|line| line.text("method") == method);
        let mut sets: Vec<&str> = Vec::new();
        for line in lines {
            if !sets.contains(&line.text("set")) {
                sets.push(line.text("set"));
            }
        }
        Runs { lines, methods: known.filter(has).collect(), sets }
    }

    /// The sets with test rows that have a twin.
    pub(crate) fn with_twins(&self) -> Vec<&'a str> {
        self.sets.iter().filter(|set| self.about(set, "twins") > 0.0).copied().collect()
    }

    /// The lines of a method.
    pub(crate) fn of(&self, method: &str) -> Vec<&'a Line> {
        self.lines.iter().filter(|line| line.text("method") == method).collect()
    }

    /// A score by split, its mean over seeds.
    pub(crate) fn scores(&self, method: &str, set: &str, column: &str) -> BTreeMap<String, f64> {
        let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for line in self.of(method).iter().filter(|line| line.text("set") == set) {
            if let Some(score) = line.number(column) {
                all.entry(line.text("split").into()).or_default().push(score);
            }
        }
        all.into_iter().map(|(split, scores)| (split, mean(scores.into_iter()))).collect()
    }

    /// The mean of a score over splits.
    pub(crate) fn mean(&self, method: &str, set: &str, column: &str) -> f64 {
        mean(self.scores(method, set, column).into_values())
    }

    /// The mean of what all methods have in common.
    pub(crate) fn about(&self, set: &str, column: &str) -> f64 {
        let of_set = self.lines.iter().filter(|line| line.text("set") == set);
        mean(of_set.filter_map(|line| line.number(column)))
    }

    /// The kernel of a single GP that has the best mean over splits.
    pub(crate) fn best_gp(&self, set: &str, column: &str) -> Option<String> {
        let of = |method: &String| self.mean(method, set, column);
        gps().filter(|gp| !of(gp).is_nan()).min_by(|a, b| of(a).total_cmp(&of(b)))
    }

    /// The scores of two methods on the splits that both have.
    pub(crate) fn pairs(
        &self,
        method: &str,
        other: &str,
        set: &str,
        column: &str,
    ) -> (Vec<f64>, Vec<f64>) {
        let (mine, theirs) = (self.scores(method, set, column), self.scores(other, set, column));
        mine.iter().filter_map(|(split, score)| Some((*score, *theirs.get(split)?))).unzip()
    }

    /// How much larger a score is than that of another method, over the splits that both have.
    pub(crate) fn difference(
        &self,
        method: &str,
        other: &str,
        set: &str,
        column: &str,
    ) -> Option<Difference> {
        let (mine, theirs) = self.pairs(method, other, set, column);
        paired(&mine, &theirs).ok()
    }

    /// The share of a method's test rows that is inside an interval, all sets together, in percent.
    pub(crate) fn coverage(&self, method: &str, column: &str) -> f64 {
        let lines = self.of(method);
        let counts =
            lines.iter().filter_map(|line| Some((line.number(column)?, line.number("test_rows")?)));
        let (inside, all) =
            counts.fold((0.0, 0.0), |(inside, all), (c, n)| (inside + c * n, all + n));
        100.0 * inside / all
    }
}
