//! The settings file of a sweep: which data, which arms, which studies.
//!
//! An arm is a method with its own settings; a study is the product of its lists. The settings of
//! fits stand here as they are written; whoever runs the sweep knows what they mean.

mod check;
mod differ;
mod digest;
mod read;

use std::collections::BTreeMap;

use gpfuse::model::Method;
use gpfuse::simulate::Simulate;
use gpfuse::sweep::Key;
use serde::{Deserialize, Serialize};

pub use differ::difference;
pub(crate) use differ::tables;
pub use digest::digest;
pub use read::{SweepFileError, line_of};

/// All settings of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SweepFile {
    /// Its name.
    pub name: String,
    /// The version of gpfuse that ran it; written beside the results and not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The data by their names.
    pub data: BTreeMap<String, Source>,
    /// Settings that all arms share: the flags of `gpfuse fit`.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub fit: toml::Table,
    /// The arms.
    pub arm: Vec<Arm>,
    /// The studies.
    pub study: Vec<Study>,
    /// Cells whose fitted models are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Keep>,
}

/// Where rows come from and how they are split. One of `simulate`, `table` and `frozen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Source {
    /// A table, by its path from the folder of this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Its column to predict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Its input columns; all but the target where none are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// A folder with a frozen protocol: rows, splits, frequencies and experts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
    /// What the files held when the sweep began; written beside the results and not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The number of splits.
    #[serde(default = "five")]
    pub splits: usize,
    /// The share of test rows.
    #[serde(default = "a_fifth")]
    pub test: f64,
    /// The seed of the splits.
    #[serde(default)]
    pub seed: u64,
    /// The settings of a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulate: Option<Simulate>,
}

fn five() -> usize {
    5
}

fn a_fifth() -> f64 {
    0.2
}

/// A method with its own settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Arm {
    /// Its name in tables.
    pub name: String,
    /// Its method.
    pub method: Method,
    /// Its name for readers; the name where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether it is a variant of ours and not the paper's.
    #[serde(default)]
    pub ours: bool,
    /// Its own settings: the flags of `gpfuse fit`, which win over the shared ones.
    #[serde(flatten)]
    pub fit: toml::Table,
}

impl Arm {
    /// Its name for readers.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

/// What a study varies, for the axis of its figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vary {
    /// The number of experts.
    #[default]
    Experts,
    /// The size of the basis.
    Size,
}

/// Cells that belong together: the product of the lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// Its title for readers.
    #[serde(default)]
    pub title: String,
    /// What it varies.
    #[serde(default)]
    pub vary: Vary,
    /// Names of data.
    pub data: Vec<String>,
    /// Names of arms.
    pub arms: Vec<String>,
    /// The basis: `rff`, `hilbert` or `eigen`.
    pub basis: String,
    /// Frequencies (RFF) or functions per input (Hilbert); none for `eigen`.
    #[serde(default)]
    pub sizes: Vec<usize>,
    /// Numbers of experts; `het` has one whatever they are.
    pub experts: Vec<usize>,
    /// The first splits of the data only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<usize>,
    /// Seeds.
    #[serde(default = "zero")]
    pub seeds: Vec<u64>,
}

fn zero() -> Vec<u64> {
    vec![0]
}

/// Cells whose fitted models are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Keep {
    /// The name of the data.
    pub data: String,
    /// The name of the arm.
    pub arm: String,
    /// The basis.
    pub basis: String,
    /// The size of the basis.
    pub size: usize,
    /// The number of experts.
    pub experts: usize,
    /// The split.
    #[serde(default)]
    pub split: usize,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
}

impl Keep {
    /// The cell that is kept.
    pub fn key(&self) -> Key {
        Key {
            data: self.data.clone(),
            arm: self.arm.clone(),
            basis: self.basis.clone(),
            size: self.size,
            experts: self.experts,
            split: self.split,
            seed: self.seed,
        }
    }
}

impl SweepFile {
    /// The arm of that name.
    pub fn arm(&self, name: &str) -> Option<&Arm> {
        self.arm.iter().find(|arm| arm.name == name)
    }

    /// How many splits of some data a study has.
    fn splits(&self, study: &Study, data: &str) -> usize {
        let all = self.data.get(data).map_or(0, |source| source.splits);
        study.splits.unwrap_or(all).min(all)
    }

    /// The cells of a study, sorted, each once.
    pub fn study_keys(&self, study: &Study) -> Vec<Key> {
        let sizes = if study.sizes.is_empty() { &[0][..] } else { &study.sizes };
        let mut keys = Vec::new();
        for (data, arm) in product(&study.data, &study.arms) {
            let one = [1];
            let het = self.arm(arm).is_some_and(|arm| arm.method == Method::Het);
            let experts = if het { &one[..] } else { &study.experts };
            let splits: Vec<usize> = (0..self.splits(study, data)).collect();
            for (&size, &experts) in product(sizes, experts) {
                keys.extend(product(&splits, &study.seeds).map(|(&split, &seed)| Key {
                    data: data.clone(),
                    arm: arm.clone(),
                    basis: study.basis.clone(),
                    size,
                    experts,
                    split,
                    seed,
                }));
            }
        }
        keys.sort();
        keys.dedup();
        keys
    }

    /// All cells, sorted, each once.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.study.iter().flat_map(|s| self.study_keys(s)).collect();
        keys.sort();
        keys.dedup();
        keys
    }
}

fn product<'a, A, B>(a: &'a [A], b: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    a.iter().flat_map(move |a| b.iter().map(move |b| (a, b)))
}
