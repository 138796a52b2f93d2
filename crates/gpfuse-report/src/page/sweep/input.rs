//! What the page of a sweep is made from: its folder, and what the kept models show.

use gpfuse::sweep::Key;
use gpfuse_io::ledger::Folder;
use gpfuse_io::sweep_file::{Study, Vary};

use crate::view::View;

/// A sweep, finished or as far as it has come.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// Its folder.
    pub folder: Folder,
    /// The models that were kept.
    pub kept: Vec<Kept>,
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
    /// What people call an arm, and whether it is ours.
    pub(super) fn label(&self, arm: &str) -> String {
        let ours = if self.ours(arm) { " (ours)" } else { "" };
        self.bare_label(arm) + ours
    }

    /// What people call an arm, where a drawing says by itself whether it is ours.
    pub(super) fn bare_label(&self, arm: &str) -> String {
        self.folder.file.arm(arm).map_or(arm, |a| a.label()).into()
    }

    /// Whether an arm is ours.
    pub fn ours(&self, arm: &str) -> bool {
        self.folder.file.arm(arm).is_some_and(|a| a.ours)
    }

    /// Whether an arm is there for more than a look at several data sets.
    pub(super) fn studied(&self, basis: &str, arm: &str) -> bool {
        let mut studies = self.folder.file.study.iter().filter(|s| s.basis == basis);
        studies.any(|s| s.data.len() == 1 && s.arms.iter().any(|a| a == arm))
    }

    /// The bases that have finished cells, in the order of the studies.
    pub fn bases(&self) -> Vec<String> {
        let rows = &self.folder.rows;
        let studied = self.folder.file.study.iter().map(|s| &s.basis);
        let mut out: Vec<String> = Vec::new();
        for basis in studied.chain(rows.iter().map(|r| &r.key.basis)) {
            if !out.contains(basis) && rows.iter().any(|r| r.key.basis == *basis) {
                out.push(basis.clone());
            }
        }
        out
    }

    /// The data that most cells are about, by name.
    pub fn main_data(&self) -> &str {
        let rows = &self.folder.rows;
        let count = |name: &str| rows.iter().filter(|r| r.key.data == name).count();
        let best = rows.iter().map(|r| r.key.data.as_str()).max_by_key(|name| count(name));
        best.unwrap_or_default()
    }

    /// Test rows for each training row in the splits of the data that most cells are about.
    pub fn ratio(&self) -> f64 {
        let source = self.folder.file.data.get(self.main_data());
        source.map_or(0.25, |source| source.test / (1.0 - source.test))
    }

    /// The range of the inputs of data that were simulated.
    pub(super) fn range(&self, data: &str) -> Option<(f64, f64)> {
        let simulate = self.folder.file.data.get(data)?.simulate.as_ref()?;
        Some((simulate.low, simulate.high))
    }
}

/// Whether a cell belongs to a study by its place, whatever its arm. Methods with one expert by
/// their nature belong to all numbers of experts.
pub(super) fn placed(study: &Study, key: &Key, single: bool) -> bool {
    study.basis == key.basis
        && study.data.contains(&key.data)
        && (study.sizes.contains(&key.size) || study.sizes.is_empty())
        && (single || study.experts.contains(&key.experts))
}

/// Whether a cell belongs to a study.
pub(super) fn holds(study: &Study, key: &Key) -> bool {
    study.arms.contains(&key.arm) && placed(study, key, key.experts == 1)
}

/// The number of places along a study.
pub fn places(study: &Study) -> usize {
    match study.vary {
        Vary::Experts => study.experts.len(),
        Vary::Size => study.sizes.len(),
    }
}

/// The title of a study, or its name.
pub(super) fn title(study: &Study) -> &str {
    if study.title.is_empty() { &study.name } else { &study.title }
}

/// The title of a study with what it does not say yet: its basis, and perhaps more.
pub(super) fn full_title(study: &Study, more: Option<String>) -> String {
    let (title, basis) = (title(study), basis_name(&study.basis));
    let told = title.to_lowercase().contains(&basis.to_lowercase());
    let parts: Vec<String> = (!told).then_some(basis).into_iter().chain(more).collect();
    match parts.is_empty() {
        true => title.into(),
        false => format!("{title} ({})", parts.join(", ")),
    }
}

/// What people call a basis.
pub fn basis_name(basis: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::synthetic::sweep;
    use super::*;

    /// A title says its basis once.
    #[test]
    fn the_basis_is_said_once() {
        let mut study = sweep().folder.file.study[0].clone();
        study.title = "Experts".into();
        assert_eq!(full_title(&study, None), "Experts (RFF)");
        assert_eq!(full_title(&study, Some("K = 2".into())), "Experts (RFF, K = 2)");
        study.title = "Experts, RFF with 30 frequencies".into();
        assert_eq!(full_title(&study, None), study.title);
        assert_eq!(full_title(&study, Some("K = 2".into())), format!("{} (K = 2)", study.title));
    }
}
