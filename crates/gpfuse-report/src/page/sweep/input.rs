//! What the page of a sweep is made from.

use gpfuse::sweep::{Finished, Key};

use crate::view::View;

/// A finished sweep, or as much of it as there is.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// What it is called.
    pub name: String,
    /// Its folder, as typed.
    pub folder: String,
    /// Its settings file.
    pub settings: String,
    /// The version of gpfuse that ran it.
    pub version: String,
    /// How many cells its settings ask for, where that is known.
    pub planned: Option<usize>,
    /// Test rows for each training row of a split.
    pub ratio: f64,
    /// Its data.
    pub data: Vec<DataSet>,
    /// Its methods with their settings.
    pub arms: Vec<Arm>,
    /// Which cells belong together.
    pub studies: Vec<Study>,
    /// The finished cells.
    pub rows: Vec<Finished>,
    /// Models that were kept.
    pub kept: Vec<Kept>,
}

/// Data of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// Its name.
    pub name: String,
    /// The range of its inputs, where it was simulated.
    pub range: Option<(f64, f64)>,
}

/// A method with its own settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// Its name in the ledger.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// Whether it is ours instead of the paper's.
    pub ours: bool,
}

/// What varies along a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vary {
    /// The number of experts.
    Experts,
    /// The size of the basis.
    Size,
}

/// Cells that are shown together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What varies along it.
    pub vary: Vary,
    /// The names of its data.
    pub data: Vec<String>,
    /// The names of its arms.
    pub arms: Vec<String>,
    /// Its basis.
    pub basis: String,
    /// The sizes of the basis.
    pub sizes: Vec<usize>,
    /// The numbers of experts.
    pub experts: Vec<usize>,
}

impl Study {
    /// Whether a cell belongs to it, by its place alone and not by its arm.
    pub(super) fn place(&self, key: &Key, single: bool) -> bool {
        self.basis == key.basis
            && self.data.contains(&key.data)
            && self.sizes.contains(&key.size)
            && (single || self.experts.contains(&key.experts))
    }

    /// Whether a cell belongs to it.
    pub(super) fn holds(&self, key: &Key) -> bool {
        self.arms.contains(&key.arm) && self.place(key, key.experts == 1)
    }

    /// The number of places along it.
    pub(super) fn places(&self) -> usize {
        match self.vary {
            Vary::Experts => self.experts.len(),
            Vary::Size => self.sizes.len(),
        }
    }
}

/// A model that was kept.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its cell.
    pub key: Key,
    /// What its figures show.
    pub view: View,
}

impl Sweep {
    /// What people call an arm.
    pub(super) fn label(&self, arm: &str) -> String {
        match self.arms.iter().find(|a| a.name == arm) {
            Some(a) if a.ours => format!("{} (ours)", a.label),
            Some(a) => a.label.clone(),
            None => arm.to_string(),
        }
    }

    /// Whether an arm is ours.
    pub(super) fn ours(&self, arm: &str) -> bool {
        self.arms.iter().any(|a| a.name == arm && a.ours)
    }

    /// The bases that have finished cells, in the order of the studies.
    pub(super) fn bases(&self) -> Vec<String> {
        let studied = self.studies.iter().map(|s| &s.basis);
        let mut out: Vec<String> = Vec::new();
        for basis in studied.chain(self.rows.iter().map(|r| &r.key.basis)) {
            if !out.contains(basis) && self.rows.iter().any(|r| r.key.basis == *basis) {
                out.push(basis.clone());
            }
        }
        out
    }

    /// The data that most cells are about, by name.
    pub(super) fn main_data(&self) -> &str {
        let count = |name: &str| self.rows.iter().filter(|r| r.key.data == name).count();
        let best = self.rows.iter().map(|r| r.key.data.as_str()).max_by_key(|name| count(name));
        best.unwrap_or_default()
    }
}

/// What people call a basis.
pub(super) fn basis_name(basis: &str) -> String {
    match basis {
        "rff" => "RFF".into(),
        "hilbert" => "Hilbert".into(),
        other => other.into(),
    }
}

/// What the size of a basis counts.
pub(super) fn size_name(basis: &str) -> &'static str {
    match basis {
        "rff" => "frequencies M",
        _ => "functions per input",
    }
}
