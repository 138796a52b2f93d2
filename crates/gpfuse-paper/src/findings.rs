//! What the paper found, as contrasts over a finished sweep.
//!
//! Ajirak, Waxman, Llorente and Djurić (2023) report five findings, and that stacking gets worse
//! with more experts. Each is here a list of contrasts of mean test NLPD, above zero where the
//! finding holds. A finding is *seen* if all of its contrasts are surely above zero (p < 0.05
//! each, one-sided), *not seen* if one is surely below zero or none is surely above, and
//! *partly seen* otherwise.

use std::collections::{BTreeMap, BTreeSet};

use gpfuse::sweep::Finished;

use crate::Contrast;

/// Whether a finding holds in a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All of its contrasts surely hold.
    Seen,
    /// Some of them surely hold, and none is surely reversed.
    Partly,
    /// One is surely reversed, or none surely holds.
    NotSeen,
    /// The sweep does not have the cells, or one split only.
    Untested,
}

/// Which of the paper's figures a finding is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    /// Fig. 2a: against the number of experts.
    Experts,
    /// Fig. 2b: against the size of the basis.
    Size,
}

/// A finding of the paper, and what a sweep says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The finding, in words.
    pub says: &'static str,
    /// The figure behind it.
    pub panel: Panel,
    /// Whether it holds.
    pub verdict: Verdict,
    /// The contrasts that it consists of.
    pub contrasts: Vec<Contrast>,
}

/// The names that the paper's methods have as arms of a sweep.
pub const ARMS: [&str; 5] = ["bhs", "pbhs", "mogpe", "pogpe", "het"];
const STACKING: [&str; 2] = ["bhs", "pbhs"];
const JOINT: [&str; 2] = ["mogpe", "pogpe"];

/// The findings on one data set and basis, from the arms named in [`ARMS`] that have the method of
/// their name, with `ratio` test rows for each training row.
pub fn findings(rows: &[Finished], data: &str, basis: &str, ratio: f64) -> Vec<Finding> {
    let placed = rows.iter().filter(|row| row.key.data == data && row.key.basis == basis);
    let scores = Scores::new(placed.filter(|row| row.method == row.key.arm), ratio);
    vec![
        scores.trend("MoGPE and PoGPE get better with more experts.", JOINT, true),
        scores.ahead(),
        scores.product_beats_mixture(),
        scores.joint_beats_stacking(),
        scores.size_helps(),
        scores.trend("Stacking gets worse with more experts.", STACKING, false),
    ]
}

/// Something of each split.
type Splits<T = f64> = BTreeMap<usize, T>;

/// That of each arm, size of the basis and number of experts.
type Cells<T = f64> = BTreeMap<(String, usize, usize), Splits<T>>;

struct Scores {
    /// Mean NLPD, over seeds.
    cells: Cells,
    ratio: f64,
    /// The size at which the number of experts varies.
    size: usize,
    /// The numbers of experts at that size.
    experts: Vec<usize>,
    /// The number of experts at which the size varies.
    fixed: usize,
    /// The sizes with that number of experts.
    sizes: Vec<usize>,
}

/// The first value of the pairs that has the most second values, and these second values.
fn best_filled(pairs: impl Iterator<Item = (usize, usize)>) -> (usize, Vec<usize>) {
    let mut found: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    pairs.for_each(|(a, b)| {
        found.entry(a).or_default().insert(b);
    });
    let best = found.into_iter().rev().max_by_key(|(_, with)| with.len());
    best.map_or((0, Vec::new()), |(a, with)| (a, with.into_iter().collect()))
}

