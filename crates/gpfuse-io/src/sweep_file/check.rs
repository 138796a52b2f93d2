//! Checks of a sweep file.

use super::{Keep, Source, Study, SweepFile};
use crate::words::show;

/// The most splits, which a seed of a sweep has room for.
const MOST_SPLITS: usize = 1000;

/// The most cells, far more than any machine could run.
const MOST_CELLS: usize = 1_000_000;

/// The largest seed, so that those of the fits are whole numbers in every file.
const LARGEST_SEED: u64 = 1_000_000_000_000;

/// The name of the part at fault, and what is wrong with it.
type Fault = (String, String);

impl SweepFile {
    /// Refuse names that do not fit together and lists without an entry.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let arms: Vec<&str> = self.arm.iter().map(|arm| arm.name.as_str()).collect();
        let studies: Vec<&str> = self.study.iter().map(|study| study.name.as_str()).collect();
        let data: Vec<&str> = self.data.keys().map(String::as_str).collect();
        for (what, names) in [("data", &data), ("arm", &arms), ("study", &studies)] {
            if names.is_empty() {
                let form = if what == "data" { "[data.NAME]" } else { &format!("[[{what}]]") };
                return Err((String::new(), format!("there is no {form}: add one")));
            }
            for (i, name) in names.iter().enumerate() {
                named(what, name)?;
                if names[..i].contains(name) {
                    let problem = format!("{what} `{name}` stands twice: rename one");
                    return Err(((*name).into(), problem));
                }
            }
        }
        for (name, source) in &self.data {
            source
                .check()
                .map_err(|problem| (name.clone(), format!("data `{name}`: {problem}")))?;
        }
        for study in &self.study {
            study.check(&data, &arms).map_err(|problem| {
                (study.name.clone(), format!("study `{}`: {problem}", study.name))
            })?;
        }
        // Counted before they are made: a few lists multiply to more than there is memory.
        let cells =
            self.study.iter().fold(0, |sum: usize, study| sum.saturating_add(self.cells(study)));
        if cells > MOST_CELLS {
            let problem =
                format!("the studies have up to {cells} cells: use up to {MOST_CELLS} in all");
            return Err((String::new(), problem));
        }
        let keys = if self.keep.is_empty() { Vec::new() } else { self.keys() };
        match self.keep.iter().map(Keep::key).find(|key| keys.binary_search(key).is_err()) {
            Some(key) => Err((String::new(), format!("[[keep]] {key}: no study has this cell"))),
            None => Ok(()),
        }
    }

    /// How many cells a study has at most: names may stand in it twice.
    fn cells(&self, study: &Study) -> usize {
        let splits = |name: &String| self.splits(study, name);
        let all = study.data.iter().map(splits).fold(0, usize::saturating_add);
        [study.arms.len(), study.sizes.len().max(1), study.experts.len(), study.seeds.len()]
            .into_iter()
            .fold(all, usize::saturating_mul)
    }
}

/// Names become parts of file names.
fn named(what: &str, name: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.len() <= 60 && !name.starts_with('.') && name.chars().all(plain) {
        return Ok(());
    }
    let problem =
        format!("{what} `{}` is no name: use letters, digits, `-` and `_`, up to 60", show(name));
    Err((name.into(), problem))
}

impl Source {
    fn check(&self) -> Result<(), String> {
        let given = [self.simulate.is_some(), self.table.is_some(), self.frozen.is_some()];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err("give one of `simulate`, `table` and `frozen`".into());
        }
        if self.table.is_some() != self.target.is_some() {
            return Err("a `table` needs its `target`, and nothing else has one".into());
        }
        if self.inputs.is_some() && self.table.is_none() {
            return Err("`inputs` are those of a `table`".into());
        }
        if !(1..=MOST_SPLITS).contains(&self.splits) {
            return Err(format!("`splits` is {}: use 1 to {MOST_SPLITS}", self.splits));
        }
        if !(self.test > 0.0 && self.test < 1.0) {
            return Err(format!("`test` is {}: use a share between 0 and 1", self.test));
        }
        Ok(())
    }
}

impl Study {
    fn check(&self, data: &[&str], arms: &[&str]) -> Result<(), String> {
        for (what, known, used) in [("data", data, &self.data), ("arms", arms, &self.arms)] {
            if let Some(name) = used.iter().find(|name| !known.contains(&name.as_str())) {
                let (name, known) = (show(name), known.join(", "));
                return Err(format!("`{what}` names `{name}`, which is not there: use {known}"));
            }
        }
        let sized = match self.basis.as_str() {
            "rff" | "hilbert" => true,
            "eigen" => false,
            other => {
                return Err(format!("`basis` is `{}`: use rff, hilbert or eigen", show(other)));
            }
        };
        if sized == self.sizes.is_empty() {
            return Err(match sized {
                true => format!("`sizes` is empty: say how large the {} basis is", self.basis),
                false => "the eigen basis has no `sizes`: leave them out".into(),
            });
        }
        let lists = [
            ("data", self.data.is_empty()),
            ("arms", self.arms.is_empty()),
            ("experts", self.experts.is_empty()),
            ("seeds", self.seeds.is_empty()),
            ("splits", self.splits == Some(0)),
        ];
        if let Some((name, _)) = lists.iter().find(|(_, empty)| *empty) {
            return Err(format!("`{name}` is empty: it would have no cells"));
        }
        match self.seeds.iter().find(|seed| **seed > LARGEST_SEED) {
            Some(seed) => Err(format!("seed {seed} is too large: use up to {LARGEST_SEED}")),
            None => Ok(()),
        }
    }
}