impl Scores {
    fn new<'a>(rows: impl Iterator<Item = &'a Finished>, ratio: f64) -> Scores {
        let mut sums: Cells<(f64, f64)> = BTreeMap::new();
        for (row, nlpd) in rows.filter_map(|row| Some((row, row.scored()?))) {
            let key = (row.key.arm.clone(), row.key.size, row.key.experts);
            let sum = sums.entry(key).or_default().entry(row.key.split).or_default();
            *sum = (sum.0 + nlpd, sum.1 + 1.0);
        }
        let mean = |splits: Splits<(f64, f64)>| {
            splits.into_iter().map(|(split, (sum, n))| (split, sum / n)).collect()
        };
        let cells: Cells = sums.into_iter().map(|(k, s)| (k, mean(s))).collect();
        let paper = || cells.keys().filter(|k| ARMS[..4].contains(&k.0.as_str()));
        let (size, experts) = best_filled(paper().map(|k| (k.1, k.2)));
        let (fixed, sizes) = best_filled(paper().map(|k| (k.2, k.1)));
        Scores { ratio, size, experts, fixed, sizes, cells }
    }

    fn cell(&self, arm: &str, size: usize, experts: usize) -> Option<&Splits> {
        let experts = if arm == "het" { 1 } else { experts };
        self.cells.get(&(arm.to_string(), size, experts))
    }

    /// A weighted sum of cells, on the splits that all of them have.
    fn contrast(&self, what: String, parts: &[(f64, &str, usize, usize)]) -> Option<Contrast> {
        let cells: Vec<(f64, &Splits)> = parts
            .iter()
            .map(|(weight, arm, size, k)| Some((*weight, self.cell(arm, *size, *k)?)))
            .collect::<Option<_>>()?;
        let splits = cells.first()?.1.keys();
        let value = |split: &usize| {
            let terms = cells.iter().map(|(weight, cell)| Some(weight * cell.get(split)?));
            terms.sum::<Option<f64>>()
        };
        Contrast::new(what, &splits.filter_map(value).collect::<Vec<f64>>(), self.ratio)
    }

    /// The mean of a cell over its splits.
    fn mean(&self, arm: &str, size: usize, experts: usize) -> Option<f64> {
        let splits = self.cell(arm, size, experts)?;
        Some(splits.values().sum::<f64>() / splits.len() as f64)
    }

    /// The least and the largest number of experts.
    fn ends(values: &[usize]) -> Option<(usize, usize)> {
        let (first, last) = (*values.first()?, *values.last()?);
        (first < last).then_some((first, last))
    }

    /// Arms that get better with more experts, or worse.
    fn trend(&self, says: &'static str, arms: [&str; 2], better: bool) -> Finding {
        let contrasts = Self::ends(&self.experts).map_or(Vec::new(), |(few, many)| {
            let (high, low) = if better { (few, many) } else { (many, few) };
            let change = |arm: &str| {
                let what = format!("{}: K = {high} less K = {low}", name(arm));
                self.contrast(what, &[(1.0, arm, self.size, high), (-1.0, arm, self.size, low)])
            };
            arms.map(change).into()
        });
        finding(says, Panel::Experts, contrasts)
    }

    fn ahead(&self) -> Finding {
        let contrasts = Self::ends(&self.experts).map_or(Vec::new(), |(few, many)| {
            let lead = |weight: f64, k| {
                [(weight, "pogpe", self.size, k), (-weight, "mogpe", self.size, k)]
            };
            let [a, b] = [few, many].map(|k| {
                let means = JOINT.map(|arm| self.mean(arm, self.size, k));
                means[1].zip(means[0]).map_or(0.0, |(product, mixture)| product - mixture)
            });
            // They are close at few experts if they differ by less than half of what they differ
            // by at many.
            let close = [&lead(b.signum(), many)[..], &lead(-2.0 * a.signum(), few)].concat();
            let what = format!("PoGPE and MoGPE: gap at K = {many} less twice that at K = {few}");
            vec![
                self.contrast(what, &close),
                self.contrast(format!("PoGPE less MoGPE, K = {many}"), &lead(1.0, many)),
            ]
        });
        let words = "MoGPE and PoGPE are close with two experts; with more, MoGPE is ahead.";
        finding(words, Panel::Experts, contrasts)
    }

    fn product_beats_mixture(&self) -> Finding {
        let at = |k: &usize| {
            let parts = [(1.0, "bhs", self.size, *k), (-1.0, "pbhs", self.size, *k)];
            self.contrast(format!("BHS less P-BHS, K = {k}"), &parts)
        };
        let contrasts = self.experts.iter().map(at).collect();
        finding("P-BHS beats BHS at every number of experts.", Panel::Experts, contrasts)
    }

    fn joint_beats_stacking(&self) -> Finding {
        let at = |(k, joint): (usize, &str)| {
            let score = |arm: &str| self.mean(arm, self.size, k);
            let better = STACKING.into_iter().filter(|arm| score(arm).is_some());
            let best = better.min_by(|a, b| score(a).partial_cmp(&score(b)).unwrap_or(EQUAL))?;
            let what = format!("{} less {}, K = {k}", name(best), name(joint));
            self.contrast(what, &[(1.0, best, self.size, k), (-1.0, joint, self.size, k)])
        };
        let pairs = self.experts.iter().flat_map(|k| JOINT.map(|joint| (*k, joint)));
        let words = "Experts learned with their weights beat stacked ones (the better of the two).";
        finding(words, Panel::Experts, pairs.map(at).collect())
    }

    fn size_helps(&self) -> Finding {
        let learned = ["mogpe", "pogpe", "het"];
        let contrasts = Self::ends(&self.sizes).map_or(Vec::new(), |(few, many)| {
            let gain = |weight: f64, arm: &'static str| {
                [(weight, arm, few, self.fixed), (-weight, arm, many, self.fixed)]
            };
            let helps = |arm: &'static str| {
                self.contrast(format!("{}: {few} less {many}", name(arm)), &gain(1.0, arm))
            };
            let joint = learned.map(|arm| gain(1.0 / 3.0, arm)).concat();
            let stacked = STACKING.map(|arm| gain(-1.0, arm)).concat();
            let what = "mean gain of MoGPE, PoGPE and het, less twice that of BHS and P-BHS";
            let hardly = self.contrast(what.into(), &[joint, stacked].concat());
            learned.into_iter().map(helps).chain([hardly]).collect()
        });
        let words = "A larger basis helps MoGPE, PoGPE and het, and hardly the stacking methods.";
        finding(words, Panel::Size, contrasts)
    }
}

const EQUAL: std::cmp::Ordering = std::cmp::Ordering::Equal;

/// The name of an arm in words.
fn name(arm: &str) -> &str {
    match arm {
        "bhs" => "BHS",
        "pbhs" => "P-BHS",
        "mogpe" => "MoGPE",
        "pogpe" => "PoGPE",
        other => other,
    }
}

/// A finding from its contrasts; one that is missing leaves it untested.
fn finding(says: &'static str, panel: Panel, contrasts: Vec<Option<Contrast>>) -> Finding {
    let all = contrasts.len();
    let contrasts: Vec<Contrast> = contrasts.into_iter().flatten().collect();
    let tested = all > 0 && contrasts.len() == all && contrasts.iter().all(|c| c.p.is_some());
    let held = contrasts.iter().filter(|c| c.holds()).count();
    let verdict = match tested {
        false => Verdict::Untested,
        true if held == all => Verdict::Seen,
        true if held == 0 || contrasts.iter().any(Contrast::reversed) => Verdict::NotSeen,
        true => Verdict::Partly,
    };
    Finding { says, panel, verdict, contrasts }
}

#[cfg(test)]
mod tests;
